"""Loading a reference set: the old one or the new one, whatever happens on the way."""

from __future__ import annotations

import itertools
from typing import Any

import boto3
import pytest
from moto.core.models import MockAWS

from tests.contract.referring import Library, busy, denied, library, lost_once
from tidegate.doors.batches import MOST_WRITTEN
from tidegate.doors.dynamo import Table
from tidegate.doors.reference_sets import DEAD_AFTER, ReferenceSets
from tidegate.errors import Conflict, Throttled

NUMBERS = itertools.count()


class Killed(BaseException):
    """The command ends here."""


@pytest.fixture
def shelf(_moto: MockAWS) -> Library:
    return library(f"references-{next(NUMBERS)}")


def killed(_written: int) -> None:
    raise Killed


def test_what_is_loaded_is_described(shelf: Library) -> None:
    assert shelf.sets.describe("accounts") is None
    first = shelf.load([1, 7])
    assert (first.before, first.left) == (None, None)
    shelf.clock.sleep(10)
    second = shelf.load([8])
    assert second.before == first.current
    current = shelf.sets.describe("accounts")
    assert current == second.current
    assert (current.members, current.by, current.why) == (1, "user/moto", "a test")
    assert current.loaded_at == shelf.clock.time


def test_nobody_loads_nothing(shelf: Library) -> None:
    with pytest.raises(ValueError, match="one member"):
        shelf.load([])
    assert shelf.items() == []


def test_members_are_spread_and_written_in_batches(shelf: Library) -> None:
    written: list[int] = []
    shelf.load(range(1030), written.append)
    assert sum(written) == 1030
    assert -(-1030 // MOST_WRITTEN) <= shelf.calls.count("BatchWriteItem") <= 44
    partitions = [item["pk"] for item in shelf.items() if item["pk"].count("#") > 1]
    assert len(set(partitions)) == 16
    assert max(map(partitions.count, set(partitions))) < 130
    assert shelf.known(*range(1030)) == set(map(str, range(1030)))


def test_the_old_set_is_valid_until_the_new_one_is_whole(shelf: Library) -> None:
    shelf.load(range(10))
    seen: list[bool] = []

    def look(_written: int) -> None:
        asked = frozenset({"9", "10", "399"})
        seen.append(shelf.reader().known("accounts", asked) == {"9"})

    shelf.load(range(10, 400), look)
    assert seen == [True] * 4
    assert shelf.reader().known("accounts", frozenset({"9", "10", "399"})) == {"10", "399"}


def test_only_the_set_and_the_one_before_are_kept(shelf: Library) -> None:
    kept = [shelf.load([1, number]).current.generation for number in range(2, 6)][-2:]
    assert shelf.generations() == set(kept)
    marks = {item["sk"] for item in shelf.items() if item["sk"].startswith("generation#")}
    assert marks == {f"generation#{generation}" for generation in kept}


def test_other_sets_are_left_alone(shelf: Library) -> None:
    shelf.sets.load("accounts2", ["1"], by="b", why="w")
    towns = shelf.sets.load("towns", ["Bern"], by="b", why="w").current
    for number in range(3):
        shelf.load([number])
    assert shelf.sets.describe("towns") == towns
    assert towns.generation in shelf.generations()


@pytest.mark.parametrize("members", [["1"], ["one", "other", *map(str, range(300))]])
def test_a_load_that_died_changes_nothing_and_is_cleared_up_an_hour_later(
    shelf: Library, members: list[str]
) -> None:
    before = shelf.load([7]).current
    with pytest.raises(Killed):
        shelf.load(members, killed)
    assert shelf.sets.describe("accounts") == before
    assert shelf.known(7, *members) == {"7"}
    (dead,) = shelf.generations() - {before.generation}
    shelf.load([7, 8])
    assert dead in shelf.generations(), "it might still be at work"
    shelf.clock.sleep(DEAD_AFTER + 1)
    shelf.load([7, 9])
    assert dead not in shelf.generations()


def test_of_two_loads_at_once_the_slower_one_is_undone(shelf: Library) -> None:
    shelf.load([1])
    faster: list[str] = []

    def other(_written: int) -> None:
        if not faster:
            faster.append("")
            faster[0] = shelf.load([2]).current.generation

    with pytest.raises(Conflict, match="another load"):
        shelf.load([3], other)
    assert shelf.known(1, 2, 3) == {"2"}
    assert len(shelf.generations()) == 2
    assert faster[0] in shelf.generations()


def test_two_first_loads_at_once_are_no_different(shelf: Library) -> None:
    def other(_written: int) -> None:
        shelf.load([2])

    with pytest.raises(Conflict):
        shelf.load([3], other)
    assert shelf.known(2, 3) == {"2"}


@pytest.mark.parametrize("operation", ["TransactWriteItems", "PutItem", "BatchWriteItem"])
def test_a_reply_that_got_lost_is_no_second_load(shelf: Library, operation: str) -> None:
    client = boto3.client("dynamodb", region_name="us-east-1")
    lost_once(client, operation)
    table = Table(client, shelf.name, shelf.clock, shelf.ids)
    sets = ReferenceSets(table, shelf.clock, shelf.ids)
    done = sets.load("accounts", ["1", "2"], by="b", why="w")
    assert shelf.sets.describe("accounts") == done.current
    assert shelf.known(1, 2, 3) == {"1", "2"}
    assert shelf.generations() == {done.current.generation}


def test_what_was_not_written_is_written_again(shelf: Library) -> None:
    rounds: list[int] = []

    def partly(body: dict[str, Any]) -> dict[str, Any] | None:
        if shelf.name not in body["RequestItems"] or "Keys" in body["RequestItems"][shelf.name]:
            return None
        requests = body["RequestItems"][shelf.name]
        rounds.append(len(requests))
        if len(rounds) % 2:
            return {"UnprocessedItems": {shelf.name: requests}}
        return None

    shelf.answers = partly
    shelf.load(range(60))
    assert len(rounds) == 6
    assert shelf.known(*range(60)) == set(map(str, range(60)))


def test_a_load_that_is_throttled_for_long_fails_and_changes_nothing(shelf: Library) -> None:
    before = shelf.load([1]).current
    shelf.answers = busy
    with pytest.raises(Throttled):
        shelf.load([2])
    shelf.answers = None
    assert shelf.sets.describe("accounts") == before
    assert shelf.clock.time - before.loaded_at > 20


def test_what_cannot_be_removed_does_not_undo_a_load(shelf: Library) -> None:
    for number in range(2):
        shelf.load([number])

    def refuses(body: dict[str, Any]) -> dict[str, Any] | None:
        return denied(body) if "DeleteRequest" in str(body) else None

    shelf.answers = refuses
    done = shelf.load([2])
    assert done.left is not None
    assert shelf.known(2) == {"2"}
    assert len(shelf.generations()) == 3
    shelf.answers = None
    assert shelf.load([3]).left is None
    assert len(shelf.generations()) == 2
