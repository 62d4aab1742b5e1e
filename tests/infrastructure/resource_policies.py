"""What a resource's own policy answers to an AWS service, worked out as IAM does.

docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html: nothing is
allowed that no statement allows, and what one denies is denied whatever others say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from tests.infrastructure.grants import listed

ACCOUNT = {"Ref": "AWS::AccountId"}


@dataclass(frozen=True)
class Request:
    """One call of a service, on its own behalf."""

    service: str
    action: str
    resource: Any
    """As the template refers to it."""
    context: Mapping[str, Any]
    """What the call says of itself, by condition key."""


def allows(policy: Mapping[str, Any], request: Request) -> bool:
    """Return whether a policy lets the request through."""
    effects = {
        statement["Effect"] for statement in policy["Statement"] if _applies(statement, request)
    }
    return effects == {"Allow"}


def _applies(statement: Mapping[str, Any], request: Request) -> bool:
    known = {"Sid", "Effect", "Principal", "Action", "Resource", "Condition"}
    assert set(statement) <= known, f"cannot judge {statement}"
    return (
        _is_of(statement["Principal"], request.service)
        and any(
            fnmatchcase(request.action.lower(), action.lower())
            for action in listed(statement["Action"])
        )
        and any(one in ("*", request.resource) for one in listed(statement["Resource"]))
        and all(
            _holds(operator, key, values, request.context)
            for operator, keys in statement.get("Condition", {}).items()
            for key, values in keys.items()
        )
    )


def _is_of(principal: Any, service: str) -> bool:
    """Return whether a service is meant. An account's root means its users and roles, no service;
    `{"AWS": "*"}` means everybody, as `"*"` does
    (docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html).
    """
    if principal == "*":
        return True
    return service in listed(principal.get("Service", [])) or "*" in listed(
        principal.get("AWS", [])
    )


def _holds(operator: str, key: str, values: Any, context: Mapping[str, Any]) -> bool:
    """Return whether a condition holds; one on what the call does not say never does."""
    assert operator in ("Bool", "StringEquals"), f"cannot judge {operator}"
    return key in context and context[key] in listed(values)
