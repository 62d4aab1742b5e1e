"""What an operator does with a running stack: pauses, invalidates, replays, audits."""

from __future__ import annotations

from collections import Counter
from typing import Any

from botocore.config import Config

from cli.cache import invalidated
from cli.dlq import answers
from cli.ledger import Audited, audited
from cli.local.stack import ENVIRONMENT, StackInfo, client
from cli.models import switched

PATIENCE = 120
"""Seconds a replay may take here."""


class Operator:
    """Acts through the same functions as `tidegate models`, `cache`, `dlq` and `ledger`."""

    def __init__(self, info: StackInfo) -> None:
        self._tables = info.tables
        self._dynamodb = client(info.aws_endpoint, "dynamodb")
        self._lambda = client(info.aws_endpoint, "lambda", Config(read_timeout=PATIENCE))

    def close(self) -> None:
        """Close all connections."""
        self._dynamodb.close()
        self._lambda.close()

    def pause(self, model: str, seconds: float, why: str) -> dict[str, Any]:
        """Pause a model for a while; return what is shown of it then."""
        request = {"switch": "pause", "seconds": seconds, "by": "demo", "why": why}
        switched(self._lambda, ENVIRONMENT, model, request)
        return switched(self._lambda, ENVIRONMENT, model, {"switch": "show"})

    def invalidate(self, model: str, partner: str, why: str) -> None:
        """Declare a partner's answers of a model void."""
        invalidated(self._lambda, ENVIRONMENT, model, model, partner, "demo", why)

    def replay(self, model: str, code: str) -> Counter[str]:
        """Run every dead letter of a model with this error code again; return what came of it."""
        request = {"action": "replay", "model": model, "filter": {"code": code}}
        told = answers(self._lambda, ENVIRONMENT, {**request, "dry_run": False}, 1000)
        return Counter(item["result"] for answer in told for item in answer["items"])

    def audit(self) -> list[Audited]:
        """Return what each partner's balance, entries and jobs come to."""
        return audited(self._dynamodb, self._tables["ledger"], self._tables["jobs"])
