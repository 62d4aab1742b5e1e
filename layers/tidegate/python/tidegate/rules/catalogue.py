"""The catalogue: everything that differs from model to model, one typed entry each.

Operators edit `catalogue.toml`; `catalogue.<env>.toml` beside it overrides single keys for one
environment. CDK reads it at synth, functions at load: the same file, the same checks.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError, model_validator

from tidegate.rules.canonical import canonical
from tidegate.rules.contracts import (
    CHECKED,
    AnswerChecks,
    Contract,
    ReferenceSource,
    SetName,
)
from tidegate.rules.ids import is_model_name
from tidegate.rules.pacing import Breaker, Pace, PartnerLimits, Shares
from tidegate.rules.policies import (
    CachePolicy,
    Parameter,
    Price,
    RetryPolicy,
    Timeouts,
)
from tidegate.rules.strict import Strict

Task = Literal["chat", "code", "image", "extract"]
Adapter = Literal["openai-chat", "anthropic-messages", "cohere-chat", "openai-images"]
Normalise = Literal["exact", "text", "code", "code-structure"]
CODE = frozenset({"code", "code-structure"})
"""What of `Normalise` reads programming languages."""
Locale = Annotated[
    str, StringConstraints(max_length=35, pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$")
]
"""The shape of a language tag (BCP 47)."""
ProfileName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,29}$")]
ProfileText = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class CatalogueError(ValueError):
    """The catalogue cannot be used; each line of `str()` names the key and what is wrong."""


class Entry(Strict):
    """One model as partners know it."""

    adapter: Adapter
    vendor: str = Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")
    vendor_model: str
    version: str = "1"
    task: Task
    system: str | None = None
    """Instructions that stand before the partner's input."""
    locales: tuple[Locale, ...] = ()
    """Locales a partner may ask for; the model is told the one asked for."""
    safety_profiles: dict[ProfileName, ProfileText] = Field(default_factory=dict)
    """Further instructions that a partner may choose between, by name."""
    default_safety_profile: str | None = None
    """The one where the partner names none; without, none."""
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
    """What two inputs may differ in and still be one work."""
    ignore_comments: bool = False
    """Whether comments in code are among it."""
    contract: Contract | None = None
    answer: AnswerChecks = AnswerChecks()
    price: Price = Price()
    pace: Pace = Pace()
    breaker: Breaker = Breaker()
    shares: Shares = Shares()
    deadline: int = Field(default=3600, ge=30, le=86_400)
    """Seconds a job may take from acceptance to its end; partners may ask for less."""

    @property
    def in_flight(self) -> int:
        """Return how many calls may be with the vendor at once."""
        return min(self.vendor_concurrency or self.max_concurrency, self.max_concurrency)

    @model_validator(mode="after")
    def _says_what_its_task_can_use(self) -> Entry:
        if self.task == "image":
            for name in ("system", "locales", "safety_profiles"):
                if getattr(self, name):
                    raise ValueError(f"{name}: task image takes no instructions")
        if self.task != "code" and self.normalise in CODE:
            raise ValueError(f"normalise: {self.normalise} is for task code")
        asked = self.answer.model_dump(exclude_defaults=True)
        for name in asked.keys() - CHECKED[self.task]:
            raise ValueError(f"answer.{name}: is not for task {self.task}")
        if self.ignore_comments and self.normalise not in CODE:
            raise ValueError("ignore_comments needs normalise code or code-structure")
        if len({each.lower() for each in self.locales}) < len(self.locales):
            raise ValueError("locales: one is named twice; upper and lower case are the same")
        default = self.default_safety_profile
        if default is not None and default not in self.safety_profiles:
            raise ValueError(f"default_safety_profile: {default} is not one of safety_profiles")
        return self

    @model_validator(mode="after")
    def _can_be_in_a_key(self) -> Entry:
        """Refuse what TOML can write and canonical JSON cannot: each request would fail on it."""
        parts = {f"parameters.{n}.default": p.default for n, p in self.parameters.items()}
        contract = self.contract
        for name, value in {**parts, "contract.schema": contract and contract.schema_}.items():
            try:
                canonical(value)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        return self

    @model_validator(mode="after")
    def _coherent(self) -> Entry:
        if self.adapter == "openai-images" and self.task != "image":
            raise ValueError("adapter openai-images is for task image")
        if self.task == "extract" and self.contract is None:
            raise ValueError("task extract needs a contract")
        limit = self.parameters.get("max_tokens")
        if self.price.per_1k_output_tokens and (limit is None or limit.default is None):
            raise ValueError(
                "price.per_1k_output_tokens needs parameter max_tokens with a default: "
                "what a job may cost is reserved before it runs"
            )
        if self.pace.tokens_per_minute is not None and (limit is None or limit.default is None):
            raise ValueError(
                "pace.tokens_per_minute needs parameter max_tokens with a default: "
                "what a call may use is reserved before it is made"
            )
        return self


class Catalogue(Strict):
    """All entries by the name partners use."""

    models: dict[str, Entry]
    partners: PartnerLimits = PartnerLimits()
    references: dict[SetName, ReferenceSource] = Field(default_factory=dict)
    """The sets that contracts may refer to."""

    def sources(self, model: str) -> dict[str, ReferenceSource]:
        """Return the sets that a model's contract refers to."""
        contract = self.models[model].contract
        return (
            {each.set: self.references[each.set] for each in contract.references}
            if contract
            else {}
        )

    @model_validator(mode="after")
    def _names(self) -> Catalogue:
        for name in self.models:
            if not is_model_name(name) or not name.replace("-", ""):
                raise ValueError(f"models.{name}: a name is lower-case letters, digits, hyphens")
        return self

    @model_validator(mode="after")
    def _sets_are_there(self) -> Catalogue:
        for name, entry in self.models.items():
            for reference in entry.contract.references if entry.contract else ():
                if reference.set not in self.references:
                    raise ValueError(
                        f"models.{name}.contract.references: there is no references.{reference.set}"
                    )
        return self


OWN = "catalogue.{}.own.toml"
"""Name of the file of keys that are one deployment's own, of an environment."""


def load(folder: Path, environment: str | None = None) -> Catalogue:
    """Return the catalogue of an environment.

    `catalogue.<environment>.toml` is laid over catalogue.toml, and over both, if infra put it
    there, `catalogue.<environment>.own.toml`: the keys of one deployment.

    Raises:
        CatalogueError: a file is missing, not TOML, or an entry is wrong; names the key.
    """
    try:
        data = tomllib.loads((folder / "catalogue.toml").read_text(encoding="utf-8"))
        names = [f"catalogue.{environment}.toml", OWN.format(environment)] if environment else []
        for overlay in (folder / name for name in names):
            if overlay.exists():
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
