"""What an operator does with a running stack: pauses, invalidates, replays, releases, audits."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from botocore.config import Config

from cli.cache import invalidated
from cli.dlq import answers
from cli.ledger import Audited, audited
from cli.local.stack import ENVIRONMENT, StackInfo, client
from cli.models import switched
from cli.quarantine import decided
from cli.quarantine_records import Chosen, reached
from tidegate.doors.quarantine import Listed
from tidegate.gate.reason import Code

PATIENCE = 120
"""Seconds a replay may take here."""


class Operator:
    """Acts through the functions of `tidegate models`, `cache`, `dlq`, `quarantine`, `ledger`."""

    def __init__(self, info: StackInfo) -> None:
        self._tables = info.tables
        self._dynamodb = client(info.aws_endpoint, "dynamodb")
        self._s3 = client(info.aws_endpoint, "s3")
        self._sts = client(info.aws_endpoint, "sts")
        self._lambda = client(info.aws_endpoint, "lambda", Config(read_timeout=PATIENCE))

    def close(self) -> None:
        """Close all connections."""
        for connected in (self._dynamodb, self._s3, self._sts, self._lambda):
            connected.close()

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

    def quarantined(self, model: str, code: Code) -> list[Listed]:
        """Return what lies in quarantine of a model with this code, undecided, the newest first."""
        account = self._sts.get_caller_identity()["Account"]
        kept = reached(ENVIRONMENT, account, self._dynamodb, self._s3)
        return kept.found(Chosen(model, 1, "open", code, None), time.time())

    def release(self, job_id: str, why: str) -> str:
        """Let a partner have an answer that failed the gate; return what came of it."""
        items = decided(self._lambda, ENVIRONMENT, "release", [job_id], "demo", why)
        return ", ".join(item["result"] for item in items)

    def audit(self) -> list[Audited]:
        """Return what each partner's balance, entries and jobs come to."""
        return audited(self._dynamodb, self._tables["ledger"], self._tables["jobs"])
