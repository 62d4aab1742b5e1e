"""Structured fields read as strictly as RFC 9651 has it, and what RFC 9211 makes of one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Bare = int | bool | str

_TOKEN = re.compile(r"[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*")
_STRING = re.compile(r'"(?:[ !#-\[\]-~]|\\["\\])*"')
_INTEGER = re.compile(r"-?[0-9]{1,15}(?![0-9.])")
_KEY = re.compile(r"[a-z*][a-z0-9_.*-]*")

FORWARDED = {"bypass", "method", "uri-miss", "vary-miss", "miss", "request", "stale", "partial"}
"""Reasons of RFC 9211, section 2.2."""
TYPES: dict[str, tuple[type, ...]] = {
    "hit": (bool,), "fwd": (str,), "fwd-status": (int,), "ttl": (int,), "stored": (bool,),
    "collapsed": (bool,), "key": (str,), "detail": (str, int),
}  # fmt: skip


@dataclass
class _Reader:
    text: str
    at: int = 0

    def take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        assert match, f"at {self.at} of {self.text!r}: {pattern.pattern}"
        self.at = match.end()
        return match[0]

    def ahead(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def skip(self, text: str) -> bool:
        found = self.ahead(text)
        self.at += len(text) * found
        return found

    def bare(self) -> Bare:
        if self.skip("?"):
            return self.take(re.compile("[01]")) == "1"
        if self.ahead('"'):
            return re.sub(r"\\(.)", r"\1", self.take(_STRING)[1:-1])
        if self.text[self.at : self.at + 1] in set("-0123456789"):
            return int(self.take(_INTEGER))
        return self.take(_TOKEN)

    def parameters(self) -> dict[str, Bare]:
        found: dict[str, Bare] = {}
        while self.skip(";"):
            self.take(re.compile(" *"))
            key = self.take(_KEY)
            assert key not in found, f"{key} twice"
            found[key] = self.bare() if self.skip("=") else True
        return found


@dataclass(frozen=True)
class CacheStatus:
    """What one cache says it did."""

    cache: str
    said: dict[str, Bare] = field(default_factory=dict)

    @property
    def hit(self) -> bool:
        return "hit" in self.said


def items(text: str) -> list[tuple[Bare, dict[str, Bare]]]:
    """Return the items of a list, none of them a list itself, with their parameters."""
    reader = _Reader(text)
    found = [(reader.bare(), reader.parameters())]
    while reader.at < len(text):
        reader.take(re.compile(r"[ \t]*,[ \t]*"))
        found.append((reader.bare(), reader.parameters()))
    return found


def cache_status(text: str) -> CacheStatus:
    """Return what the only cache in a `Cache-Status` says, after holding it against RFC 9211."""
    ((name, said),) = items(text)
    assert isinstance(name, str)
    for key, value in said.items():
        assert type(value) in TYPES[key], (key, value)
    assert said.get("hit", True) is True, "hit is said or not said"
    assert ("hit" in said) != ("fwd" in said), "either it answered or it asked on"
    if "fwd" in said:
        assert said["fwd"] in FORWARDED
    else:
        assert not {"fwd-status", "stored", "collapsed"} & set(said), "of what was asked on alone"
    return CacheStatus(name, said)
