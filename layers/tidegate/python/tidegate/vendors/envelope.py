"""Reading a vendor's JSON with care: any member may be missing, of another type, or absurd."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tidegate.errors import VendorFailed, VendorRefused
from tidegate.rules.strict_json import members

Finish = Literal["complete", "truncated"]
"""Whether a vendor says that its answer is whole, or was cut off at a limit."""

_LABEL = re.compile(r"[\x21-\x7e]{1,200}")
_MAX_COUNT = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Reply:
    """The JSON object of a 200, without an `error` in it."""

    body: dict[str, Any] = field(repr=False)
    request_id: str | None

    def at(self, *path: str | int) -> Any:
        """Return the member at a path, or None."""
        return at(self.body, *path)

    def count(self, *path: str | int) -> int | None:
        """Return the number of tokens at a path; None where there is none that can be read.

        `512.0` is 512. A text is no number, whatever is in it.
        """
        value = self.at(*path)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        whole = isinstance(value, int) or value.is_integer()
        return int(value) if whole and 0 <= value <= _MAX_COUNT else None

    def finish(self, endings: Mapping[str, Finish], *path: str | int) -> Finish:
        """Return how the answer ended, by the vendor's word for it at a path.

        Raises:
            VendorFailed: no ending that is known: the answer may not be whole.
        """
        reason = self.at(*path)
        finish = endings.get(reason) if isinstance(reason, str) else None
        if finish is None:
            raise self.failed("the vendor's answer has no known end")
        return finish

    def texts(self, *path: str | int) -> str:
        """Return the texts of typed parts at a path, joined.

        Raises:
            VendorFailed: there are no parts.
        """
        parts = self.at(*path)
        if not isinstance(parts, list):
            raise self.failed("the vendor's answer has no content")
        texts = [at(part, "text") for part in parts if at(part, "type") == "text"]
        joined = "".join(text for text in texts if isinstance(text, str))
        # Two halves of a pair are one character, as they will be to whoever reads it stored.
        return joined.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def written(self, text: object) -> str:
        """Return the text of an answer, which may be empty: the gate says what is none.

        Raises:
            VendorFailed: there is no text.
        """
        if not isinstance(text, str):
            raise self.failed("the vendor's answer has no text")
        return text

    def failed(self, detail: str) -> VendorFailed:
        """Return the error of an answer that is none."""
        return VendorFailed(detail, vendor_status=200, request_id=self.request_id)

    def refused(self) -> VendorRefused:
        """Return the error of an answer withheld by the vendor's content policy."""
        return VendorRefused(
            "the vendor's content policy refused the request",
            vendor_status=200,
            request_id=self.request_id,
        )


def parsed(raw: bytes, request_id: str | None) -> Reply:
    """Return the body of a 200.

    Raises:
        VendorFailed: not JSON (HTML, cut off, nested absurdly), a member twice (which of two
            answers counts is a guess), no object, or an error in it.
    """
    try:
        body = json.loads(raw.decode("utf-8"), object_pairs_hook=members)
    except (ValueError, RecursionError):
        # `from None`: the parser's error carries the vendor's text.
        raise VendorFailed(
            "the vendor's answer is not JSON", vendor_status=200, request_id=request_id
        ) from None
    reply = Reply(body if isinstance(body, dict) else {}, request_id or label(at(body, "id")))
    if not isinstance(body, dict):
        raise reply.failed("the vendor's answer is not a JSON object")
    if body.get("error") is not None:
        raise reply.failed("the vendor answered 200 with an error in it")
    return reply


def at(value: Any, *path: str | int) -> Any:
    """Return the member of nested objects and arrays at a path, or None."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def label(value: object) -> str | None:
    """Return a vendor's short name for something, fit for logs, or None."""
    return value if isinstance(value, str) and _LABEL.fullmatch(value) else None
