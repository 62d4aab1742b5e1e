"""Durable answers: under each work, who holds the output and how old it is; never the output."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tidegate.doors.actions import Action, Item, put
from tidegate.doors.envelope import Cached
from tidegate.doors.items import millis, work_pk


@dataclass(frozen=True, slots=True)
class Answer:
    """A durable answer; times are seconds since the epoch."""

    job_id: str
    """Who holds the output."""
    answered_at: float
    soft_until: float
    hard_until: float
    made_by: dict[str, str]
    names: tuple[str, ...]
    """As in `Cached`, like the others."""

    def stale(self, now: float) -> bool:
        """Return whether it is to be made anew."""
        return self.soft_until <= now

    def with_output(self, output: dict[str, Any]) -> Cached:
        """Return it as a cache has it."""
        return Cached(
            self.job_id,
            output,
            self.answered_at,
            self.soft_until,
            self.hard_until,
            self.made_by,
            self.names,
        )


def stored(key: str, answer: Cached) -> Action:
    """Return the storing of an answer under a key, unless a later one is there."""
    at = millis(answer.answered_at)
    item = {
        "pk": work_pk(key),
        "sk": "answer",
        "job_id": answer.job_id,
        "answered_at": at,
        "soft_until": millis(answer.soft_until),
        "hard_until": millis(answer.hard_until),
        "made_by": json.dumps(answer.made_by),
        "names": json.dumps(answer.names) if answer.names else None,
        "expires_at": int(answer.hard_until) + 86_400,
    }
    condition = "attribute_not_exists(pk) OR #answered_at < :at OR #job_id = :job_id"
    return put(item, condition, {":at": at, ":job_id": answer.job_id})


def answer_of(item: Item | None) -> Answer | None:
    """Return the answer in an item."""
    if item is None:
        return None
    hard = item["hard_until"] / 1000
    return Answer(
        item["job_id"],
        item["answered_at"] / 1000,
        item["soft_until"] / 1000 if "soft_until" in item else hard,
        hard,
        json.loads(item.get("made_by", "{}")),
        tuple(json.loads(item.get("names", "[]"))),
    )
