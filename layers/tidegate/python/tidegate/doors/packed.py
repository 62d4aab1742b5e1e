"""Large texts made small: what is repeated in an answer need not be stored, sent and billed twice.

gzip, because every tool reads it (RFC 1952); without its date, so that the same text is the same
bytes and writing it twice is once.
"""

from __future__ import annotations

import gzip
import zlib
from base64 import b64decode, b64encode

WORTH = 2048
"""Bytes from which a text is packed: below, a header costs about what it saves."""

LARGEST = 64 * 1024 * 1024
"""Bytes a packed text may come to; entries allow answers of half of it at most."""


def packed(body: bytes) -> bytes:
    """Return `body` packed."""
    return gzip.compress(body, compresslevel=6, mtime=0)


def unpacked(body: bytes) -> bytes:
    """Return what was packed.

    Raises:
        ValueError: it is not whole, or larger than anything we pack.
    """
    stream = zlib.decompressobj(wbits=31)
    try:
        whole = stream.decompress(body, LARGEST)
    except zlib.error as error:
        raise ValueError("not a whole gzip stream") from error
    if not stream.eof or stream.unused_data:
        raise ValueError("not a whole gzip stream of a size we make")
    return whole


def as_text(text: str) -> str:
    """Return a text for a store that takes text: as it is, or packed and in base64."""
    body = text.encode()
    if len(body) < WORTH:
        return f"-{text}"
    return "z" + b64encode(packed(body)).decode()


def from_text(stored: str) -> str:
    """Return the text that `as_text` stored.

    Raises:
        ValueError: it is damaged.
    """
    kind, rest = stored[:1], stored[1:]
    if kind == "-":
        return rest
    if kind != "z":
        raise ValueError("stored in no form of ours")
    return unpacked(b64decode(rest, validate=True)).decode()
