"""Working on one message, in the order that makes it safe (each step is a function below):

parse -> load the job -> final: acknowledge -> whose turn? -> lease -> staged answer? -> second
cache look -> pace -> mark `processing` with the fence -> vendor -> stage -> gate -> store and
complete in one transaction -> promote -> release the lease -> acknowledge.

A deferral is no attempt and burns no receive: a new message is sent, and this one acknowledged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tidegate.clock import Clock, Ids
from tidegate.doors.attempts import Attempts
from tidegate.doors.cache import Cache
from tidegate.doors.epochs import EpochBook
from tidegate.doors.jobs import Jobs
from tidegate.doors.lease import Lease
from tidegate.doors.pace import Caller
from tidegate.doors.queue import Message, NotOurs, Queue, job_id_in
from tidegate.doors.staged import Staged
from tidegate.errors import VendorError
from tidegate.flows.bound import bind
from tidegate.flows.ends import NO_TIME
from tidegate.flows.finish import Finish, references_delay, stage_life
from tidegate.flows.only_helps import only_helps
from tidegate.flows.outcome import ACKNOWLEDGED, HAND_BACK, Outcome
from tidegate.flows.pacing import Pacing, outcome
from tidegate.flows.reopen import redriven
from tidegate.flows.setback import defer, flight, guarded
from tidegate.flows.turn import next_in_turn
from tidegate.flows.vendor_call import VendorDesk
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Job, waits_for_gate
from tidegate.rules.policies import LEASE_MARGIN
from tidegate.telemetry import Telemetry

BUSY_DELAY = 10.0
"""Seconds at most until a message looks again whether a lease is free: most calls end long before
the lease of the worker that makes them."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What a worker reaches the world by."""

    model: str
    """Whose queue it works on."""
    jobs: Jobs
    attempts: Attempts
    queue: Queue
    queue_urls: Mapping[str, str]
    """By name (`Job.queue`)."""
    cache: Cache
    epochs: EpochBook
    """For an operator who declares answers void."""
    lease: Lease
    pacing: Pacing
    desk: VendorDesk
    finish: Finish
    clock: Clock
    ids: Ids
    telemetry: Telemetry

    def url_of(self, message: Message) -> str:
        """Return the URL of the queue a message came from."""
        ends = f"/{message.queue}"
        named = [url for url in self.queue_urls.values() if url.endswith(ends)]
        return named[0] if named else self.queue_urls[self.model]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One delivery of one job to one worker."""

    job: Job
    token: str
    remaining: Callable[[], float]
    """Seconds until the function is ended."""

    @property
    def lease(self) -> float:
        """Return how long this worker can possibly live, and a margin: the life of its claims."""
        return max(self.remaining(), 0.0) + LEASE_MARGIN


def work(message: Message, entry: Entry, doors: Doors, remaining: Callable[[], float]) -> Outcome:
    """Return what is to become of a message, after doing what it asks for."""
    doors.telemetry.fresh()
    try:
        job_id = job_id_in(message.body)
    except NotOurs as error:
        doors.telemetry.warn("message_not_ours", reason=str(error))
        doors.telemetry.count("PoisonMessages")
        return HAND_BACK
    job = doors.jobs.load(job_id)
    if job is None:
        doors.telemetry.warn("message_without_job", message_id=message.id)
        return ACKNOWLEDGED
    bind(doors.telemetry, job)
    if job.model != doors.model:  # moved by hand into the wrong queue
        doors.telemetry.warn("message_of_another_model", queue_of=doors.model)
        return HAND_BACK
    result = guarded(job, doors, lambda: _loaded(message, job, entry, doors, remaining))
    if result.again_after is not None:
        url = doors.queue_urls[job.queue]
        doors.queue.send(url, job.id, job.partner, result.again_after)
    return result


def _loaded(
    message: Message, job: Job, entry: Entry, doors: Doors, remaining: Callable[[], float]
) -> Outcome:
    pacing = doors.pacing
    if job.done or job.deadline_at <= doors.clock.now():
        with only_helps(doors.telemetry, job.model):  # ended, it would count as waiting for ever
            pacing.line.leave(job)
    if job.done:
        opened = redriven(message, job, doors.finish.ends, doors.clock.now())
        if isinstance(opened, Outcome):
            return opened
        job = opened
    now = doors.clock.now()
    if job.held(now):
        # A living worker has it, whatever became of its lease in Redis. This may be that worker's
        # own message, which SQS delivered twice: acknowledged, it could reach no DLQ any more.
        return Outcome(job.owner_until - now)
    if job.deadline_at <= now:
        return doors.finish.ends.too_late(job)
    if job.retry_at > now:  # a double must not cut short what the backoff or the vendor asked for
        return defer(job, job.retry_at - now, "backoff", doors)
    turn = next_in_turn(job, pacing.line, pacing.cap(), doors.jobs, doors.clock, doors.telemetry)
    if turn is not job:
        return _lent(job, turn, entry, doors, remaining)
    return _with_lease(Attempt(job, doors.ids.token(), remaining), entry, doors)


def _lent(
    job: Job, turn: Job, entry: Entry, doors: Doors, remaining: Callable[[], float]
) -> Outcome:
    """Use the message of a job for another partner's; the job's own comes again.

    The other one keeps its own message, which sees to whatever is left undone here. It may be put
    off until our lease ends, so another try that comes sooner has a new message.
    """
    doors.telemetry.count("TurnsGiven", model=job.model)
    bind(doors.telemetry, turn)
    attempt = Attempt(turn, doors.ids.token(), remaining)
    outcome = guarded(turn, doors, lambda: _with_lease(attempt, entry, doors))
    if outcome.hand_back_after:
        url = doors.queue_urls[turn.queue]
        doors.queue.send(url, turn.id, turn.partner, outcome.hand_back_after)
    bind(doors.telemetry, job)
    wait = doors.pacing.spread(job, outcome.again_after or 0.0)
    return replace(ACKNOWLEDGED, again_after=0.0 if outcome.again_after is None else wait)


def _with_lease(attempt: Attempt, entry: Entry, doors: Doors) -> Outcome:
    job = attempt.job
    busy = doors.lease.take(job.job_key, attempt.token, attempt.lease)
    if busy:
        doors.telemetry.count("LeaseContention", model=job.model)
        return defer(job, min(busy, BUSY_DELAY), "lease_held", doors)
    try:
        if job.release_of is not None:  # an operator accepted what it was answered
            return _released(attempt, entry, doors)
        staged = doors.cache.staged(job.job_key)
        if staged is not None and staged.answered_at < job.newer_than:
            staged = None
        if staged is not None and staged.job_id == job.id:  # a predecessor died, or could not judge
            claimed = _claim(attempt, doors, start=False)
            with flight(claimed, doors):
                return doors.finish.judged(claimed, staged, entry, found=True)
        return _unstaged(attempt, staged, entry, doors)
    finally:
        with only_helps(doors.telemetry, job.model):
            doors.lease.release(job.job_key, attempt.token)


def _released(attempt: Attempt, entry: Entry, doors: Doors) -> Outcome:
    claimed = _claim(attempt, doors, start=False)
    with flight(claimed, doors):
        return doors.finish.released(claimed, entry)


def _unstaged(attempt: Attempt, others: Staged | None, entry: Entry, doors: Doors) -> Outcome:
    job = attempt.job
    found = doors.finish.from_answer(job, entry)  # the second look, now that we alone are at it
    if found is not None:
        return found
    if others is not None and waits_for_gate(doors.jobs.load(others.job_id)):
        return defer(job, references_delay(doors.ids), "answer_unjudged", doors)
    if job.starts >= entry.retry.starts:
        return doors.finish.ends.used_up(job)
    if attempt.remaining() <= entry.timeouts.total:
        return defer(job, 0, "too_little_time", doors)
    doors.finish.gate.ready(job, entry)
    caller = Caller(attempt.token, job.id, job.partner, job.priority, job.tokens)
    slot = doors.pacing.slot(caller, lambda: attempt.lease, attempt.remaining)
    if not slot.granted:
        if slot.why == "paused" and doors.clock.now() + slot.wait >= job.deadline_at:
            return doors.finish.ends.too_late(job, NO_TIME)
        return defer(job, doors.pacing.deferral(job, slot), slot.why, doors)
    with doors.pacing.held(caller) as call:
        claimed = _claim(attempt, doors, start=True)
        with flight(claimed, doors):
            call.made = True
            try:
                staged = doors.desk.call(claimed, entry)
            except VendorError as error:
                call.outcome = outcome(error)
                paused = doors.pacing.refused(caller, error, job.deadline_at)
                return doors.finish.failed(claimed, error, entry, paused)
            call.outcome, call.used = "answered", staged.input_tokens + staged.output_tokens
    with flight(claimed, doors):
        with only_helps(doors.telemetry, job.model):  # a checkpoint for whoever takes over
            doors.cache.stage(job.job_key, staged, stage_life(entry))
        return doors.finish.judged(claimed, staged, entry)


def _claim(attempt: Attempt, doors: Doors, *, start: bool) -> Job:
    now = doors.clock.now()
    until = now + attempt.lease
    claimed = doors.attempts.claim(attempt.job, attempt.token, now=now, until=until, start=start)
    doors.telemetry.bind(attempt=claimed.attempt)
    if claimed.attempt == 1:
        doors.telemetry.duration("QueueWait", now - claimed.enqueued_at, model=claimed.model)
    return claimed
