"""What a model's limits ask of its workers: Little's law, shares, costs, tokens by estimate."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.pipeline import catalogue
from tidegate.errors import InvalidRequest
from tidegate.rules.pacing import SPARE, WELL_USED, Pace, share_of
from tidegate.rules.switch_request import parse
from tidegate.rules.tokens import BYTES_PER_TOKEN, at_most

RATES = st.integers(1, 100_000)
PLACES = st.integers(1, 1000)
SECONDS = st.floats(0.01, 300)


@given(RATES, SECONDS, PLACES)
def test_places_fit_a_quota_by_littles_law(rate: int, latency: float, places: int) -> None:
    """Calls in flight = calls a second x seconds of a call: so many reach the quota just so."""
    needed = rate / 60 * latency
    wrong = Pace(requests_per_minute=rate, expected_latency=latency).mismatch(places)
    if places < WELL_USED * needed * (1 - 1e-9):
        assert wrong is not None
        assert "cannot use a quota" in wrong
    elif places > SPARE * needed * (1 + 1e-9) and places > 1:
        assert wrong is not None
        assert "must exceed a quota" in wrong
    elif WELL_USED * needed * (1 + 1e-9) < places < SPARE * needed * (1 - 1e-9):
        assert wrong is None


@pytest.mark.parametrize(
    ("pace", "places", "says"),
    [
        ({"requests_per_minute": 600, "expected_latency": 2}, 20, None),
        ({"requests_per_minute": 600, "expected_latency": 2}, 18, "takes 20.0 at once"),
        ({"requests_per_minute": 600, "expected_latency": 2}, 31, "20.0 at once use up"),
        ({"requests_per_minute": 6, "expected_latency": 1}, 1, None),  # one is never too many
        ({"requests_per_minute": 600}, 1, None),  # nothing is known of its calls
        ({"expected_latency": 2}, 1000, None),  # no limit
        ({"tokens_per_minute": 60_000, "expected_latency": 2, "expected_tokens": 1000}, 3,
         None),
        ({"tokens_per_minute": 60_000, "expected_latency": 2, "expected_tokens": 1000}, 1,
         "quota of 60"),
        ({"requests_per_minute": 30, "tokens_per_minute": 60_000, "expected_latency": 2,
          "expected_tokens": 1000}, 1, None),  # the lower of two limits
    ],
)  # fmt: skip
def test_a_mismatch_says_what_would_fit(
    pace: dict[str, Any], places: int, says: str | None
) -> None:
    wrong = Pace(**pace).mismatch(places)
    assert wrong is None if says is None else wrong is not None and says in wrong


def test_every_shipped_model_fits_its_limits() -> None:
    for name, entry in catalogue().models.items():
        assert entry.pace.mismatch(entry.in_flight) is None, name


@given(PLACES, st.floats(0.001, 1))
def test_a_share_is_at_least_one_and_never_more_than_all(places: int, share: float) -> None:
    assert 1 <= share_of(places, share) <= places
    assert share_of(places, share) <= max(1, places * share)


@given(RATES, RATES, st.integers(1, 10_000), PLACES)
def test_a_call_costs_what_its_scarcest_limit_says(
    requests: int, tokens: int, size: int, places: int
) -> None:
    pace = Pace(requests_per_minute=requests, tokens_per_minute=tokens, expected_latency=3)
    assert pace.cost(size, places) == max(3 / places, 60 / requests, size * 60 / tokens)


@pytest.mark.parametrize(
    "wrong",
    [
        {"requests_per_minute": 0}, {"tokens_per_minute": -1}, {"tokens_counted": "billed"},
        {"burst": 61}, {"horizon": -1}, {"expected_latency": 0}, {"rpm": 5},
    ],
    ids=str,
)  # fmt: skip
def test_a_pace_that_makes_no_sense_is_an_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Pace(**wrong)


@given(st.text(max_size=400), st.integers(1, 16_384))
def test_an_estimate_grows_with_the_text_and_holds_the_whole_answer(text: str, most: int) -> None:
    entry = catalogue().models["chat-mini"]
    asked = {"messages": [{"role": "user", "content": text}]}
    usage = at_most(entry.system, asked, {"max_tokens": most})
    assert usage.input_tokens >= len(text.encode(errors="surrogatepass")) / BYTES_PER_TOKEN
    assert usage.output_tokens == most


def test_a_request_to_switch_says_who_and_why() -> None:
    request = parse({"switch": "pause", "seconds": 60, "by": "ana", "why": "maintenance"})
    assert (request.switch, request.seconds, request.by) == ("pause", 60, "ana")
    wrongs: list[Any] = [
        {"switch": "pause", "seconds": float("nan")}, {"switch": "pause", "by": ""}, [], None,
    ]  # fmt: skip
    for wrong in wrongs:
        with pytest.raises(InvalidRequest):
            parse(wrong)
