"""What an operator may ask of a model's worker: pause the model, resume it, show its pace."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tidegate.errors import InvalidRequest

Words = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class SwitchRequest(BaseModel):
    """One turn of a model's switch, or a look at it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    switch: Literal["pause", "resume", "show"]
    seconds: float | None = Field(default=None, gt=0, le=31 * 86_400, allow_inf_nan=False)
    """Of a pause: after which it ends by itself. None: it does not."""
    by: Words = "-"
    """Who asks."""
    why: Words = "-"


def parse(event: Any) -> SwitchRequest:
    """Return the request in an event.

    Raises:
        InvalidRequest: it is none; says where and what.
    """
    try:
        return SwitchRequest.model_validate(event)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise InvalidRequest(f"not a request to switch a model: {wrong}") from None
