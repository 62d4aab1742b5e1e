"""Tidegate and the Celery + Redis recipe at the same vendor, with the same jobs at the same time.

One LLMock process; each shows it a key of its own, and quotas are per key. The recipe names another
model of the same length, by which its calls are told from Tidegate's in the vendor's journal.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from bench.deployed.audit import Audit, audit
from bench.deployed.rig import (
    FOLDER,
    Rig,
    asked,
    await_all_done,
    insist,
    new_mark,
    on_stack,
    overlay_file,
    say,
)
from bench.figures import Call, calls_for
from bench.recipe import Recipe, running_recipe
from cli.demo.crowd import side_by_side
from cli.demo.partner import PartnerClient
from cli.local.stack import client, running_stack
from tidegate.rules.job import Job

MODEL = "chat-mini"
RECIPES_MODEL = "gpt-4o-same"
WARMING = 3
"""Jobs per worker before the clock starts: a process of the emulator takes seconds to start."""

WIDTH = 8
"""Posts at once."""


@dataclass(slots=True)
class Trial:
    """Both of them, running."""

    rig: Rig
    recipe: Recipe
    workers: int
    accepted: dict[str, str] = field(default_factory=dict)
    """Tidegate's job by mark."""
    marks: list[str] = field(default_factory=list)
    """Of the jobs that both were given."""
    since: float = 0.0
    """When the trial itself began, by the machine's monotonic clock."""

    @property
    def vendor_url(self) -> str:
        """Return where the vendor is."""
        return self.rig.info.vendor_url

    def post(self, partner: PartnerClient, max_tokens: int = 1024) -> tuple[str, int]:
        """Give both the same job; return its mark and how many jobs the recipe had before it."""
        mark = self.offer(partner, max_tokens)
        return mark, self.recipe.post(mark, call_body(mark, max_tokens))

    def offer(self, partner: PartnerClient, max_tokens: int = 1024) -> str:
        """Give Tidegate a job, which the recipe is to be given later; return its mark."""
        mark = new_mark()
        self.accepted[mark] = insist(partner, job_body(mark, max_tokens), mark).reply.job_id
        self.marks.append(mark)
        return mark

    def warm(self) -> None:
        """Have every process started; what comes after is the trial."""
        partner, count = self.rig.stage.partner, WARMING * self.workers
        for width in (WIDTH, count):
            marks = [new_mark() for _ in range(count)]

            def post(mark: str) -> str:
                return insist(partner, job_body(mark, 16), mark).reply.job_id

            self.accepted.update(zip(marks, side_by_side(post, marks, width), strict=True))
        await_all_done(self.rig, 120, say)
        self.since = time.monotonic()

    def calls(self) -> dict[str, list[Call]]:
        """Return the vendor's calls of either since the trial began."""
        journal = [call for call in self.rig.calls() if call["started_at"] >= self.since]
        ours = self.rig.stage.models[MODEL].vendor_model
        return {"tidegate": calls_for(journal, ours), "recipe": calls_for(journal, RECIPES_MODEL)}

    def verdict(self) -> dict[str, Any]:
        """Return the vendor's own judgement."""
        found = httpx.get(f"{self.vendor_url}/_llmock/verdict", timeout=60, trust_env=False)
        verdict: dict[str, Any] = found.raise_for_status().json()
        return verdict

    def audit(self) -> Audit:
        """Return what Tidegate's books say."""
        return audit(self.rig, self.accepted, but_for=RECIPES_MODEL)

    def jobs(self) -> list[Job]:
        """Return Tidegate's jobs of those that both were given, by post."""
        jobs = self.rig.jobs()
        return [jobs[self.accepted[mark]] for mark in self.marks if self.accepted[mark] in jobs]

    def await_both(self, patience: float) -> None:
        """Return when both are done with all, or after `patience` seconds."""
        until = time.monotonic() + patience
        await_all_done(self.rig, patience, say, every=5)
        self.recipe.await_all(len(self.marks), until - time.monotonic())
        say(f"the recipe: {len(self.recipe.ended)} of {len(self.marks)} jobs have ended")

    @contextmanager
    def workers_idle(self) -> Iterator[None]:
        """Keep Tidegate's workers from the queue; when the block ends, all that wait are there."""
        lambda_ = client(self.rig.info.aws_endpoint, "lambda")
        name = self.rig.info.functions[f"worker-{MODEL}"]
        sources = lambda_.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]

        def switch(*, on: bool) -> None:
            for source in sources:
                lambda_.update_event_source_mapping(UUID=source["UUID"], Enabled=on)

        switch(on=False)
        time.sleep(2)  # a poll that is under way may still take messages
        try:
            yield
        finally:
            switch(on=True)
            lambda_.close()


def job_body(mark: str, max_tokens: int) -> dict[str, Any]:
    """Return what a partner posts."""
    return asked(MODEL, mark) | {"params": {"max_tokens": max_tokens}}


def call_body(mark: str, max_tokens: int) -> dict[str, Any]:
    """Return what the vendor is asked for the same job."""
    said = [{"role": "user", "content": mark}]
    return {
        "model": RECIPES_MODEL, "messages": said, "temperature": 0.0, "max_tokens": max_tokens,
    }  # fmt: skip


@contextmanager
def trial(
    pace: str, *, workers: int, latency_ms: int, vendor_options: Sequence[str] = ()
) -> Iterator[Trial]:
    """Run both; `pace` are lines of the table `[models.chat-mini.pace]`."""
    overlay = overlay_file(
        f"[models.{MODEL}]\nmax_concurrency = {workers}\n[models.{MODEL}.pace]\n{pace}\n"
    )
    with ExitStack() as opened:
        info = opened.enter_context(
            running_stack(
                FOLDER, latency_ms=latency_ms, vendor_options=vendor_options, overlay=overlay,
                report=say,
            )
        )  # fmt: skip
        rig = opened.enter_context(on_stack(info))
        recipe = opened.enter_context(
            running_recipe(FOLDER / "recipe", rig.info.vendor_url, workers)
        )
        yield Trial(rig, recipe, workers)
