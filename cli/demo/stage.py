"""What every act is given: the partners, the vendor, Tidegate's books, a way to show progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from cli.demo.books import LOOK, Books
from cli.demo.crowd import Seen, side_by_side
from cli.demo.facts import Facts, Unfinished
from cli.demo.operator import Operator
from cli.demo.partner import PartnerClient, Tally
from cli.demo.vendor import Vendor
from cli.local.stack import CATALOGUE, ENVIRONMENT, StackInfo
from tidegate.rules import catalogue
from tidegate.rules.catalogue import Entry

Progress = Callable[[str, int, int], None]
"""Told what is under way, how much of it is done, of how much."""

READERS = 6
"""Clients that look after running jobs side by side."""

SOON_STALE = "image-studio"
FRESH = 5
"""Seconds in which this model's answers are fresh in the demo: nobody should wait for days."""

OVERLAY = f"[models.{SOON_STALE}]\ncache.soft_ttl = {FRESH}\ncache.jitter = 0\n"
"""The catalogue's keys that are the demo's own."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A running stack with everybody on it."""

    info: StackInfo
    partners: tuple[PartnerClient, ...]
    vendor: Vendor
    books: Books
    operator: Operator
    tally: Tally
    models: Mapping[str, Entry]
    progress: Progress

    @property
    def partner(self) -> PartnerClient:
        """Return the partner who acts where one is enough."""
        return self.partners[0]

    def counter(self, what: str, total: int) -> Seen:
        """Return what to tell how much is done of `total`."""
        return lambda done: self.progress(what, done, total)

    def fetch(self, url: str) -> bytes:
        """Return what a signed URL of ours leads to, without any key."""
        return httpx.get(url, timeout=10, trust_env=False).raise_for_status().content

    def finished(
        self, partner: PartnerClient, job_ids: Sequence[str], patience: float = 60
    ) -> dict[str, dict[str, Any]]:
        """Return jobs by id once all of them are final.

        Raises:
            Unfinished: some were not within `patience` seconds.
        """
        done: dict[str, dict[str, Any]] = {}
        open_ids = list(dict.fromkeys(job_ids))
        total = len(open_ids)
        until = time.monotonic() + patience
        while open_ids:
            self.progress("jobs that are final", len(done), total)
            looked = side_by_side(partner.job, open_ids, READERS)
            done |= {job["id"]: job for job in looked if job["done"]}
            open_ids = [job["id"] for job in looked if not job["done"]]
            if open_ids and time.monotonic() > until:
                raise Unfinished(f"not final after {patience:g} s: {', '.join(open_ids)}")
            time.sleep(LOOK if open_ids else 0)
        return done


@contextmanager
def set_stage(info: StackInfo, progress: Progress) -> Iterator[Stage]:
    """Yield a stage on a running stack; every connection is closed at the end."""
    models = catalogue.load(CATALOGUE, ENVIRONMENT).models
    tally = Tally()
    with ExitStack() as opened:
        vendor = Vendor(info.vendor_url, {name: e.vendor_model for name, e in models.items()})
        opened.callback(vendor.close)
        books = Books(info)
        opened.callback(books.close)
        operator = Operator(info)
        opened.callback(operator.close)
        partners = []
        for partner in info.partners:
            partners.append(PartnerClient(info.api_url, partner.api_key, tally))
            opened.callback(partners[-1].close)
        yield Stage(info, tuple(partners), vendor, books, operator, tally, models, progress)


@dataclass(frozen=True, slots=True)
class Act:
    """One scene of the demo; a new one is a module with an `ACT`, named in `acts`."""

    title: str
    story: str
    """What happens and what to look for, for somebody who sees Tidegate for the first time."""
    play: Callable[[Stage], Facts]
