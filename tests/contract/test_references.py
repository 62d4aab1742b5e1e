"""Reference sets in DynamoDB: what is a member, what is none, and what nobody can say."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from moto.core.models import MockAWS

from tests.contract.referring import Library, library
from tidegate.doors.actions import delete, put
from tidegate.doors.references import MOST, POSITIVE, READY, References, build
from tidegate.doors.references_dynamodb import REMEMBERED, TURNS, DynamoSource
from tidegate.errors import ReferenceSetMissing, ReferencesUnavailable
from tidegate.rules.contracts import ReferenceSource
from tidegate.settings import SettingMissing

NUMBERS = itertools.count()


@pytest.fixture
def shelf(_moto: MockAWS) -> Library:
    return library(f"references-{next(NUMBERS)}")


def test_members_are_known_and_nothing_else_is(shelf: Library) -> None:
    shelf.load([1, 7, 4711, "Zürich, HB", "x" * 1024])
    asked = (1, 7, 8, "01", " 1", "zürich, hb", "Zürich, HB", "x" * 1024)
    assert shelf.known(*asked) == {"1", "7", "Zürich, HB", "x" * 1024}
    assert shelf.known() == set()


@pytest.mark.parametrize(
    "value", ["", "x" * 1025, "\ud800", "\0"], ids=["empty", "long", "surrogate", "nul"]
)
def test_what_cannot_be_stored_is_no_member(shelf: Library, value: str) -> None:
    shelf.load([1])
    assert shelf.known(value, 1) == {"1"}


def test_more_than_a_hundred_are_asked_for_in_batches_and_each_once(shelf: Library) -> None:
    shelf.load(range(230))
    shelf.calls.clear()
    assert shelf.known(*range(250)) == set(map(str, range(230)))
    assert shelf.calls.count("BatchGetItem") == 3
    keys = [(item["pk"], item["sk"]) for item in shelf.items()]
    assert len(shelf.table.get_many(keys + keys)) == len(keys)
    assert shelf.table.get_many([]) == []


def test_a_set_that_was_never_loaded_says_nothing_about_any_value(shelf: Library) -> None:
    for ask in (lambda: shelf.known(1), lambda: shelf.references.ready(["accounts"])):
        with pytest.raises(ReferenceSetMissing, match="set accounts: it was never loaded"):
            ask()
    shelf.load([7])
    shelf.references.ready(["accounts"])
    assert shelf.known(1) == set()


def test_a_set_whose_members_are_gone_is_missing_and_its_values_are_not_unknown(
    shelf: Library,
) -> None:
    shelf.load([1, 7])
    assert shelf.known(8) == set()
    members = [item for item in shelf.items() if item["pk"].count("#") > 1]
    shelf.table.write_each([delete(item["pk"], item["sk"]) for item in members])
    with pytest.raises(ReferenceSetMissing, match="members are gone"):
        shelf.known(7)
    with pytest.raises(ReferenceSetMissing, match="members are gone"):
        shelf.references.ready(["accounts"])


def test_an_empty_set_is_a_missing_one(shelf: Library) -> None:
    shelf.load([1])
    (current,) = (item for item in shelf.items() if item["sk"] == "current")
    shelf.table.write([put({**current, "members": 0})])
    with pytest.raises(ReferenceSetMissing, match="is empty"):
        shelf.known(7)


def test_a_set_that_the_catalogue_lacks_is_missing(shelf: Library) -> None:
    with pytest.raises(ReferenceSetMissing, match="set towns"):
        shelf.references.known("towns", frozenset({"x"}))
    with pytest.raises(ReferenceSetMissing, match="set towns"):
        shelf.references.ready(["towns"])


def test_a_new_member_is_known_at_once_and_one_that_left_after_the_two_memories(
    shelf: Library,
) -> None:
    shelf.load([1, 7])
    assert shelf.known(1, 7, 8) == {"1", "7"}
    shelf.load([7, 8])
    assert shelf.known(8) == {"8"}
    shelf.clock.sleep(POSITIVE + REMEMBERED)
    assert shelf.known(1, 7, 8) == {"7", "8"}


def test_a_lookup_through_which_the_set_is_replaced_twice_sees_one_whole_set(
    shelf: Library,
) -> None:
    """The generation it looks into is removed under its eyes."""
    shelf.load([1, 2])
    replaced: list[bool] = []

    def replace(body: dict[str, Any]) -> None:
        if not replaced and "ConsistentRead" in str(body):
            replaced.append(True)
            shelf.load([1, 3])
            shelf.load([1, 4])

    shelf.answers = replace
    assert shelf.known(1, 2, 4) == {"1", "4"}
    assert replaced


def test_a_set_that_is_replaced_at_each_look_is_unavailable_and_not_without_the_value(
    shelf: Library,
) -> None:
    shelf.load([1])
    loads = itertools.count(2)

    def replace(body: dict[str, Any]) -> None:
        if "ConsistentRead" in str(body):
            shelf.load([next(loads)])

    shelf.answers = replace
    with pytest.raises(ReferencesUnavailable, match="kept being loaded anew") as raised:
        shelf.known(0)
    assert not isinstance(raised.value, ReferenceSetMissing)
    assert next(loads) == 2 + TURNS


def test_members_are_remembered_for_a_minute_and_others_never(shelf: Library) -> None:
    shelf.load([1, 7])
    assert shelf.known(1, 7, 8) == {"1", "7"}
    shelf.calls.clear()
    shelf.clock.sleep(POSITIVE - 1)
    assert shelf.known(1, 7) == {"1", "7"}
    assert shelf.calls == []
    assert shelf.known(8) == set()
    assert shelf.calls
    shelf.calls.clear()
    shelf.clock.sleep(1)
    assert shelf.known(1, 7) == {"1", "7"}
    assert "BatchGetItem" in shelf.calls


def test_what_was_not_asked_is_not_answered(shelf: Library) -> None:
    class Generous:
        def known(self, values: frozenset[str]) -> frozenset[str]:
            return values | {"more"}

        def ready(self) -> None:
            pass

    shelf.load([1])
    source = DynamoSource(shelf.table, "accounts", shelf.clock)
    assert source.known(frozenset({"2"})) == frozenset()
    references = References({"a": Generous()}, shelf.clock)
    assert references.known("a", frozenset({"2"})) == {"2"}


class Everything:
    """A set with everything in it, which counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def known(self, values: frozenset[str]) -> frozenset[str]:
        self.asked += len(values)
        return values

    def ready(self) -> None:
        self.asked += 1


def test_no_more_than_so_many_members_are_remembered_and_the_oldest_go_first(
    shelf: Library,
) -> None:
    source = Everything()
    references = References({"a": source, "b": source}, shelf.clock)
    half = frozenset(map(str, range(MOST // 2)))
    references.known("a", half)
    references.known("b", half)
    references.known("a", half)
    assert source.asked == MOST
    references.known("b", frozenset({"one more"}))
    references.known("b", half)
    assert source.asked == MOST + 1
    references.known("a", half)
    assert source.asked == MOST + 2
    shelf.clock.sleep(POSITIVE)
    for asked in (half, frozenset({"another"}), half):
        references.known("a", asked)
    assert source.asked == MOST + 2 + len(half) + 1, "of what is known anew the time counts"


def test_a_set_that_is_there_is_taken_to_be_for_half_a_minute(shelf: Library) -> None:
    source = Everything()
    references = References({"a": source, "b": source}, shelf.clock)
    for _ in range(2):
        references.ready(["a", "b"])
    assert source.asked == 2
    shelf.clock.sleep(READY)
    references.ready(["a"])
    assert source.asked == 3


def test_a_worker_that_was_not_told_where_its_sets_are_does_not_start(shelf: Library) -> None:
    here = ReferenceSource()
    there = ReferenceSource(source="postgresql", table="accounts", column="id")
    with pytest.raises(SettingMissing, match="REFERENCES_TABLE"):
        build({"accounts": here}, None, None, shelf.clock)
    with pytest.raises(SettingMissing, match="REFERENCES_SECRET"):
        build({"accounts": there}, shelf.table, None, shelf.clock)
    shelf.load([1])
    built = build({"accounts": here}, shelf.table, None, shelf.clock)
    assert built.known("accounts", frozenset({"1", "2"})) == {"1"}
    build({}, None, None, shelf.clock).ready([])
