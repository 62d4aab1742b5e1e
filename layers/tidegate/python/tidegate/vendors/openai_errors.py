"""What OpenAI's refusals mean (platform.openai.com/docs/guides/error-codes).

Trouble with the account has a code of its own; its status may be 400 (pictures), 401, 403 or 429.
"""

from __future__ import annotations

from tidegate.vendors.meaning import Sign, Signs, beginning

_ACCOUNT = frozenset(
    {
        # help.openai.com/en/articles/6614457: by code, whatever the type is
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
        "project_spend_limit_exceeded",
        "insufficient_quota",
        "quota_exceeded",
        # github.com/dfinke/PowerShellAI/issues/127: 400 at pictures
        "billing_hard_limit_reached",
        # github.com/RamiAwar/dataline/issues/175
        "billing_not_active",
        "access_terminated",
        "account_deactivated",
        "organization_deactivated",
        "invalid_api_key",
        "invalid_organization",
        "unsupported_country_region_territory",
    }
)

_REFUSED = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "context_length_exceeded",
        "image_generation_user_error",
        "invalid_prompt",
        "moderation_blocked",
        "string_above_max_length",
    }
)

SIGNS: Signs = (
    Sign("account", names=_ACCOUNT),
    # 403 or 404, and 400 where it is streamed (github.com/continuedev/continue/issues/8209)
    Sign(
        "account",
        frozenset({400, 403, 404}),
        begins=beginning(r"Your organization must be verified\b"),
    ),
    Sign("refused", frozenset({400, 403, 422}), names=_REFUSED),
    # Without a code, from those who speak this API (github.com/smol-ai/developer/issues/7).
    Sign("refused", frozenset({400}), begins=beginning(r"This model's maximum context length\b")),
)

SCHEMA_SIGNS: Signs = (
    # "Invalid schema for response_format 'answer': In context=(), …"
    Sign("refused", frozenset({400}), begins=beginning(r"Invalid schema for response_format\b")),
)
"""Of a call with a partner's own schema."""
