"""A model's queues: one for each priority, and one for the dead letters of both."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.environment import EnvironmentConfig
from infra.functions import removal
from tidegate.rules.catalogue import CatalogueError
from tidegate.rules.job import queue_name

MAX_RECEIVES = 10
"""AWS asks for five at least, or throttling alone moves good messages to the DLQ
(docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html); ours come back more often."""

QUARANTINE = "quarantine"
"""A queue that is no model's."""

SUFFIXES = ("-dlq", "-low")
"""What queues of a model end in; a model that did would take another's queue."""


@dataclass(frozen=True, slots=True)
class Queues:
    """Where the jobs of one model wait, and where those end that nobody could work on."""

    normal: sqs.Queue
    low: sqs.Queue
    """Of jobs of low priority."""
    dlq: sqs.Queue

    def grant_send(self, grantee: iam.IGrantable) -> None:
        """Let a function send jobs to work, of either priority."""
        for queue in (self.normal, self.low):
            queue.grant(grantee, "sqs:SendMessage")


def add_queues(
    scope: Construct, model: str, *, visibility: int, config: EnvironmentConfig
) -> Queues:
    """Return a model's queues, added to `scope`; `visibility` is in seconds.

    Raises:
        CatalogueError: the name of another queue would be the same.
    """
    if model == QUARANTINE or model.endswith(SUFFIXES):
        raise CatalogueError(f"models.{model}: another queue would have this name")
    normal, low = (config.named(queue_name(model, lane)) for lane in ("normal", "low"))
    # Named, not referred to: a queue and its DLQ name each other.
    sources = [
        sqs.Queue.from_queue_arn(
            scope, construct_id, Stack.of(scope).format_arn(service="sqs", resource=name)
        )
        for construct_id, name in (("Source", normal), ("LowSource", low))
    ]
    dlq = sqs.Queue(
        scope,
        "Dlq",
        queue_name=config.named(f"{model}-dlq"),
        # A message keeps its first timestamp when it moves here, so this must be the longer:
        # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
        retention_period=Duration.days(14),
        # What StartMessageMoveTask ("Start DLQ redrive" in the console) asks for: a DLQ of a
        # queue. Whoever starts it needs sqs:StartMessageMoveTask, ReceiveMessage,
        # DeleteMessage and GetQueueAttributes here and sqs:SendMessage on the queues; no key,
        # as the encryption is SQS's own.
        redrive_allow_policy=sqs.RedriveAllowPolicy(
            redrive_permission=sqs.RedrivePermission.BY_QUEUE, source_queues=sources
        ),
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        removal_policy=removal(config),
    )

    def queue(construct_id: str, name: str) -> sqs.Queue:
        return sqs.Queue(
            scope,
            construct_id,
            queue_name=name,
            visibility_timeout=Duration.seconds(visibility),
            retention_period=Duration.days(4),
            receive_message_wait_time=Duration.seconds(20),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            dead_letter_queue=sqs.DeadLetterQueue(max_receive_count=MAX_RECEIVES, queue=dlq),
        )

    return Queues(queue("Queue", normal), queue("LowQueue", low), dlq)
