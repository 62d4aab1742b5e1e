"""What every part of the catalogue is: strict and frozen, unknown keys are errors."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A part that knows all its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
