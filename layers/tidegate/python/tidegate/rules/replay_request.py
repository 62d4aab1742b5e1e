"""What an operator may ask of the replay function: strictly typed, so that a slip does nothing."""

from __future__ import annotations

from collections.abc import Container
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from tidegate.errors import InvalidRequest, UnknownModel
from tidegate.rules.ids import JOB_ID

Action = Literal["list", "replay", "discard"]

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
JobId = Annotated[str, StringConstraints(pattern=f"^{JOB_ID}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Filter(_Strict):
    """Which messages are meant, by what is known of their jobs. All that is given must hold."""

    partner: Name | None = None
    code: Name | None = None
    """Of the job's error."""
    status: (
        Literal[
            "queued", "processing", "retrying", "completed", "failed", "dead_lettered",
            "quarantined", "cancelled", "expired",
        ]
        | None
    ) = None  # fmt: skip
    older_than_seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Since SQS took the message; a move to the DLQ does not make it younger."""


class ReplayRequest(_Strict):
    """One request to list, replay or discard messages of one model's dead-letter queue."""

    action: Action
    model: Name
    job_ids: list[JobId] | None = Field(default=None, min_length=1, max_length=1000)
    message_ids: list[Name] | None = Field(default=None, min_length=1, max_length=1000)
    filter: Filter | None = None
    """Not with ids. Without either, all messages are meant."""
    dry_run: bool | None = None
    rate_per_second: float = Field(default=5.0, ge=0.1, le=100, allow_inf_nan=False)
    """Jobs that are sent again; the vendor may only just be well."""
    limit: int = Field(default=1000, ge=1, le=5000)
    """Messages that something is done about (or would be); of `list`, that are listed."""
    before: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Seconds since the epoch; younger messages are left alone. A run that goes on with another
    gives that one's `begun_at`, so that what failed anew meanwhile is not run in circles."""

    @model_validator(mode="after")
    def _one_choice(self) -> ReplayRequest:
        if self.by_id and self.filter is not None:
            raise ValueError("give ids or a filter, not both")
        return self

    @property
    def by_id(self) -> bool:
        """Return whether single jobs or messages are named."""
        return self.job_ids is not None or self.message_ids is not None

    @property
    def dry(self) -> bool:
        """Return whether nothing is to be done: in bulk unless `dry_run` is false."""
        if self.action == "list":
            return True
        return not self.by_id if self.dry_run is None else self.dry_run


def parse(event: Any, models: Container[str]) -> ReplayRequest:
    """Return the request in an event, decoded JSON of any kind.

    Raises:
        InvalidRequest: not a request; says which fields are wrong.
        UnknownModel: no such entry in the catalogue.
    """
    try:
        request = ReplayRequest.model_validate(event)
    except ValidationError as error:
        raise not_understood(error) from None
    if request.model not in models:
        raise UnknownModel(f"{request.model!r} is not in the catalogue")
    return request


def not_understood(error: ValidationError) -> InvalidRequest:
    """Return what is wrong with an operator's event, for people: each field and why."""
    problems = (
        (".".join(map(str, each["loc"])) or "the event", each["msg"])
        for each in error.errors(include_url=False, include_input=False)
    )
    return InvalidRequest("; ".join(f"{at}: {what}" for at, what in problems))
