"""The shipped catalogue against a running mock of the vendors' APIs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.unit.vendor_server import entry, llmock
from tidegate.clock import SystemClock
from tidegate.errors import (
    VendorAccount,
    VendorError,
    VendorFailed,
    VendorRefused,
    VendorThrottled,
    VendorTimeout,
)
from tidegate.gate.verdict import judge
from tidegate.rules import picture
from tidegate.rules.answer import Expected, Given, expected
from tidegate.rules.catalogue import Entry
from tidegate.rules.picture import Delivered
from tidegate.vendors.base import VendorAnswer, VendorCall
from tidegate.vendors.registry import build

PREFIX = {"openai": "/v1", "anthropic": "/anthropic", "cohere": "/cohere"}
INPUTS: dict[str, dict[str, Any]] = {
    "chat": {"messages": [{"role": "user", "content": "Say hello"}]},
    "code": {"instruction": "Rename x", "code": "x = 1", "language": "python"},
    "image": {"prompt": "A tide", "negative_prompt": "people"},
    "extract": {"text": "Account 7 paid 10 EUR"},
}
MODELS = ["chat-mini", "chat-claude", "code-command", "image-studio", "risk-report"]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with llmock() as url:
        yield url


@pytest.fixture
def mock(server: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server, trust_env=False) as client:
        client.post("/_llmock/reset")
        yield client


def ask(server: str, name: str, **changes: object) -> VendorAnswer:
    model = entry(name, **changes)
    params = {n: p.default for n, p in model.parameters.items() if p.default is not None}
    vendor = build(model, server + PREFIX[model.vendor], lambda: "sk-test", SystemClock())
    return vendor.call(
        VendorCall(model, INPUTS[model.task], params, f"tg-{name}", system=model.system)
    )


def given(answer: VendorAnswer) -> Given:
    images = []
    for image in answer.images:
        seen = picture.read(image.content)
        assert seen is not None
        images.append(Delivered(image.declared, seen.kind, seen.width, seen.height))
    return Given(answer.text, tuple(images), truncated=answer.finish == "truncated")


def asked(model: Entry) -> Expected:
    """Return what is held against an answer to `ask`."""
    return expected(model.task, {"params": {}, "input": INPUTS[model.task]})


def members(_set: str, named: frozenset[str]) -> frozenset[str]:
    return named


def script(mock: httpx.Client, **behaviour: object) -> None:
    mock.post("/_llmock/scenario", json={"behaviors": [behaviour]}).raise_for_status()


def served(mock: httpx.Client) -> int:
    count: int = mock.get("/_llmock/requests").json()["count"]
    return count


@pytest.mark.parametrize("name", MODELS)
def test_every_model_answers_and_passes_the_gate(
    server: str, mock: httpx.Client, name: str
) -> None:
    answer = ask(server, name)
    model = entry(name)
    verdict = judge(model, given(answer), asked(model), members)
    assert verdict.passed, verdict.reasons
    assert answer.request_id or model.task == "image"
    assert served(mock) == 1


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("status", "expected"),
    [(429, VendorThrottled), (500, VendorFailed), (401, VendorAccount), (422, VendorRefused)],
)
def test_every_models_errors_are_classified_and_not_retried(
    server: str, mock: httpx.Client, name: str, status: int, expected: type[VendorError]
) -> None:
    script(mock, type="fail", status=status, retry_after=2.5 if status == 429 else None)
    with pytest.raises(VendorError) as caught:
        ask(server, name)
    assert type(caught.value) is expected
    assert caught.value.vendor_status == status
    # It says 3 whole seconds, too, as HTTP has it: the longer wait is kept.
    assert caught.value.retry_after == (3 if status == 429 else None)
    assert served(mock) == 1


@pytest.mark.parametrize("name", ["chat-mini", "chat-claude", "code-command"])
def test_a_cut_answer_is_marked(server: str, mock: httpx.Client, name: str) -> None:
    script(mock, type="reply", text="Half an", finish_reason="length")
    answer = ask(server, name)
    assert (answer.text, answer.finish) == ("Half an", "truncated")


@pytest.mark.parametrize("name", ["chat-mini", "chat-claude"])
def test_a_filtered_answer_is_refused(server: str, mock: httpx.Client, name: str) -> None:
    script(mock, type="reply", text="I", finish_reason="content_filter")
    with pytest.raises(VendorRefused):
        ask(server, name)


def test_a_hallucination_does_not_pass_the_gate(server: str, mock: httpx.Client) -> None:
    text = '{"account_id": 7, "confidence_score": 7, "anomaly_detected": "no", "risk_level": "LOW"}'
    script(mock, type="reply", text=text)
    answer = ask(server, "risk-report")
    verdict = judge(entry("risk-report"), given(answer), Expected(), members)
    assert {r.pointer for r in verdict.reasons} == {"/confidence_score", "/anomaly_detected"}


def test_a_slow_vendor_is_given_up(server: str, mock: httpx.Client) -> None:
    script(mock, type="delay", seconds=2)
    limits = entry("chat-mini").timeouts.model_copy(update={"read": 0.2, "total": 0.3})
    with pytest.raises(VendorTimeout):
        ask(server, "chat-mini", timeouts=limits)
