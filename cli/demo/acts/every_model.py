"""One job for each entry of the catalogue."""

from __future__ import annotations

import json
import time
from typing import Any

from cli.demo import asks
from cli.demo.facts import Check, Facts
from cli.demo.stage import Act, Stage

WIDTH = 64
"""Characters of an answer that are shown."""


def play(stage: Stage) -> Facts:
    """Post a job per model, wait for it, show its answer."""
    before = stage.vendor.calls()
    completed, total = 0, len(stage.models)
    notes = [f"the first: POST /v1/jobs {shortened(json.dumps(_example(stage)))}"]
    for number, (model, entry) in enumerate(stage.models.items()):
        stage.progress(f"asking {model}", number, total)
        begun = time.monotonic()
        reply = stage.partner.post(asks.of_task(entry.task, model))
        job = stage.partner.finished(reply.job_id)
        took = time.monotonic() - begun
        completed += job["status"] == "completed"
        notes.append(f"{model:<13} {entry.vendor:<10} {took:4.1f} s  {shown(stage, job)}")
    return Facts(
        (
            Check("models that answered", completed, total),
            Check("vendor calls", len(stage.vendor.calls_after(before)), total),
        ),
        tuple(notes),
    )


def shown(stage: Stage, job: dict[str, Any]) -> str:
    """Return a job's answer in a few words."""
    output = job["output"]
    if output is None:
        return str(job["error"]["message"])
    if "images" in output:
        return _picture(stage, output["images"][0])
    return shortened(output.get("text") or json.dumps(output["data"]))


def shortened(text: str) -> str:
    """Return a text on one line of at most `WIDTH` characters."""
    text = " ".join(text.split())
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def _example(stage: Stage) -> dict[str, Any]:
    model, entry = next(iter(stage.models.items()))
    return asks.of_task(entry.task, model).body


def _picture(stage: Stage, image: dict[str, str]) -> str:
    fetched = stage.fetch(image["url"])
    return f"signed URL: {len(fetched)} bytes of {image['content_type']}"


ACT = Act(
    "One job for every model",
    "Five catalogue entries, three vendor APIs, four kinds of task: text, code, an image, and "
    "structured data that must match a schema. The first call of each waits for a cold worker.",
    play,
)
