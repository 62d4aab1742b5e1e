"""What deployed functions talk to, on the emulator, with words planted that nobody may read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import boto3
from redis import Redis

from cli.local import redis
from cli.local.processes import LOOPBACK
from tests.cloud import JOBS_INDEX, REGION, create_table, create_tables_and_queues
from tests.event_source import record
from tests.pipeline import FUNDS, catalogue
from tests.unit.vendor_wire import openai
from tidegate.clock import SystemClock, SystemIds
from tidegate.doors.dynamo import Table
from tidegate.doors.ledger import Ledger
from tidegate.doors.partners import Partners
from tidegate.rules.partner_key import PartnerKey

MODEL = "chat-mini"
KEY = PartnerKey("0123456789ab", "PARTNERS-KEY-".ljust(43, "x"))
PLANTED = {
    "prompt": "PROMPT-nobody-may-read",
    "answer": "ANSWER-nobody-may-read",
    "metadata": "METADATA-nobody-may-read",
    "idempotency key": "IDEMPOTENCY-nobody-may-read",
    "partner's key": KEY.secret,
    "vendor's key": "VENDORS-KEY-nobody-may-read",
    "password of Redis": "REDIS-PASSWORD-nobody-may-read",
    "AWS's secret key": "AWS-SECRET-nobody-may-read",
    "AWS's session": "AWS-SESSION-nobody-may-read",
}


class _Vendor(BaseHTTPRequestHandler):
    """Fails if the prompt says `fail-<status>`, and then quotes the request and its headers."""

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        status = next((code for code in (401, 500) if f"fail-{code}" in asked), 200)
        failed = {"error": {"message": asked + str(self.headers)}}
        body = json.dumps(openai(PLANTED["answer"]) if status == 200 else failed).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def vendor() -> Iterator[str]:
    """Run a vendor; yield its base URL."""
    server = ThreadingHTTPServer((LOOPBACK, 0), _Vendor)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Cloud:
    """One model's tables, queues, secret and Redis."""

    def __init__(self, redis_url: str, vendor_url: str) -> None:
        self._redis_url, self._vendor_url = redis_url, vendor_url
        self._sqs, self._dynamodb = boto3.client("sqs"), boto3.client("dynamodb")
        models = catalogue()
        one = models.model_copy(update={"models": {MODEL: models.models[MODEL]}})
        create_tables_and_queues(one)
        secrets = boto3.client("secretsmanager")
        secrets.create_secret(Name="vendor", SecretString=PLANTED["vendor's key"])
        secrets.close()
        clock, ids = SystemClock(), SystemIds()
        Partners(Table(self._dynamodb, "partners", clock, ids)).add_key("acme", KEY, clock.now())
        Ledger(Table(self._dynamodb, "ledger", clock, ids)).credit("acme", "c", FUNDS, clock.now())
        url = self._sqs.get_queue_url(QueueName="tg-quarantine")["QueueUrl"]
        self._prefix = url.removesuffix("quarantine")

    def close(self) -> None:
        self._sqs.close()
        self._dynamodb.close()

    def variables(self, endpoint: str) -> dict[str, str]:
        """Return what all functions have in their environment, and what Lambda adds to it."""
        queue = f"{self._prefix}{MODEL}"
        user = f"//tidegate:{PLANTED['password of Redis']}@"
        return {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": PLANTED["AWS's secret key"],
            "AWS_SESSION_TOKEN": PLANTED["AWS's session"],
            "AWS_DEFAULT_REGION": REGION,
            "AWS_LAMBDA_LOG_FORMAT": "JSON",
            "TIDEGATE_ENV": "local",
            "JOBS_TABLE": "jobs",
            "LEDGER_TABLE": "ledger",
            "PARTNERS_TABLE": "partners",
            "REFERENCES_TABLE": "references",
            "ASSETS_BUCKET": "assets",
            "PUBLIC_URL": "https://api.example.com",
            "REDIS_URL": self._redis_url.replace("//", user),
            "MODEL": MODEL,
            "QUEUE_URL_PREFIX": self._prefix,
            "QUEUE_URL": queue,
            "LOW_QUEUE_URL": f"{queue}-low",
            "DLQ_URL": f"{queue}-dlq",
            "QUARANTINE_URL": f"{self._prefix}quarantine",
            "VENDOR_BASE_URL": self._vendor_url,
            "VENDOR_SECRET": "vendor",
        }

    def begin(self) -> None:
        """Empty Redis, and let the functions in."""
        redis.flush(self._redis_url)
        self._user("reset", "on", f">{PLANTED['password of Redis']}", "~*", "&*", "+@all")

    def shut_redis(self) -> None:
        """Have Redis refuse the functions' user, also where it is connected already."""
        self._user("off")
        with Redis.from_url(self._redis_url) as client:
            client.execute_command("CLIENT", "KILL", "USER", "tidegate")

    @contextmanager
    def without_jobs(self) -> Iterator[None]:
        """Have DynamoDB refuse what is asked of the jobs table; it is empty afterwards."""
        self._dynamodb.delete_table(TableName="jobs")
        yield
        create_table(self._dynamodb, "jobs", JOBS_INDEX)

    def messages(self) -> dict[str, Any]:
        """Return the worker's event of all that is in its queue."""
        url = f"{self._prefix}{MODEL}"
        received = self._sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10,
            AttributeNames=["All"], MessageAttributeNames=["All"],
        )  # fmt: skip
        for message in received.get("Messages", []):
            self._sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        arn = f"arn:aws:sqs:{REGION}:000000000000:tg-{MODEL}"
        return {"Records": [record(message, arn) for message in received.get("Messages", [])]}

    def damage(self, job_id: str) -> None:
        """Write a prompt where a job's status is kept: the error of reading it quotes it."""
        self._dynamodb.update_item(
            TableName="jobs",
            Key={"pk": {"S": f"job#{job_id}"}, "sk": {"S": "status"}},
            UpdateExpression="SET #s = :prompt, due_at = :past",
            ExpressionAttributeNames={"#s": "status"},
            ExpressionAttributeValues={":prompt": {"S": PLANTED["prompt"]}, ":past": {"N": "1"}},
        )

    def _user(self, *rules: str) -> None:
        with Redis.from_url(self._redis_url) as client:
            client.execute_command("ACL", "SETUSER", "tidegate", *rules)
