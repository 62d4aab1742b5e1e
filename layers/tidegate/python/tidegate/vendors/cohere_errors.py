"""What Cohere's refusals mean (docs.cohere.com/reference/errors). They have a message and no code.

A trial key's calls in a month are used up with a 429 that differs from "wait a minute" in one word.
"""

from __future__ import annotations

from tidegate.vendors.meaning import Sign, Signs, beginning

_BAD_REQUEST = frozenset({400})

SIGNS: Signs = (
    # "You are using a Trial key, which is limited to 1000 API calls / month." The same words with
    # "/ minute" are a rate limit like any other.
    Sign(
        "account",
        frozenset({429}),
        begins=beginning(
            r"You are using a Trial key, which is limited to [\d,]{1,12} API calls / month\b"
        ),
    ),
    Sign(
        "account",
        begins=beginning(
            r"no api key supplied\b|invalid api token\b|Your API key has expired\b"
            r"|Please add or update your payment method\b|Maximum billing reached\b"
            r"|failed to find org\b"
        ),
    ),
    # "Unsafe request", documented for a while
    # (github.com/cohere-ai/cohere-developer-experience/pull/201)
    Sign("refused", frozenset({498})),
    # github.com/NVIDIA/garak/issues/203
    Sign("refused", begins=beginning(r"blocked (?:input|output)\b")),
    Sign("refused", _BAD_REQUEST, begins=beginning(r"too many tokens\b")),
    # The conversation, which is the partner's own.
    Sign(
        "refused",
        _BAD_REQUEST,
        begins=beginning(
            r"(?:invalid request: )?(?:message must|all elements in history must|prompt must)\b"
            r"|system turn must\b"
        ),
    ),
    # "request cancelled": "try the request again".
    Sign("passing", frozenset({499})),
)
