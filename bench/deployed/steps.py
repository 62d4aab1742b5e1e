"""Names of the steps of accept and work, read off the calls they consist of."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import Any

from tidegate.rules.job import Status

_CONNECTING = {
    "HELLO",
    "CLIENT",
    "AUTH",
    "SELECT",
    "SCRIPT",
    "PING",
    "READONLY",
    "CLUSTER",
    "COMMAND",
}

_PUTS = {"claim": "accept", "ledger": "credit"}
"""What a transaction does, by what it puts first."""


def aws_step(method: str, headers: Mapping[str, str], path: str, body: bytes) -> str:
    """Return the step that an AWS request is."""
    target = headers.get("X-Amz-Target", "")
    if not target:
        return f"S3 {method} {path.strip('/').split('/')[1]}"
    service, _, operation = target.partition(".")
    asked = json.loads(body or b"{}")
    if service.startswith("DynamoDB"):
        return f"DynamoDB {_dynamo_step(operation, asked)}"
    if service == "AmazonSQS":
        return f"SQS {operation} {_queue_kind(asked)}".strip()
    return f"{service} {operation}"


def redis_step(commands: Sequence[Sequence[bytes]]) -> str | None:
    """Return the step that commands sent together are.

    It is None if they only make the connection ready.
    """
    named = [name for command in commands if (name := _redis_name(command))]
    return f"Redis {' + '.join(named)}" if named else None


def looks(step: str) -> bool:
    """Return whether a step is a post's look into Redis: its first step, which counts it as well.

    A look that is repeated does not count the post again.
    """
    return step.startswith("Redis MGET epochs + ") and step.endswith(" + rate_take")


def _redis_name(command: Sequence[bytes]) -> str | None:
    name = command[0].decode().upper()
    if name in _CONNECTING:
        return None
    if name == "EVALSHA":
        return scripts()[command[1].decode()][0]
    keys = (key.decode() for key in command[1:] if key.startswith(b"tg:{"))
    # All epochs have one tag, and are asked for together; others are told by their last part.
    kinds = ("epochs" if "{epochs}" in key else key.rsplit(":", 1)[-1] for key in keys)
    return " ".join([name, *dict.fromkeys(kinds)])


def job_key_in(command_text: str) -> str | None:
    """Return the job key in the keys of a Redis command."""
    found = re.search(r"tg:\{([0-9a-f]{64})\}", command_text)
    return found[1] if found else None


def _dynamo_step(operation: str, asked: dict[str, Any]) -> str:
    if operation == "GetItem":
        key = asked["Key"]
        names = (key[name]["S"].partition("#")[0] for name in ("pk", "sk"))
        return " ".join(["GetItem", *dict.fromkeys(names)])
    if operation == "Query":
        values = json.dumps(asked.get("ExpressionAttributeValues", {}))
        return f"Query {'work' if 'work#' in values else 'job'}"
    if operation == "TransactWriteItems":
        first = asked["TransactItems"][0]
        put = first["Put"]["Item"]["pk"]["S"].partition("#")[0] if "Put" in first else ""
        if put in _PUTS:
            return f"TransactWriteItems {_PUTS[put]}"
        if "Update" in first:
            return f"TransactWriteItems {_status_in(first['Update'])}"
        return "TransactWriteItems"
    if operation == "PutItem":
        return f"PutItem {asked['Item']['sk']['S'].partition('#')[0]}"
    return operation


def _status_in(update: dict[str, Any]) -> str:
    values = [v.get("S") for v in update["ExpressionAttributeValues"].values()]
    return next((status.value for status in Status if status.value in values), "update")


def _queue_kind(asked: dict[str, Any]) -> str:
    name = str(asked.get("QueueUrl", "")).rsplit("/", 1)[-1]
    if name.endswith("-dlq"):
        return "dlq"
    return "quarantine" if name.endswith("quarantine") else ""


@cache
def scripts() -> dict[str, tuple[str, str]]:
    """Return names and texts of our Lua scripts by what Redis calls them (redis.io: EVALSHA)."""
    folder = files("tidegate.doors").joinpath("lua")
    texts = {script.name[:-4]: script.read_text(encoding="utf-8") for script in folder.iterdir()}
    return {
        sha1(text.encode(), usedforsecurity=False).hexdigest(): (name, text)
        for name, text in texts.items()
    }
