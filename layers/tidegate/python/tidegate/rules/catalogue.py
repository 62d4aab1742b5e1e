"""The catalogue: everything that differs from model to model, one typed entry each.

Operators edit `catalogue.toml`; `catalogue.<env>.toml` beside it overrides single keys for one
environment. CDK reads it at synth, functions at load: the same file, the same checks.
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Task = Literal["chat", "code", "image", "extract"]
Adapter = Literal["openai-chat", "anthropic-messages", "cohere-chat", "openai-images"]
Reuse = Literal["always", "deterministic", "never"]
Normalise = Literal["exact", "text"]

LEASE_MARGIN = 10.0
"""Seconds a lease outlives the function: Lambda kills a little late, writes land later still."""

VISIBILITY_FACTOR = 6
"""AWS: a queue's visibility timeout is at least six times its function's timeout
(docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html)."""


class CatalogueError(ValueError):
    """The catalogue cannot be used; each line of `str()` names the key and what is wrong."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Parameter(_Strict):
    """One parameter a partner may send, with its default and its bounds."""

    type: Literal["integer", "number", "string", "boolean"]
    default: int | float | str | bool | None = None
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _default_fits(self) -> Parameter:
        if self.default is not None:
            problem = self.problem_with(self.default)
            if problem:
                raise ValueError(f"default {problem}")
        return self

    def problem_with(self, value: object) -> str | None:
        """Return what is wrong with `value` for this parameter, or None."""
        if not self._has_type(value):
            return f"must be of type {self.type}"
        if self.choices is not None and value not in self.choices:
            return "must be one of " + ", ".join(self.choices)
        if isinstance(value, int | float) and not isinstance(value, bool):
            if self.minimum is not None and value < self.minimum:
                return f"must be at least {self.minimum:g}"
            if self.maximum is not None and value > self.maximum:
                return f"must be at most {self.maximum:g}"
        if isinstance(value, str) and len(value) > 4096:
            return "must be at most 4096 characters"
        return None

    def _has_type(self, value: object) -> bool:
        if self.type == "boolean":
            return isinstance(value, bool)
        if isinstance(value, bool):
            return False
        if self.type == "integer":
            return isinstance(value, int)
        if self.type == "number":
            return isinstance(value, int | float)
        return isinstance(value, str)


class Timeouts(_Strict):
    """How long a vendor may take, in seconds. The rest of the chain follows from `total`."""

    connect: float = Field(default=5, gt=0)
    read: float = Field(gt=0)
    total: float = Field(gt=0, le=800)
    margin: float = Field(default=15, ge=3, le=90)
    """What a worker has left after the vendor's total, to write what came of it."""

    @property
    def function(self) -> int:
        """Return the worker's timeout: it outlives the vendor's total by the margin."""
        return math.ceil(self.total + self.margin)

    @property
    def lease(self) -> float:
        """Return the lease's life; longer than any worker lives."""
        return self.function + LEASE_MARGIN

    @property
    def visibility(self) -> int:
        """Return the queue's visibility timeout."""
        return VISIBILITY_FACTOR * self.function


class RetryPolicy(_Strict):
    """How often a job may be tried, and how long it waits between (seconds)."""

    attempts: int = Field(default=3, ge=1, le=8)
    """Bad answers after which the job is dead-lettered."""
    starts: int = Field(default=8, ge=1, le=20)
    """Vendor calls begun after which it is, whatever became of them: the bound of the cost."""
    base: float = Field(default=2, gt=0)
    cap: float = Field(default=300, gt=0, le=43_000)

    @model_validator(mode="after")
    def _starts_cover_attempts(self) -> RetryPolicy:
        if self.starts < self.attempts:
            raise ValueError("starts must be at least attempts")
        return self


class CachePolicy(_Strict):
    """Which finished answers are used again, and for how long (seconds)."""

    reuse: Reuse = "deterministic"
    scope: Literal["partner", "shared"] = "partner"
    hard_ttl: int = Field(default=86_400, ge=1, le=30 * 86_400)
    """At most 30 days: what an answer points at in S3 is kept for 90."""
    jitter: float = Field(default=0.1, ge=0, le=0.5)
    """Share of the life by which it is shortened at random, so that entries do not end together."""


class Contract(_Strict):
    """What an answer must be before anybody sees it."""

    schema_: dict[str, Any] = Field(alias="schema")
    """JSON Schema 2020-12; objects are closed unless it says otherwise."""
    fenced: bool = False
    """Whether JSON inside one Markdown fence is accepted."""


class Entry(_Strict):
    """One model as partners know it."""

    adapter: Adapter
    vendor: str = Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")
    vendor_model: str
    version: str = "1"
    task: Task
    system: str | None = None
    """Instructions that stand before the partner's input."""
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    max_concurrency: int = Field(ge=2, le=1000)
    """Workers at once: Lambda's own minimum for a queue is 2."""
    vendor_concurrency: int | None = Field(default=None, ge=1)
    """Calls in flight at once, where the vendor allows fewer than there are workers."""
    max_input_bytes: int = Field(default=200_000, ge=1, le=250_000)
    max_answer_bytes: int = Field(default=4_000_000, ge=1, le=32_000_000)
    timeouts: Timeouts
    retry: RetryPolicy = RetryPolicy()
    cache: CachePolicy = CachePolicy()
    normalise: Normalise = "exact"
    contract: Contract | None = None
    deadline: int = Field(default=3600, ge=30, le=86_400)
    """Seconds a job may take from acceptance to its end; partners may ask for less."""

    @property
    def in_flight(self) -> int:
        """Return how many calls may be with the vendor at once."""
        return min(self.vendor_concurrency or self.max_concurrency, self.max_concurrency)

    @model_validator(mode="after")
    def _coherent(self) -> Entry:
        if self.adapter == "openai-images" and self.task != "image":
            raise ValueError("adapter openai-images is for task image")
        if self.task == "extract" and self.contract is None:
            raise ValueError("task extract needs a contract")
        return self


class Catalogue(_Strict):
    """All entries by the name partners use."""

    models: dict[str, Entry]

    @model_validator(mode="after")
    def _names(self) -> Catalogue:
        for name in self.models:
            if not name.replace("-", "").isalnum() or name.lower() != name or len(name) > 30:
                raise ValueError(f"models.{name}: a name is lower-case letters, digits, hyphens")
        return self


def load(folder: Path, environment: str | None = None) -> Catalogue:
    """Return the catalogue of an environment.

    Raises:
        CatalogueError: a file is missing, not TOML, or an entry is wrong; names the key.
    """
    try:
        data = tomllib.loads((folder / "catalogue.toml").read_text(encoding="utf-8"))
        overlay = folder / f"catalogue.{environment}.toml"
        if environment is not None and overlay.exists():
            data = _overlaid(data, tomllib.loads(overlay.read_text(encoding="utf-8")), "")
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise CatalogueError(f"catalogue in {folder}: {error}") from error
    return parse(data)


def parse(data: dict[str, Any]) -> Catalogue:
    """Return the catalogue in a TOML document.

    Raises:
        CatalogueError: an entry is wrong; names the key.
    """
    try:
        return Catalogue.model_validate(data)
    except ValidationError as error:
        lines = (".".join(map(str, e["loc"])) + ": " + e["msg"] for e in error.errors())
        raise CatalogueError("\n".join(lines)) from error


def _overlaid(base: dict[str, Any], over: dict[str, Any], at: str) -> dict[str, Any]:
    """Return `base` with the keys of `over`; an overlay changes entries, it adds none."""
    merged = dict(base)
    for key, value in over.items():
        where = f"{at}.{key}".lstrip(".")
        if at == "models" and key not in base:
            raise CatalogueError(f"{where}: the overlay names a model that catalogue.toml lacks")
        below = merged.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            merged[key] = _overlaid(below, value, where)
        else:
            merged[key] = value
    return merged
