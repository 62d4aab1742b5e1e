"""The meters of the bench `hit_path`: they count what was sent and used, and nothing else."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent
from redis import Redis

from api.incoming import body
from bench.peers import packages
from bench.peers.batch import ALL, COUNTED, TIMED, Batch, cost
from bench.peers.lambdas import posted
from bench.peers.meters import RedisMeter, RedisUse, cpu_seconds, metered, sent
from bench.peers.packages import PeerUnavailable, installed, locked
from cli.local import processes

BURN = """
import sys, time
from pathlib import Path
while time.process_time() < 0.6:
    pass
Path(sys.argv[1]).touch()
time.sleep(600)
"""


@pytest.fixture
def meter(redis_single: str) -> Iterator[RedisMeter]:
    with metered(redis_single) as made:
        yield made


def test_commands_sent_together_are_one_round_trip(redis_single: str, meter: RedisMeter) -> None:
    with Redis.from_url(redis_single) as client:
        client.ping()

        def during() -> str:
            client.get("a")
            with client.pipeline(transaction=False) as together:
                together.get("b").mget("c", "d").set("e", "1").execute()
            client.eval("redis.call('SET', KEYS[1], '1') return redis.call('GET', KEYS[1])", 1, "f")
            return "done"

        assert meter.used(during) == (
            "done",
            RedisUse(round_trips=3, commands={"EVAL": 1, "GET": 2, "MGET": 1, "SET": 1}),
        )


def test_nothing_sent_is_nothing_counted(meter: RedisMeter) -> None:
    assert meter.used(lambda: None) == (None, RedisUse(0, {}))


def test_what_comes_after_the_mark_is_not_counted() -> None:
    lines = [
        {"client_type": "tcp", "command": "get a"},
        {"client_type": "lua", "command": "GET b"},
        {"client_type": "tcp", "command": "INFO stats"},
        {"client_type": "tcp", "command": "ECHO hello"},
        {"client_type": "tcp", "command": "ECHO the-end-of-what-is-counted"},
        {"client_type": "tcp", "command": "GET c"},
    ]
    assert sent(lines) == Counter(GET=1)


def test_cpu_time_is_what_the_process_itself_counts(tmp_path: Path) -> None:
    burnt = tmp_path / "burnt"
    child = processes.start(
        "burner",
        [sys.executable, "-c", BURN, str(burnt)],
        log=tmp_path / "log",
        env=processes.environment(),
        ready=burnt.exists,
        patience=60,
    )
    with child:
        assert cpu_seconds(child.group) == pytest.approx(0.6, abs=0.15)


def test_a_cost_is_per_request_and_vendor_calls_are_of_all(meter: RedisMeter) -> None:
    calls = iter([7, 9])
    asked: list[int] = []

    def answer(count: int) -> Batch:
        asked.append(count)
        return Batch([0.002] * count, count - 1, 0.003 * count, Counter({"dynamodb.X": 2 * count}))

    found = cost(answer, meter, lambda: next(calls))
    assert (found.requests, found.as_expected) == (ALL, ALL - 3)
    assert asked[1:] == [COUNTED, TIMED]
    assert (found.vendor_calls, found.redis_round_trips) == (2, 0)
    assert (found.aws_calls, found.cpu_ms, found.latency_ms.p50) == ({"dynamodb.X": 2}, 3.0, 2.0)


def test_an_event_has_the_key_and_the_body() -> None:
    event: dict[str, Any] = posted({"model": "x", "input": "é"}, "key-1")
    assert event["headers"]["Idempotency-Key"] == "key-1"
    assert event["multiValueHeaders"]["Idempotency-Key"] == ["key-1"]
    assert json.loads(body(APIGatewayProxyEvent(event))) == {"model": "x", "input": "é"}


def test_packages_that_cannot_be_had_are_said_to_be_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "peers.txt"
    lock.write_text("litellm==1\n")  # no hash, so nothing is installed
    monkeypatch.setattr(packages, "LOCK", lock)
    for _ in range(2):
        with pytest.raises(PeerUnavailable, match="hash"):
            installed(tmp_path / "made")


def test_packages_that_are_there_are_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "peers.txt"
    lock.write_text("# nothing\n")
    monkeypatch.setattr(packages, "LOCK", lock)
    commands = installed(tmp_path / "made")
    (commands / "marker").touch()
    assert installed(tmp_path / "made") == commands
    assert (commands / "marker").exists()
    lock.write_text("# something else\n")
    assert not (installed(tmp_path / "made") / "marker").exists()


def test_the_lock_names_the_peer() -> None:
    assert locked("litellm").split(".") > ["1"]
