"""How many tokens a call may come to, and how many it came to, as far as we can tell ourselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tidegate.rules.canonical import canonical
from tidegate.rules.job import Usage

BYTES_PER_TOKEN = 2
"""Bytes of UTF-8 counted as one token. Byte-pair vocabularies come to about 4 for English and 2 to
3 for other scripts and code, so this errs high; what was reserved too much comes back."""

MESSAGE_TOKENS = 16
"""Tokens added for the wrapping of a request, which vendors count too."""

MOST_WRAPPING = 1024
"""Tokens of input at most beside what was sent: vendors put instructions of their own before it
(some hundreds), and write a schema or a conversation in their own way."""

MOST_OUTPUT = 131_072
"""Tokens of an answer at most where we set no limit: no model writes more than these 128 k in one
(platform.openai.com/docs/models, docs.anthropic.com/en/docs/about-claude/models)."""

IMAGE_TOKENS, MOST_IMAGE_TOKENS = 1056, 16_384
"""Tokens of an image: of medium quality, 1024 pixels square; and above the most that is listed,
6240 (platform.openai.com/docs/guides/image-generation, "Cost and latency")."""

Side = Literal["input", "output"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call and its answer, as far as they bear on tokens."""

    most: Usage
    """What was reserved: an estimate of the input, and the limit of the output (0: none)."""
    sent: int
    """Bytes of UTF-8."""
    text: str | None
    images: int

    @property
    def answered(self) -> bool:
        """Return whether anything came."""
        return bool(self.text or self.images)

    def estimate(self) -> Usage:
        """Return the tokens to go by where the vendor gives no count that can be believed."""
        output = -(-self._received // BYTES_PER_TOKEN) + self.images * IMAGE_TOKENS
        return Usage(
            self.most.input_tokens,
            min(output, self.most.output_tokens) if self.most.output_tokens else output,
        )

    def bound(self) -> Usage:
        """Return the most tokens that can be: a token is a byte of what was sent or came, if not
        more. A limit of the output may have gone into reasoning of which nothing came."""
        unseen = self.most.output_tokens or MOST_OUTPUT
        output = max(unseen, self._received, self.images * MOST_IMAGE_TOKENS)
        return Usage(max(self.sent + MOST_WRAPPING, self.most.input_tokens), output)

    @property
    def _received(self) -> int:
        return len((self.text or "").encode(errors="surrogatepass"))


@dataclass(frozen=True, slots=True)
class Counted:
    """The tokens that a call came to."""

    usage: Usage
    unsaid: tuple[Side, ...]
    """Where an estimate stands in for the vendor's count."""
    beyond: tuple[Side, ...]
    """Where the vendor's count was more than there can be, and the bound stands in for it."""


def counted(said_input: int | None, said_output: int | None, exchange: Exchange) -> Counted:
    """Return the tokens a call came to, by its vendor's counts where they can be believed.

    None is a count that was not said. Neither is a 0 believed of something: something was sent,
    and something may have come.
    """
    estimate, bound = exchange.estimate(), exchange.bound()
    unsaid: list[Side] = []
    beyond: list[Side] = []

    def settled(side: Side, said: int | None, guess: int, most: int, *, some: bool) -> int:
        if said is None or (said == 0 and some):
            unsaid.append(side)
            return guess
        if said > most:
            beyond.append(side)
        return min(said, most)

    tokens = (
        settled("input", said_input, estimate.input_tokens, bound.input_tokens, some=True),
        settled(
            "output", said_output, estimate.output_tokens, bound.output_tokens,
            some=exchange.answered,
        ),
    )  # fmt: skip
    usage = Usage(*tokens, estimated=bool(unsaid or beyond))
    return Counted(usage, tuple(unsaid), tuple(beyond))


def at_most(
    system: str | None,
    asked: Mapping[str, Any],
    params: Mapping[str, Any],
    response_schema: Mapping[str, Any] | None = None,
) -> Usage:
    """Return the tokens one call may use: of input as far as bytes can tell, of output by limit.

    `system` is what the vendor is told before the input, `response_schema` what it is told besides.
    """
    size = sent(system, asked, response_schema)
    return Usage(-(-size // BYTES_PER_TOKEN) + MESSAGE_TOKENS, int(params.get("max_tokens", 0)))


def sent(
    system: str | None, asked: Mapping[str, Any], schema: Mapping[str, Any] | None = None
) -> int:
    """Return the bytes of what a vendor is told, in canonical form, with the names of its parts."""
    size = len(canonical(asked)) + len((system or "").encode())
    return size + (len(canonical(schema)) if schema else 0)
