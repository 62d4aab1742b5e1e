"""A vendor that answers every call 429 with `Retry-After: 5` for five seconds, and 100 jobs.

First Tidegate, then the Celery + Redis recipe, at the same vendor with as many workers. All jobs
wait in the queue when work begins; five seconds after the first call the vendor is well again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import httpx

from bench.chart import Panel, drawn
from bench.deployed.report import conclude, grid
from bench.deployed.rig import await_all_done, say
from bench.deployed.trial import MODEL, RECIPES_MODEL, WIDTH, Trial, call_body, trial
from bench.figures import Call, at_once, begun_within, per_step, refused
from bench.results import written
from cli.demo.crowd import side_by_side
from tidegate.rules.job import Status

JOBS, WORKERS, LATENCY_MS = 100, 10, 300
STORM = 5.0
"""Seconds; also what `Retry-After` says."""
PATIENCE = 240.0


@dataclass(frozen=True, slots=True)
class Weathered:
    """What one of them did."""

    done: int
    calls: int
    refused: int
    within_storm: int
    """Calls that began within five seconds of the first."""
    first_wave: int
    """Calls that were with the vendor when its first 429 came back."""
    probes: int
    """Calls that began after the storm and before the first answer."""
    second_after: int
    """Calls in the second after the first answer began."""
    in_flight: int
    seconds: float
    """From the first call to the last answer."""
    per_second: dict[str, list[int]]


def main() -> int:
    """Run both; return 1 if Tidegate did other than promised."""
    with trial("", workers=WORKERS, latency_ms=LATENCY_MS) as both:
        both.warm()
        with both.workers_idle():
            _storm(both, both.rig.stage.models[MODEL].vendor_model)
            partner = both.rig.stage.partner
            side_by_side(lambda _n: both.offer(partner), range(JOBS), WIDTH)
        _until_over(both, "tidegate")
        await_all_done(both.rig, PATIENCE, say)
        _storm(both, RECIPES_MODEL)  # the same for the recipe: one storm at a time
        for mark in both.marks:
            both.recipe.post(mark, call_body(mark, 1024))
        _until_over(both, "recipe")
        both.recipe.await_all(JOBS, PATIENCE)
        done = {
            "tidegate": sum(job.status is Status.COMPLETED for job in both.jobs()),
            "recipe": sum(each.done for each in both.recipe.ended.values()),
        }
        found = {who: weathered(calls, done[who]) for who, calls in both.calls().items()}
        books = both.audit()
    _show(found)
    conclude(books)
    written("storm", {
        "jobs": JOBS, "workers": WORKERS, "latency_ms": LATENCY_MS,
        **{who: asdict(each) for who, each in found.items()}, "audit": asdict(books),
    })  # fmt: skip
    ours = found["tidegate"]
    holds = ours.within_storm <= ours.first_wave and ours.probes == 1 and ours.done == JOBS
    return 0 if holds and books.clean else 1


def weathered(calls: Sequence[Call], done: int) -> Weathered:
    """Return the figures of one of them; `calls` by start."""
    first = calls[0].begun
    storm_ends = first + STORM
    first_refusal = min((c.ended for c in calls if c.status >= 400), default=first)
    answers = [call for call in calls if call.status < 400]
    answer = min(answers, key=lambda call: call.ended, default=calls[-1])
    return Weathered(
        done=done,
        calls=len(calls),
        refused=refused(calls),
        within_storm=begun_within(calls, first, STORM),
        first_wave=sum(call.begun < first_refusal for call in calls),
        probes=sum(storm_ends <= call.begun < answer.ended for call in calls),
        second_after=begun_within(calls, answer.begun, 1.0),
        in_flight=at_once(calls),
        seconds=round(max(call.ended for call in calls) - first, 1),
        per_second=per_step(calls, first, 1.0),
    )


def _storm(both: Trial, vendor_model: str) -> None:
    """Let the vendor refuse every call for a model."""
    behaviour = {"type": "fail", "status": 429, "times": None, "retry_after": STORM}
    _control(both, lambda vendor: vendor.post("/scenario", json={
        "behaviors": [{**behaviour, "match": {"model": vendor_model}}]
    }))  # fmt: skip


def _until_over(both: Trial, who: str) -> None:
    """Return five seconds after the first call, the vendor being well again."""
    until = time.monotonic() + PATIENCE
    while not (calls := both.calls()[who]) and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(max(0.0, calls[0].begun + STORM - time.monotonic()))
    _control(both, lambda vendor: vendor.delete("/scenario"))


def _control(both: Trial, ask: Callable[[httpx.Client], httpx.Response]) -> None:
    with httpx.Client(base_url=f"{both.vendor_url}/_llmock", timeout=10, trust_env=False) as vendor:
        ask(vendor).raise_for_status()


def _show(found: Mapping[str, Weathered]) -> None:
    def row(what: str, value: Callable[[Weathered], object]) -> tuple[object, ...]:
        return (what, *(value(each) for each in found.values()))

    grid(f"{JOBS} jobs, {WORKERS} workers, 429 for {STORM:g} s", ("", *found), [
        row("jobs done", lambda each: each.done),
        row("calls in the first 5 s", lambda each: each.within_storm),
        row("of these begun before the first 429 was back", lambda each: each.first_wave),
        row("calls after it and before the first answer", lambda each: each.probes),
        row("calls in the second after that call began", lambda each: each.second_after),
        row("calls in all", lambda each: each.calls),
        row("answered 429", lambda each: each.refused),
        row("seconds until the last answer", lambda each: each.seconds),
    ])  # fmt: skip
    chart = drawn(
        "storm",
        f"{JOBS} jobs against 429 with Retry-After: 5",
        [
            Panel(f"{who}: {each.refused} x 429, all done after {each.seconds} s", each.per_second)
            for who, each in found.items()
        ],
        "seconds after the first call", "calls in 1 s", 1.0,
    )  # fmt: skip
    print(f"  chart: {chart}")


if __name__ == "__main__":
    sys.exit(main())
