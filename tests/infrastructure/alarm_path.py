"""The way from an alarm to a topic's subscribers, link by link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.infrastructure.resource_policies import ACCOUNT, Request, allows
from tests.infrastructure.synthesis import Resource

CLOUDWATCH = "cloudwatch.amazonaws.com"

Resources = Mapping[str, Resource]
"""A template's resources by logical id."""


def broken_links(resources: Resources, alarm: str) -> list[str]:
    """Return why the alarm of this logical id tells nobody that it rings, or that it is over.

    Nothing is returned where CloudWatch may do all that it does for an action on a topic:
    docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html.
    """
    said = resources[alarm]["Properties"]
    if said.get("ActionsEnabled", True) is not True:
        return ["its actions are off"]
    found = []
    for event in ("AlarmActions", "OKActions"):
        actions = said.get(event, [])
        found += [] if actions else [f"{event}: none"]
        found += [f"{event}: {why}" for action in actions for why in _refused(resources, action)]
    return found


def _refused(resources: Resources, action: Any) -> Iterator[str]:
    topic = resources.get(action["Ref"]) if set(action) == {"Ref"} else None
    if topic is None or topic["Type"] != "AWS::SNS::Topic":
        yield f"no topic of ours: {action}"
        return
    yield from _refused_by_policy(resources, action)
    key = topic["Properties"].get("KmsMasterKeyId")
    if key is not None:
        yield from _refused_by_key(resources, key)


def _refused_by_policy(resources: Resources, topic: Any) -> Iterator[str]:
    policies = [
        one["Properties"]["PolicyDocument"]
        for one in resources.values()
        if one["Type"] == "AWS::SNS::TopicPolicy" and topic in one["Properties"]["Topics"]
    ]
    if len(policies) > 1:
        yield "two policies of one topic: either replaces the other"
    context = {"aws:SecureTransport": "true", "aws:SourceAccount": ACCOUNT}
    request = Request(CLOUDWATCH, "sns:Publish", topic, context)
    # Without a policy of ours SNS's own stands, and alarms of the account may publish by that.
    if policies and not allows(policies[-1], request):
        yield "the topic's policy refuses CloudWatch"


def _refused_by_key(resources: Resources, key: Any) -> Iterator[str]:
    ours = resources.get(key["Fn::GetAtt"][0]) if isinstance(key, dict) else None
    if ours is None:
        yield f"no key of ours, and CloudWatch cannot use AWS's own: {key}"
        return
    policy = ours["Properties"]["KeyPolicy"]
    for action in ("kms:Decrypt", "kms:GenerateDataKey"):
        if not allows(policy, Request(CLOUDWATCH, action, "*", {"aws:SourceAccount": ACCOUNT})):
            yield f"the key's policy refuses CloudWatch {action}"
