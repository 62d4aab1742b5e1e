"""The catalogue of the stories: one model for each thing they are about."""

from __future__ import annotations

from functools import cache
from typing import Any

from tidegate.rules.catalogue import Catalogue, parse

CHAT: dict[str, Any] = {
    "adapter": "openai-chat",
    "vendor": "v",
    "vendor_model": "v",
    "task": "chat",
    "max_concurrency": 3,
    "timeouts": {"connect": 2, "read": 4, "total": 5, "margin": 4},
    "retry": {"attempts": 3, "starts": 5, "base": 2, "cap": 8},
    "cache": {"reuse": "always", "hard_ttl": 86_400},
    "price": {"per_call": 1000, "per_1k_input_tokens": 1000, "cached": 100},
    "deadline": 1800,
}

POSTS = 6
"""Of one partner in a minute: no story but the one about that has more."""

IMAGE: dict[str, Any] = {
    **CHAT,
    "adapter": "openai-images",
    "task": "image",
    "price": {"per_image": 1000, "cached": 100},
}

PAIR: dict[str, Any] = {
    **IMAGE,
    "parameters": {"n": {"type": "integer", "default": 2, "minimum": 1, "maximum": 2}},
    "answer": {"fewer_images": True},
}
"""Two images, or one where the vendor makes no more of them."""

PACE: dict[str, Any] = {
    "requests_per_minute": 20, "burst": 1, "horizon": 4, "expected_latency": 1,
}  # fmt: skip
"""One call every 3 s: the second of two at once awaits its slot, the third is deferred."""

SHARED: dict[str, Any] = {**CHAT["cache"], "scope": "shared"}

SOFT: dict[str, Any] = {
    **CHAT["cache"], "soft_ttl": 60, "hard_ttl": 3600, "jitter": 0, "negative_ttl": 60,
}  # fmt: skip
"""Stale after a minute; what fails for good twice in a row is not tried for another."""

SET = "accounts"
"""What answers of task `extract` refer to."""

MEMBER, STRANGER = 7, 8
"""An account that is in the set, and one that is not."""

REPORT: dict[str, Any] = {
    **CHAT,
    "task": "extract",
    "cache": SHARED,
    "contract": {
        "schema": {
            "type": "object",
            "required": ["account_id", "report"],
            "properties": {"account_id": {"type": "integer"}, "report": {"type": "string"}},
        },
        "references": [{"path": "$.account_id", "set": SET}],
    },
}
"""All partners share its answers, so that nothing but a gate keeps them from one another's."""


@cache
def catalogue() -> Catalogue:
    """Return the models: each partner's own work, shared work, work never reused, images, paced,
    with a breaker that opens at two failures, with answers that turn stale, with answers that end
    soon after, code, two images, reports that refer to a set, and such that begin twice only."""
    return parse(
        {
            "partners": {"requests_per_minute": POSTS},
            "references": {SET: {}},
            "models": {
                "chat": CHAT,
                "shared": {**CHAT, "cache": SHARED},
                "image": IMAGE,
                "once": {**CHAT, "cache": {**CHAT["cache"], "reuse": "never"}},
                "paced": {**CHAT, "pace": PACE},
                "frail": {**CHAT, "breaker": {"failures": 2, "calls": 4, "share": 0.5}},
                "soft": {**CHAT, "cache": SOFT},
                "brief": {**CHAT, "cache": {**SOFT, "hard_ttl": 62}},
                "code": {**CHAT, "task": "code", "normalise": "code-structure"},
                "pair": PAIR,
                "report": REPORT,
                "rare": {**REPORT, "retry": {"attempts": 2, "starts": 2, "base": 2, "cap": 8}},
            },
        }
    )
