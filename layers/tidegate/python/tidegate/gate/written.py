"""What a written answer must be, whatever it says: text that can be stored, and code that parses.

Words like "I cannot help with that" are no sign: a refusal is what the vendor's finish reason says
is one, and anything else would fail answers that quote one.
"""

from __future__ import annotations

import re

from tidegate.gate.extract import code
from tidegate.gate.reason import Reason
from tidegate.rules.contracts import AnswerChecks
from tidegate.rules.normalise.bounds import Bounded
from tidegate.rules.normalise.languages import grammar_of
from tidegate.rules.strict_json import NotStrictJson

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL and halves of surrogate pairs: no UTF-8, and refused by databases further down."""

_UNSEEN = re.compile("[\\s\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*")
"""White space and what has no width: an answer of nothing else shows nothing."""


def problem(text: str, checks: AnswerChecks) -> Reason | None:
    """Return why a text can be no answer of any kind, or None."""
    if _UNSEEN.fullmatch(text):
        return Reason("empty", "", "the answer has no text")
    if checks.max_characters is not None and len(text) > checks.max_characters:
        message = f"the answer has more than {checks.max_characters} characters"
        return Reason("too_long", "", message)
    if _UNSTORABLE.search(text):
        return Reason("bad_text", "", "the text holds NUL or half of a surrogate pair")
    return None


def program(
    text: str, checks: AnswerChecks, language: str | None, bounded: Bounded
) -> str | Reason:
    """Return the code in an answer, without its fence, or why it is none.

    A language without a grammar here, or more than is read, is not parsed: nobody could say that
    it is wrong.
    """
    try:
        source = code(text, fenced=checks.fenced)
    except NotStrictJson as error:
        return Reason(error.code, "", f"the answer is not one piece of code: {error}")
    if not source.strip():
        return Reason("empty", "", "there is no code in the fence")
    grammar = grammar_of(language or "")
    if checks.parses and grammar is not None:
        from tidegate.rules.normalise.syntax import parses, ready  # here, as only code pays for it

        ready(grammar)
        if bounded(parses, source, grammar) is False:
            return Reason("code_syntax", "", f"the code has an error of syntax as {grammar}")
    return source
