"""Images out of JSON: base64 and `data:` URLs, decoded strictly. What they are, the gate judges."""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import unquote_to_bytes

# Printable ASCII up to the comma; a media type and a few parameters are no longer than this.
_DATA_URL = re.compile(
    r"data:([ -+\--:<-~]{0,100})((?:;[ -+\--:<-~]{0,100}){0,4}),(.+)", re.DOTALL | re.IGNORECASE
)
_BASE64 = ";base64"


class NotAnImage(ValueError):
    """The text holds no bytes of an image; `str()` says why without quoting it."""


def from_base64(encoded: str | bytes) -> bytes:
    """Return the bytes in a base64 text (RFC 4648, 4: padded, nothing but its alphabet).

    Raises:
        NotAnImage: not base64, or empty.
    """
    try:
        content = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise NotAnImage("is not base64") from None
    if not content:
        raise NotAnImage("is empty")
    return content


def from_data_url(url: str) -> tuple[bytes, str | None]:
    """Return the bytes in a `data:` URL (RFC 2397), and the media type it declares, if any.

    The type keeps its parameters; it is the vendor's word, at most 500 characters of ASCII.

    Raises:
        NotAnImage: not a `data:` URL, empty, or not the base64 that it says it is.
    """
    match = _DATA_URL.fullmatch(url)
    if match is None:
        raise NotAnImage("is not in a data URL")
    kind, options, data = match.groups()
    try:
        content = unquote_to_bytes(data)
    except UnicodeEncodeError:  # half of a surrogate pair; `from None`: the error carries the text
        raise NotAnImage("is not in a data URL") from None
    if options.lower().endswith(_BASE64):
        options = options[: -len(_BASE64)]
        content = from_base64(content)
    return content, f"{kind}{options}" if kind.strip() else None
