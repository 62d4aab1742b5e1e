"""Images out of JSON: base64 and `data:` URLs, decoded strictly, known by their first bytes."""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import unquote_to_bytes

_DATA_URL = re.compile(
    r"data:(image/[a-z0-9.+-]{1,40})((?:;[a-z0-9=-]{1,40}){0,4}),(.+)", re.DOTALL
)
_SVG = re.compile(rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?<svg[\s>]")


class NotAnImage(ValueError):
    """The text holds no image; `str()` says why without quoting it."""


def from_base64(encoded: str) -> tuple[bytes, str]:
    """Return an image's bytes and content type.

    Raises:
        NotAnImage: not base64, or of no kind known by its first bytes.
    """
    content = _decoded(encoded)
    kind = _sniffed(content)
    if kind is None:
        raise NotAnImage("is of no known kind")
    return content, kind


def from_data_url(url: str) -> tuple[bytes, str]:
    """Return the bytes and content type of an image in a `data:` URL.

    The first bytes decide; SVG, which has none of its own, must also be declared.

    Raises:
        NotAnImage: not a `data:` URL of an image, or its bytes are of another kind.
    """
    match = _DATA_URL.fullmatch(url)
    if match is None:
        raise NotAnImage("is not in a data URL of an image")
    declared, options, data = match.groups()
    content = _decoded(data) if options.endswith(";base64") else unquote_to_bytes(data)
    kind = _sniffed(content)
    if kind is None and declared == "image/svg+xml" and _SVG.match(content):
        return content, declared
    if kind is None:
        raise NotAnImage("is of no known kind")
    return content, kind


def _decoded(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise NotAnImage("is not base64") from None


def _sniffed(content: bytes) -> str | None:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if content[:6] in {b"GIF87a", b"GIF89a"}:
        return "image/gif"
    return None
