"""Vendors that give the answers of the tables over their own API, to whoever asks for a case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import httpx

from tests.unit.answer_cases import NUMBER, WORD, Case
from tests.unit.bad_envelopes import Broken, sent
from tidegate.clock import Clock
from tidegate.doors.quarantine import MOST_KEPT, Quarantine
from tidegate.rules.job import Job
from tidegate.vendors.base import Vendor, VendorAnswer, VendorCall
from tidegate.vendors.registry import build

_NAMED = re.compile("case <(.+?)>")


class Vendors:
    """All vendors of a catalogue behind the shipped adapters, and how often each case was asked."""

    def __init__(self, clock: Callable[[], Clock]) -> None:
        self.asked: Counter[str] = Counter()
        self.bodies: Mapping[str, bytes] = {}
        self._clock = clock
        self._adapters: dict[str, Vendor] = {}

    def say(self, cases: Iterable[Case | Broken]) -> None:
        """Answer these from here on."""
        self.asked.clear()
        self.bodies = {
            each.name: each.body if isinstance(each, Broken) else sent(each) for each in cases
        }

    def call(self, call: VendorCall) -> VendorAnswer:
        """Return what the adapter of an entry makes of its vendor's answer."""
        model = call.entry.vendor_model
        if model not in self._adapters:
            transport = httpx.MockTransport(self._answer)
            self._adapters[model] = build(
                call.entry, "http://vendor.test", lambda: "k", self._clock(), transport
            )
        return self._adapters[model].call(call)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        named = _NAMED.search(request.content.decode())
        assert named is not None
        self.asked[named[1]] += 1
        return httpx.Response(200, content=self.bodies[named[1]])


def asked_for(case: Case | Broken) -> dict[str, Any]:
    """Return what a partner asks to be answered with a case."""
    return case.asked if isinstance(case, Case) else Case(case.name, case.model).asked


def assert_recorded(quarantine: Quarantine, case: Case, job: Job) -> None:
    """Hold the one record of a bad answer against it."""
    record = quarantine.record(job.id)
    assert record is not None, case.name
    first = record.reasons[0]
    assert (first.code, first.pointer) == (case.code, case.pointer), case.name
    assert_unquoted(" ".join(reason.message for reason in record.reasons))
    raw = quarantine.raw(record)
    assert raw is not None
    assert (raw.text or "") == (case.text or "")[:MOST_KEPT], case.name
    assert (record.cut, raw.truncated, len(raw.images)) == (
        len(case.text or "") > MOST_KEPT, case.truncated, len(case.images),
    )  # fmt: skip


def assert_unquoted(text: str) -> None:
    """Nothing of an answer is in it."""
    assert WORD.lower() not in text.lower()
    assert str(NUMBER) not in text
