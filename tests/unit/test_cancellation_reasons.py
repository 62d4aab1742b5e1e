"""Why DynamoDB cancelled a write: a condition, a conflict, too much at once, or our own fault."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import FakeClock, FakeIds
from tidegate.doors.actions import put, update
from tidegate.doors.dynamo import CONFLICT_TRIES, ConditionFailed, Table, raise_if_condition
from tidegate.errors import Conflict

CONDITION = "ConditionalCheckFailed"
PASSING = ("TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded")
OURS = ("ValidationError", "ItemCollectionSizeLimitExceeded", "AccessDenied", "DuplicateItem")
ITEM = {"pk": {"S": "there"}, "n": {"N": "3"}}

REASONS = st.lists(st.sampled_from(("None", CONDITION, *PASSING, *OURS)), min_size=1, max_size=8)


def cancelled(codes: list[str]) -> ClientError:
    """Return what a transaction of so many actions raises."""
    reasons: list[dict[str, Any]] = [{"Code": code} for code in codes]
    for reason in reasons:
        if reason["Code"] == CONDITION:
            reason["Item"] = ITEM
    response: Any = {
        "Error": {"Code": "TransactionCanceledException", "Message": "cancelled"},
        "CancellationReasons": reasons,
    }
    return ClientError(response, "TransactWriteItems")


def refused(code: str, **more: Any) -> ClientError:
    """Return what a single write raises."""
    response: Any = {"Error": {"Code": code, "Message": code}, **more}
    return ClientError(response, "PutItem")


def classified(error: ClientError) -> str:
    """Return `again`, `condition` or `fault`."""
    try:
        raise_if_condition(error)
    except ConditionFailed:
        return "condition"
    except ClientError as raised:
        return "fault" if raised is error else "another error"
    return "again"


@pytest.mark.parametrize(
    ("codes", "kind"),
    [
        ([CONDITION], "condition"),
        (["None", CONDITION, "None"], "condition"),
        (["TransactionConflict"], "again"),
        (["None", "TransactionConflict", "TransactionConflict"], "again"),
        (["ThrottlingError", "None"], "again"),
        (["ProvisionedThroughputExceeded", "TransactionConflict"], "again"),
        ([CONDITION, "TransactionConflict"], "condition"),  # known not to hold: no try would help
        ([CONDITION, "ThrottlingError"], "condition"),
        (["ValidationError"], "fault"),
        (["ValidationError", "TransactionConflict"], "fault"),
        (["ItemCollectionSizeLimitExceeded", "None"], "fault"),
        (["None", "None"], "fault"),  # no reason given is no reason to try for ever
        ([], "fault"),
    ],
)
def test_each_mix_of_reasons(codes: list[str], kind: str) -> None:
    assert classified(cancelled(codes)) == kind


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ConditionalCheckFailedException", "condition"),
        ("TransactionConflictException", "again"),
        ("TransactionInProgressException", "again"),
        ("ThrottlingException", "again"),
        ("ProvisionedThroughputExceededException", "again"),
        ("RequestLimitExceeded", "again"),
        ("ValidationException", "fault"),
        ("AccessDeniedException", "fault"),
        ("ResourceNotFoundException", "fault"),
        ("IdempotentParameterMismatchException", "fault"),
        ("InternalServerError", "fault"),
    ],
)
def test_each_error_of_a_single_write(code: str, kind: str) -> None:
    assert classified(refused(code)) == kind


@given(REASONS)
def test_only_a_condition_is_reported_as_one_and_only_what_passes_is_tried_again(
    codes: list[str],
) -> None:
    expected = "fault"
    if CONDITION in codes:
        expected = "condition"
    elif set(codes) - {"None"} and set(codes) <= {"None", *PASSING}:
        expected = "again"
    assert classified(cancelled(codes)) == expected


@given(REASONS.filter(lambda codes: CONDITION in codes))
def test_what_is_there_is_told_for_each_condition_and_for_nothing_else(codes: list[str]) -> None:
    with pytest.raises(ConditionFailed) as failed:
        raise_if_condition(cancelled(codes))
    there = {"pk": "there", "n": 3}
    assert failed.value.found == [there if code == CONDITION else None for code in codes]


def test_a_condition_on_an_item_that_is_not_there_is_told_apart_from_one_that_held() -> None:
    with pytest.raises(ConditionFailed) as failed:
        raise_if_condition(refused("ConditionalCheckFailedException"))
    assert failed.value.found == [{}]


class Scripted:
    """A client whose writes fail as scripted, then succeed."""

    def __init__(self, *errors: ClientError) -> None:
        self.errors = list(errors)
        self.tries = 0

    def transact_write_items(self, **_: Any) -> None:
        self.tries += 1
        if self.errors:
            raise self.errors.pop(0)


def write(client: Any) -> float:
    """Write a transaction, and return the seconds that were waited."""
    clock = FakeClock()
    begun = clock.now()
    table = Table(client, "t", clock, FakeIds(fraction=0.5))
    table.write([put({"pk": "a", "sk": "b"}), update("c", "d", {"n": 1}, "")])
    return clock.now() - begun


def test_conflicts_are_waited_out_with_growing_pauses() -> None:
    client = Scripted(*[cancelled(["None", "TransactionConflict"])] * 5)
    waited = write(client)
    assert client.tries == 6
    assert waited == pytest.approx(0.5 * sum(0.025 * 2**n for n in range(5)))


def test_a_conflict_without_end_is_reported_as_one() -> None:
    client = Scripted(*[cancelled(["TransactionConflict", "None"])] * 99)
    with pytest.raises(Conflict):
        write(client)
    assert client.tries == CONFLICT_TRIES


def test_a_condition_found_after_conflicts_is_reported_at_once() -> None:
    client = Scripted(cancelled(["TransactionConflict", "None"]), cancelled([CONDITION, "None"]))
    with pytest.raises(ConditionFailed):
        write(client)
    assert client.tries == 2


def test_a_fault_of_ours_is_not_tried_again() -> None:
    client = Scripted(cancelled(["ValidationError", "TransactionConflict"]))
    with pytest.raises(ClientError):
        write(client)
    assert client.tries == 1
