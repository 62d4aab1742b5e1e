"""Vendors that give the answers of the tables to whoever asks for one by name, over their API."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import httpx

from tests.fakes import FakeClock
from tests.unit.answer_cases import SETS
from tidegate.doors.dynamo import Table
from tidegate.doors.reference_sets import ReferenceSets
from tidegate.rules.catalogue import Catalogue
from tidegate.vendors.base import Vendor, VendorAnswer, VendorCall
from tidegate.vendors.registry import build

_NAMED = re.compile("case <(.+?)>")


class Vendors:
    """All vendors of a catalogue behind the shipped adapters, and how often each case was asked."""

    def __init__(self, models: Catalogue, bodies: Mapping[str, bytes], clock: FakeClock) -> None:
        self.asked: Counter[str] = Counter()
        self._bodies = bodies
        transport = httpx.MockTransport(self._answer)
        self._adapters: dict[str, Vendor] = {
            entry.vendor_model: build(entry, "http://vendor.test", lambda: "k", clock, transport)
            for entry in models.models.values()
        }

    def call(self, call: VendorCall) -> VendorAnswer:
        """Return what the adapter of an entry makes of its vendor's answer."""
        return self._adapters[call.entry.vendor_model].call(call)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        named = _NAMED.search(request.content.decode())
        assert named is not None
        self.asked[named[1]] += 1
        return httpx.Response(200, content=self._bodies[named[1]])


def load_sets(table: Table, sets: ReferenceSets) -> None:
    """Load the sets that the tables refer to."""
    for name, members in SETS.items():
        sets.load(name, sorted(members), by="tests", why="for the tables")
