"""The mock vendor of the stack, told what to do next and asked what it was asked."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Self

import httpx

from cli.local import stack
from tidegate.rules import catalogue


@cache
def entry(model: str) -> catalogue.Entry:
    """Return the entry that one of our models is deployed with."""
    return catalogue.load(stack.CATALOGUE, stack.ENVIRONMENT).models[model]


class Vendor:
    """The mock vendor; as a context, its client is closed at the end."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=f"{url}/_llmock", timeout=30, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._http.close()

    def say(self, model: str, text: str) -> None:
        """Let the next answer for one of our models be `text`."""
        self._script({"type": "reply", "text": text}, model)

    def fail(
        self, model: str, status: int, times: int | None = 1, retry_after: float | None = None
    ) -> None:
        """Refuse the next calls for one of our models; `None` is all of them."""
        refusal = {"type": "fail", "status": status, "times": times, "retry_after": retry_after}
        self._script(refusal, model)

    def delay(self, model: str, seconds: float) -> None:
        """Let the next answer for one of our models take its time."""
        self._script({"type": "delay", "seconds": seconds}, model)

    def forget(self) -> None:
        """Drop what has been scripted and has not happened.

        The record of calls stays: calls are told apart by their prompt, and one test's job is under
        way while others run.
        """
        self._http.delete("/scenario").raise_for_status()

    @property
    def scripted(self) -> int:
        """Return how much of what was scripted has not happened."""
        return len(self._http.get("/scenario").raise_for_status().json()["pending"])

    def calls(self, prompt: str) -> list[dict[str, Any]]:
        """Return the calls that held `prompt`, in order of arrival."""
        return [call for call in self._calls() if prompt in json.dumps(call["body"])]

    def count(self, model: str) -> int:
        """Return how many calls there were for one of our models."""
        name = entry(model).vendor_model
        return sum(call["model"] == name for call in self._calls())

    def _calls(self) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = self._http.get("/requests").json()["requests"]
        return calls

    def _script(self, behaviour: dict[str, Any], model: str) -> None:
        matched = {**behaviour, "match": {"model": entry(model).vendor_model}}
        self._http.post("/scenario", json={"behaviors": [matched]}).raise_for_status()
