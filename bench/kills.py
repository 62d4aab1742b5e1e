"""SIGKILL at every step of accept and work on the deployed stack, before and after each call.

The steps are read off a job that nobody disturbs; then a job is made for each of them, and the
process that works for it is killed there. What brings it back is SQS's visibility timeout, the
sweeper, or the client, which posts again under the same key. Linux only: the relays find callers in
/proc.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from statistics import median
from threading import Semaphore

from redis import Redis

from bench.deployed.audit import audit, calls_by_mark
from bench.deployed.call import ROLES, When
from bench.deployed.families import FAMILIES, Family
from bench.deployed.killer import Killer, Plan, Step
from bench.deployed.redirect import redirected
from bench.deployed.report import conclude, console, grid
from bench.deployed.rig import Rig, asked, await_all_done, insist, new_mark, rig, say
from bench.deployed.steps import scripts
from bench.results import written
from cli.demo.books import await_that
from cli.demo.facts import Unfinished
from tidegate.rules.job import OPERATOR

ROUNDS = 4
"""How often a kill is tried that did not happen: a process that is warm leaves out some steps."""

PATIENCE = 600.0
"""Seconds for all jobs to end: well over a visibility timeout and two sweeps."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where the process that works for a job is to die."""

    family: Family
    step: Step
    when: When


@dataclass(frozen=True, slots=True)
class Case:
    """One job and one kill."""

    target: Target
    mark: str
    job_key: str
    plan: Plan
    job_id: str
    posts: int


@dataclass(frozen=True, slots=True)
class Killed:
    """What came of one kill."""

    family: str
    step: str
    when: When
    recovery: float
    """Seconds from the kill to the job's end; 0 if it had ended."""
    vendor_calls: int
    """But for one per refresh: nobody waits for those."""
    attempts: int
    posts: int
    """Of the client, until it was answered."""
    status: str
    expected: bool


@dataclass(slots=True)
class Experiment:
    """All there is to one run."""

    rig: Rig
    killer: Killer
    accepted: dict[str, str] = field(default_factory=dict)
    """Job ids by key."""
    cases: list[Case] = field(default_factory=list)
    planned: int = 0
    places: dict[str, Semaphore] = field(default_factory=dict)

    def play(self, families: Sequence[Family], most: int | None) -> None:
        """Kill at every step of some courses, side by side."""
        with Redis.from_url(self.rig.info.redis_url) as redis:
            for _name, text in scripts().values():
                redis.script_load(text)  # or the first to use one would take a step more
        for family in families:
            family.prepare(self.rig)
            self.places[family.model] = Semaphore(family.at_once)
        targets = self._targets(families)[:most]
        self.planned += len(targets)
        for number in range(ROUNDS):
            if not targets:
                break
            for role in ROLES:
                self.killer.chill(role)
            with ThreadPoolExecutor(sum(family.at_once for family in families)) as pool:
                tried = list(pool.map(self._try, targets))
            self._rest()
            self.cases += [case for case in tried if case.plan.killed_at is not None]
            targets = [case.target for case in tried if case.plan.killed_at is None]
            say(f"round {number + 1}: {len(self.cases)} kills, {len(targets)} did not happen")
        self.rig.stage.vendor.behave()

    def _targets(self, families: Iterable[Family]) -> list[Target]:
        """Return every kill there is to try, found by watching one job of each course."""
        for family in families:  # the first to ask for a slot makes the model's switch known
            self._post(family)
        self._rest()
        watched = {family.name: self._post(family) for family in families}
        self._rest()
        by_family = []
        for family in families:
            steps = [s for s in dict.fromkeys(self.killer.traces[watched[family.name][2]])
                     if family.means(s)]  # fmt: skip
            by_family.append([Target(family, s, w) for s in steps for w in ("before", "after")])
            say(f"{family.name}: {', '.join(map(str, steps))}")
        # One of each in turn, so that all models are busy.
        return [target for turn in zip_longest(*by_family) for target in turn if target]

    def _try(self, target: Target) -> Case:
        plan = Plan(target.step, target.when)
        with self.places[target.family.model]:
            mark, job_id, job_key, posts = self._post(target.family, plan)
            self.rig.until_done(job_id, PATIENCE)
        return Case(target, mark, job_key, plan, job_id, posts)

    def _post(self, family: Family, plan: Plan | None = None) -> tuple[str, str, str, int]:
        """Return the mark of a new job, its id, its job key and how often it was posted."""
        mark = new_mark()
        body = asked(family.model, mark)
        if family.lead_in is not None:
            self.accepted.update(family.lead_in(self.rig, body, mark))
        job_key = self.rig.job_key(self.rig.info.partners[0].id, mark, body)
        if plan is None:
            self.killer.trace(job_key)
        else:
            self.killer.arm(job_key, plan)
        got = insist(self.rig.stage.partner, body, mark)
        self.accepted[mark] = got.reply.job_id
        return mark, got.reply.job_id, job_key, got.tries

    def _rest(self) -> None:
        """Wait until all jobs are final and no message is left."""
        await_all_done(self.rig, PATIENCE, say)
        queues = list(self.rig.info.queues.values())
        with suppress(Unfinished):
            await_that(lambda: self.rig.stage.books.waiting(queues) == 0, "empty queues", 90)


def main() -> int:
    """Run everything; return 1 if anything is not as promised."""
    with rig(__doc__ or "") as (stage, arguments):
        killer = Killer(stage.info.processes["emulator"])
        experiment = Experiment(stage, killer)
        wanted = [f for f in FAMILIES if not arguments.only or arguments.only in f.name]
        with redirected(stage.info, killer):
            for phase in sorted({family.phase for family in wanted}):
                families = [family for family in wanted if family.phase == phase]
                experiment.play(families, arguments.size)
        found = _outcomes(experiment)
        books = audit(stage, experiment.accepted)
    longest = max((each.recovery for each in found), default=0.0)
    _show(found)
    conclude(books, longest)
    unexpected = sum(not each.expected for each in found)
    console().print(
        f"{len(found)} of {experiment.planned} kills happened; {unexpected} jobs ended otherwise "
        "than without a kill"
    )
    written("kills", {
        "planned": experiment.planned, "unexpected_ends": unexpected, "longest_recovery": longest,
        "kills": [asdict(each) for each in found], "audit": asdict(books),
    })  # fmt: skip
    return 0 if books.clean and len(found) == experiment.planned and not unexpected else 1


def _outcomes(experiment: Experiment) -> list[Killed]:
    jobs = experiment.rig.jobs()
    calls = calls_by_mark(experiment.rig, [case.mark for case in experiment.cases])
    refreshes = Counter(job.job_key for job in jobs.values() if job.partner == OPERATOR)
    found = []
    for case in experiment.cases:
        job, killed_at = jobs[case.job_id], case.plan.killed_at or 0.0
        ended = job.finished_at or float("inf")
        found.append(Killed(
            case.target.family.name, str(case.target.step), case.target.when,
            max(0.0, ended - killed_at), calls[case.mark] - refreshes[case.job_key], job.attempt,
            case.posts, job.status.value, job.status in case.target.family.ends,
        ))  # fmt: skip
    return found


def _show(found: Sequence[Killed]) -> None:
    rows: list[Sequence[object]] = []
    for family, step in dict.fromkeys((each.family, each.step) for each in found):
        of = [each for each in found if (each.family, each.step) == (family, step)]
        recovery, calls, attempts = (
            " / ".join(f"{getattr(each, name):.3g}" for each in of)
            for name in ("recovery", "vendor_calls", "attempts")
        )
        posts, ends = " / ".join(str(e.posts) for e in of), ", ".join({e.status for e in of})
        rows.append((f"{family}: {step}", recovery, calls, attempts, posts, ends))
    grid("Killed before / after the step",
         ("step", "recovery, s", "vendor calls", "attempts", "posts", "end"), rows)  # fmt: skip
    recoveries = [each.recovery for each in found if each.recovery]
    if recoveries:
        least = {f: min(e.vendor_calls for e in found if e.family == f)
                 for f in {e.family for e in found}}  # fmt: skip
        extra = [e.vendor_calls - least[e.family] for e in found]
        console().print(f"extra vendor calls: {sum(extra)} by {sum(map(bool, extra))} of "
                        f"{len(found)} kills, at most {max(extra)} each")  # fmt: skip
        console().print(f"recovery: median {median(recoveries):.1f} s, longest "
                        f"{max(recoveries):.1f} s, {len(found) - len(recoveries)} of {len(found)} "
                        "had ended already")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
