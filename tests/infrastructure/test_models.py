"""What each catalogue entry makes, in every environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.infrastructure.grants import queue_names
from tests.infrastructure.synthesis import CATALOGUE, ROOT, Synthesis, synthesise
from tidegate.rules import invalidate_request, switch_request
from tidegate.rules.catalogue import load
from tidegate.rules.pacing import Pace, Shares

DAY = 86_400


def _working(model: str) -> tuple[str, str]:
    """Return the names of the queues that a model's jobs wait in."""
    return model, f"{model}-low"


def _queue(every: Synthesis, name: str) -> dict[str, Any]:
    return every.one_of("AWS::SQS::Queue", QueueName=every.config.named(name))


def _worker(every: Synthesis, name: str) -> dict[str, Any]:
    function = every.config.named(f"worker-{name}")
    return every.one_of("AWS::Lambda::Function", FunctionName=function)


def _limits(every: Synthesis, name: str) -> dict[str, int]:
    """Return how many workers of a model each of its queues may have, by the queue's suffix."""
    queues = queue_names(every)
    functions = {
        logical: resource["Properties"]["FunctionName"]
        for logical, resource in every.all_of("AWS::Lambda::Function").items()
    }
    sources = [
        resource["Properties"]
        for resource in every.all_of("AWS::Lambda::EventSourceMapping").values()
        if functions[resource["Properties"]["FunctionName"]["Ref"]]
        == every.config.named(f"worker-{name}")
    ]
    return {
        queues[source["EventSourceArn"]["Fn::GetAtt"][0]].removeprefix(name): source[
            "ScalingConfig"
        ]["MaximumConcurrency"]
        for source in sources
    }


def test_every_entry_has_two_queues_a_dlq_and_a_worker_and_nothing_else_does(
    every: Synthesis,
) -> None:
    models = set(every.catalogue.models)
    queues = {q["Properties"]["QueueName"] for q in every.all_of("AWS::SQS::Queue").values()}
    workers = {
        f["Properties"]["FunctionName"] for f in every.all_of("AWS::Lambda::Function").values()
    }
    named = every.config.named
    assert queues == {named("quarantine")} | {
        named(name + suffix) for name in models for suffix in ("", "-low", "-dlq")
    }
    others = {named(name) for name in ("api", "authorizer", "sweeper", "replay")}
    assert workers == others | {named(f"worker-{m}") for m in models}


def test_each_wait_ends_before_the_one_that_guards_it(every: Synthesis) -> None:
    for name, entry in every.catalogue.models.items():
        function = _worker(every, name)["Timeout"]
        for queue in _working(name):
            visibility = _queue(every, queue)["VisibilityTimeout"]
            assert entry.timeouts.total < function < entry.timeouts.lease < visibility
            assert visibility >= 6 * function


def test_low_priority_has_a_queue_like_any_other_but_for_its_name(every: Synthesis) -> None:
    for name in every.catalogue.models:
        normal, low = (_queue(every, queue) for queue in _working(name))
        assert normal.pop("QueueName") + "-low" == low.pop("QueueName")
        assert normal == low


def test_the_poller_is_the_throttle_and_the_reservation_never_lies_below_it(
    every: Synthesis,
) -> None:
    for name, entry in every.catalogue.models.items():
        worker = _worker(every, name)
        limits = _limits(every, name)
        assert limits[""] == entry.max_concurrency
        assert min(limits.values()) >= 2, "Lambda's own minimum"
        assert sum(limits.values()) <= worker["ReservedConcurrentExecutions"]


def test_an_operator_can_invoke_a_worker_whose_queues_are_full(every: Synthesis) -> None:
    for name in every.catalogue.models:
        reserved = _worker(every, name)["ReservedConcurrentExecutions"]
        assert reserved == sum(_limits(every, name).values()) + 1


@pytest.mark.parametrize(
    ("concurrency", "share", "workers"),
    [(100, 0.25, 25), (100, 1.0, 100), (10, 0.29, 2), (3, 0.01, 2), (1000, 0.001, 2)],
)
def test_low_priority_has_its_share_of_the_workers_and_two_at_least(
    concurrency: int, share: float, workers: int, tmp_path: Path
) -> None:
    models = load(CATALOGUE, "local")
    entry = models.models["chat-mini"].model_copy(
        update={"max_concurrency": concurrency, "shares": Shares(low=share), "pace": Pace()}
    )
    one = models.model_copy(update={"models": {"chat-mini": entry}})
    limits = _limits(synthesise("local", tmp_path, one), "chat-mini")
    assert limits == {"": concurrency, "-low": workers}


def test_one_message_at_a_time_and_failures_are_reported_by_message(every: Synthesis) -> None:
    sources = every.all_of("AWS::Lambda::EventSourceMapping").values()
    assert len(sources) == 2 * len(every.catalogue.models)
    for source in sources:
        assert source["Properties"]["BatchSize"] == 1
        assert source["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert "MaximumBatchingWindowInSeconds" not in source["Properties"]


def test_a_dlq_keeps_messages_longer_than_the_queue_they_come_from(every: Synthesis) -> None:
    for name in every.catalogue.models:
        for queue in _working(name):
            assert _queue(every, queue)["MessageRetentionPeriod"] == 4 * DAY
        assert _queue(every, f"{name}-dlq")["MessageRetentionPeriod"] == 14 * DAY


def test_messages_move_to_their_models_dlq_and_only_back_to_its_queues(every: Synthesis) -> None:
    ids = {name: logical for logical, name in queue_names(every).items()}
    for name in every.catalogue.models:
        for queue in _working(name):
            redrive = _queue(every, queue)["RedrivePolicy"]
            assert redrive["maxReceiveCount"] >= 5
            assert redrive["deadLetterTargetArn"] == {"Fn::GetAtt": [ids[f"{name}-dlq"], "Arn"]}
        allow = _queue(every, f"{name}-dlq")["RedriveAllowPolicy"]
        assert allow["redrivePermission"] == "byQueue"
        # Queues by name, hence ARNs in pieces of which the last ends in it.
        ends = [source["Fn::Join"][1][-1] for source in allow["sourceQueueArns"]]
        assert [end.rpartition(":")[2] for end in ends] == [
            every.config.named(queue) for queue in _working(name)
        ]


def test_a_worker_is_told_all_it_reads(every: Synthesis) -> None:
    for name, entry in every.catalogue.models.items():
        told = _worker(every, name)["Environment"]["Variables"]
        vendor = every.config.vendors[entry.vendor]
        assert told["MODEL"] == name
        assert told["TIDEGATE_ENV"] == every.config.name
        assert told["VENDOR_BASE_URL"] == vendor.base_url
        assert told["VENDOR_SECRET"] == vendor.secret
        assert {"JOBS_TABLE", "LEDGER_TABLE", "ASSETS_BUCKET"} <= set(told)
        queues = queue_names(every)
        assert queues[told["QUEUE_URL"]["Ref"]] == name
        assert queues[told["LOW_QUEUE_URL"]["Ref"]] == f"{name}-low"
        assert queues[told["DLQ_URL"]["Ref"]] == f"{name}-dlq"
        assert "QUARANTINE_URL" in told
        assert told["POWERTOOLS_SERVICE_NAME"] == "worker"


def test_workers_call_the_vendors_themselves_in_the_cloud(cloud: Synthesis) -> None:
    bases = {vendor.base_url for vendor in cloud.config.vendors.values()}
    assert bases == {
        "https://api.openai.com/v1",
        "https://api.anthropic.com",
        "https://api.cohere.com",
    }


def test_workers_call_the_mock_on_a_laptop(local: Synthesis) -> None:
    bases = {name: vendor.base_url for name, vendor in local.config.vendors.items()}
    assert bases == {
        "openai": "http://127.0.0.1:9100/v1",
        "anthropic": "http://127.0.0.1:9100/anthropic",
        "cohere": "http://127.0.0.1:9100/cohere",
    }


def test_the_sample_event_is_one_that_an_operator_may_send() -> None:
    request = switch_request.parse(json.loads((ROOT / "events" / "switch.json").read_text()))
    assert (request.switch, request.seconds) == ("pause", 900)


def test_the_sample_invalidation_is_one_that_the_models_worker_takes() -> None:
    event = json.loads((ROOT / "events" / "invalidate.json").read_text())
    asked = invalidate_request.parse(event, "chat-mini").invalidate
    assert (asked.model, asked.partner) == ("chat-mini", "acme")
