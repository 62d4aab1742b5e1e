"""A deployment whose every clock is the test's: moto's SQS, Redis, the handlers, one virtual time.

Partners, Lambda's poller and the schedule do here what they do in the cloud when something fails:
a partner sends a request again, a message comes back, the next minute sweeps.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from moto.core.models import MockAWS

from tests.contract import books, virtual
from tests.contract.faults import Crash, Fault, Wire
from tests.contract.virtual import Nodes, Tables, WatchedValkey, queue
from tests.fakes import FakeClock, FakeIds, ScriptedVendor
from tests.pipeline import FUNDS, Answer, Pipeline, catalogue, create_tables_and_queues
from tidegate.doors import clients
from tidegate.doors.ledger import Ledger
from tidegate.errors import TidegateError
from tidegate.rules.policies import RetryPolicy
from tidegate.vendors.base import VendorAnswer, VendorCall

MODELS = ("chat-mini", "risk-report", "image-studio", "code-command")
"""The models the stories use."""
QUEUES = (*MODELS, *(f"{model}-low" for model in MODELS))
PARTNER = "acme"
FEW = RetryPolicy(attempts=3, starts=4, base=2, cap=8)
"""For short stories: each call of each is a place for a fault."""
MAX_RECEIVES = 4
"""Receives until a message moves to the DLQ: as few, and more than attempts."""
STEP = 15.0
"""Seconds that pass at once."""
LONGEST = 600.0
"""Seconds after which a job that is not at rest is stuck."""


class World:
    """One pipeline, emptied between runs instead of built anew."""

    def __init__(self, url: str, patch: pytest.MonkeyPatch, through: str | None = None) -> None:
        self.clock, self.ids, self.wire = FakeClock(), FakeIds(), Wire()
        self._start = self.clock.now()
        self._nodes = Nodes(url)
        self.clock.slept = self._nodes.age
        for name in ("dynamodb", "sqs", "s3"):
            client = self.wire.tie(getattr(clients, name)())
            patch.setattr(clients, name, lambda made=client: made)
        patch.setattr("botocore.endpoint.time", types.SimpleNamespace(sleep=lambda _seconds: None))
        patch.setattr("moto.sqs.models.unix_time", self.clock.now)
        patch.setattr("moto.sqs.models.unix_time_millis", lambda: self.clock.now() * 1000)
        self.valkey = WatchedValkey(through or url, self.clock, self.wire)
        with self.wire.unwatched():
            usual = catalogue()
            models = {
                name: entry.model_copy(update={"retry": FEW})
                for name, entry in usual.models.items()
            }
            few = usual.model_copy(update={"models": models})
            self.pipeline = Pipeline(self.valkey, self.clock, self.ids, models=few)
        tables: Any = Tables()
        self.pipeline.dynamodb = tables
        for name in QUEUES:
            queue(name).redrive_policy["maxReceiveCount"] = MAX_RECEIVES

    def close(self) -> None:
        """Close the connections."""
        self.valkey.close()
        self._nodes.close()

    def begin(self, fault: Fault | None = None) -> None:
        """Empty everything, and let a run begin."""
        virtual.empty_moto()
        self.wipe_redis()
        self.valkey.begin()
        self.wire.begin(fault)
        self.vendor = self.pipeline.vendor = ScriptedVendor()
        self.known: dict[str, None] = {}
        """Jobs that partners were told of."""
        self.replies: list[tuple[int, bool]] = []
        """Of each acceptance: its status, and whether it said to be a replay."""
        # The same names and times each run, so that each makes the same calls.
        self.clock.time, self.ids._count = self._start, 0
        with self.wire.unwatched():
            self.ledger.credit(PARTNER, "funds", FUNDS, self.clock.now())

    @property
    def ledger(self) -> Ledger:
        """Return the money, through the watched client."""
        return self.pipeline.api.doors.ledger

    @property
    def passed(self) -> float:
        """Return the seconds since the run began."""
        return self.clock.now() - self._start

    def post(self, body: Any, key: str, **headers: str) -> Answer:
        """Return what a partner gets who sends a request until it is accepted."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self._answer("POST", "/v1/jobs", body, {"Idempotency-Key": key, **more})
        assert answer.status in {200, 202}, (answer.status, answer.text)
        self.known[answer.json["id"]] = None
        self.replies.append((answer.status, "Idempotent-Replayed" in answer.headers))
        return answer

    def ask(self, method: str, path: str) -> Answer:
        """Return what a partner gets who asks until there is an answer."""
        answer = self._answer(method, path, None, {})
        assert answer.status == 200, (answer.status, answer.text)
        return answer

    def deliver(self, model: str) -> int:
        """Return how many messages Lambda's poller found; those of a dead worker come back."""
        self.clock.time += 0.01  # moto: a message is visible again after its moment, not at it
        if not any(message.visible and not message.delayed for message in queue(model)._messages):
            return 0
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

    def operate(self, call: Callable[[], object]) -> None:
        """Do what an operator does who may hear nothing, or not that it worked."""
        try:
            with self.wire.actor():
                call()
        except (Crash, ClientError, BotoCoreError, TidegateError):
            return

    def wipe_redis(self) -> None:
        """Empty every node."""
        self._nodes.wipe()

    def lose_messages(self) -> None:
        """Let SQS forget everything that was sent to the models' queues."""
        for name in QUEUES:
            queue(name)._messages.clear()

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

    def settle(self) -> None:
        """Let workers, time and sweeps go on until everything is at rest."""
        waited = 0.0
        while True:
            while sum([self.deliver(name) for name in QUEUES]):
                pass
            jobs = books.jobs(self.pipeline)
            queued = any(queue(name)._messages for name in QUEUES)
            if not queued and all(job.done and job.due_at is None for job in jobs):
                return
            assert waited < LONGEST, [(job.id, job.status, job.due_at) for job in jobs]
            self.wait(STEP)
            waited += STEP
            now = self.clock.now()
            if waited % 60 == 0 and any(job.due_at and job.due_at <= now for job in jobs):
                self.sweep()

    def wait(self, seconds: float) -> None:
        """Let time pass, in Redis too."""
        self.clock.time += seconds
        self._nodes.age(seconds)

    def _answer(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Answer:
        """Return an answer that does not say to ask again; one fault costs one try at most."""
        for _ in range(4):
            try:
                with self.wire.actor():
                    answer = self.pipeline.send(
                        method, path, body=body,
                        headers={"Content-Type": "application/json", **headers},
                    )  # fmt: skip
            except Crash:
                continue
            if answer.status != 503:
                return answer
            assert answer.json["code"] == "temporarily_unavailable"
            assert answer.headers["Retry-After"] == "1"
            self.clock.time += 1
        raise AssertionError("one fault, and no answer")


def at_vendor(
    world: World, call: Callable[[VendorCall], VendorAnswer], watched: range = range(1, 2)
) -> None:
    """Let the vendor answer so, and watch after these of its calls."""

    def called(asked: VendorCall) -> VendorAnswer:
        world.wire.watching = len(world.vendor.calls) in watched
        return call(asked)

    world.vendor.otherwise = called
    world.wire.watching = False


@contextmanager
def deployed(moto: MockAWS, url: str, through: str | None = None) -> Iterator[World]:
    """Run a world on an emptied moto and the Redis at `url`, reached through another address."""
    moto.reset()
    create_tables_and_queues(catalogue())
    with pytest.MonkeyPatch.context() as patch:
        world = World(url, patch, through)
        yield world
        world.close()
