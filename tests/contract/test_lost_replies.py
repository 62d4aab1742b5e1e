"""Every call to AWS, on the real boto3: refused, executed with its reply lost, throttled, the
process dead before or after. The end is the same, and the money, as if nothing had happened.

A story is run once without a fault, which tells its calls; then once for each call and each kind.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto.core.models import MockAWS

from tests.contract import commands, stories, stories_cache
from tests.contract.faults import CONDITIONAL, READS, Fault, Kind, kinds
from tests.contract.strike import Story, clean, struck
from tests.contract.world import World, deployed

CONDITIONAL_WRITES: dict[str, Story] = {
    "TransactWriteItems-claims.create": stories.answered,
    "PutItem-claims.join": stories.answered,
    "TransactWriteItems-claims.join": stories.expired,
    "TransactWriteItems-attempts.claim": stories.answered,
    "TransactWriteItems-attempts.fail": stories.tried_again,
    "TransactWriteItems-attempts.put_back": stories.account_refused,
    "TransactWriteItems-attempts.leave": stories.cancelled_at_work,
    "TransactWriteItems-endings.complete": stories.answered,
    "TransactWriteItems-endings.complete_from": stories.answered_meanwhile,
    "TransactWriteItems-endings.end": stories.refused,
    "TransactWriteItems-endings.cancel": stories.cancelled,
    "TransactWriteItems-endings.reopen": stories.dead_lettered,
    "UpdateItem-endings.copied": stories.refused,
    "UpdateItem-jobs.look_again": stories.living,
    "UpdateItem-jobs.resend": stories.answered,
    "PutItem-epochs.begin": stories_cache.invalidated,
    "TransactWriteItems-ledger.credit": commands.credited,
    "TransactWriteItems-partners.add_key": commands.key_made,
    "PutItem-partners.set_limit": commands.limited,
    "TransactWriteItems-partners.set_limit": commands.limited,
}


@pytest.fixture(scope="module")
def world(_moto: MockAWS, redis_single: str) -> Iterator[World]:
    with deployed(_moto, redis_single) as made:
        yield made


@pytest.mark.parametrize("story", stories.STORIES, ids=lambda story: story.__name__)
def test_a_story_ends_the_same_with_any_fault_at_any_call(
    world: World, story: Story, subtests: pytest.Subtests
) -> None:
    calls = clean(world, story).calls
    for number, call in enumerate(calls, 1):
        operation = call.partition("-")[0]
        if operation in READS and number > 1 and call == calls[number - 2]:
            continue  # nothing has happened since the read before
        for kind in kinds(operation):
            with subtests.test(f"{number:02}-{call}-{kind}"):
                struck(world, story, Fault(number, kind))


@pytest.mark.parametrize("write", CONDITIONAL_WRITES, ids=lambda write: f"{write}-lost")
def test_a_conditional_write_whose_reply_is_lost_knows_itself(world: World, write: str) -> None:
    story = CONDITIONAL_WRITES[write]
    number = clean(world, story).calls.index(write) + 1
    struck(world, story, Fault(number, Kind.LOST))


def test_these_are_all_the_conditional_writes(world: World) -> None:
    calls = {call for story in stories.STORIES for call in clean(world, story).calls}
    assert {c for c in calls if c.partition("-")[0] in CONDITIONAL} == set(CONDITIONAL_WRITES)
