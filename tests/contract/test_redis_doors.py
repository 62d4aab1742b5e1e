"""Lease, pace, line and cache on a real Redis, one node and a cluster."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.jobs import job
from tests.contract.paces import LIFE, caller, entry, kept, pace
from tests.fakes import FakeClock
from tests.properties import ONE_SERVER
from tidegate.clock import SystemIds
from tidegate.doors.cache import Cache
from tidegate.doors.envelope import Cached
from tidegate.doors.lease import Lease
from tidegate.doors.line import Line
from tidegate.doors.pace import KNOWN, Pace
from tidegate.doors.rate import Rate
from tidegate.doors.staged import Staged
from tidegate.doors.valkey import REST, Valkey
from tidegate.errors import CacheUnavailable
from tidegate.settings import RedisSettings

KEY = "0123abcd"


def test_a_lease_has_one_owner_and_an_end(valkey: Valkey) -> None:
    lease = Lease(valkey)
    assert lease.take(KEY, "mine", 30) == 0
    assert 0 < lease.take(KEY, "yours", 30) <= 30
    lease.release(KEY, "yours")  # not the owner's token
    assert lease.take(KEY, "yours", 30) > 0
    lease.release(KEY, "mine")
    lease.release(KEY, "mine")
    assert lease.take(KEY, "yours", 30) == 0


def test_taking_again_after_a_lost_reply_is_ours(valkey: Valkey) -> None:
    lease = Lease(valkey)
    assert lease.take(KEY, "mine", 30) == 0
    assert lease.take(KEY, "mine", 30) == 0


def test_an_expired_lease_is_free(valkey: Valkey) -> None:
    lease = Lease(valkey)
    assert lease.take(KEY, "mine", 0.001) == 0
    for _ in range(1000):
        if lease.take(KEY, "yours", 30) == 0:
            return
    pytest.fail("the lease has no end")


@pytest.mark.parametrize("life", [0, -1, 0.0001])
def test_no_lease_without_a_life(valkey: Valkey, life: float) -> None:
    with pytest.raises(ValueError, match="above zero"):
        Lease(valkey).take(KEY, "mine", life)


def test_places_are_counted_by_reservation(valkey: Valkey) -> None:
    model = pace(valkey, places=2)
    a, b, c = caller("a"), caller("b"), caller("c")
    assert model.take(a, LIFE, 0).granted
    assert model.take(a, LIFE, 0).granted  # the reply was lost: counted once
    assert model.take(b, LIFE, 0).granted
    full = model.take(c, LIFE, 0)
    assert full.why == "calls"
    assert 0 < full.wait <= LIFE
    model.give_back(a)
    model.give_back(a)
    assert model.take(c, LIFE, 0).granted
    assert model.take(caller("d"), LIFE, 0).why == "calls"


@settings(max_examples=25, suppress_health_check=ONE_SERVER)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 6)), max_size=40))
def test_never_more_calls_than_places_and_back_to_none(
    valkey: Valkey, steps: list[tuple[bool, int]]
) -> None:
    model = pace(valkey, places=3, model="property")
    held: set[int] = set()
    for take, who in steps:
        if take:
            taken = model.take(caller(str(who)), LIFE, 0).granted
            assert taken == (who in held or len(held) < 3)
            held |= {who} if taken else set()
        else:
            model.give_back(caller(str(who)))
            held.discard(who)
    for who in range(7):
        model.give_back(caller(str(who)))
    assert all(model.take(caller(f"after-{n}"), LIFE, 0).granted for n in range(3))
    for n in range(3):
        model.give_back(caller(f"after-{n}"))


def test_a_reader_sees_no_answer_before_its_promotion(valkey: Valkey) -> None:
    cache = Cache(valkey)
    staged = Staged("job_1", "raw", (), False, 1, 1, 1, None, 100.0)
    cache.stage(KEY, staged, 60)
    assert cache.look(KEY, 100.0).result is None
    assert cache.staged(KEY) == staged

    cached = Cached("job_1", {"text": "é"}, 100.0, 130.0, 160.0)
    cache.mark_pending(KEY, "job_1", 60)
    cache.promote(KEY, cached, 100.0)
    look = cache.look(KEY, 100.0)
    assert (look.result, look.running) == (cached, None)
    assert cache.staged(KEY) is None


def test_an_answer_whose_life_is_over_is_not_promoted(valkey: Valkey) -> None:
    cache = Cache(valkey)
    cache.promote(KEY, Cached("job_1", {}, 0.0, 100.0, 100.0), 100.0)
    assert cache.look(KEY, 100.0).result is None


def test_every_key_has_an_end(valkey: Valkey) -> None:
    cache, lease = Cache(valkey), Lease(valkey)
    staged = Staged("job_1", "raw", (), False, 1, 1, 1, None, 100.0)
    cache.stage("other", staged, 60)
    cache.mark_pending(KEY, "job_1", 60)
    cache.promote("third", Cached("job_1", {}, 100.0, 160.0, 160.0), 100.0)
    lease.take(KEY, "t", 60)
    model = pace(valkey, requests_per_minute=60, tokens_per_minute=6000)
    model.take(caller("r", 100, lane="low"), 60, 0)
    Line(valkey, SystemIds()).join(job("acme"))
    Line(valkey, SystemIds()).turn(job("acme", "job_2"), 1)
    Rate(valkey).take("acme", "request", 60)
    longest = {"pause": KNOWN, "line": 86_400, "turn": 86_400}
    keys = {
        "tg:{other}:stage", f"tg:{{{KEY}}}:pending", "tg:{third}:result", f"tg:{{{KEY}}}:lease",
        "tg:{m}:pause", "tg:{m}:calls", "tg:{m}:requests", "tg:{m}:tokens", "tg:{m}:low",
        "tg:{m}:held:r", "tg:{m}:line", "tg:{m}:turn", "tg:{partner:acme}:posts",
    }  # fmt: skip
    assert set(kept(valkey)) == keys

    def life(key: str) -> float:
        return int(valkey._do(lambda client: client.pttl(key))) / 1000

    assert all(0 < life(key) <= longest.get(key.rpartition(":")[2], 60) for key in keys)


def test_an_unreachable_redis_is_one_error(no_valkey: Valkey) -> None:
    for call in (
        lambda: Lease(no_valkey).take(KEY, "t", 1),
        lambda: Pace(no_valkey, "m", entry()).take(caller("r"), 1, 0),
        lambda: Line(no_valkey, SystemIds()).turn(job("acme"), 1),
        lambda: Rate(no_valkey).take("acme", "r", 1),
        lambda: Cache(no_valkey).look(KEY, 0.0),
    ):
        with pytest.raises(CacheUnavailable):
            call()


def test_a_redis_that_was_silent_is_left_alone_for_a_moment() -> None:
    clock = FakeClock()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(2)
        port = silent.getsockname()[1]
        door = Valkey(RedisSettings(f"redis://127.0.0.1:{port}/0", None, None, ""), None, clock)

        def connections() -> int:
            """Return how many have come; the one that is made here is not counted."""
            with socket.create_connection(("127.0.0.1", port)) as mark:
                count = 0
                while True:
                    made, _address = silent.accept()
                    made.close()
                    if _address == mark.getsockname():
                        return count
                    count += 1

        for expected in (True, False):
            with pytest.raises(CacheUnavailable):
                door.get("key")
            assert (connections() > 0) == expected
        clock.time += REST
        with pytest.raises(CacheUnavailable):
            door.get("key")
        assert connections() > 0
        door.close()
