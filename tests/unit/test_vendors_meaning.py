"""What each vendor's refusals mean, by the vendor's own words and never by a partner's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.vendor_calls import ask
from tests.unit.vendor_server import Teller, teller
from tidegate.errors import (
    Retry,
    VendorAccount,
    VendorError,
    VendorFailed,
    VendorRefused,
    VendorThrottled,
)

OPENAI, IMAGES, ANTHROPIC, COHERE = "chat-mini", "image-studio", "chat-claude", "code-command"
BALANCE = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing"
TRIAL = "You are using a Trial key, which is limited to {} API calls / {}. You can continue to use"


def openai(code: str | None, kind: str | None = "invalid_request_error", text: str = "No.") -> Any:
    return {"error": {"message": text, "type": kind, "param": None, "code": code}}


def anthropic(text: str, kind: str = "invalid_request_error", **more: Any) -> Any:
    return {"type": "error", "error": {"type": kind, "message": text, **more}, "request_id": "r"}


def cohere(text: str) -> Any:
    return {"id": "c-1", "message": text}


@pytest.fixture(scope="module")
def vendor() -> Iterator[Teller]:
    with teller() as told:
        yield told


def refused(vendor: Teller, name: str, status: int, body: Any, schema: Any = None) -> VendorError:
    """Return what an adapter raises whose vendor answers so."""
    vendor.says(status, body)
    with pytest.raises(VendorError) as caught:
        ask(name, vendor.url, schema)
    assert caught.value.vendor_status == status
    assert str(caught.value) == f"the vendor answered {status}"  # not a word of the vendor's
    return caught.value


ACCOUNT = [
    (ANTHROPIC, 400, anthropic(BALANCE)),
    (ANTHROPIC, 400, anthropic("You have reached your specified API usage limits. You will")),
    (ANTHROPIC, 400, anthropic("You have reached your specified workspace API usage limits.")),
    (ANTHROPIC, 400, anthropic("This organization has been disabled.")),
    (ANTHROPIC, 400, anthropic("No.", "billing_error")),
    (ANTHROPIC, 402, anthropic("No.", "billing_error")),
    (ANTHROPIC, 401, anthropic("invalid x-api-key", "authentication_error")),
    (ANTHROPIC, 403, anthropic("No.", "permission_error")),
    (ANTHROPIC, 404, anthropic("No.", "permission_error")),
    (
        ANTHROPIC,
        429,
        anthropic(
            "No.", "rate_limit_error", details={"error_code": "enforced_spend_limit_reached"}
        ),
    ),
    (OPENAI, 429, openai("insufficient_quota", "insufficient_quota")),
    (OPENAI, 429, openai("credit_balance_exhausted", "insufficient_quota")),
    (OPENAI, 429, openai(None, "insufficient_quota")),
    (OPENAI, 429, openai("organization_spend_limit_exceeded", None)),
    (OPENAI, 429, openai("project_spend_limit_exceeded", None)),
    (OPENAI, 429, openai("organization_usage_limit_exceeded", None)),
    (OPENAI, 429, openai("billing_not_active", "billing_not_active")),
    (OPENAI, 429, openai("access_terminated", "access_terminated")),
    (OPENAI, 429, openai("quota_exceeded")),
    (OPENAI, 400, openai("account_deactivated")),
    (OPENAI, 400, openai("organization_deactivated")),
    (OPENAI, 400, openai("invalid_api_key")),
    (OPENAI, 401, openai("invalid_api_key")),
    (OPENAI, 404, openai(None, text="Your organization must be verified to use the model `m`.")),
    (IMAGES, 400, openai("billing_hard_limit_reached")),
    (IMAGES, 403, openai(None, text="Your organization must be verified to use the model.")),
    (COHERE, 429, cohere(TRIAL.format(1000, "month"))),
    (COHERE, 429, cohere(TRIAL.format("1,000", "month"))),
    (COHERE, 401, cohere("invalid api token")),
    (COHERE, 400, cohere("invalid api token")),
    (COHERE, 401, cohere("no api key supplied")),
    (COHERE, 402, cohere("Please add or update your payment method at https://dashboard")),
    (COHERE, 429, cohere("Maximum billing reached for this API key as set in your dashboard")),
    (COHERE, 404, cohere("failed to find org by org id")),
    (COHERE, 403, cohere("Forbidden")),
]


@pytest.mark.parametrize(("name", "status", "body"), ACCOUNT)
def test_trouble_with_our_account_is_known_by_what_is_said(
    vendor: Teller, name: str, status: int, body: Any
) -> None:
    error = refused(vendor, name, status, body)
    assert type(error) is VendorAccount
    assert error.retry is Retry.ACCOUNT


KNOWN = [
    (OPENAI, 400, openai("content_policy_violation")),
    (OPENAI, 400, openai("context_length_exceeded")),
    (OPENAI, 400, openai("string_above_max_length")),
    (OPENAI, 400, openai("invalid_prompt")),
    (OPENAI, 400, openai(None, text="This model's maximum context length is 4097 tokens.")),
    (OPENAI, 413, "<html>Too large</html>"),
    (IMAGES, 400, openai("moderation_blocked", "image_generation_user_error")),
    (ANTHROPIC, 400, anthropic("Output blocked by content filtering policy")),
    (ANTHROPIC, 400, anthropic("prompt is too long: 210000 tokens > 200000 maximum")),
    (ANTHROPIC, 400, anthropic("messages.0.content.0.text: must be non-empty")),
    (ANTHROPIC, 400, anthropic("messages: at least one message is required")),
    (ANTHROPIC, 413, anthropic("Request exceeds the maximum size", "request_too_large")),
    (COHERE, 400, cohere("too many tokens: total number of tokens in the prompt cannot exceed")),
    (COHERE, 400, cohere("invalid request: message must be at least 1 token long")),
    (COHERE, 400, cohere("blocked output: please adjust your prompt and try again")),
    (COHERE, 498, cohere("unsafe")),
]

UNKNOWN = [
    (OPENAI, 404, openai("model_not_found", text="The model `gpt-9` does not exist")),
    (OPENAI, 400, openai("unsupported_parameter", text="Unsupported parameter: 'max_tokens'")),
    (OPENAI, 400, openai(None, text="Invalid schema for response_format 'answer': In context=()")),
    (OPENAI, 422, {"detail": "Unprocessable"}),
    (OPENAI, 400, "<html>Bad request</html>"),
    (OPENAI, 301, "moved"),
    (IMAGES, 400, openai(None, text="Unknown parameter: 'quality'.")),
    (ANTHROPIC, 404, anthropic("model: claude-9", "not_found_error")),
    (ANTHROPIC, 400, anthropic("temperature: range: 0..1")),
    (COHERE, 404, cohere("model 'xyz' not found, make sure the correct model ID was used")),
    (COHERE, 400, cohere("invalid request: temperature must be between 0 and 1.0 inclusive.")),
]


@pytest.mark.parametrize(
    ("name", "status", "body", "known"),
    [(*each, True) for each in KNOWN] + [(*each, False) for each in UNKNOWN],
)
def test_a_refusal_is_known_to_be_this_requests_own_or_it_is_not(
    vendor: Teller, name: str, status: int, body: Any, known: bool
) -> None:
    error = refused(vendor, name, status, body)
    assert isinstance(error, VendorRefused)
    assert error.known is known


def test_a_schema_that_the_vendor_does_not_take_is_the_requests_own_if_its_partner_sent_it(
    vendor: Teller,
) -> None:
    body = openai("invalid_json_schema", text="Invalid schema for response_format 'answer': In")
    error = refused(vendor, OPENAI, 400, body, {"type": "object", "properties": {}})
    assert isinstance(error, VendorRefused)
    assert error.known


@pytest.mark.parametrize(
    ("name", "status", "body", "kind"),
    [
        (COHERE, 429, cohere(TRIAL.format(40, "minute")), VendorThrottled),
        (COHERE, 429, cohere("trial token rate limit exceeded, limit is 100000"), VendorThrottled),
        (COHERE, 499, cohere("request cancelled"), VendorFailed),
        (ANTHROPIC, 429, anthropic("No.", "rate_limit_error"), VendorThrottled),
        (ANTHROPIC, 529, anthropic("Overloaded", "overloaded_error"), VendorFailed),
        (OPENAI, 429, openai("rate_limit_exceeded", "tokens"), VendorThrottled),
        (OPENAI, 500, openai("insufficient_quota"), VendorFailed),
    ],
)
def test_what_may_pass_is_neither(
    vendor: Teller, name: str, status: int, body: Any, kind: type[VendorError]
) -> None:
    assert type(refused(vendor, name, status, body)) is kind


WRITTEN = [
    BALANCE,
    "This organization has been disabled.",
    "insufficient_quota",
    "invalid api token",
    '", "type": "insufficient_quota", "code": "insufficient_quota", "x": "',
    TRIAL.format(1000, "month"),
    "Your organization must be verified",
]
"""What a partner may write into its prompt, knowing that a vendor quotes it."""


@pytest.mark.parametrize("name", [OPENAI, IMAGES, ANTHROPIC, COHERE])
@pytest.mark.parametrize("status", [400, 404, 422, 429])
@pytest.mark.parametrize("text", WRITTEN)
def test_a_partners_words_in_a_refusal_are_not_the_vendors(
    vendor: Teller, name: str, status: int, text: str
) -> None:
    told = {OPENAI: openai, IMAGES: openai, ANTHROPIC: anthropic, COHERE: cohere}[name]
    for quoted in (f"Invalid value: {text}", f"'{text}' is too short", f" {text}", f"No.\n{text}"):
        body = told(None, text=quoted) if told is openai else told(quoted)  # type: ignore[operator]
        error = refused(vendor, name, status, body)
        assert type(error) is (VendorThrottled if status == 429 else VendorRefused), quoted
        assert not getattr(error, "known", False), quoted


def test_words_that_fit_another_vendor_mean_nothing(vendor: Teller) -> None:
    assert type(refused(vendor, OPENAI, 400, anthropic(BALANCE))) is VendorRefused
    assert type(refused(vendor, ANTHROPIC, 400, cohere("invalid api token"))) is VendorRefused
    assert (
        type(refused(vendor, ANTHROPIC, 400, anthropic(BALANCE, "not_found_error")))
        is VendorRefused
    )
