"""Which JSON Schemas a partner may bring: those that no answer can make expensive to hold.

A schema comes from a stranger and is held against what a model says, which the stranger has a say
in as well. So everything that a validator's time depends on, besides the length of the answer, is
bounded before the job is accepted; and a vendor is sent nothing that it would choke on.

- Size, nesting and number of schemas, as written.
- The same with every `$ref` replaced by what it leads to. Thirty definitions that each refer twice
  to the next are 2 KB as written, and a thousand million schemas to whoever writes them out, as
  vendors do. They are counted from the last to the first, without being written out.
- No `$ref` that leads to itself: there would be no end to writing it out.
- Patterns, in number and length; and to the linear engine, which has a size of its own for them.
- The work for one place of an answer, see `schema_cost`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tidegate.rules import json_schema
from tidegate.rules.canonical import canonical
from tidegate.rules.closed_schema import closed
from tidegate.rules.json_schema import DIALECT, pointer
from tidegate.rules.schema_cost import cost
from tidegate.rules.subschemas import DEFINITIONS, children

MAX_BYTES = 16 * 1024
"""Of its canonical form."""

MAX_LEVELS = 16
"""Of schemas in schemas; a `$ref` is a level more."""

MAX_SCHEMAS = 500
"""As written."""

MAX_WRITTEN_OUT = 1_000
"""With what each `$ref` leads to in its place."""

MAX_PATTERNS = 50

MAX_PATTERN = 256
"""Characters."""

MAX_COST = 5_000
"""Steps for one place of an answer. At worst an answer of 64 KB takes a few seconds, which are few
beside those the model took to write it."""

_LONGEST_POINTER = 300

_REFUSED = frozenset(
    {
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$recursiveAnchor",
        "$recursiveRef",
        "$vocabulary",
    }
)
_REFERENCE = re.compile(r"#/(\$defs|definitions)/([A-Za-z0-9._-]+)")
"""To the top only: there `closed` knows who refers to what. And without what pointers escape."""


class _Refused(Exception):
    """Pointer and message."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.problem = where[:_LONGEST_POINTER], message


class _Part(NamedTuple):
    where: str
    schema: Any
    level: int


def problem(schema: Any) -> tuple[str, str] | None:
    """Return what a partner's schema is refused for, or None: JSON pointer into it, and why.

    It must come from `strict_json`. The first problem only; names are quoted in the pointer.
    """
    try:
        _check(schema)
    except _Refused as refused:
        return refused.problem
    return None


def _check(schema: Any) -> None:
    if not isinstance(schema, Mapping):
        raise _Refused("", "must be an object")
    text = canonical(schema)
    if len(text) > MAX_BYTES:
        raise _Refused("", f"has {len(text)} bytes as canonical JSON; at most {MAX_BYTES}")
    schema = json.loads(text)  # as it will be held, where 1.0 is 1
    patterns = 0
    for number, part in enumerate(_parts(_Part("", schema, 1)), 1):
        if number > MAX_SCHEMAS:
            raise _Refused(part.where, f"at most {MAX_SCHEMAS} schemas in one another are accepted")
        if isinstance(part.schema, Mapping):
            patterns += _check_words(part, schema, patterns)
    wrong = json_schema.problem(schema)
    if wrong is not None:
        raise _Refused(*wrong)
    _WrittenOut(schema).check()
    if cost(closed(schema)) > MAX_COST:
        raise _Refused(
            "",
            "asks too much of a single place of an answer: fewer alternatives, patterns and "
            "decimal numbers for one place, `type` integer beside an `enum` of whole numbers, or "
            "`unevaluatedProperties` and `unevaluatedItems` at fewer levels",
        )


def _parts(part: _Part) -> Iterator[_Part]:
    """Yield a schema and those in it, the outer first."""
    if part.level > MAX_LEVELS:
        raise _Refused(part.where, f"schemas in one another are at most {MAX_LEVELS} levels deep")
    yield part
    for child in children(part.schema):
        where = part.where + pointer(child.steps)
        yield from _parts(_Part(where, child.schema, part.level + 1))


def _check_words(part: _Part, root: Mapping[str, Any], before: int) -> int:
    """Check what is a schema's own, and return how many patterns it has."""
    where, schema, _ = part
    for word in sorted(_REFUSED & schema.keys()):
        raise _Refused(f"{where}/{word}", "is not accepted; use `$defs` and `$ref`")
    if schema.get("$schema", DIALECT) != DIALECT:
        raise _Refused(f"{where}/$schema", f"only {DIALECT} is known")
    reference = schema.get("$ref")
    if isinstance(reference, str) and not _leads(reference, root):
        raise _Refused(
            f"{where}/$ref",
            "leads to no definition of this schema: only #/$defs/<name> and #/definitions/<name> "
            "at its top, the name of letters, digits, '.', '_' and '-'",
        )
    patterns = [(f"{where}/pattern", schema["pattern"])] if "pattern" in schema else []
    by_name = schema.get("patternProperties")
    if isinstance(by_name, Mapping):
        patterns += [(where + pointer(("patternProperties", name)), name) for name in by_name]
    for number, (at, pattern) in enumerate(patterns, before + 1):
        if number > MAX_PATTERNS:
            raise _Refused(at, f"at most {MAX_PATTERNS} patterns are accepted")
        if isinstance(pattern, str) and len(pattern) > MAX_PATTERN:
            raise _Refused(at, f"a pattern has at most {MAX_PATTERN} characters")
    return len(patterns)


def _leads(reference: str, root: Mapping[str, Any]) -> bool:
    parsed = _REFERENCE.fullmatch(reference)
    held = root.get(parsed[1]) if parsed else None
    return parsed is not None and isinstance(held, Mapping) and parsed[2] in held


class _Extent(NamedTuple):
    schemas: int
    levels: int


class _WrittenOut:
    """A schema with what each `$ref` leads to in its place; measured, never made."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[str, _Extent] = {}
        self._open: set[str] = set()

    def check(self) -> None:
        """Raise `_Refused` if it has no end, too many schemas or too many levels."""
        extent = self._of(self._root, "")
        for word in DEFINITIONS:
            for name in self._root.get(word, ()):
                self._target(f"#/{word}/{name}", pointer((word, name)))
        if extent.schemas > MAX_WRITTEN_OUT:
            raise _Refused(
                "", f"has over {MAX_WRITTEN_OUT} schemas when each `$ref` is replaced by its target"
            )
        if extent.levels > MAX_LEVELS:
            raise _Refused("", f"is over {MAX_LEVELS} levels deep; each `$ref` is a level more")

    def _of(self, schema: Any, where: str) -> _Extent:
        below = [
            self._of(child.schema, where + pointer(child.steps))
            for child in children(schema)
            if child.word not in DEFINITIONS
        ]
        if isinstance(schema, Mapping) and "$ref" in schema:
            below.append(self._target(schema["$ref"], f"{where}/$ref"))
        return _Extent(
            min(1 + sum(each.schemas for each in below), MAX_WRITTEN_OUT + 1),
            1 + max((each.levels for each in below), default=0),
        )

    def _target(self, reference: str, where: str) -> _Extent:
        if reference in self._open:
            raise _Refused(where, "leads to itself; a schema must have an end")
        if reference not in self._known:
            self._open.add(reference)
            _, word, name = reference.split("/", 2)
            self._known[reference] = self._of(self._root[word][name], pointer((word, name)))
            self._open.remove(reference)
        return self._known[reference]
