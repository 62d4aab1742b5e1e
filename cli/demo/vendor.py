"""The mock vendor's control API: what it shall do next, and what it was really asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True, slots=True)
class Call:
    """One request as the vendor saw it.

    Times are seconds of the clock that `time.monotonic` reads: the vendor is on this machine.
    """

    number: int
    status: int
    started_at: float
    ended_at: float
    retry_after: float | None
    work: str
    """Equal for every try of one piece of work."""
    asked: str
    """The request's body as JSON."""


class Vendor:
    """LLMock."""

    def __init__(self, url: str, models: Mapping[str, str]) -> None:
        """Speak to the vendor at `url`; `models` are its own names of the catalogue's models."""
        self._models = models
        self._client = httpx.Client(base_url=f"{url}/_llmock", timeout=10, trust_env=False)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def script(self, model: str, behaviour: Mapping[str, Any]) -> None:
        """Add what the vendor shall do when it is next asked for a model of the catalogue."""
        scripted = {**behaviour, "match": {"model": self._models[model]}}
        self._client.post("/scenario", json={"behaviors": [scripted]}).raise_for_status()

    def fail(
        self, model: str, status: int, times: int | None, retry_after: float | None = None
    ) -> None:
        """Let the next calls for a model fail; all of them if `times` is None."""
        self.script(
            model, {"type": "fail", "status": status, "times": times, "retry_after": retry_after}
        )

    def delay(self, model: str, seconds: float) -> None:
        """Let the next call for a model take `seconds`."""
        self.script(model, {"type": "delay", "seconds": seconds})

    def reply(self, model: str, text: str) -> None:
        """Put words into the vendor's mouth, once."""
        self.script(model, {"type": "reply", "text": text})

    def behave(self) -> None:
        """Forget what is still scripted; the journal stays."""
        self._client.delete("/scenario").raise_for_status()

    def calls(self) -> list[Call]:
        """Return every call so far, oldest first; those under way are waited for."""
        response = self._client.get("/requests")
        response.raise_for_status()
        return [
            Call(
                number=record["seq"],
                status=record["status"],
                started_at=record["started_at"],
                ended_at=record["ended_at"],
                retry_after=record["retry_after"],
                work=record["fingerprint"],
                asked=json.dumps(record["body"]),
            )
            for record in response.json()["requests"]
        ]

    def calls_after(self, earlier: list[Call]) -> list[Call]:
        """Return the calls that came after those seen earlier."""
        last = earlier[-1].number if earlier else 0
        return [call for call in self.calls() if call.number > last]
