"""A deployment whose every clock is the test's: moto's SQS, Redis, the handlers, one virtual time.

Partners, Lambda's poller and the schedule do here what they do in the cloud when something fails:
a partner sends a request again, a message comes back, the next minute sweeps.
"""

from __future__ import annotations

import types
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from moto.backends import get_backend
from redis import Redis

from cli.local import redis
from tests.contract import books
from tests.contract.faults import Crash, Fault, Wire
from tests.fakes import FakeClock, FakeIds, ScriptedVendor
from tests.pipeline import FUNDS, REGION, Answer, Pipeline
from tidegate.doors import clients
from tidegate.doors.ledger import Ledger
from tidegate.doors.valkey import Valkey
from tidegate.errors import TidegateError
from tidegate.rules.job import Status
from tidegate.settings import RedisSettings

ACCOUNT = "123456789012"
MODELS = ("chat-mini", "risk-report", "image-studio")
"""The models the stories use."""
PARTNER = "acme"
MAX_RECEIVES = 4
"""Receives until a message moves to the DLQ: few, for short stories."""
STEP = 15.0
"""Seconds that pass at once."""
LONGEST = 600.0
"""Seconds after which a job that is not at rest is stuck."""


class WatchedValkey(Valkey):
    """The shipped door to Redis, through which the dead do nothing."""

    def __init__(self, url: str, clock: FakeClock, wire: Wire) -> None:
        super().__init__(RedisSettings(url, None, None, REGION), None, clock)
        self._wire = wire

    def _do(self, call: Any) -> Any:
        self._wire.alive()
        return super()._do(call)


@dataclass(frozen=True)
class Picture:
    """What is left when everything is at rest, whatever happened on the way."""

    jobs: Counter[tuple[Any, ...]]
    claims: int
    money: dict[str, dict[str, int]]
    dead_letters: int
    """Distinct jobs in the DLQs: a copy may come twice, but must come."""
    quarantined: int
    seen: Counter[tuple[Any, ...]]
    """What partners read of their jobs."""


class World:
    """One pipeline, emptied between runs instead of built anew."""

    def __init__(self, url: str, patch: pytest.MonkeyPatch) -> None:
        self.clock, self.ids, self.wire = FakeClock(), FakeIds(), Wire()
        self._url = url
        self._nodes = [Redis(port=port, decode_responses=True) for port in _ports(url)]
        for name in ("dynamodb", "sqs", "s3"):
            client = self.wire.tie(getattr(clients, name)())
            patch.setattr(clients, name, lambda made=client: made)
        patch.setattr("botocore.endpoint.time", types.SimpleNamespace(sleep=lambda _seconds: None))
        patch.setattr("moto.sqs.models.unix_time", self.clock.now)
        patch.setattr("moto.sqs.models.unix_time_millis", lambda: self.clock.now() * 1000)
        self.valkey = WatchedValkey(url, self.clock, self.wire)
        with self.wire.unwatched():
            self.pipeline = Pipeline(self.valkey, self.clock, self.ids)
        for model in MODELS:
            self._limit_receives(model)

    def close(self) -> None:
        """Close the connections."""
        self.valkey.close()
        for node in self._nodes:
            node.close()

    def begin(self, fault: Fault | None = None) -> None:
        """Empty everything, and let a run begin."""
        for table in get_backend("dynamodb")[ACCOUNT][REGION].tables.values():
            table.items.clear()
        for queue in get_backend("sqs")[ACCOUNT][REGION].queues.values():
            queue._messages.clear()
            queue.pending_messages.clear()
        redis.flush(self._url)
        self.wire.__init__()  # type: ignore[misc]
        self.vendor = self.pipeline.vendor = ScriptedVendor()
        self.known: dict[str, None] = {}
        self.clock.time += 10
        with self.wire.unwatched():
            self.ledger.credit(PARTNER, "funds", FUNDS, self.clock.now())
        self.wire.fault = fault

    @property
    def ledger(self) -> Ledger:
        """Return the money, through the watched client."""
        return self.pipeline.api.doors.ledger

    def post(self, body: Any, key: str) -> Answer:
        """Return what a partner gets who sends a request until it is accepted."""
        for _ in range(4):
            answer = self._asked("POST", "/v1/jobs", body, {"Idempotency-Key": key})
            if answer is not None:
                assert answer.status in {200, 202}, (answer.status, answer.text)
                self.known[answer.json["id"]] = None
                return answer
        raise AssertionError("one fault, and no answer")

    def ask(self, method: str, path: str) -> Answer:
        """Return what a partner gets who asks until there is an answer."""
        for _ in range(4):
            answer = self._asked(method, path, None, {})
            if answer is not None:
                assert answer.status == 200, (answer.status, answer.text)
                return answer
        raise AssertionError("one fault, and no answer")

    def deliver(self, model: str) -> int:
        """Return how many messages Lambda's poller found; those of a dead worker come back."""
        self.clock.time += 0.01  # moto: a message is visible again after its moment, not at it
        try:
            with self.wire.actor():
                return self.pipeline.deliver(model)
        except Crash:
            return 1

    def sweep(self) -> None:
        """Do what the schedule does every minute; what fails is for the next."""
        try:
            with self.wire.actor():
                self.pipeline.sweep()
        except (Crash, ClientError, BotoCoreError, TidegateError):
            return

    def lose_messages(self) -> None:
        """Let SQS forget everything that was sent to the models' queues."""
        for model in MODELS:
            self.pipeline.sqs.purge_queue(QueueUrl=self.pipeline.queue_url(model))

    def redrive(self, model: str) -> None:
        """Move a DLQ's messages back by hand."""
        sqs, dlq = self.pipeline.sqs, self.pipeline.dlq_url(model)
        self.clock.time += 5
        while found := sqs.receive_message(QueueUrl=dlq, MessageAttributeNames=["All"]).get(
            "Messages"
        ):
            for message in found:
                sqs.send_message(
                    QueueUrl=self.pipeline.queue_url(model),
                    MessageBody=message["Body"],
                    MessageAttributes=message.get("MessageAttributes", {}),
                )
                sqs.delete_message(QueueUrl=dlq, ReceiptHandle=message["ReceiptHandle"])

    def settle(self) -> float:
        """Let workers, time and sweeps go on until everything is at rest; return the seconds."""
        passed = 0.0
        while True:
            while any([self.deliver(model) for model in MODELS]):
                pass
            if self.at_rest():
                return passed
            assert passed < LONGEST, [(j.id, j.status, j.due_at) for j in books.jobs(self.pipeline)]
            self.wait(STEP)
            passed += STEP
            if passed % 60 == 0:
                self.sweep()

    def at_rest(self) -> bool:
        """Return whether nobody has anything left to do."""
        jobs = books.jobs(self.pipeline)
        return all(job.done and job.due_at is None for job in jobs) and not any(map(self._busy, MODELS))

    def wait(self, seconds: float) -> None:
        """Let time pass, in Redis too."""
        self.clock.time += seconds
        for node in self._nodes:
            for key in node.keys("*"):
                left = node.pttl(key) - round(seconds * 1000)
                if node.type(key) == "zset":
                    for member, score in node.zrange(key, 0, -1, withscores=True):
                        node.zadd(key, {member: score - seconds * 1000})
                node.pexpire(key, left)  # not above zero: gone at once

    def picture(self) -> Picture:
        """Return what is left, after checking what must hold in any case."""
        with self.wire.unwatched():
            money = books.check(self.pipeline)
            jobs = books.jobs(self.pipeline)
            seen = Counter(self._read(job_id) for job_id in self.known)
        items = self.pipeline.items()
        claims = [i["job_id"]["S"] for i in items if i["sk"]["S"] == "claim"]
        assert set(claims) <= {job.id for job in jobs}
        assert not [i for i in items if i["sk"]["S"].startswith("job#")], "work claimed for ever"
        assert all(job.owner is None for job in jobs)
        sqs, dlqs = get_backend("sqs")[ACCOUNT][REGION], Counter[str]()
        for model in MODELS:
            dlqs.update(m.body for m in sqs.queues[f"tg-{model}-dlq"]._messages)
        names = [j.id for j in jobs if any(j.id in body for body in dlqs)]
        apart = [m.body for m in sqs.queues["tg-quarantine"]._messages]
        return Picture(
            Counter((j.status, j.charged, j.reserved, j.replay_count, _code(j)) for j in jobs),
            len(claims), money, len(names),
            len([j for j in jobs if any(j.id in body for body in apart)]), seen,
        )  # fmt: skip

    def _read(self, job_id: str) -> tuple[Any, ...]:
        job = self.pipeline.get(f"/v1/jobs/{job_id}").json
        return job["status"], job["done"], str(job["output"] and sorted(job["output"]))

    def _asked(self, method: str, path: str, body: Any, headers: Any) -> Answer | None:
        """Return an answer, or None if there was none or one that says to ask again."""
        headers = {"Content-Type": "application/json", **headers}
        try:
            with self.wire.actor():
                answer = self.pipeline.send(method, path, body=body, headers=headers)
        except Crash:
            return None
        if answer.status != 503:
            return answer
        assert answer.json["code"] == "temporarily_unavailable"
        assert answer.headers["Retry-After"] == "1"
        self.clock.time += 1
        return None

    def _busy(self, model: str) -> bool:
        return bool(get_backend("sqs")[ACCOUNT][REGION].queues[f"tg-{model}"]._messages)

    def _limit_receives(self, model: str) -> None:
        queue = get_backend("sqs")[ACCOUNT][REGION].queues[f"tg-{model}"]
        queue.redrive_policy["maxReceiveCount"] = MAX_RECEIVES


def _code(job: Any) -> str | None:
    return job.error.code if job.error and job.status is not Status.COMPLETED else None


def _ports(url: str) -> list[int]:
    if url.startswith("redis+cluster://"):
        return redis.cluster_ports(url)
    return [int(url.rsplit(":", 1)[1].split("/")[0])]


