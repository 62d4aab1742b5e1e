"""The shipped handlers over moto's DynamoDB, SQS and S3 and a real Redis, in one process."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3

from api.build import build as build_api
from api.handler import handle as handle_api
from api.replies import Api
from api.routes import resolver
from sweeper.build import build as build_sweeper
from sweeper.handler import handle as handle_sweep
from tests.cloud import REGION as REGION
from tests.cloud import create_tables_and_queues as create_tables_and_queues
from tests.event_source import record
from tests.fakes import FakeClock, FakeIds, LambdaContext, ScriptedVendor
from tests.redis_time import pass_time
from tidegate.doors.dynamo import Table
from tidegate.doors.ledger import Ledger
from tidegate.doors.valkey import Valkey
from tidegate.rules.catalogue import Catalogue, load
from tidegate.settings import ApiSettings, RedisSettings, RepairSettings, WorkerSettings
from worker.build import connected
from worker.handler import handle as handle_worker

ROOT = Path(__file__).parent.parent
CATALOGUE_FOLDER = ROOT / "layers" / "tidegate" / "python" / "catalogue"
PUBLIC_URL = "https://api.example.com/base"


FUNDS = 10**9
"""Micro-credits of each partner a pipeline begins with: a thousand credits."""


def catalogue() -> Catalogue:
    return load(CATALOGUE_FOLDER, "local")


@dataclass
class Answer:
    """An HTTP answer of the api function."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Pipeline:
    """One deployment in a process."""

    valkey: Valkey
    clock: FakeClock = field(default_factory=FakeClock)
    ids: FakeIds = field(default_factory=FakeIds)
    vendor: ScriptedVendor = field(default_factory=ScriptedVendor)
    models: Catalogue = field(default_factory=catalogue)

    def __post_init__(self) -> None:
        self.sqs = boto3.client("sqs", region_name=REGION)
        self.dynamodb = boto3.client("dynamodb", region_name=REGION)
        self.s3 = boto3.client("s3", region_name=REGION)
        base = self.sqs.get_queue_url(QueueName="tg-quarantine")["QueueUrl"]
        self.prefix = base.removesuffix("quarantine")
        self.quarantine_url = self.prefix + "quarantine"
        redis = RedisSettings(url="unused", iam_user=None, iam_cache=None, region=REGION)
        self.redis_settings = redis
        for partner in ("acme", "umbrella", "globex"):
            self.ledger.credit(partner, "funds", FUNDS, 0)
        self._lock = threading.Lock()
        self._thread = threading.local()

    @property
    def api(self) -> Api:
        """Return the api function of this thread: Lambda gives each its own process too."""
        if not hasattr(self._thread, "api"):
            settings = ApiSettings(
                "local", "jobs", "ledger", "assets", self.prefix, PUBLIC_URL, self.redis_settings
            )
            with self._lock:  # boto3's default session makes one client at a time
                api = build_api(settings, self.models, self.clock, self.ids, self.valkey)
            self._thread.api, self._thread.app = api, resolver(api)
        built: Api = self._thread.api
        return built

    def queue_url(self, model: str) -> str:
        return self.prefix + model

    def dlq_url(self, model: str) -> str:
        return f"{self.prefix}{model}-dlq"

    def send(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        raw: str | None = None,
        headers: dict[str, str | list[str]] | None = None,
        partner: str | None = "acme",
        base64: bool = False,
    ) -> Answer:
        """Return the api function's answer to one API Gateway event."""
        multi = {
            name: [value] if isinstance(value, str) else value
            for name, value in (headers or {}).items()
        }
        event = {
            "resource": "/v1/{proxy+}",
            "path": path,
            "httpMethod": method,
            "headers": {name: values[-1] for name, values in multi.items()},
            "multiValueHeaders": multi,
            "queryStringParameters": None,
            "multiValueQueryStringParameters": None,
            "pathParameters": None,
            "stageVariables": None,
            "requestContext": {
                "requestId": "req-test",
                "authorizer": {"partner": partner} if partner else None,
                "httpMethod": method,
                "path": f"/local{path}",
                "stage": "local",
            },
            "body": raw if raw is not None else (None if body is None else json.dumps(body)),
            "isBase64Encoded": base64,
        }
        answer = handle_api(event, LambdaContext(), self.api, self._thread.app)  # type: ignore[arg-type]
        flat = {name: values[-1] for name, values in answer["multiValueHeaders"].items()}
        return Answer(answer["statusCode"], flat, answer["body"])

    def post(self, body: Any, key: str = "key-1", partner: str = "acme", **headers: str) -> Answer:
        """Return the answer to `POST /v1/jobs`."""
        extra: dict[str, str | list[str]] = {k.replace("_", "-"): v for k, v in headers.items()}
        return self.send(
            "POST",
            "/v1/jobs",
            body=body,
            partner=partner,
            headers={"Content-Type": "application/json", "Idempotency-Key": key, **extra},
        )

    def get(self, path: str, partner: str = "acme", **headers: str) -> Answer:
        """Return the answer to a GET."""
        extra: dict[str, str | list[str]] = {k.replace("_", "-"): v for k, v in headers.items()}
        return self.send("GET", path, partner=partner, headers=extra)

    def later(self, seconds: float) -> None:
        """Let time pass for the functions and for Redis."""
        self.clock.time += seconds
        self.valkey._do(lambda client: pass_time(client, seconds))

    def deliver(self, queue: str, remaining: float = 9.0, most: int = 10) -> int:
        """Do what Lambda's event source mapping does with the messages there are now.

        `queue` is the name of a model, or `<model>-low`.
        """
        url, model = self.queue_url(queue), queue.removesuffix("-low")
        reply = self.sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=most,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        messages = reply.get("Messages", [])
        entry = self.models.models[model]
        for message in messages:
            arn = f"arn:aws:sqs:{REGION}:123456789012:{url.rpartition('/')[2]}"
            context: Any = LambdaContext(remaining)
            event = {"Records": [record(message, arn)]}
            result = handle_worker(event, context, self.worker(model), entry)
            if not result["batchItemFailures"]:
                self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return len(messages)

    @property
    def ledger(self) -> Ledger:
        """Return the money."""
        return Ledger(Table(self.dynamodb, "ledger", self.clock, self.ids))

    def sweep(self, remaining: float = 55.0) -> dict[str, int]:
        """Do what the schedule does every minute."""
        settings = RepairSettings("local", "jobs", "ledger", "assets", self.prefix)
        doors = build_sweeper(settings, self.models, self.clock, self.ids)
        context: Any = LambdaContext(remaining)
        return handle_sweep(context, doors, self.models)

    def worker(self, model: str) -> Any:
        """Return the doors of a model's worker."""
        settings = WorkerSettings(
            environment="local",
            model=model,
            jobs_table="jobs",
            ledger_table="ledger",
            assets_bucket="assets",
            queue_url=self.queue_url(model),
            low_queue_url=self.queue_url(f"{model}-low"),
            dlq_url=self.dlq_url(model),
            quarantine_url=self.quarantine_url,
            vendor_base_url="http://vendor.invalid",
            vendor_secret="unused",
            redis=self.redis_settings,
            references_table="references",
        )
        return connected(settings, self.models, self.clock, self.ids, self.valkey, self.vendor)

    def bodies(self, url: str) -> list[Any]:
        """Return the bodies of the messages in a queue, and leave them there."""
        reply = self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0)
        return [message["Body"] for message in reply.get("Messages", [])]

    def hook_dynamodb(self, hook: Any) -> None:
        """Let `hook` see every DynamoDB request of clients made from here on, before moto does."""
        session = boto3.DEFAULT_SESSION
        assert session is not None
        session.events.register_first("before-send.dynamodb", hook)
        self._thread = threading.local()

    def items(self) -> list[dict[str, Any]]:
        """Return everything in the jobs table."""
        return self.dynamodb.scan(TableName="jobs")["Items"]
