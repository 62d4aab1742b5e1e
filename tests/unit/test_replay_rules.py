"""What a replay is asked for, and what a job's state allows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.test_audit import a_job
from tidegate.errors import NotReplayable, TidegateError
from tidegate.flows.reopen import reopened
from tidegate.rules.job import FINAL, MAX_REPLAYS, REPLAYABLE, Job, JobError, Status
from tidegate.rules.replay_request import ReplayRequest, parse
from tidegate.rules.replay_verdict import TOO_OLD, Deed, Letter, chosen, decide, refusal

NOW = 1_900_000_000.0
MODELS = {"chat-mini"}


def asked(**fields: Any) -> ReplayRequest:
    return parse({"action": "replay", "model": "chat-mini", **fields}, MODELS)


@pytest.mark.parametrize(
    ("fields", "dry"),
    [
        ({}, True),
        ({"filter": {"partner": "acme"}}, True),
        ({"dry_run": False}, False),
        ({"job_ids": ["job_1"]}, False),
        ({"message_ids": ["m"]}, False),
        ({"message_ids": ["m"], "dry_run": True}, True),
        ({"action": "list", "dry_run": False}, True),
    ],
)
def test_what_is_not_named_is_only_looked_at_until_told_otherwise(
    fields: dict[str, Any], dry: bool
) -> None:
    assert asked(**fields).dry is dry


def test_a_wrong_request_is_told_which_field_and_nothing_of_its_value() -> None:
    with pytest.raises(TidegateError) as caught:
        asked(filter={"partnr": "secret-of-a-slip"}, limit="many")
    assert "filter.partnr: Extra inputs are not permitted" in str(caught.value)
    assert "limit: Input should be a valid integer" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "deed"),
    [
        (Status.QUEUED, Deed.SEND),
        (Status.PROCESSING, Deed.DELETE),
        (Status.RETRYING, Deed.DELETE),
        (Status.COMPLETED, Deed.DELETE),
        (Status.FAILED, Deed.REPLAY),
        (Status.DEAD_LETTERED, Deed.REPLAY),
        (Status.EXPIRED, Deed.REPLAY),
        (Status.QUARANTINED, Deed.SKIP),
        (Status.CANCELLED, Deed.SKIP),
    ],
)
def test_each_state_allows_one_deed(status: Status, deed: Deed) -> None:
    job = a_job(1, 10, status)
    letter = Letter("m", job.id, job)
    assert decide(letter, asked(), NOW)[0] is deed
    without = decide(replace(letter, message_id=None), asked(job_ids=[job.id]), NOW)
    assert without[0] is (Deed.SKIP if deed is Deed.DELETE else deed)
    discarding = decide(letter, asked(action="discard"), NOW)[0]
    assert discarding is (Deed.DISCARD if status in FINAL else Deed.SKIP)


def ended(status: Status, **fields: Any) -> Job:
    error = JobError("retryable", "vendor_failed", "it failed", "vendor")
    return replace(a_job(1, 10, status), error=error, finished_at=NOW - 60, **fields)


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("replays", [0, MAX_REPLAYS])
@pytest.mark.parametrize("age", [0, TOO_OLD + 1])
def test_a_dry_run_foresees_what_re_opening_refuses(
    status: Status, replays: int, age: float
) -> None:
    class Opens:
        def reopen(self, job: Job, **_: float) -> Job:
            return job

    class Silent:
        def count(self, *_: Any, **__: Any) -> None: ...
        def info(self, *_: Any, **__: Any) -> None: ...

    endings: Any = Opens()
    telemetry: Any = Silent()
    job = replace(ended(status), replay_count=replays, finished_at=NOW - age)
    foreseen = refusal(job, NOW)
    if foreseen is None:
        assert reopened(job, endings, NOW, telemetry) == job
        assert status in REPLAYABLE
    else:
        with pytest.raises(NotReplayable, match=re.escape(foreseen)):
            reopened(job, endings, NOW, telemetry)


def test_a_filter_means_jobs_as_they_are_and_what_a_killed_replay_left() -> None:
    request = asked(filter={"status": "dead_lettered", "code": "vendor_failed"})
    dead = ended(Status.DEAD_LETTERED)
    letter = Letter("m", dead.id, dead, sent_at=NOW - 100)
    assert chosen(letter, request, NOW)
    assert not chosen(replace(letter, job=ended(Status.FAILED)), request, NOW)

    left = replace(dead, status=Status.QUEUED, error=None, replay_count=1, enqueued_at=NOW - 50)
    assert chosen(replace(letter, job=left), request, NOW)
    assert not chosen(replace(letter, job=replace(left, replay_count=0)), request, NOW)
    assert not chosen(replace(letter, job=left, sent_at=NOW - 10), request, NOW)
    others = asked(filter={"status": "dead_lettered", "partner": "globex"})
    assert not chosen(replace(letter, job=left), others, NOW)


def test_what_is_not_ours_is_meant_only_where_nothing_is_asked_of_its_job() -> None:
    foreign = Letter("m", None, sent_at=NOW - 100)
    assert chosen(foreign, asked(filter={"older_than_seconds": 60}), NOW)
    assert not chosen(foreign, asked(filter={"older_than_seconds": 600}), NOW)
    assert not chosen(foreign, asked(filter={"partner": "acme"}), NOW)
