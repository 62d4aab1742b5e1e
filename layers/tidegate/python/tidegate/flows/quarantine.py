"""Answers that failed the gate, in an operator's hands: released to their partner, or discarded.

release: the job is re-opened for its answer as it is, with the decision, in one transaction; a
worker completes it without a call. Killed between the two and asked again, it is sent again.
discard: the raw answer is removed; who decided it, and why, stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from botocore.exceptions import BotoCoreError, ClientError

from tidegate.clock import Clock
from tidegate.doors.dlq import DeadLetters, Reading
from tidegate.doors.dynamo import ConditionFailed
from tidegate.doors.endings import Endings
from tidegate.doors.jobs import Jobs
from tidegate.doors.quarantine import Quarantine
from tidegate.doors.queue import NotOurs, Queue, job_id_in
from tidegate.errors import NotReplayable, TidegateError
from tidegate.flows.bound import bind
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Job
from tidegate.rules.quarantine import Decision, Record, State, refusal
from tidegate.rules.quarantine_request import QuarantineRequest
from tidegate.telemetry import Telemetry

TIME_TO_STOP = 10.0
"""Seconds the function must have left to begin with another job or message."""

MOST_MESSAGES = 2000
"""Messages of the quarantine queue that are looked through for those of decided jobs; one that is
left there only reminds of what is done."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What deciding reaches the world by."""

    jobs: Jobs
    endings: Endings
    quarantine: Quarantine
    queue: Queue
    dead_letters: DeadLetters
    quarantine_url: str
    queue_url_prefix: str
    clock: Clock
    telemetry: Telemetry


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one job's answer."""

    job_id: str
    result: str
    """`released`, `discarded`, `refused` or `failed`."""
    reason: str | None = None


def decide(
    request: QuarantineRequest,
    doors: Doors,
    entries: Mapping[str, Entry],
    remaining: Callable[[], float],
) -> list[Done]:
    """Return what became of each job that was named; `remaining` is in seconds."""
    done = []
    for job_id in dict.fromkeys(request.job_ids):
        if remaining() < TIME_TO_STOP:
            done.append(Done(job_id, "failed", "no time was left; ask again"))
            continue
        doors.telemetry.fresh()
        doors.telemetry.bind(job_id=job_id)
        try:
            one = _decided(job_id, request, doors, entries)
        except NotReplayable as refused:
            one = Done(job_id, "refused", str(refused))
        except (TidegateError, ClientError, BotoCoreError) as error:
            doors.telemetry.failed("decision_failed", error)
            one = Done(job_id, "failed", type(error).__name__)
        doors.telemetry.info("quarantine_decided", result=one.result, reason=one.reason)
        done.append(one)
    settled = {one.job_id for one in done if one.result in {"released", "discarded"}}
    with suppress(ClientError, BotoCoreError):  # they only remind
        _forget(settled, doors, remaining)
    return done


def _decided(
    job_id: str, request: QuarantineRequest, doors: Doors, entries: Mapping[str, Entry]
) -> Done:
    job, record = doors.jobs.load(job_id), doors.quarantine.record(job_id)
    if job is not None:
        bind(doors.telemetry, job)
    if record is None:
        raise NotReplayable("there is no such record")
    state: State = "released" if request.quarantine == "release" else "discarded"
    if not _made_before(record, state, request):
        decision = Decision(state, request.by, request.why, doors.clock.now())
        if state == "released":
            job = _released(job, record, decision, doors, entries)
        else:
            _discarded(record, decision, request, doors)
        doors.telemetry.count(state.capitalize() + "Answers", model=record.model)
    if state == "discarded":  # whoever was killed before this asks again
        doors.quarantine.remove(record)
    elif job is not None and job.untouched:
        doors.queue.send(doors.queue_url_prefix + job.queue, job.id, job.partner)
    return Done(job_id, state)


def _released(
    job: Job | None, record: Record, decision: Decision, doors: Doors, entries: Mapping[str, Entry]
) -> Job:
    from tidegate.gate.accepted import output  # here, as only a release pays for it

    why_not = refusal(job, record)
    if why_not is not None or job is None:
        raise NotReplayable(why_not or "there is no such job")
    entry, raw = entries.get(job.model), doors.quarantine.raw(record)
    if entry is None or raw is None:
        raise NotReplayable("its model is no longer offered" if raw else "the answer is gone")
    if output(entry, raw.given, raw.expected) is None:
        raise NotReplayable("the answer has no form in which a partner could be given it")
    decided = doors.quarantine.decided(record, decision)
    return doors.endings.release(job, decided, now=decision.at)


def _discarded(
    record: Record, decision: Decision, request: QuarantineRequest, doors: Doors
) -> None:
    if record.decision is not None:
        raise NotReplayable(f"it was {record.decision.state} by {record.decision.by}")
    try:
        doors.quarantine.discard(record, decision)
    except ConditionFailed:  # somebody else's, or our own whose reply was lost
        there = doors.quarantine.record(record.job_id, record.attempt)
        if there is None or not _made_before(there, decision.state, request):
            raise NotReplayable("somebody else decided on it at this moment") from None


def _made_before(record: Record, state: str, request: QuarantineRequest) -> bool:
    """Return whether the very same was decided: by whoever asks again, not hearing of it."""
    made = record.decision
    return made is not None and (made.state, made.by, made.why) == (state, request.by, request.why)


def _forget(job_ids: set[str], doors: Doors, remaining: Callable[[], float]) -> None:
    """Remove the messages of jobs that were decided on from the quarantine queue."""
    if not job_ids:
        return
    reading = Reading(doors.dead_letters, doors.quarantine_url)
    try:
        for number, message in enumerate(reading.messages()):
            with suppress(NotOurs):
                if job_id_in(message.body) in job_ids:
                    reading.delete(message)
            if number >= MOST_MESSAGES or remaining() < TIME_TO_STOP:
                return
    finally:
        reading.release()
