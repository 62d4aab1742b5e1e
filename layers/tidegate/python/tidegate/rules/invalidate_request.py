"""What an operator may ask of a model's worker: to declare the answers of before void."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tidegate.errors import InvalidRequest
from tidegate.rules.partner_key import is_partner_id
from tidegate.rules.switch_request import Words

Name = Annotated[str, StringConstraints(min_length=1, max_length=40)]


class Whose(BaseModel):
    """Whose answers: a model's, a partner's, or a partner's at a model."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    model: Name | None = None
    partner: Name | None = None


class InvalidateRequest(BaseModel):
    """One invalidation."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    invalidate: Whose
    by: Words = Field(default="-")
    """Who asks."""
    why: Words = Field(default="-")


def parse(event: Any, own: str) -> InvalidateRequest:
    """Return the request in an event to the worker of model `own`.

    Raises:
        InvalidRequest: it is none, or of another model; says where and what.
    """
    try:
        request = InvalidateRequest.model_validate(event)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise InvalidRequest(f"not a request to invalidate answers: {wrong}") from None
    whose = request.invalidate
    if whose.model is None and whose.partner is None:
        raise InvalidRequest("invalidate: name a model, a partner, or both")
    if whose.model not in {None, own}:
        raise InvalidRequest(f"invalidate.model: this is the worker of {own}")
    if whose.partner is not None and not is_partner_id(whose.partner):
        raise InvalidRequest("invalidate.partner: not a partner's id")
    return request
