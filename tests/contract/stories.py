"""Short stories that go, together, through every call to AWS the functions make.

Each leaves everything at rest whatever single fault strikes, and ends the same with it as without.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.contract import books
from tests.contract.jobs import EXTRACT, REPORT
from tests.contract.test_accept import BODY
from tests.contract.world import PARTNER, World
from tests.fakes import answer
from tidegate.doors.cache import Cached
from tidegate.errors import VendorAccount, VendorFailed, VendorRefused
from tidegate.rules.job import Job, JobError, Status
from tidegate.vendors.base import Image, VendorAnswer, VendorCall

IMAGE: dict[str, Any] = {"model": "image-studio", "input": {"prompt": "a cat"}}
PICTURE = Image(b"\x89PNG\r\n\x1a\n...", "image/png")
WHY = JobError("permanent", "vendor_refused", "400", "vendor", 400)


def answered(world: World) -> None:
    """Accept, join, replay with another message, work; a hit at a price; a replay of the end."""
    world.vendor.otherwise = lambda _call: answer(json.dumps(REPORT))
    first = world.post(EXTRACT, "a")
    joined = world.post({**EXTRACT, "metadata": {"note": "other"}}, "b")
    assert joined.json["id"] == first.json["id"] == world.post(EXTRACT, "a").json["id"]
    world.settle()
    assert world.post(EXTRACT, "c").json["source"] == "cache"
    assert world.post(EXTRACT, "a").json["id"] == first.json["id"]
    world.ask("GET", f"/v1/jobs/{first.json['id']}/result")


def tried_again(world: World) -> None:
    """The vendor fails once: another attempt."""

    def call(asked: VendorCall) -> VendorAnswer:
        if asked.idempotency_key.endswith(".0"):
            raise VendorFailed("500", vendor_status=500)
        return answer()

    world.vendor.otherwise = call
    world.post(BODY, "a")
    world.settle()


def account_refused(world: World) -> None:
    """Our account is refused: put back, and a later message."""
    world.vendor.script = [VendorAccount("401", vendor_status=401)]
    world.post(BODY, "a")
    world.settle()


def quarantined(world: World) -> None:
    """The answer breaks its contract."""
    world.vendor.otherwise = lambda _call: answer(json.dumps({**REPORT, "extra": 1}))
    world.post(EXTRACT, "a")
    world.settle()


def refused(world: World) -> None:
    """The vendor refuses for good: a copy in the DLQ."""

    def call(_asked: VendorCall) -> VendorAnswer:
        raise VendorRefused("400", vendor_status=400)

    world.vendor.otherwise = call
    world.post(BODY, "a")
    world.settle()


def dead_lettered(world: World) -> None:
    """Attempts used up; moved to the DLQ by SQS, back by hand; re-opened; an image in our bucket."""

    def call(asked: VendorCall) -> VendorAnswer:
        if asked.idempotency_key.split(".")[1] == "0":
            raise VendorFailed("500", vendor_status=500)
        return answer(None, images=(PICTURE,))

    world.vendor.otherwise = call
    world.post(IMAGE, "a")
    world.settle()
    assert [job.status for job in books.jobs(world.pipeline)] == [Status.DEAD_LETTERED]
    world.redrive("image-studio")
    world.settle()


def large(world: World) -> None:
    """An output that is kept in S3, and read."""
    world.vendor.otherwise = lambda _call: answer("word " * 80_000)
    job_id = world.post(BODY, "a").json["id"]
    world.settle()
    world.ask("GET", f"/v1/jobs/{job_id}/result")


def cancelled(world: World) -> None:
    """Cancelled before the start, twice."""
    job_id = world.post(BODY, "a").json["id"]
    for _ in range(2):
        assert world.ask("POST", f"/v1/jobs/{job_id}/cancel").json["status"] == "cancelled"
    world.settle()


def cancelled_at_work(world: World) -> None:
    """Cancelled while the vendor is at it: the answer is dropped, the flight freed."""

    def call(_asked: VendorCall) -> VendorAnswer:
        world.ask("POST", f"/v1/jobs/{job_id}/cancel")
        return answer()

    world.vendor.otherwise = call
    job_id = world.post(BODY, "a").json["id"]
    world.settle()


def expired(world: World) -> None:
    """Never delivered until its deadline: ended by the sweeper; both its keys begin anew."""
    late = {**BODY, "deadline_seconds": 50}
    ids = {world.post(late, key).json["id"] for key in ("a", "b")}
    world.lose_messages()
    world.settle()
    again = {world.post(late, key).json["id"] for key in ("a", "b")}
    assert len(ids) == len(again) == len(again - ids) == 1
    world.settle()


def unsent(world: World) -> None:
    """Its message is lost: the sweeper sends another."""
    world.post(BODY, "a")
    world.lose_messages()
    world.settle()


def workers_die(world: World) -> None:
    """Every worker that begins it dies: dead-lettered by the sweeper, with a copy."""
    world.post(IMAGE, "a")
    world.lose_messages()
    for n in range(world.pipeline.models.models["image-studio"].retry.starts):
        _claimed(world, f"dies-{n}")
        world.wait(6)
    world.settle()


def living(world: World) -> None:
    """The sweeper comes too early, while a worker holds the job; then that worker is dead."""
    world.post(BODY, "a")
    world.lose_messages()
    job = _claimed(world, "slow")
    with world.wire.unwatched():
        world.pipeline.api.doors.jobs.look_again(job, world.clock.now() - 1)
    world.sweep()
    world.settle()


def owed(world: World) -> None:
    """A worker ended a job and died before it sent the copy."""
    world.post(BODY, "a")
    world.lose_messages()
    job = _claimed(world, "dies")
    with world.wire.unwatched():
        now = world.clock.now()
        world.pipeline.api.endings.end(job, Status.FAILED, WHY, now=now, owed=True)
    world.settle()


def answered_meanwhile(world: World) -> None:
    """The second look finds an answer: taken at its price, with no call."""
    world.vendor.otherwise = lambda _call: answer(json.dumps(REPORT))
    other = world.post({**EXTRACT, "params": {"max_tokens": 9}}, "other").json["id"]
    world.settle()
    job_id = world.post(EXTRACT, "a").json["id"]
    with world.wire.unwatched():
        now, job = world.clock.now(), world.pipeline.api.doors.jobs.load(job_id)
        assert job is not None
        cached = Cached(other, {"data": REPORT}, now, now + 3600)
        world.pipeline.api.doors.cache.promote(job.job_key, cached, now)
    world.settle()


def credited(world: World) -> None:
    """An operator gives credits, and gives them again because nothing was heard."""
    for _ in range(3):
        try:
            with world.wire.actor():
                world.ledger.credit(PARTNER, "gift", 5, world.clock.now())
        except BaseException as died:  # noqa: BLE001
            assert world.wire.struck, died


STORIES: tuple[Callable[[World], None], ...] = (
    answered, tried_again, account_refused, quarantined, refused, dead_lettered, large, cancelled,
    cancelled_at_work, expired, unsent, workers_die, living, owed, answered_meanwhile, credited,
)  # fmt: skip


def _claimed(world: World, token: str) -> Job:
    """Return the only job as a worker of five seconds has claimed it, that is never seen again."""
    (job,) = books.jobs(world.pipeline)
    now = world.clock.now()
    with world.wire.unwatched():
        attempts = world.pipeline.worker(job.model).attempts
        return attempts.claim(job, token, now=now, until=now + 5, start=True)
