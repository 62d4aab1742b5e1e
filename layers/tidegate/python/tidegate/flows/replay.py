"""Dead letters in an operator's hands: listed, replayed, discarded.

select -> load the job -> re-open it (conditional) -> send a fresh message -> delete the dead letter

Killed anywhere and run again, it ends the same: a job that is open again is sent again, one that
runs or is completed is left alone, and their dead letters are deleted. A body is never passed on.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from botocore.exceptions import BotoCoreError, ClientError

from tidegate.clock import Clock
from tidegate.doors.dlq import PAGE, VISIBILITY, DeadLetters, Reading, reason_in
from tidegate.doors.endings import Endings
from tidegate.doors.jobs import Jobs
from tidegate.doors.queue import Message, NotOurs, Queue, job_id_in
from tidegate.errors import LostFence, NotReplayable, TidegateError
from tidegate.flows.bound import bind
from tidegate.flows.reopen import reopened
from tidegate.flows.replay_answer import Answer
from tidegate.rules.job import Job
from tidegate.rules.replay_request import ReplayRequest
from tidegate.rules.replay_verdict import DRY, Deed, Letter, chosen, decide, named
from tidegate.telemetry import Telemetry

TIME_TO_STOP = 10.0
"""Seconds the function must have left to begin with another message."""

_METRICS = {Deed.REPLAY: "Replayed", Deed.DISCARD: "Discarded"}


@dataclass(frozen=True, slots=True)
class Doors:
    """What the replay function reaches the world by."""

    jobs: Jobs
    endings: Endings
    queue: Queue
    dead_letters: DeadLetters
    queue_url_prefix: str
    """By model."""
    dlq_url: Callable[[str], str]
    """By model."""
    clock: Clock
    telemetry: Telemetry


def replay(request: ReplayRequest, doors: Doors, remaining: Callable[[], float]) -> Answer:
    """Return what was found and done; `remaining` tells the seconds until the function is ended."""
    hidden = doors.dead_letters.hidden(doors.dlq_url(request.model))
    now = doors.clock.now()
    run = _Run(
        request, doors, remaining, Answer(request.action, request.model, request.dry, now, hidden)
    )
    try:
        run.answer.more = not (run.read() and run.look_elsewhere())
    finally:
        with suppress(ClientError, BotoCoreError):  # they are seen again a little later anyway
            run.reading.release()
    return run.answer


class _Run:
    def __init__(
        self, request: ReplayRequest, doors: Doors, remaining: Callable[[], float], answer: Answer
    ) -> None:
        self._request = request
        self._doors = doors
        self._remaining = remaining
        self.answer = answer
        self._gap = 1 / request.rate_per_second
        self._next_at = 0.0
        # As many at once as are dealt with in half the time they are out of sight.
        most = max(1, min(PAGE, int(VISIBILITY / 2 / self._gap)))
        self.reading = Reading(doors.dead_letters, doors.dlq_url(request.model), most)
        self._met: set[str] = set()
        """Message and job ids that were named and found."""
        self._settled: set[str] = set()
        """Jobs that a message was deleted for."""

    def read(self) -> bool:
        """Deal with every message that is meant; False if stopped before the end."""
        request = self._request
        before = request.before or self.answer.begun_at
        for message in self.reading.messages():
            if self._must_stop():
                return False
            self.answer.looked_at += 1
            if request.action != "list" and message.sent_at > before:
                continue  # it came while this runs; what fails anew is not replayed in circles
            self._safely(_letter(message), message)
            if self._all_met():
                return True
        return True

    def look_elsewhere(self) -> bool:
        """Deal with what was named and has no message; False if stopped before the end."""
        for job_id in self._request.job_ids or ():
            if job_id not in self._met:
                if self._must_stop():
                    return False
                self._safely(Letter(None, job_id), None)
        for message_id in self._request.message_ids or ():
            if message_id not in self._met:
                self.answer.note(Letter(message_id, None), Deed.SKIP, "it is not in the DLQ")
        return True

    def _all_met(self) -> bool:
        """Return whether all that was named was met; of a job there may always be another."""
        named_only = self._request.message_ids and self._request.job_ids is None
        return bool(named_only) and self._met.issuperset(self._request.message_ids or ())

    def _must_stop(self) -> bool:
        limited = self.answer.done >= self._request.limit
        return limited or self._remaining() < TIME_TO_STOP + self._gap

    def _safely(self, letter: Letter, message: Message | None) -> None:
        """Deal with one; trouble with it is its own, not the others'."""
        self._doors.telemetry.fresh()
        try:
            try:
                self._deal_with(letter, message)
            except LostFence:  # somebody moved the job on just then: looked at again, once
                self._deal_with(letter, message)
        except (TidegateError, ClientError, BotoCoreError) as error:
            self._doors.telemetry.failed("replay_failed", error)
            self.answer.note(letter, Deed.FAIL, type(error).__name__)

    def _deal_with(self, letter: Letter, message: Message | None) -> None:
        request, now = self._request, self._doors.clock.now()
        if request.by_id:
            if not named(letter, request):
                return
            self._met.update(each for each in (letter.message_id, letter.job_id) if each)
        letter = self._with_job(letter)
        if not (request.by_id or chosen(letter, request, now)):
            return
        deed, why = decide(letter, request, now)
        if request.action == "replay" and letter.job_id in self._settled:
            deed, why = Deed.DELETE, "another message of its job was dealt with"
        if not request.dry:
            deed, why = self._do(deed, why, letter.job, message)
        if deed in DRY and letter.job_id is not None:
            self._settled.add(letter.job_id)
        item = self.answer.note(letter, deed, why)
        if not request.dry:
            self._doors.telemetry.info("dead_letter", result=item.result, reason=why)
            if deed in _METRICS:
                self._doors.telemetry.count(_METRICS[deed], model=request.model)

    def _do(
        self, deed: Deed, why: str | None, job: Job | None, message: Message | None
    ) -> tuple[Deed, str | None]:
        """Return what became of it. What comes after the re-opening may be done twice, or later.

        Raises:
            LostFence: the job has moved on; nothing was done.
        """
        doors = self._doors
        if job is not None and deed in {Deed.REPLAY, Deed.SEND}:
            self._drip()
            if deed is Deed.REPLAY:
                try:
                    job = reopened(job, doors.endings, doors.clock.now(), doors.telemetry)
                except NotReplayable as refused:
                    return Deed.REFUSE, str(refused)
            doors.queue.send(doors.queue_url_prefix + job.queue, job.id, job.partner)
        if message is not None and deed in DRY:
            self.reading.delete(message)
        return deed, why

    def _drip(self) -> None:
        now = self._doors.clock.now()
        if self._next_at > now:
            self._doors.clock.sleep(self._next_at - now)
        self._next_at = max(self._next_at, now) + self._gap

    def _with_job(self, letter: Letter) -> Letter:
        if letter.job_id is None:
            return letter
        self._doors.telemetry.bind(job_id=letter.job_id)
        job = self._doors.jobs.load(letter.job_id)
        if job is not None:
            bind(self._doors.telemetry, job)
        return replace(letter, job=job)


def _letter(message: Message) -> Letter:
    try:
        job_id = job_id_in(message.body)
    except NotOurs:
        job_id = None
    return Letter(message.id, job_id, sent_at=message.sent_at, reason=reason_in(message.body))
