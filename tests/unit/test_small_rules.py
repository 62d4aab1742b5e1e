"""Backoff, partner keys, message bodies, ids: the small rules, by property."""

from __future__ import annotations

import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.clock import SystemIds, rfc3339
from tidegate.doors.queue import NotOurs, body_of, job_id_in
from tidegate.rules import backoff, partner_key
from tidegate.rules.job import CURABLE, FINAL, Status
from tidegate.rules.policies import RetryPolicy

POLICY = RetryPolicy(base=2, cap=300)


@given(st.integers(0, 1000), st.floats(0, 1, exclude_max=True), st.floats(0, 1e9) | st.none())
def test_a_wait_is_bounded_and_never_shorter_than_asked(
    failures: int, fraction: float, asked: float | None
) -> None:
    wait = backoff.delay(POLICY, failures, fraction, asked)
    assert 0 <= wait <= backoff.MAX_VISIBILITY
    assert wait >= min(asked or 0, backoff.MAX_VISIBILITY)
    usual = min(POLICY.cap, POLICY.base * 2.0 ** min(failures, 30))
    assert wait >= usual * (1 - backoff.JITTER)
    if asked is None:
        assert wait <= usual * (1 + backoff.JITTER)


def test_five_retries_by_default_wait_5_10_20_40_and_80_seconds() -> None:
    usual = RetryPolicy()
    waits = [backoff.delay(usual, n, 0.5, None) for n in range(usual.attempts - 1)]
    assert waits == [5, 10, 20, 40, 80]


def test_a_minted_key_is_parsed_and_matches_only_itself() -> None:
    key, other = (partner_key.mint(secrets.token_bytes) for _ in range(2))
    assert partner_key.parse(key.reveal()) == key
    stored = partner_key.digest(key.secret)
    assert partner_key.matches(key.secret, stored)
    assert not partner_key.matches(other.secret, stored)
    assert key.secret not in repr(key)
    assert key.secret not in stored


@given(st.text(max_size=80))
def test_what_is_no_key_is_not_parsed(text: str) -> None:
    key = partner_key.parse(text)
    assert key is None or key.reveal() == text


@given(st.text(max_size=200))
def test_any_body_is_ours_or_refused(body: str) -> None:
    with pytest.raises(NotOurs):
        job_id_in(body)


def test_our_body_is_read_back() -> None:
    assert job_id_in(body_of("job_1")) == "job_1"


def test_ids_sort_by_time_and_differ() -> None:
    ids = SystemIds()
    early, late = ids.job_id(1_000_000.0), ids.job_id(1_000_001.0)
    assert early < late
    assert len(early) == 30
    assert ids.job_id(1.0) != ids.job_id(1.0)
    assert 0 <= ids.fraction() < 1


def test_times_are_utc() -> None:
    assert rfc3339(0.5) == "1970-01-01T00:00:00.500Z"


def test_curable_ends_are_ends() -> None:
    assert CURABLE < FINAL
    assert set(Status) - FINAL == {Status.QUEUED, Status.PROCESSING, Status.RETRYING}
