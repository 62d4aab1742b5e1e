"""Figures of the benches: what a journal of calls comes to."""

from __future__ import annotations

from typing import Any

import pytest
from llmock.ratelimit import LimitSettings, RateLimiter

from bench.fairness import waits
from bench.figures import (
    Call,
    at_once,
    begun_within,
    calls_for,
    counted_tokens,
    findings,
    per_step,
    percentile,
    quota_use,
    refused,
    spread,
)
from bench.storm import weathered


def call(begun: float, status: int = 200, *, took: float = 0.5, tokens: int = 100) -> Call:
    return Call(round(begun * 10), status, begun, begun + took, tokens, f"work-{begun}")


def test_a_client_that_calls_at_the_vendors_rate_has_used_all_of_it() -> None:
    calls = [call(1000 + 0.5 * number, took=0.5) for number in range(240)]
    use = quota_use(calls, 1000, 0, 120)
    assert (use.used, use.granted, use.seconds, use.share) == (240, 240, 120, 1)


def test_what_was_left_at_the_start_is_granted_too() -> None:
    use = quota_use([call(1000, took=30)], 1000, 6, 120)
    assert use.granted == 66


def test_pauses_and_a_late_last_answer_lower_the_share() -> None:
    calls = [call(1000 + number, took=0) for number in range(60)] + [call(1120, took=0)]
    assert quota_use(calls, 1000, 0, 60).share == pytest.approx(61 / 120)


def test_refused_calls_use_nothing_and_calls_before_the_start_do_not_count() -> None:
    calls = [call(990), call(1000, 429), call(1059.5, took=0.5)]
    use = quota_use(calls, 1000, 0, 120)
    assert (use.used, use.seconds) == (1, 60)
    assert refused(calls) == 1


def test_a_token_quota_is_used_by_what_the_vendor_counts() -> None:
    calls = [call(1000, tokens=700), call(1059.5, tokens=300), call(1010, 429, tokens=5000)]
    use = quota_use(calls, 1000, 0, 2000, in_tokens=True)
    assert (use.used, use.share) == (1000, 0.5)


def test_no_calls_use_nothing() -> None:
    assert quota_use([], 1000, 0, 120).share == 0
    assert per_step([], 1000, 10) == {"answered": [], "429": []}


def test_calls_of_a_model_are_read_from_the_journal_by_their_start() -> None:
    def record(number: int, model: str, begun: float) -> dict[str, Any]:
        return {
            "seq": number,
            "model": model,
            "status": 200,
            "started_at": begun,
            "ended_at": begun + 1,
            "fingerprint": "f",
            "body": {"model": model, "max_tokens": 50},
        }

    journal = [record(1, "a", 7), record(2, "b", 6), record(3, "a", 5)]
    assert [(each.number, each.begun) for each in calls_for(journal, "a")] == [(3, 5), (1, 7)]


def test_tokens_are_counted_as_the_vendors_limiter_counts_them() -> None:
    body = {"messages": [{"role": "user", "content": "x" * 400}], "max_tokens": 1000}
    assert counted_tokens(body) == 1000 + len(str(body)) // 4
    limiter = RateLimiter(LimitSettings(tpm=2 * counted_tokens(body)))
    allowed = [limiter.admit("openai", "key", counted_tokens(body)).allowed for _ in range(3)]
    assert allowed == [True, True, False]


def test_calls_are_counted_by_steps_of_time() -> None:
    calls = [call(1000), call(1009.9), call(1010, 429), call(1031), call(1031, 500)]
    assert per_step(calls, 1000, 10) == {
        "answered": [2, 0, 0, 1],
        "429": [0, 1, 0, 0],
        "other": [0, 0, 0, 1],
    }


def test_an_end_and_a_beginning_at_one_moment_do_not_overlap() -> None:
    assert at_once([call(0, took=1), call(1, took=1), call(1.5, took=1)]) == 2
    assert begun_within([call(0), call(4.9), call(5)], 0, 5) == 2


def test_findings_are_those_against_the_clients_own_calls() -> None:
    verdict = {
        "findings": [
            {"code": "retry_storm", "requests": [10, 20]},
            {"code": "gave_up", "requests": [30]},
        ]
    }
    assert findings(verdict, [call(2), call(99)]) == {"retry_storm": 1}


@pytest.mark.parametrize(
    ("percent", "value"), [(50, 10), (95, 19), (100, 20), (0, 1), (5, 1), (5.1, 2)]
)
def test_a_percentile_is_a_value_that_was_measured(percent: float, value: float) -> None:
    assert percentile(list(range(1, 21)), percent) == value


def test_a_spread_of_nothing_is_nothing() -> None:
    assert (spread([]).count, spread([]).p95) == (0, 0)
    assert spread([3, 1, 2]).p50 == 2


def test_waits_are_told_in_turns() -> None:
    found = waits([0.5, 1.0, 4.0], turn=0.25)
    assert (found.each, found.turns.p50, found.seconds.longest) == ([2, 4, 16], 4, 4.0)


def test_after_a_storm_there_is_one_probe_first() -> None:
    wave = [call(100 + 0.01 * number, 429, took=0.3) for number in range(4)]
    after = [call(105.5, took=0.3)] + [call(106 + 0.25 * number, took=0.3) for number in range(9)]
    found = weathered(wave + after, 10)
    assert (found.within_storm, found.first_wave, found.probes) == (4, 4, 1)
    assert (found.refused, found.in_flight, found.second_after) == (4, 4, 3)


def test_all_at_once_after_a_storm_are_as_many_probes() -> None:
    wave = [call(100, 429, took=0.3)]
    assert weathered(wave + [call(105.2, took=0.3) for _ in range(8)], 8).probes == 8
