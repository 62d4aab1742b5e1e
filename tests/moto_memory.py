"""What moto and botocore find out anew for each request or session, found out once.

It is most of the time of an answered request, and depends on their own code and models alone: what
methods a service has, where in a result the members of a shape may be, what an update says.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest
from botocore import loaders
from moto.core.serialize import AttributePickerContext, BaseJSONSerializer
from moto.core.utils import method_names_from_class
from moto.dynamodb.parsing.expressions import (  # type: ignore[attr-defined]  # untyped there
    UpdateExpressionParser,
)

_loader = functools.cache(loaders.create_loader)
"""One for all sessions: each would read the models of its services again."""


def install(patch: pytest.MonkeyPatch) -> None:
    """Let moto remember until `patch` is undone."""
    patch.setattr("botocore.session.create_loader", _loader)
    methods = functools.cache(method_names_from_class)
    patch.setattr("moto.core.responses.method_names_from_class", methods)
    # Whoever changes what was parsed copies it first.
    parsed = functools.lru_cache(1000)(UpdateExpressionParser.make)
    patch.setattr(UpdateExpressionParser, "make", parsed)
    _pass_over_absent_members(patch)


def _pass_over_absent_members(patch: pytest.MonkeyPatch) -> None:
    """Let a member that a dict has under none of its names be nothing, without a look for each."""
    present = BaseJSONSerializer._serialize_structure_member
    known: dict[tuple[Any, str], frozenset[str]] = {}

    def names(serializer: BaseJSONSerializer, shape: Any, key: str) -> frozenset[str]:
        model = serializer.operation_model
        context = AttributePickerContext({}, key, shape, model, model.service_model, "")
        found = frozenset(serializer._value_picker.get_possible_keys(context))
        assert not any("." in name for name in found), "a path, not a name"
        return found

    def member(self: BaseJSONSerializer, serialized: Any, value: Any, shape: Any, key: str) -> None:
        # Of a class of its own, a value may have more names; so may what is to be transformed.
        if type(value) is dict and not self._value_picker.response_transformers:
            if (shape, key) not in known:
                known[shape, key] = names(self, shape, key)
            if known[shape, key].isdisjoint(value):
                return
        present(self, serialized, value, shape, key)

    patch.setattr(BaseJSONSerializer, "_serialize_structure_member", member, raising=False)
