"""Short stories that go, together, through every call to AWS the functions make.

Each leaves everything at rest whatever single fault strikes, and ends the same as without it.
What one has gone through the others do not watch again: the way to the vendor is `answered`'s.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.contract import books
from tests.contract.commands import credited, key_made, limited
from tests.contract.jobs import EXTRACT, REPORT, loaded
from tests.contract.stories_cache import invalidated, past_the_cache, refreshed, renamed
from tests.contract.test_accept import BODY
from tests.contract.world import World, at_vendor
from tests.fakes import answer
from tests.pictures import picture
from tidegate.doors.envelope import Cached
from tidegate.errors import VendorAccount, VendorFailed, VendorRefused
from tidegate.rules.job import Job, JobError, Status
from tidegate.vendors.base import VendorAnswer, VendorCall

IMAGE: dict[str, Any] = {"model": "image-studio", "input": {"prompt": "a cat"}}
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

    at_vendor(world, call)
    world.post(BODY, "a")
    world.settle()


def account_refused(world: World) -> None:
    """Our account is refused: put back, and a later message."""

    def call(_asked: VendorCall) -> VendorAnswer:
        if len(world.vendor.calls) == 1:
            raise VendorAccount("401", vendor_status=401)
        return answer()

    at_vendor(world, call)
    world.post(BODY, "a")
    world.settle()


def quarantined(world: World) -> None:
    """The answer breaks its contract."""
    at_vendor(world, lambda _call: answer(json.dumps({**REPORT, "extra": 1})))
    world.post(EXTRACT, "a")
    world.settle()


def refused(world: World) -> None:
    """The vendor refuses for good: a copy in the DLQ."""

    def call(_asked: VendorCall) -> VendorAnswer:
        raise VendorRefused("400", vendor_status=400)

    at_vendor(world, call)
    world.post(BODY, "a")
    world.settle()


def dead_lettered(world: World) -> None:
    """Attempts used up; to the DLQ by SQS, back by hand; re-opened; an image in our bucket."""

    def call(asked: VendorCall) -> VendorAnswer:
        if asked.idempotency_key.split(".")[1] == "0":
            raise VendorFailed("500", vendor_status=500)
        return answer(None, images=(picture(),))

    at_vendor(world, call, range(2, 9))
    world.post(IMAGE, "a")
    world.settle()
    assert [job.status for job in books.jobs(world.pipeline)] == [Status.DEAD_LETTERED]
    world.redrive("image-studio")
    world.settle()


def large(world: World) -> None:
    """An output that is kept in S3, and read."""
    at_vendor(world, lambda _call: answer("word " * 80_000))
    job_id = world.post(BODY, "a").json["id"]
    world.settle()
    world.ask("GET", f"/v1/jobs/{job_id}/result")


def cancelled(world: World) -> None:
    """Cancelled before the start, twice."""
    job_id = _accepted(world, BODY)
    for _ in range(2):
        assert world.ask("POST", f"/v1/jobs/{job_id}/cancel").json["status"] == "cancelled"
    world.settle()


def cancelled_at_work(world: World) -> None:
    """Cancelled while the vendor is at it: the answer is dropped, the flight freed."""

    def call(_asked: VendorCall) -> VendorAnswer:
        world.ask("POST", f"/v1/jobs/{job_id}/cancel")
        return answer()

    at_vendor(world, call)
    job_id = world.post(BODY, "a").json["id"]
    world.settle()


def expired(world: World) -> None:
    """Never delivered until its deadline: ended by the sweeper; both its keys begin anew."""
    late = {**BODY, "deadline_seconds": 200}
    ids = {_accepted(world, late, key) for key in ("a", "b")}
    world.lose_messages()
    world.wait(200)
    world.settle()
    again = {world.post(late, key).json["id"] for key in ("a", "b")}
    assert len(ids) == len(again) == len(again - ids) == 1
    with world.wire.unwatched():
        world.settle()


def unsent(world: World) -> None:
    """Its message is lost: the sweeper sends another."""
    _accepted(world, BODY)
    world.lose_messages()
    world.wait(60)
    world.sweep()
    with world.wire.unwatched():
        world.settle()


def workers_die(world: World) -> None:
    """Every worker that begins it dies: dead-lettered by the sweeper, with a copy."""
    _accepted(world, IMAGE)
    world.lose_messages()
    for n in range(world.pipeline.models.models["image-studio"].retry.starts):
        _claimed(world, f"dies-{n}")
        world.wait(6)
    world.settle()


def living(world: World) -> None:
    """The sweeper comes too early, while a worker holds the job; then that worker is dead."""
    _accepted(world, BODY)
    world.lose_messages()
    job = _claimed(world, "slow")
    with world.wire.unwatched():
        world.pipeline.api.doors.jobs.look_again(job, world.clock.now() - 1)
    world.sweep()
    with world.wire.unwatched():
        world.settle()


def owed(world: World) -> None:
    """A worker ended a job and died before it sent the copy."""
    _accepted(world, BODY)
    world.lose_messages()
    job = _claimed(world, "dies")
    with world.wire.unwatched():
        now = world.clock.now()
        world.pipeline.api.endings.end(job, Status.FAILED, WHY, now=now, owed=True)
    world.settle()


def answered_meanwhile(world: World) -> None:
    """The second look finds an answer: taken at its price, with no call."""
    world.vendor.otherwise = lambda _call: answer(json.dumps(REPORT))
    with world.wire.unwatched():
        other = world.post({**EXTRACT, "params": {"max_tokens": 9}}, "other").json["id"]
        world.settle()
    job_id = _accepted(world, EXTRACT)
    with world.wire.unwatched():
        now, job = world.clock.now(), loaded(world.pipeline, job_id)
        cached = Cached(other, {"data": REPORT}, now, now + 3600, now + 3600)
        world.pipeline.api.doors.cache.promote(job.job_key, cached, now)
    world.settle()


STORIES: tuple[Callable[[World], None], ...] = (
    answered, tried_again, account_refused, quarantined, refused, dead_lettered, large, cancelled,
    cancelled_at_work, expired, unsent, workers_die, living, owed, answered_meanwhile,
    refreshed, invalidated, past_the_cache, renamed, credited, key_made, limited,
)  # fmt: skip


def _accepted(world: World, body: Any, key: str = "a") -> str:
    """Return the id of a job that was accepted without a fault."""
    with world.wire.unwatched():
        return str(world.post(body, key).json["id"])


def _claimed(world: World, token: str) -> Job:
    """Return the only job as a worker of five seconds has claimed it, that is never seen again."""
    (job,) = books.jobs(world.pipeline)
    now = world.clock.now()
    with world.wire.unwatched():
        attempts = world.pipeline.worker(job.model).attempts
        claimed: Job = attempts.claim(job, token, now=now, until=now + 5, start=True)
        return claimed
