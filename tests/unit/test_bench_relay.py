"""The kill bench's relay for Redis: a client's write is one step, and steps have names."""

from __future__ import annotations

import os
import socket
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis import Redis

from bench.deployed.call import Call, When
from bench.deployed.killer import Killer, Plan, Step
from bench.deployed.redis_relay import redis_relay, taken, writes
from bench.deployed.steps import looks, redis_step, scripts
from tests.patience import REDIS
from tests.properties import ANY_MACHINE
from tidegate.clock import SystemClock
from tidegate.doors.valkey import Valkey, Values
from tidegate.settings import RedisSettings

KEY = "a" * 64
RATE = next(sha for sha, (name, _text) in scripts().items() if name == "rate_take").encode()
EPOCHS = [b"MGET", b"tg:{epochs}:model:m", b"tg:{epochs}:partner:p", b"tg:{epochs}:both:m/p"]
ANSWER = [b"MGET", *(f"tg:{{{KEY}}}:{name}".encode() for name in ("result", "pending"))]
COUNTED = [b"EVALSHA", RATE, b"1", b"tg:{partner:p}:posts", b"name", b"1", b"60000"]
LOOK = "Redis MGET epochs + MGET result pending + rate_take"

commands = st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=5), max_size=5)


def packed(*some: list[bytes]) -> bytes:
    return b"".join(
        b"*%d\r\n" % len(each) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in each)
        for each in some
    )


@settings(max_examples=200, deadline=None, suppress_health_check=ANY_MACHINE)
@given(commands, st.data())
def test_commands_are_taken_whole_wherever_the_bytes_are_cut(
    some: list[list[bytes]], data: st.DataObject
) -> None:
    sent = packed(*some)
    cut = data.draw(st.integers(0, len(sent)))
    first, left = taken(sent[:cut])
    rest, none = taken(left + sent[cut:])
    assert (first + rest, none) == (some, b"")
    assert first == some[: len(first)]
    assert packed(*first) + left == sent[:cut]


def test_what_comes_together_is_one_write_and_half_a_command_is_none() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        found = writes(ours)
        theirs.sendall(packed(EPOCHS, ANSWER, COUNTED))
        assert next(found) == ([EPOCHS, ANSWER, COUNTED], packed(EPOCHS, ANSWER, COUNTED))
        whole = packed(ANSWER)
        theirs.sendall(whole[:20])
        late = threading.Timer(0.2, theirs.sendall, [whole[20:]])
        late.start()
        assert next(found) == ([ANSWER], whole)
        late.join()
        theirs.shutdown(socket.SHUT_WR)
        assert next(found, None) is None


@pytest.mark.parametrize(
    ("sent", "step"),
    [
        ([EPOCHS, ANSWER, COUNTED], LOOK),
        ([EPOCHS, ANSWER], "Redis MGET epochs + MGET result pending"),
        ([COUNTED], "Redis rate_take"),
        ([[b"HELLO", b"3"], [b"CLIENT", b"SETINFO"]], None),
        ([[b"CLIENT", b"SETINFO"], ANSWER], "Redis MGET result pending"),
        ([[b"SET", f"tg:{{{KEY}}}:refresh".encode(), b"1", b"NX"]], "Redis SET refresh"),
    ],
)
def test_a_step_is_named_by_all_that_is_sent(sent: list[list[bytes]], step: str | None) -> None:
    assert redis_step(sent) == step
    assert looks(step or "") == (step == LOOK)


def call(step: str, text: str = "", role: str = "api", pid: int = 7) -> Call:
    return Call(role, pid, step, text)


def test_a_kill_happens_at_its_step_of_its_job_and_once() -> None:
    killer = Killer(os.getpgrp())
    killer.trace("b" * 64)
    plan = Plan(Step("api", "SQS SendMessage", 2), "after")
    killer.arm(KEY, plan)

    def post(job_key: str) -> list[When | None]:
        look = call(LOOK, f"tg:{{{job_key}}}:result")
        return [killer.seen(each) for each in (look, *[call("SQS SendMessage")] * 2)]

    assert post("b" * 64) == [None, None, None]
    assert post(KEY) == [None, None, "after"]
    assert plan.killed_at is not None
    assert post(KEY) == [None, None, None]
    assert [str(step) for step in killer.traces["b" * 64]] == [
        LOOK, "SQS SendMessage", "SQS SendMessage (2)",
    ]  # fmt: skip


def test_a_look_that_is_repeated_belongs_to_the_same_post() -> None:
    killer = Killer(os.getpgrp())
    killer.trace(KEY)
    text = f"tg:{{{KEY}}}:result"
    killer.seen(call(LOOK, text))
    killer.seen(call("Redis MGET epochs + MGET result pending", text))
    assert [step.number for step in killer.traces[KEY]] == [1, 1]


class Seen:
    """Watches, and kills nobody."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def seen(self, call: Call) -> When | None:
        self.steps.append(call.step)
        return None

    def kill(self, call: Call, when: When) -> None:
        raise AssertionError(f"{call.step}: {when}")


def test_replies_come_back_as_they_were_asked(redis_single: str) -> None:
    seen = Seen()
    with (
        redis_relay("api", redis_single, os.getpgrp(), seen) as url,
        Redis.from_url(url, decode_responses=True) as client,
    ):
        pipe = client.pipeline(transaction=False)
        large = "x" * 200_000
        replies = pipe.set("tg:{a}:one", large).get("tg:{a}:one").mget("tg:{a}:one", "no").execute()
    assert replies == [True, large, [large, None]]
    assert "GET one" in " ".join(seen.steps)


def test_a_clusters_client_stays_with_its_relay(redis_alone: str) -> None:
    seen = Seen()
    with redis_relay("api", redis_alone, os.getpgrp(), seen) as url:
        assert url.startswith("redis+cluster://")
        door = Valkey(RedisSettings(url, None, None, ""), None, SystemClock(), REDIS)
        door.set("tg:{a}:one", "1", 60)
        assert door.together([Values(("tg:{a}:one",)), Values(("tg:{b}:two",))]) == [["1"], [None]]
        door.close()
    assert [step for step in seen.steps if step] == ["Redis SET one", "Redis MGET one + MGET two"]
