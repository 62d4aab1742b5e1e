"""What an operator may decide about answers that failed the gate: strictly typed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tidegate.rules.replay_request import JobId, not_understood

Words = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)]


class QuarantineRequest(BaseModel):
    """One decision about the answers of some jobs; it is kept with who made it and why."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    quarantine: Literal["release", "discard"]
    job_ids: list[JobId] = Field(min_length=1, max_length=100)
    by: Words
    why: Words


def parse(event: Any) -> QuarantineRequest:
    """Return the request in an event.

    Raises:
        InvalidRequest: not a request; says which fields are wrong.
    """
    try:
        return QuarantineRequest.model_validate(event)
    except ValidationError as error:
        raise not_understood(error) from None
