"""What each catalogue entry makes, in every environment."""

from __future__ import annotations

from typing import Any

from tests.infrastructure.synthesis import Synthesis

DAY = 86_400


def _queue(every: Synthesis, name: str) -> dict[str, Any]:
    return every.one_of("AWS::SQS::Queue", QueueName=every.config.named(name))


def _worker(every: Synthesis, name: str) -> dict[str, Any]:
    function = every.config.named(f"worker-{name}")
    return every.one_of("AWS::Lambda::Function", FunctionName=function)


def _sources(every: Synthesis, function: str) -> list[dict[str, Any]]:
    """Return the event sources of a function, by its physical name."""
    names = {
        logical: resource["Properties"]["FunctionName"]
        for logical, resource in every.all_of("AWS::Lambda::Function").items()
    }
    return [
        resource["Properties"]
        for resource in every.all_of("AWS::Lambda::EventSourceMapping").values()
        if names[resource["Properties"]["FunctionName"]["Ref"]] == function
    ]


def test_every_entry_has_a_queue_a_dlq_and_a_worker_and_nothing_else_does(every: Synthesis) -> None:
    models = set(every.catalogue.models)
    queues = {q["Properties"]["QueueName"] for q in every.all_of("AWS::SQS::Queue").values()}
    workers = {
        f["Properties"]["FunctionName"] for f in every.all_of("AWS::Lambda::Function").values()
    }
    named = every.config.named
    assert queues == {named("quarantine")} | {
        named(name + suffix) for name in models for suffix in ("", "-dlq")
    }
    others = {named(name) for name in ("api", "authorizer", "sweeper", "replay")}
    assert workers == others | {named(f"worker-{m}") for m in models}


def test_each_wait_ends_before_the_one_that_guards_it(every: Synthesis) -> None:
    for name, entry in every.catalogue.models.items():
        function = _worker(every, name)["Timeout"]
        visibility = _queue(every, name)["VisibilityTimeout"]
        assert entry.timeouts.total < function < entry.timeouts.lease < visibility
        assert visibility >= 6 * function


def test_the_poller_is_the_throttle_and_the_reservation_never_lies_below_it(
    every: Synthesis,
) -> None:
    for name, entry in every.catalogue.models.items():
        worker = _worker(every, name)
        limits = [
            s["ScalingConfig"]["MaximumConcurrency"]
            for s in _sources(every, worker["FunctionName"])
        ]
        assert limits == [entry.max_concurrency]
        assert min(limits) >= 2
        assert sum(limits) <= worker["ReservedConcurrentExecutions"]


def test_one_message_at_a_time_and_failures_are_reported_by_message(every: Synthesis) -> None:
    sources = every.all_of("AWS::Lambda::EventSourceMapping").values()
    assert len(sources) == len(every.catalogue.models)
    for source in sources:
        assert source["Properties"]["BatchSize"] == 1
        assert source["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert "MaximumBatchingWindowInSeconds" not in source["Properties"]


def test_a_dlq_keeps_messages_longer_than_the_queue_they_come_from(every: Synthesis) -> None:
    for name in every.catalogue.models:
        queue, dlq = _queue(every, name), _queue(every, f"{name}-dlq")
        assert queue["MessageRetentionPeriod"] == 4 * DAY
        assert dlq["MessageRetentionPeriod"] == 14 * DAY


def test_messages_move_to_their_models_dlq_and_only_back_to_its_queue(every: Synthesis) -> None:
    ids = {
        resource["Properties"]["QueueName"]: logical
        for logical, resource in every.all_of("AWS::SQS::Queue").items()
    }
    for name in every.catalogue.models:
        redrive = _queue(every, name)["RedrivePolicy"]
        assert redrive["maxReceiveCount"] >= 5
        target = ids[every.config.named(f"{name}-dlq")]
        assert redrive["deadLetterTargetArn"] == {"Fn::GetAtt": [target, "Arn"]}
        allow = _queue(every, f"{name}-dlq")["RedriveAllowPolicy"]
        assert allow["redrivePermission"] == "byQueue"
        (source,) = allow["sourceQueueArns"]
        assert str(source).endswith(f":{every.config.named(name)}']]}}")


def test_a_worker_is_told_all_it_reads(every: Synthesis) -> None:
    for name, entry in every.catalogue.models.items():
        told = _worker(every, name)["Environment"]["Variables"]
        vendor = every.config.vendors[entry.vendor]
        assert told["MODEL"] == name
        assert told["TIDEGATE_ENV"] == every.config.name
        assert told["VENDOR_BASE_URL"] == vendor.base_url
        assert told["VENDOR_SECRET"] == vendor.secret
        assert {"JOBS_TABLE", "LEDGER_TABLE", "ASSETS_BUCKET"} <= set(told)
        assert {"QUEUE_URL", "DLQ_URL", "QUARANTINE_URL"} <= set(told)
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
