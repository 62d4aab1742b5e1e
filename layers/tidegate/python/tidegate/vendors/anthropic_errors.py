"""What Anthropic's refusals mean (docs.anthropic.com/en/api/errors).

An account without credit, over its own limit or disabled is a 400 `invalid_request_error`, like a
request that is wrong: only the message tells them apart.
"""

from __future__ import annotations

from tidegate.vendors.meaning import Sign, Signs, beginning

_INVALID = frozenset({"invalid_request_error"})
_BAD_REQUEST = frozenset({400})

SIGNS: Signs = (
    Sign("account", names=frozenset({"authentication_error", "permission_error", "billing_error"})),
    # "Your credit balance is too low to access the Anthropic API."
    # (github.com/anthropics/claude-quickstarts/issues/83)
    Sign("account", _BAD_REQUEST, _INVALID, beginning(r"Your credit balance is too low\b")),
    # "You have reached your specified API usage limits. You will regain access on …", and the same
    # of a workspace (docs.anthropic.com/en/api/rate-limits, "Spend limits";
    # github.com/anthropics/claude-code/issues/38035)
    Sign(
        "account",
        _BAD_REQUEST,
        _INVALID,
        beginning(r"You have reached your specified (?:workspace )?API usage limits\b"),
    ),
    # github.com/anthropics/claude-code/issues/19028
    Sign(
        "account",
        _BAD_REQUEST,
        _INVALID,
        beginning(r"(?:This|Your) organization has been disabled\b"),
    ),
    # The monthly cap of our tier: a 429 that no wait of a job's length cures (rate-limits, above).
    Sign("account", frozenset({429}), frozenset({"enforced_spend_limit_reached"})),
    # What the model wrote was withheld (github.com/anthropics/claude-code/issues/58367).
    Sign(
        "refused",
        _BAD_REQUEST,
        _INVALID,
        beginning(r"Output blocked by content filtering policy\b"),
    ),
    # "prompt is too long: 210000 tokens > 200000 maximum" and "input length and `max_tokens` exceed
    # context limit: …" (docs.anthropic.com/en/docs/build-with-claude/context-windows)
    Sign(
        "refused",
        _BAD_REQUEST,
        _INVALID,
        beginning(r"prompt is too long\b|input length and `max_tokens` exceed context limit\b"),
    ),
    # "messages.0.content: …", "messages: at least one message is required": the conversation, which
    # is the partner's own.
    Sign("refused", _BAD_REQUEST, _INVALID, beginning(r"messages(?:\.\d+[\w.]*)?:")),
)
