"""What the templates allow a function to do, read from the policies of its role."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.infrastructure.synthesis import Synthesis


def listed(value: Any) -> list[Any]:
    """Return what IAM takes as one or as many, as many."""
    return value if isinstance(value, list) else [value]


def functions(every: Synthesis) -> list[str]:
    """Return the names of all functions, without the environment's prefix."""
    prefix = every.config.named("")
    return [
        function["Properties"]["FunctionName"].removeprefix(prefix)
        for function in every.all_of("AWS::Lambda::Function").values()
    ]


def statements(every: Synthesis, function: str) -> list[dict[str, Any]]:
    """Return what a function's role allows."""
    physical = every.config.named(function)
    role = every.one_of("AWS::Lambda::Function", FunctionName=physical)["Role"]["Fn::GetAtt"][0]
    return [
        statement
        for policy in every.all_of("AWS::IAM::Policy").values()
        if {"Ref": role} in policy["Properties"]["Roles"]
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]


def actions(every: Synthesis, function: str) -> set[str]:
    """Return every action a function's role allows, on whatever."""
    return {a for s in statements(every, function) for a in listed(s["Action"])}


def actions_on(every: Synthesis, function: str, resource: str) -> set[str]:
    """Return the actions a function's role allows on what has `resource` in its reference."""
    return {
        action
        for statement in statements(every, function)
        if any(resource in str(to) for to in listed(statement["Resource"]))
        for action in listed(statement["Action"])
    }


def resources_of(every: Synthesis, function: str, action: str) -> Iterator[Any]:
    """Yield what a function's role allows an action on, as references."""
    for statement in statements(every, function):
        if action in listed(statement["Action"]):
            yield from listed(statement["Resource"])


def queue_names(every: Synthesis) -> dict[str, str]:
    """Return the names of all queues, without the environment's prefix, by logical id."""
    prefix = every.config.named("")
    return {
        logical: queue["Properties"]["QueueName"].removeprefix(prefix)
        for logical, queue in every.all_of("AWS::SQS::Queue").items()
    }
