"""The size of an SVG picture, from its root element alone.

No XML parser is asked: those expand entities. What may stand before the root element is read
strictly instead, and a document type, with which entities would come, is not allowed there.
"""

from __future__ import annotations

import codecs
import re

MAX_HEAD = 65_536
"""Bytes within which the root element's start tag must end."""

_NAMESPACE = "http://www.w3.org/2000/svg"

_S = r"[ \t\r\n]"
_NUMBER = r"\+?(?:[0-9]{1,10}(?:\.[0-9]{1,20})?|\.[0-9]{1,20})"
_REFERENCE = r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});"

# `++` and `*+` give nothing back: linear time, whatever the text.
_DECLARATION = re.compile(
    rf"<\?xml{_S}++version{_S}*+={_S}*+(?:'1\.[0-9]'|\"1\.[0-9]\")"
    rf"(?:{_S}++encoding{_S}*+={_S}*+(?:'[Uu][Tt][Ff]-8'|\"[Uu][Tt][Ff]-8\"))?"
    rf"(?:{_S}++standalone{_S}*+={_S}*+(?:'(?:yes|no)'|\"(?:yes|no)\"))?{_S}*+\?>"
)
_ROOT = re.compile(rf"(?:{_S}|<!--(?:(?!--).)*+-->)*+<svg", re.DOTALL)
_ATTRIBUTE = re.compile(
    rf"{_S}++([A-Za-z_:][\w:.-]*+){_S}*+={_S}*+"
    rf"(\"(?:[^\"<&]++|{_REFERENCE})*+\"|'(?:[^'<&]++|{_REFERENCE})*+')"
)
_END = re.compile(rf"{_S}*+/?>")
_NO_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_PIXELS = re.compile(rf"({_NUMBER})(?:px)?")
_VIEW_BOX = re.compile(rf"-?{_NUMBER} -?{_NUMBER} ({_NUMBER}) ({_NUMBER})")


def size(content: bytes) -> tuple[int, int] | None:
    """Return width and height in whole pixels, or None for what is no SVG of a known size.

    SVG 2 (W3C), 8.2 and 8.6: `width` and `height` where both are in pixels, else the `viewBox`'s.
    XML 1.0 (W3C), 2.8: UTF-8; before the root element only its declaration and comments.
    """
    head = content[:MAX_HEAD]
    if b"<svg" not in head:
        return None
    try:
        text, _ = codecs.utf_8_decode(head, "strict", False)
    except UnicodeDecodeError:
        return None
    attributes = _attributes(text.removeprefix("\ufeff"))
    if attributes.get("xmlns") != _NAMESPACE:
        return None
    width, height = _pixels(attributes.get("width")), _pixels(attributes.get("height"))
    if width is None or height is None:
        return _view_box(attributes.get("viewBox"))
    return width, height


def _attributes(text: str) -> dict[str, str]:
    """Return the root element's attributes; none where it is not well-formed."""
    declaration = _DECLARATION.match(text)
    root = _ROOT.match(text, declaration.end() if declaration else 0)
    if root is None:
        return {}
    attributes: dict[str, str] = {}
    at = root.end()
    while found := _ATTRIBUTE.match(text, at):
        name, value = found.groups()
        if name in attributes:
            return {}
        attributes[name] = value[1:-1]
        at = found.end()
    whole = _END.match(text, at) is not None and _NO_CHARACTER.search(text, 0, at) is None
    return attributes if whole else {}


def _pixels(value: str | None) -> int | None:
    """Return a length of no unit or `px`; None for any other, as for `100%`."""
    match = _PIXELS.fullmatch((value or "").strip(" \t\r\n"))
    return match and round(float(match[1]))


def _view_box(value: str | None) -> tuple[int, int] | None:
    match = _VIEW_BOX.fullmatch(" ".join((value or "").replace(",", " ").split()))
    return match and (round(float(match[1])), round(float(match[2])))
