"""Answers before the gate: judged with our reference data, and timed."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.clock import Clock
from tidegate.doors.references import References
from tidegate.doors.staged import Staged
from tidegate.errors import ReferencesUnavailable
from tidegate.gate.verdict import Verdict, judge
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Job
from tidegate.rules.normalise import Bounded
from tidegate.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class Gate:
    """What every answer must pass before anybody sees it."""

    references: References
    clock: Clock
    telemetry: Telemetry
    bounded: Bounded
    """Where code is read."""

    def ready(self, job: Job, entry: Entry) -> None:
        """Return if an answer to a job could be judged now: nobody pays for one that could not.

        Raises:
            ReferencesUnavailable: what it may refer to cannot be looked up.
        """
        if entry.contract is None or not entry.contract.references:
            return
        try:
            self.references.ready({each.set for each in entry.contract.references})
        except ReferencesUnavailable as unavailable:
            self._tell(job, unavailable)
            raise

    def verdict(self, job: Job, staged: Staged, entry: Entry) -> Verdict:
        """Return the verdict on a staged answer.

        Raises:
            ReferencesUnavailable: what it refers to could not be looked up; no fault of it.
            ContractUnusable: the entry's contract is wrong; no fault of it either.
        """
        begun = self.clock.now()
        try:
            verdict = judge(
                entry, staged.given, staged.expected, self.references.known, self.bounded
            )
        except ReferencesUnavailable as unavailable:
            self._tell(job, unavailable)
            raise
        finally:
            took = self.clock.now() - begun
            self.telemetry.duration("ValidationTime", took, model=job.model)
        # Of many answers, the average of this is the share that failed.
        self.telemetry.count("QuarantineRatio", 0 if verdict.passed else 1, model=job.model)
        return verdict

    def _tell(self, job: Job, unavailable: ReferencesUnavailable) -> None:
        self.telemetry.count("ReferencesUnavailable", model=job.model)
        self.telemetry.warn(
            "references_unavailable", code=unavailable.code, reason=str(unavailable)
        )
