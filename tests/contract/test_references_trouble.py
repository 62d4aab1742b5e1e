"""Reference sets in DynamoDB while that is busy, refuses, or cannot be reached."""

from __future__ import annotations

import itertools
import traceback
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from moto.core.models import MockAWS

from tests.contract.referring import Answers, Library, busy, denied, library
from tidegate.errors import ReferenceSetMissing, ReferencesUnavailable, Throttled

NUMBERS = itertools.count()


@pytest.fixture
def shelf(_moto: MockAWS) -> Library:
    return library(f"references-{next(NUMBERS)}")


def test_what_was_not_processed_is_asked_for_again(shelf: Library) -> None:
    shelf.load(range(10))
    rounds: list[int] = []

    def partly(body: dict[str, Any]) -> dict[str, Any] | None:
        keys = body["RequestItems"][shelf.name]["Keys"]
        rounds.append(len(keys))
        if len(rounds) > 4:
            return None
        return {
            "Responses": {shelf.name: keys[:1]},  # an item is nothing but its key
            "UnprocessedKeys": {shelf.name: {"Keys": keys[1:]}},
        }

    shelf.answers = partly
    assert shelf.known(*range(10)) == set(map(str, range(10)))
    assert rounds == [10, 9, 8, 7, 6]
    assert shelf.clock.time > 1_900_000_000.0


def test_a_throttled_read_gives_up_within_some_seconds(shelf: Library) -> None:
    shelf.load([1])
    before = shelf.clock.time
    shelf.answers = busy
    with pytest.raises(Throttled):
        shelf.table.get_many([("a", "b")])
    assert 1 < shelf.clock.time - before < 4


def test_a_read_that_is_slow_besides_is_tried_less_often(shelf: Library) -> None:
    def slow(body: dict[str, Any]) -> dict[str, Any]:
        shelf.clock.sleep(1)
        return busy(body)

    shelf.answers = slow
    with pytest.raises(Throttled):
        shelf.table.get_many([("a", "b")])
    assert shelf.calls.count("BatchGetItem") == 3


def test_a_throttled_read_that_passes_is_none_that_failed(shelf: Library) -> None:
    shelf.load([1])
    left = [busy, busy]
    shelf.answers = lambda body: left.pop()(body) if left else None
    assert shelf.known(1, 2) == {"1"}
    assert not left


def unreachable(_body: dict[str, Any]) -> dict[str, Any]:
    raise EndpointConnectionError(endpoint_url="https://dynamodb/4711")


@pytest.mark.parametrize(
    ("answers", "cause"),
    [
        (busy, "Throttled"),
        (denied, "AccessDeniedException"),
        (unreachable, "EndpointConnectionError"),
    ],
)
def test_every_trouble_is_one_kind_and_quotes_no_value(
    shelf: Library, answers: Answers, cause: str
) -> None:
    shelf.load([1])
    shelf.answers = answers
    for ask in (lambda: shelf.known(4711), lambda: shelf.references.ready(["accounts"])):
        with pytest.raises(ReferencesUnavailable) as raised:
            ask()
        assert str(raised.value) == f"set accounts: {cause}"
        assert not isinstance(raised.value, ReferenceSetMissing)
        said = [line for line in traceback.format_exception(raised.value) if "4711" in line]
        assert [line for line in said if "known(4711)" not in line] == []


def test_a_table_that_is_not_there_is_trouble_of_ours(shelf: Library) -> None:
    shelf.load([1])
    assert shelf.known(1) == {"1"}
    shelf.client.delete_table(TableName=shelf.name)
    assert shelf.known(1) == {"1"}, "remembered"
    with pytest.raises(ReferencesUnavailable, match="ResourceNotFoundException"):
        shelf.known(1, 2)
