"""How much of a vendor's quota is used under a backlog, and how often the vendor says no.

Tidegate and the Celery + Redis recipe at once: the same jobs, as many workers, a key each.
`requests` and `tokens`: the entry's limit is the vendor's. `crowded`: so it is, with ten times the
workers that the quota needs. `exceeded`: the entry's limit is twice the vendor's.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import cycle, islice

from bench import recipe
from bench.chart import Panel, drawn
from bench.deployed.bucket import Level, drained
from bench.deployed.report import conclude, grid
from bench.deployed.trial import WIDTH, Trial, trial
from bench.figures import MINUTE, Call, at_once, findings, per_step, quota_use, refused
from bench.results import written
from cli.demo.crowd import side_by_side
from tidegate.rules.job import Status

BACKLOG = 3.0
"""Minutes' worth of the quota."""
HEAD_START = 3.0
"""Seconds from a bucket that is as good as empty until the first job is posted."""
BAR = 10.0
"""Seconds."""
ENOUGH = 0.95
FEW = 9
"""Refusals in a minute at most, where the entry says more than the vendor gives."""
FORBIDDEN = ("retry_after_ignored", "retry_storm", "retried_non_retryable")


@dataclass(frozen=True, slots=True)
class Plan:
    """One vendor's quota and one entry."""

    vendor: int
    """What the vendor grants in a minute."""
    entry: int
    """What the entry says."""
    in_tokens: bool = False
    max_tokens: Sequence[int] = (1024,)
    workers: int = 4
    latency_ms: int = 1000

    @property
    def pace(self) -> str:
        """Return the entry's keys."""
        if self.in_tokens:
            return f'tokens_per_minute = {self.entry}\ntokens_counted = "reserved"'
        return f"requests_per_minute = {self.entry}"

    @property
    def option(self) -> list[str]:
        """Return the vendor's option."""
        return ["--tpm" if self.in_tokens else "--rpm", str(self.vendor)]

    @property
    def per_minute(self) -> float:
        """Return the calls that the vendor grants in a minute."""
        if not self.in_tokens:
            return float(self.vendor)
        return self.vendor / (sum(self.max_tokens) / len(self.max_tokens))


PLANS = {
    "requests": Plan(vendor=120, entry=120),
    "tokens": Plan(vendor=180_000, entry=180_000, in_tokens=True, max_tokens=(500, 1500, 2500)),
    "crowded": Plan(vendor=120, entry=120, workers=10, latency_ms=500),
    "exceeded": Plan(vendor=120, entry=240),
}


@dataclass(frozen=True, slots=True)
class Use:
    """What one of them made of the vendor's quota."""

    jobs: int
    done: int
    failed: int
    calls: int
    refused: int
    used: int
    granted: float
    share: float
    """used / granted; granted = what was left when the bucket had been emptied, and the quota x
    minutes from then until the last answer."""
    seconds: float
    in_flight: int
    per_minute: dict[str, list[int]]
    per_bar: dict[str, list[int]]
    findings: dict[str, int]

    @property
    def worst_minute(self) -> int:
        """Return the most refusals in one minute."""
        return max(self.per_minute["429"], default=0)


def main() -> int:
    """Run one plan; return 1 if Tidegate did not use the quota as promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", choices=PLANS)
    parser.add_argument("--minutes", type=float, default=BACKLOG, help="backlog, of the quota")
    arguments = parser.parse_args()
    name, plan = arguments.plan, PLANS[arguments.plan]
    jobs = round(arguments.minutes * plan.per_minute)
    with trial(
        plan.pace, workers=plan.workers, latency_ms=plan.latency_ms, vendor_options=plan.option
    ) as both:
        both.warm()
        levels = emptied(both.vendor_url, plan)
        partner, sizes = both.rig.stage.partner, [*islice(cycle(plan.max_tokens), jobs)]
        side_by_side(lambda tokens: both.post(partner, tokens), sizes, WIDTH)
        both.await_both(arguments.minutes * MINUTE + 240)
        found = _uses(both, plan, levels)
        books = both.audit()
    part = "quota" if name == "requests" else f"quota_{name}"
    shown(part, plan, found)
    conclude(books)
    written(part, {
        "plan": asdict(plan), **{client: asdict(use) for client, use in found.items()},
        "audit": asdict(books),
    })  # fmt: skip
    return 0 if _as_promised(name, found["tidegate"]) and books.clean else 1


def emptied(vendor_url: str, plan: Plan) -> dict[str, Level]:
    """Empty both keys' buckets at the same time; return what was left, and when."""
    keys = {"tidegate": "key-of-openai", "recipe": recipe.KEY}
    with ThreadPoolExecutor(len(keys)) as pool:
        begun = {
            who: pool.submit(drained, vendor_url, key, in_tokens=plan.in_tokens)
            for who, key in keys.items()
        }
        levels = {who: each.result() for who, each in begun.items()}
    time.sleep(HEAD_START)
    return levels


def use(
    calls: Sequence[Call], plan: Plan, level: Level, jobs: int, done: int, failed: int,
    verdict: Mapping[str, object],
) -> Use:  # fmt: skip
    """Return the figures of one of them."""
    quota = quota_use(calls, level.at, level.left, plan.vendor, in_tokens=plan.in_tokens)
    return Use(
        jobs=jobs, done=done, failed=failed, calls=len(calls), refused=refused(calls),
        used=quota.used, granted=round(quota.granted, 1), share=round(quota.share, 4),
        seconds=round(quota.seconds, 1), in_flight=at_once(calls),
        per_minute=per_step(calls, level.at, MINUTE), per_bar=per_step(calls, level.at, BAR),
        findings=findings(verdict, calls),
    )  # fmt: skip


def _uses(both: Trial, plan: Plan, levels: Mapping[str, Level]) -> dict[str, Use]:
    calls, verdict, ours = both.calls(), both.verdict(), both.jobs()
    theirs = list(both.recipe.ended.values())
    done = {
        "tidegate": sum(job.status is Status.COMPLETED for job in ours),
        "recipe": sum(each.done for each in theirs),
    }
    failed = {
        "tidegate": sum(job.done for job in ours) - done["tidegate"],
        "recipe": len(theirs) - done["recipe"],
    }
    return {
        who: use(calls[who], plan, levels[who], len(both.marks), done[who], failed[who], verdict)
        for who in calls
    }


def shown(part: str, plan: Plan, found: Mapping[str, Use]) -> None:
    """Print the figures and draw them."""
    rows = [
        ("jobs", *(each.jobs for each in found.values())),
        ("done", *(each.done for each in found.values())),
        ("failed", *(each.failed for each in found.values())),
        ("share of the quota used, %", *(100 * each.share for each in found.values())),
        ("answered 429", *(each.refused for each in found.values())),
        ("429s in the worst minute", *(each.worst_minute for each in found.values())),
        ("seconds until the last answer", *(each.seconds for each in found.values())),
        ("calls at once, at most", *(each.in_flight for each in found.values())),
        ("the vendor's findings", *(each.findings or "none" for each in found.values())),
    ]
    grid(
        f"{part}: {' '.join(plan.option)}, {plan.pace.splitlines()[0]}, {plan.workers} workers",
        ("", *found), rows,
    )  # fmt: skip
    chart = drawn(
        part,
        f"Calls to a vendor with {' '.join(plan.option)}; the entry says {plan.entry}",
        [
            Panel(
                f"{who}: {100 * each.share:.1f} % of the quota, {each.refused} x 429, "
                f"{each.failed} jobs failed",
                each.per_bar,
                plan.per_minute * BAR / MINUTE,
            )
            for who, each in found.items()
        ],
        "seconds", f"calls in {BAR:g} s", BAR,
    )  # fmt: skip
    print(f"  chart: {chart}")


def _as_promised(name: str, use: Use) -> bool:
    if use.done != use.jobs:
        return False
    if name == "exceeded":
        return use.worst_minute <= FEW and not set(FORBIDDEN) & set(use.findings)
    return use.share >= ENOUGH and not use.refused


if __name__ == "__main__":
    begun = time.monotonic()
    status = main()
    print(f"  {time.monotonic() - begun:.0f} s")
    sys.exit(status)
