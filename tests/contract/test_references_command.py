"""`tidegate references` on a terminal: a set is loaded whole or not at all, and shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import boto3
import pytest
from moto.core.models import MockAWS
from typer.testing import CliRunner, Result

import cli.references
from cli.main import app
from tests.contract.referring import Library, denied, library
from tidegate.rules.contracts import ReferenceSource

SETS = {
    "accounts": ReferenceSource(),
    "towns": ReferenceSource(),
    "tickets": ReferenceSource(source="postgresql", table="other.tickets", column="id"),
}
Command = Callable[..., Result]


@pytest.fixture
def shelf(_moto: MockAWS) -> Library:
    _moto.reset()
    return library("tidegate-dev-references")


@pytest.fixture
def tidegate(shelf: Library, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return the command, in a deployment with three sets, none of which is loaded."""
    monkeypatch.setattr(cli.references, "caller", lambda *_: "user/moto")
    monkeypatch.setattr(cli.references, "_all", lambda _env: SETS)
    monkeypatch.setattr(boto3, "client", lambda *_, **__: shelf.client)

    def command(*words: str, given: bytes = b"") -> Result:
        return CliRunner().invoke(app, ["references", *words, "--env", "dev"], input=given)

    return command


def load(tidegate: Command, given: bytes, set_name: str = "accounts", why: str = "new") -> Result:
    return tidegate("load", set_name, "-", "--why", why, given=given)


def said(result: Result) -> str:
    """Return what it said, without a usage error's frame."""
    return " ".join(result.output.replace("│", " ").split())


def members(shelf: Library) -> set[str]:
    current = shelf.sets.describe("accounts")
    assert current is not None
    return {i["sk"] for i in shelf.items() if f"#{current.generation}#" in i["pk"]}


def test_a_file_becomes_the_set_and_what_was_left_out_is_told(
    tidegate: Command, shelf: Library, tmp_path: Path
) -> None:
    file = tmp_path / "accounts.txt"
    file.write_bytes(
        b"\xef\xbb\xbf1\r\n  7\t\n\n4711\n7\n \xc2\xa0\nZ\xc3\xbcrich, HB\n1 000\n\xc2\xa08"
    )
    result = tidegate("load", "accounts", str(file), "--why", "the first of March")
    assert result.exit_code == 0, result.output
    assert "accounts: 6 members, none before" in result.output
    assert "2 blank lines, 1 repeated values" in result.output
    assert members(shelf) == {"1", "7", "4711", "Zürich, HB", "1 000", "8"}
    current = shelf.sets.describe("accounts")
    assert current is not None
    assert (current.by, current.why) == ("user/moto", "the first of March")


def test_a_second_file_replaces_the_first(tidegate: Command, shelf: Library) -> None:
    load(tidegate, b"1\n7\n")
    result = load(tidegate, b"7\n" + "\n".join(map(str, range(1000, 1300))).encode())
    assert "accounts: 301 members, 2 before" in result.output
    assert "Left out" not in result.output
    assert members(shelf) == {"7", *map(str, range(1000, 1300))}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (b"", "no value in it"),
        (b"\n \n\t\r\n", "no value in it"),
        (b"1\n7\n\xff8\n", "line 3 is not UTF-8"),
        (b"1\n4\x007\n", "line 2 has a control character"),
        (b"1\r4711\r", "line 1 has a control character"),
        (b"1\n\n4\x1b7", "line 3 has a control character"),
        (b"4711\n" + b"x" * 1025 + b"\n", "line 2 is longer than 1024 bytes"),
        (("ü" * 513).encode(), "line 1 is longer than 1024 bytes"),
    ],
    ids=["empty", "blank", "utf-8", "nul", "mac", "escape", "long", "long in bytes"],
)
def test_a_file_that_is_none_of_a_set_is_refused_and_nothing_is_written(
    tidegate: Command, shelf: Library, given: bytes, told: str
) -> None:
    result = load(tidegate, given)
    assert (result.exit_code, told in said(result)) == (2, True), result.output
    assert "nothing is loaded" in said(result)
    assert "4711" not in result.output
    assert shelf.items() == []


@pytest.mark.parametrize(
    ("set_name", "why", "told"),
    [
        ("acounts", "new", "no set acounts; there are: accounts, towns, tickets"),
        ("tickets", "new", "tickets is in PostgreSQL: table other.tickets, column id"),
        ("accounts", "", "1 to 200 characters"),
        ("accounts", "x" * 201, "1 to 200 characters"),
    ],
)
def test_a_slip_of_the_pen_is_a_usage_error(
    tidegate: Command, shelf: Library, set_name: str, why: str, told: str
) -> None:
    result = load(tidegate, b"1\n", set_name, why)
    assert (result.exit_code, told in said(result)) == (2, True), result.output
    assert shelf.items() == []


def test_a_reason_and_a_file_are_asked_for(tidegate: Command) -> None:
    assert tidegate("load", "accounts", "-", given=b"1").exit_code == 2
    assert tidegate("load", "accounts", "/no/such/file", "--why", "x").exit_code == 2


def test_what_dynamodb_refuses_is_said_and_the_set_is_as_before(
    tidegate: Command, shelf: Library
) -> None:
    load(tidegate, b"1\n")
    shelf.answers = denied
    result = load(tidegate, b"4711\n")
    assert (result.exit_code, "AccessDenied" in result.output) == (1, True), result.output
    assert "references show accounts" in result.output
    shelf.answers = None
    assert members(shelf) == {"1"}


def test_sets_are_shown_with_who_and_why(tidegate: Command, shelf: Library) -> None:
    load(tidegate, b"1\n7\n", why="[red]as[/nonsense]")
    result = tidegate("show")
    assert result.exit_code == 0
    rows = {line.split()[1]: line for line in result.output.splitlines() if "│" in line}
    assert "2" in rows["accounts"]
    assert "user/moto" in rows["accounts"]
    assert "[red]as[/nonsense]" in rows["accounts"]
    assert "Z" in rows["accounts"]
    assert "never" in rows["towns"]
    assert "in PostgreSQL: other.tickets, id" in rows["tickets"]
    alone = tidegate("show", "accounts")
    assert alone.exit_code == 0
    assert "towns" not in alone.output


def test_one_set_that_was_never_loaded_fails(tidegate: Command) -> None:
    result = tidegate("show", "towns")
    assert (result.exit_code, "never" in result.output) == (1, True)


def test_whether_a_value_is_a_member_is_said_and_is_the_exit_code(
    tidegate: Command, shelf: Library
) -> None:
    load(tidegate, b"1\n7\n")
    yes = tidegate("show", "accounts", "--has", "7")
    no = tidegate("show", "accounts", "--has", "4711")
    assert (yes.exit_code, yes.output) == (0, "It is in accounts.\n")
    assert (no.exit_code, no.output) == (1, "It is not in accounts.\n")
    never = tidegate("show", "towns", "--has", "7")
    assert (never.exit_code, "never loaded" in never.output) == (1, True)
    assert tidegate("show", "--has", "7").exit_code == 2
    assert tidegate("show", "tickets", "--has", "7").exit_code == 2
    shelf.client.delete_table(TableName=shelf.name)
    gone = tidegate("show", "accounts", "--has", "7")
    assert (gone.exit_code, "not in" in gone.output) == (1, False)
