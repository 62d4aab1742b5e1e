"""Image files made by hand, byte by byte."""

from __future__ import annotations

import struct
import zlib


def png(
    width: int = 1,
    height: int = 1,
    *,
    depth: int = 1,
    colour: int = 0,
    methods: tuple[int, int, int] = (0, 0, 0),
) -> bytes:
    """A whole PNG: black, one bit per pixel unless told otherwise."""
    rows = bytes((width + 7) // 8 + 1) * height if width * height < 2**24 else b""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, *methods)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(name, data) for name, data in parts)


def png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def segment(code: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, code, len(data) + 2) + data


SOI = b"\xff\xd8"
"""How a JPEG begins."""

JFIF = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")


def frame(width: int, height: int, code: int = 0xC0, precision: int = 8) -> bytes:
    """The header of a JPEG's frame, of one component."""
    return segment(code, struct.pack(">BHHB", precision, height, width, 1) + b"\1\x11\0")


def jpeg(width: int = 1, height: int = 1, *, before: bytes = JFIF, code: int = 0xC0) -> bytes:
    """A whole JPEG where it is one block: grey, its only coefficients 0."""
    quantisation = segment(0xDB, b"\0" + b"\1" * 64)
    # Two Huffman tables of one code, `0`: no difference, and the end of the block.
    tables = segment(0xC4, b"\0\1" + b"\0" * 15 + b"\0" + b"\x10\1" + b"\0" * 15 + b"\0")
    scan = segment(0xDA, b"\1\1\0\0\x3f\0") + b"\x3f"
    start = SOI + before + quantisation
    return start + frame(width, height, code) + tables + scan + b"\xff\xd9"


def gif(width: int = 1, height: int = 1, version: bytes = b"89a") -> bytes:
    """A whole GIF where it is one pixel: two colours, the first one shown."""
    screen = struct.pack("<HHBBB", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    picture = b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\2\2\x44\1\0"
    return b"GIF" + version + screen + picture + b";"


def riff(name: bytes, data: bytes, more: bytes = b"") -> bytes:
    body = b"WEBP" + name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) + more
    return b"RIFF" + struct.pack("<I", len(body)) + body


def webp_lossy(width: int = 1, height: int = 1, tag: int = 0x10 | 1 << 5) -> bytes:
    """The headers of a lossy WebP, its first partition of one byte."""
    return riff(b"VP8 ", tag.to_bytes(3, "little") + _sides(width, height) + b"\0" * 6)


def _sides(width: int, height: int) -> bytes:
    # The two bits above each side ask for scaling, which changes no size.
    return b"\x9d\x01\x2a" + struct.pack("<HH", width | 1 << 14, height | 2 << 14)


def webp_lossless(width: int = 1, height: int = 1, version: int = 0) -> bytes:
    """The headers of a lossless WebP with alpha."""
    bits = (width - 1) | (height - 1) << 14 | 1 << 28 | version << 29
    return riff(b"VP8L", b"\x2f" + bits.to_bytes(4, "little") + b"\0" * 4)


def webp_extended(width: int = 1, height: int = 1) -> bytes:
    """The headers of an animated WebP."""
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return riff(b"VP8X", b"\2\0\0\0" + sides, more=b"ANIM\6\0\0\0" + b"\0" * 6)


def svg(attributes: str = "width='1' height='1'", before: str = "") -> bytes:
    """A whole SVG."""
    root = f"<svg xmlns='http://www.w3.org/2000/svg' {attributes}>"
    return f"{before}{root}<rect width='1' height='1'/></svg>".encode()
