"""Tidegate as it is deployed, less API Gateway and Lambda: its functions, emulated AWS, a Redis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench.peers.batch import Batch
from bench.peers.lambdas import answered, function, posted, worked
from cli.local.emulator import CREDENTIALS, REGION, start_emulator
from cli.local.processes import StartFailed
from cli.local.stack import CATALOGUE, ENVIRONMENT, FUNDS

PARTNER = "acme"
"""Whose request `events/api.json` is."""
MODEL = "chat-mini"
VENDORS_KEY = "key-of-tidegate"
HIT = {"Cache-Status": "tidegate; hit"}
REPLAY = {"Idempotent-Replayed": "true"}


@dataclass(frozen=True, slots=True)
class Tidegate:
    """The api function's process, and one job that is completed."""

    api: ProcessPoolExecutor
    body: Mapping[str, Any]
    key: str
    """Of the completed job's post."""

    def hits(self, count: int) -> Batch:
        """Post the same body under keys that are new."""
        return self._post([uuid4().hex for _ in range(count)], HIT)

    def replays(self, count: int) -> Batch:
        """Post the same body under the same key."""
        return self._post([self.key] * count, REPLAY)

    def _post(self, keys: list[str], expected: dict[str, str]) -> Batch:
        events = [posted(self.body, key) for key in keys]
        return self.api.submit(answered, events, 200, expected).result()


@contextmanager
def tidegate(
    folder: Path, redis_url: str, vendor_url: str, messages: list[dict[str, str]]
) -> Iterator[Tidegate]:
    """Run it; the answer to `messages` has been fetched from the vendor by the worker.

    Raises:
        StartFailed: that job was not done.
    """
    body = {"model": MODEL, "input": {"messages": messages}}
    logs, key = folder / "logs", uuid4().hex
    with ExitStack() as opened:
        emulator, endpoint = start_emulator(folder)
        opened.callback(emulator.stop)
        common = _variables(endpoint, redis_url)
        with function(common, logs / "operator.log") as operator:
            prefix = operator.submit(made).result()
        common["QUEUE_URL_PREFIX"] = prefix
        api = opened.enter_context(function(common, logs / "api.log"))
        accepted = api.submit(answered, [posted(body, key)], 202, {}).result().as_expected
        with function(common | _workers(prefix, vendor_url), logs / "worker.log") as worker:
            done = worker.submit(worked, f"{prefix}{MODEL}").result()
        if (accepted, done) != (1, 1):
            raise StartFailed(f"{accepted} of 1 jobs accepted, {done} done; see {logs}")
        yield Tidegate(api, body, key)


def made() -> str:
    """Make what the CDK app makes, in a function's process; return how queues' URLs begin."""
    import boto3

    from tests.cloud import create_tables_and_queues
    from tidegate.clock import SystemClock, SystemIds
    from tidegate.doors.dynamo import Table
    from tidegate.doors.ledger import Ledger
    from tidegate.rules import catalogue

    create_tables_and_queues(catalogue.load(CATALOGUE, ENVIRONMENT))
    boto3.client("secretsmanager").create_secret(Name="vendor", SecretString=VENDORS_KEY)
    clock = SystemClock()
    table = Table(boto3.client("dynamodb"), "ledger", clock, SystemIds())
    Ledger(table).credit(PARTNER, "bench", FUNDS, clock.now())
    quarantine = boto3.client("sqs").get_queue_url(QueueName="tg-quarantine")["QueueUrl"]
    return quarantine.removesuffix("quarantine")


def _variables(endpoint: str, redis_url: str) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ENDPOINT_URL_S3": endpoint,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        **CREDENTIALS,
        "TIDEGATE_ENV": ENVIRONMENT,
        "POWERTOOLS_SERVICE_NAME": "api",
        "JOBS_TABLE": "jobs",
        "LEDGER_TABLE": "ledger",
        "PARTNERS_TABLE": "partners",
        "ASSETS_BUCKET": "assets",
        "PUBLIC_URL": "https://api.example.com",
        "REDIS_URL": redis_url,
    }


def _workers(prefix: str, vendor_url: str) -> dict[str, str]:
    queue = f"{prefix}{MODEL}"
    return {
        "POWERTOOLS_SERVICE_NAME": "worker",
        "MODEL": MODEL,
        "QUEUE_URL": queue,
        "LOW_QUEUE_URL": f"{queue}-low",
        "DLQ_URL": f"{queue}-dlq",
        "QUARANTINE_URL": f"{prefix}quarantine",
        "VENDOR_BASE_URL": f"{vendor_url}/v1",
        "VENDOR_SECRET": "vendor",
    }
