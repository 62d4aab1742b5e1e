"""What an image file says of itself in its first bytes: its kind and its size in pixels.

No pixel is decoded, and what follows the header is not looked at. AVIF is not among the kinds: its
size is found only through the item that its tables name as the picture.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from tidegate.rules import svg

MAX_SIDE = 2**31 - 1
"""Pixels; the largest that PNG knows, the others know less."""

MAX_SEGMENTS = 1024
"""Markers read in search of a JPEG's frame: full ones would be 64 MB, more than any answer."""

_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
"""Bits per sample that PNG allows, by colour type."""

# Any number of fill bytes may stand before a marker's code. `++` gives none back: linear time.
_MARKER = re.compile(rb"\xff++([^\x00\xff])")
_ALONE = {0x01, *range(0xD0, 0xD8)}
"""TEM and RST0 to RST7: JPEG markers without a length."""
_FRAMES = {*range(0xC0, 0xC4), *range(0xC9, 0xCC)}
"""SOF0 to SOF3 and SOF9 to SOF11: the frames that can be a JPEG's first and only one."""
_NO_SEGMENTS = {0xD8, 0xD9, 0xDA, 0xDE}
"""SOI, EOI, SOS, DHP: before the frame, each means that there is none that could be read."""

_Size = tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Picture:
    """What an image file is, by its bytes."""

    kind: str
    """Its content type."""
    width: int
    """Pixels, as stored: an orientation in EXIF is not looked at."""
    height: int


@dataclass(frozen=True, slots=True)
class Delivered:
    """What the gate needs of an image: what the vendor said it is, and what it is."""

    declared: str | None
    """The content type in the vendor's words; None if it said nothing."""
    kind: str | None
    """The content type by the bytes; None where the header does not decode."""
    width: int
    """Pixels; 0 where the header does not decode."""
    height: int


def read(content: bytes) -> Picture | None:
    """Return what the header says, or None where it does not decode.

    Raises nothing, whatever the bytes; the cost does not grow with what follows the header.
    """
    for kind, size in _KINDS.items():
        found = size(content)
        if found is not None:
            sides = all(0 < side <= MAX_SIDE for side in found)
            return Picture(kind, *found) if sides else None
    return None


def _png(content: bytes) -> _Size:
    """PNG, third edition (W3C), 5.2, 5.3 and 11.2.1: the signature, then IHDR with its CRC."""
    head = content[:33]
    if len(head) < 33 or not head.startswith(b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"):
        return None
    if zlib.crc32(head[12:29]) != _big(head[29:]):
        return None
    depth, colour, compression, filtering, interlace = head[24:29]
    if depth not in _DEPTHS.get(colour, ()) or compression or filtering or interlace > 1:
        return None
    return _big(head[16:20]), _big(head[20:24])


def _jpeg(content: bytes) -> _Size:
    """ITU-T T.81, B.1.1 and B.2: SOI, then segments up to the first frame's header.

    A height of 0, told only after the first scan, counts as none.
    """
    if not content.startswith(b"\xff\xd8\xff"):
        return None
    at = 2
    for _ in range(MAX_SEGMENTS):
        marker = _MARKER.match(content, at)
        if marker is None:
            return None
        code, at = marker[1][0], marker.end()
        if code in _ALONE:
            continue
        length = _big(content[at : at + 2])
        if code in _FRAMES:
            return _frame(content[at : at + length], length)
        if code in _NO_SEGMENTS or length < 2:
            return None
        at += length
    return None


def _frame(header: bytes, length: int) -> _Size:
    """ITU-T T.81, B.2.2: length, precision, lines, samples per line, components."""
    if len(header) < 11 or len(header) != length or length != 8 + 3 * header[7]:
        return None
    return (_big(header[5:7]), _big(header[3:5])) if 2 <= header[2] <= 16 else None


def _gif(content: bytes) -> _Size:
    """GIF89a (CompuServe, 1990), 17 and 18: the logical screen."""
    if len(content) < 13 or content[:6] not in {b"GIF87a", b"GIF89a"}:
        return None
    return _little(content[6:8]), _little(content[8:10])


def _webp(content: bytes) -> _Size:
    """RFC 9649, 2.3 to 2.7: RIFF, then one of three first chunks."""
    head = content[:30]
    if head[:4] != b"RIFF" or head[8:12] != b"WEBP":
        return None
    size = _FIRST_CHUNKS.get(head[12:16])
    length = _little(head[16:20])
    if size is None or _little(head[4:8]) < 12 + length:
        return None
    return size(head[20 : 20 + length], length)


def _vp8(chunk: bytes, length: int) -> _Size:
    """RFC 6386, 9.1: a key frame that is shown; sides of 14 bits, the rest is scaling."""
    tag = _little(chunk[:3])
    if len(chunk) < 10 or chunk[3:6] != b"\x9d\x01\x2a" or tag >> 5 >= length:
        return None
    if tag & 1 or (tag >> 1) & 7 > 3 or not tag & 16:
        return None
    return _little(chunk[6:8]) & 0x3FFF, _little(chunk[8:10]) & 0x3FFF


def _vp8l(chunk: bytes, _length: int) -> _Size:
    """RFC 9649, 3.4: a signature, two sides less one of 14 bits each, alpha, version 0."""
    bits = _little(chunk[1:5])
    if len(chunk) < 5 or chunk[0] != 0x2F or bits >> 29:
        return None
    return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1


def _vp8x(chunk: bytes, length: int) -> _Size:
    """RFC 9649, 2.7: flags, then two sides less one; together less than 2^32 pixels."""
    if len(chunk) < 10 or length != 10:
        return None
    width, height = _little(chunk[4:7]) + 1, _little(chunk[7:10]) + 1
    return (width, height) if width * height < 2**32 else None


def _big(number: bytes) -> int:
    return int.from_bytes(number, "big")


def _little(number: bytes) -> int:
    return int.from_bytes(number, "little")


_FIRST_CHUNKS: dict[bytes, Callable[[bytes, int], _Size]] = {
    b"VP8 ": _vp8,
    b"VP8L": _vp8l,
    b"VP8X": _vp8x,
}
_KINDS: dict[str, Callable[[bytes], _Size]] = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/webp": _webp,
    "image/svg+xml": svg.size,
}
