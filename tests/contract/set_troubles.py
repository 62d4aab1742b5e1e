"""What can become of a set of references in DynamoDB, and how each of it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from tests.contract.referring import Library, busy, denied
from tests.contract.report_desk import MISSING, UNAVAILABLE, Mend
from tidegate.doors.actions import delete, put

Trouble = Callable[[Library], Mend]


def members(shelf: Library) -> list[dict[str, Any]]:
    return [item for item in shelf.items() if item["pk"].count("#") > 1]


def current(shelf: Library) -> dict[str, Any]:
    (found,) = (item for item in shelf.items() if item["sk"] == "current")
    return found


def load(shelf: Library) -> None:
    shelf.load([1, 7])


def gone(shelf: Library) -> Mend:
    """The members are gone, whoever removed them."""
    shelf.table.write_each([delete(item["pk"], item["sk"]) for item in members(shelf)])
    return lambda: load(shelf)


def lost(shelf: Library) -> Mend:
    """The table is empty, as a new one."""
    shelf.table.write_each([delete(item["pk"], item["sk"]) for item in shelf.items()])
    return lambda: load(shelf)


def emptied(shelf: Library) -> Mend:
    """A set without members is the valid one."""
    gone(shelf)
    shelf.table.write([put({**current(shelf), "members": 0})])
    return lambda: load(shelf)


def answering(answers: Callable[[dict[str, Any]], Any]) -> Trouble:
    """Return the trouble of a table that answers batches so."""

    def broken(shelf: Library) -> Mend:
        shelf.answers = answers
        return lambda: setattr(shelf, "answers", None)

    return broken


def unprocessed(body: dict[str, Any]) -> dict[str, Any]:
    """Answer that nothing was looked at, which is no error."""
    return {"Responses": {}, "UnprocessedKeys": body["RequestItems"]}


def unreachable(_body: dict[str, Any]) -> Any:
    raise EndpointConnectionError(endpoint_url="https://dynamodb")


TROUBLES = pytest.mark.parametrize(
    ("trouble", "code"),
    [
        pytest.param(lost, MISSING, id="lost"),
        pytest.param(emptied, MISSING, id="emptied"),
        pytest.param(gone, MISSING, id="gone"),
        pytest.param(answering(busy), UNAVAILABLE, id="throttled"),
        pytest.param(answering(unprocessed), UNAVAILABLE, id="unprocessed"),
        pytest.param(answering(denied), UNAVAILABLE, id="denied"),
        pytest.param(answering(unreachable), UNAVAILABLE, id="unreachable"),
    ],
)
