"""What answers are held against, as the catalogue's parts say it: contracts, references, checks."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

from pydantic import Field, StrictFloat, StrictInt, StringConstraints, model_validator

from tidegate.rules.paths import parse, rest, shared
from tidegate.rules.strict import Strict

SetName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]

Identifier = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?$")
]
"""A name in SQL that needs no quotes; a table's may have its schema before it."""


_TOLERANT = frozenset({"at_most", "at_least", "equal", "sum_of"})


class Relation(Strict):
    """What one place of an answer must be to another place, or to a number."""

    path: str
    """Of the places it holds for (rules/paths.py)."""
    is_: Literal["less", "at_most", "greater", "at_least", "equal", "sum_of"] = Field(alias="is")
    other: str | StrictInt | StrictFloat
    """A path, or a number."""
    tolerance: float = Field(default=0, ge=0, allow_inf_nan=False)
    """By how much numbers may miss it."""

    @model_validator(mode="after")
    def _usable(self) -> Relation:
        wrong = problem(self)
        if wrong is not None:
            raise ValueError(wrong)
        return self


def problem(relation: Relation) -> str | None:
    """Return what makes a relation unusable, after the key it is in, or None."""
    if relation.tolerance and relation.is_ not in _TOLERANT:
        return f"tolerance: is for {', '.join(sorted(_TOLERANT))}"
    try:
        left = parse(relation.path)
    except ValueError as error:
        return f"path: {error}"
    if not isinstance(relation.other, str):
        if relation.is_ == "sum_of":
            return "other: sum_of needs a path"
        finite = -sys.float_info.max <= relation.other <= sys.float_info.max
        number = finite and not isinstance(relation.other, bool)
        return None if number else "other: is no finite number"
    try:
        right = parse(relation.other)
    except ValueError as error:
        return f"other: {error}"
    if left == right:
        return "other: is the same as path"
    if relation.is_ != "sum_of" and rest(right, shared(left, right)).many:
        return "other: only sum_of takes a [*] that path does not have at the same place"
    return None


class Reference(Strict):
    """A place of an answer that must name a member of a set."""

    path: str
    set: SetName

    @model_validator(mode="after")
    def _usable(self) -> Reference:
        parse(self.path)
        return self


class Contract(Strict):
    """What an answer must be before anybody sees it."""

    schema_: dict[str, Any] = Field(alias="schema")
    """JSON Schema 2020-12; objects are closed unless it says otherwise."""
    version: str = "1"
    """Of what the schema means: raise it to check answers anew that are the same by the schema."""
    fenced: bool = False
    """Whether JSON inside one Markdown fence is accepted."""
    relations: tuple[Relation, ...] = Field(default=(), max_length=50)
    references: tuple[Reference, ...] = Field(default=(), max_length=20)


CHECKED = {
    "chat": {"max_characters"},
    "code": {"max_characters", "fenced", "parses"},
    "extract": {"max_characters"},
    "image": {"fewer_images"},
}
"""By task: what of `AnswerChecks` can be asked of its answers."""


class AnswerChecks(Strict):
    """What an answer must be that is no JSON."""

    max_characters: int | None = Field(default=None, ge=1)
    """Of text and code; None: whatever the vendor's limit of tokens allows."""
    fenced: bool = False
    """Whether code inside one Markdown fence is accepted; partners get what is inside."""
    parses: bool = False
    """Whether code must be without a syntax error, in languages there is a grammar of."""
    fewer_images: bool = False
    """Whether fewer images than asked for are accepted: paid by the image, kept for nobody else."""


class ReferenceSource(Strict):
    """Where the members of a set are."""

    source: Literal["dynamodb", "postgresql"] = "dynamodb"
    """`dynamodb`: the deployment's own reference table, filled by an operator."""
    table: Identifier | None = None
    column: Identifier | None = None
    """Of PostgreSQL; the column needs an index."""
    type: Literal["text", "bigint", "uuid"] = "text"
    """The column's."""

    @model_validator(mode="after")
    def _says_where(self) -> ReferenceSource:
        named = self.table is not None and self.column is not None
        if (self.source == "postgresql") != named or (self.table is None) != (self.column is None):
            raise ValueError("table and column are for source postgresql, which needs both")
        return self
