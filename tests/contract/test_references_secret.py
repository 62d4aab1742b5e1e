"""Where PostgreSQL is, is a secret: one that does not serve, or cannot be read."""

from __future__ import annotations

import traceback
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.contract.postgres_sets import Secret, connecting, known, source, took
from tests.fakes import FakeClock
from tidegate.doors.references import References
from tidegate.errors import ReferencesUnavailable


@pytest.mark.parametrize("value", ["postgresql://r:pa55@127.0.0.1:1/x", "pa55 nonsense"])
def test_a_connection_string_that_does_not_serve_is_not_told(value: str) -> None:
    with connecting(Secret(value)) as server, pytest.raises(ReferencesUnavailable) as raised:
        known(source(server, "accounts"), 1)
    assert "pa55" not in "".join(traceback.format_exception(raised.value))


def test_a_secret_that_cannot_be_read_is_trouble_of_ours() -> None:
    class Denied(Secret):
        def __call__(self) -> str:
            error: Any = {"Error": {"Code": "AccessDeniedException", "Message": "no"}}
            raise ClientError(error, "GetSecretValue")

    with connecting(Denied("")) as server:
        references = References({"accounts": source(server, "accounts")}, FakeClock())
        assert took(lambda: references.ready(["accounts"]), "AccessDeniedException") < 5
