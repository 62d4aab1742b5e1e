"""Who may do what in the assets bucket, and how long what is in it stays."""

from __future__ import annotations

import re
from typing import Any

from tests.infrastructure.grants import functions, listed, statements
from tests.infrastructure.synthesis import Synthesis
from tidegate.rules.quarantine import KEPT

WORKER = {
    "s3:GetObject": {"outputs", "quarantine"},
    "s3:PutObject": {"assets", "outputs", "quarantine"},
}
ALLOWED: dict[str, dict[str, set[str]]] = {
    "api": {"s3:GetObject": {"assets", "outputs"}, "s3:PutObject": {"outputs"}},
    "replay": {"s3:GetObject": {"quarantine"}, "s3:DeleteObject": {"quarantine"}},
    "sweeper": {},
    "authorizer": {},
}
"""By function and action, the folders."""


def _folder(resource: Any) -> str:
    """Return the folder of the assets bucket that a statement is about, the whole of it."""
    found = re.search(r":s3:::.*/([a-z]*)/\*'", str(resource))
    assert found, resource
    return found[1]


def _allowed(every: Synthesis, function: str) -> dict[str, set[str]]:
    """Return the folders that a function's role allows each action of S3 on."""
    allowed: dict[str, set[str]] = {}
    for statement in statements(every, function):
        for action in listed(statement["Action"]):
            if action.startswith("s3:"):
                folders = {_folder(resource) for resource in listed(statement["Resource"])}
                allowed.setdefault(action, set()).update(folders)
    return allowed


def test_each_function_reaches_its_own_folders_alone(every: Synthesis) -> None:
    for function in functions(every):
        expected = WORKER if function.startswith("worker-") else ALLOWED[function]
        assert _allowed(every, function) == expected, function


def test_raw_answers_that_failed_outlive_their_records_by_a_day(every: Synthesis) -> None:
    prefix = every.config.named("assets")
    (bucket,) = [
        bucket["Properties"]
        for bucket in every.all_of("AWS::S3::Bucket").values()
        if prefix in str(bucket["Properties"].get("BucketName"))
    ]
    rules = bucket["LifecycleConfiguration"]["Rules"]
    days = {rule.get("Prefix", ""): rule["ExpirationInDays"] for rule in rules}
    assert days == {"": 90, "quarantine/": 31}
    assert days["quarantine/"] > KEPT / 86_400
    assert {rule["Status"] for rule in rules} == {"Enabled"}
