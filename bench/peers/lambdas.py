"""Tidegate's functions, each in a process of its own, with the environment it is deployed with."""

from __future__ import annotations

import base64
import json
import multiprocessing
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.peers.batch import Batch
from cli import ROOT
from cli.local.processes import environment
from tests.event_source import record

AWS_CALLS: Counter[str] = Counter()
"""In a function's process: its HTTP requests to AWS."""


@contextmanager
def function(variables: Mapping[str, str], log: Path) -> Iterator[ProcessPoolExecutor]:
    """Yield one process that has these variables, and whose output is the file `log`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    apart = multiprocessing.get_context("spawn")
    started = (environment(**variables), log)
    with ProcessPoolExecutor(1, apart, initializer=_begin, initargs=started) as process:
        yield process


def answered(events: list[dict[str, Any]], status: int, headers: dict[str, str]) -> Batch:
    """Have the api function answer events; expected are a status and beginnings of headers."""
    from api.handler import handler

    context, seconds, answers = _context(), [], []
    AWS_CALLS.clear()
    begun = time.process_time()
    for event in events:
        start_at = time.perf_counter()
        answers.append(handler(event, context))
        seconds.append(time.perf_counter() - start_at)
    cpu = time.process_time() - begun
    good = sum(_is(answer, status, headers) for answer in answers)
    return Batch(seconds, good, cpu, Counter(AWS_CALLS))


def worked(queue_url: str) -> int:
    """Have the worker work on what is in its queue, as Lambda does; return how many are done."""
    import boto3

    from worker.handler import handler

    sqs = boto3.client("sqs")
    reply = sqs.receive_message(
        QueueUrl=queue_url, MaxNumberOfMessages=10, WaitTimeSeconds=5,
        AttributeNames=["All"], MessageAttributeNames=["All"],
    )  # fmt: skip
    messages = reply.get("Messages", [])
    arn = f"arn:aws:sqs:x:0:{queue_url.rpartition('/')[2]}"
    records = [record(message, arn) for message in messages]
    failed = handler({"Records": records}, _context())["batchItemFailures"]
    return len(messages) - len(failed)


def posted(body: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return API Gateway's event of a post under an idempotency key."""
    event: dict[str, Any] = json.loads((ROOT / "events" / "api.json").read_text("utf-8"))
    event["headers"]["Idempotency-Key"] = key
    event["multiValueHeaders"]["Idempotency-Key"] = [key]
    event["body"] = base64.b64encode(json.dumps(body).encode()).decode()
    event["isBase64Encoded"] = True
    return event


def _begin(variables: dict[str, str], log: Path) -> None:
    os.environ.clear()
    os.environ.update(variables)
    with log.open("wb") as output:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(output.fileno(), stream.fileno())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import boto3

    boto3.setup_default_session()
    assert boto3.DEFAULT_SESSION is not None  # noqa: S101
    boto3.DEFAULT_SESSION.events.register("before-send", _count)


def _end_with_parent() -> None:
    """A pool's process holds both ends of its queue: one whose parent is killed waits on."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _count(event_name: str, **_sent: Any) -> None:
    AWS_CALLS[event_name.partition(".")[2]] += 1


def _is(answer: Mapping[str, Any], status: int, headers: Mapping[str, str]) -> bool:
    has = {name: values[0] for name, values in answer["multiValueHeaders"].items()}
    begins = (has.get(name, "").startswith(value) for name, value in headers.items())
    return answer["statusCode"] == status and all(begins)


def _context() -> Any:
    from tests.fakes import LambdaContext

    return LambdaContext()
