"""Which functions send to what invokes them, and so must tell Lambda that they mean to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.infrastructure.grants import actions, functions, queue_names, resources_of
from tests.infrastructure.synthesis import Synthesis

OTHER_WAYS = {"lambda:InvokeFunction", "sns:Publish", "events:PutEvents"}
"""Ways to set a function going that nobody has: whoever gets one adds it to `_next`."""


def _allowed(every: Synthesis) -> dict[str, Any]:
    """Return what each function is told about loops, by its name."""
    prefix = every.config.named("")
    return {
        function["Properties"]["FunctionName"].removeprefix(prefix): function["Properties"].get(
            "RecursiveLoop"
        )
        for function in every.all_of("AWS::Lambda::Function").values()
    }


def _fed(every: Synthesis) -> dict[str, str]:
    """Return the name of the function that each queue's messages invoke, by the queue's name."""
    queues, prefix = queue_names(every), every.config.named("")
    names = {
        logical: function["Properties"]["FunctionName"].removeprefix(prefix)
        for logical, function in every.all_of("AWS::Lambda::Function").items()
    }
    sources = [
        each["Properties"] for each in every.all_of("AWS::Lambda::EventSourceMapping").values()
    ]
    return {
        queues[source["EventSourceArn"]["Fn::GetAtt"][0]]: names[source["FunctionName"]["Ref"]]
        for source in sources
    }


def _next(every: Synthesis) -> dict[str, set[str]]:
    """Return, for each function, those that a message of its own may invoke."""
    queues, fed = queue_names(every), _fed(every)
    found: dict[str, set[str]] = {}
    for function in functions(every):
        arns = [str(arn) for arn in resources_of(every, function, "sqs:SendMessage")]
        sent = {name for logical, name in queues.items() if any(logical in arn for arn in arns)}
        found[function] = {fed[queue] for queue in sent if queue in fed}
    return found


def _looping(onward: Mapping[str, set[str]]) -> set[str]:
    """Return the functions that what they send leads back to, directly or by way of others."""

    def reached(function: str) -> set[str]:
        seen: set[str] = set()
        waiting = set(onward[function])
        while waiting:
            one = waiting.pop()
            seen.add(one)
            waiting |= onward[one] - seen
        return seen

    return {function for function in onward if function in reached(function)}


def test_every_worker_means_its_loop_and_no_other_function_has_leave(every: Synthesis) -> None:
    workers = {f"worker-{name}" for name in every.catalogue.models}
    allowed = _allowed(every)
    assert {name for name, loop in allowed.items() if loop == "Allow"} == workers
    assert {loop for name, loop in allowed.items() if name not in workers} == {None}


def test_the_functions_that_may_loop_are_those_that_do(every: Synthesis) -> None:
    allowed = {name for name, loop in _allowed(every).items() if loop == "Allow"}
    assert _looping(_next(every)) == allowed


def test_who_sets_a_worker_going_is_not_set_going_by_it(every: Synthesis) -> None:
    """The api is invoked by requests, the sweeper by a clock, replay by an operator."""
    onward = _next(every)
    workers = {f"worker-{name}" for name in every.catalogue.models}
    for function in ("api", "sweeper", "replay"):
        assert onward[function] == workers
    for worker in workers:
        assert onward[worker] == {worker}, "its own two queues, and no other model's"


def test_messages_are_the_only_way_a_function_sets_another_going(every: Synthesis) -> None:
    for function in functions(every):
        assert not actions(every, function) & OTHER_WAYS, function
    for bucket in every.all_of("AWS::S3::Bucket").values():
        assert "NotificationConfiguration" not in bucket["Properties"]
    for table in every.all_of("AWS::DynamoDB::Table").values():
        assert "StreamSpecification" not in table["Properties"]


def test_a_detour_is_a_loop_too() -> None:
    assert _looping({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b", "c"}
