"""What one catalogue entry makes: its queue, its dead-letter queue and its worker."""

from __future__ import annotations

from aws_cdk import Duration, Stack
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.cache import CacheAccess
from infra.data import Data
from infra.environment import EnvironmentConfig
from infra.functions import FunctionFactory, Placement, removal
from tidegate.rules.catalogue import CatalogueError, Entry
from tidegate.rules.policies import VISIBILITY_FACTOR

MAX_RECEIVES = 10
"""AWS asks for five at least, or throttling alone moves good messages to the DLQ
(docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html); ours come back more often."""

WORKER_MEMORY = 512


def timeout_chain(name: str, entry: Entry) -> None:
    """Check that every wait ends before the one that guards it does.

    Raises:
        CatalogueError: not vendor < function < lease < visibility, or visibility < 6 x function.
    """
    t = entry.timeouts
    chain = f"vendor {t.total:g} s, function {t.function} s, lease {t.lease:g} s, "
    chain += f"visibility {t.visibility} s"
    if not t.total < t.function < t.lease < t.visibility:
        raise CatalogueError(f"models.{name}.timeouts: each must be less than the next: {chain}")
    if t.visibility < VISIBILITY_FACTOR * t.function:
        raise CatalogueError(
            f"models.{name}.timeouts: visibility must be {VISIBILITY_FACTOR} x function: {chain}"
        )


class Model(Construct):
    """Queue, DLQ and worker of one model."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        entry: Entry,
        config: EnvironmentConfig,
        data: Data,
        cache: CacheAccess,
        functions: FunctionFactory,
        placement: Placement | None,
    ) -> None:
        super().__init__(scope, name)
        if name == "quarantine" or name.endswith("-dlq"):
            raise CatalogueError(f"models.{name}: another queue would have this name")
        timeout_chain(name, entry)
        if entry.vendor not in config.vendors:
            raise CatalogueError(
                f"models.{name}.vendor: no account with {entry.vendor!r} in env={config.name}; "
                f"there are {', '.join(config.vendors)}"
            )
        self.name = name
        self._config = config
        self.dlq, self.queue = self._queues(entry)
        vendor, secret = config.vendors[entry.vendor], data.secrets[entry.vendor]
        concurrency = entry.max_concurrency
        self.worker = functions.function(
            f"worker-{name}",
            package="worker",
            timeout=entry.timeouts.function,
            memory=WORKER_MEMORY,
            placement=placement,
            # A fence, not the throttle. Less than what the sources may use and Lambda throttles
            # messages it has received, until they are in the DLQ
            # (docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html).
            reserved=concurrency,
            environment={
                "MODEL": name,
                "JOBS_TABLE": data.jobs.table_name,
                "LEDGER_TABLE": data.ledger.table_name,
                "ASSETS_BUCKET": data.assets.bucket_name,
                "QUEUE_URL": self.queue.queue_url,
                "DLQ_URL": self.dlq.queue_url,
                "QUARANTINE_URL": data.quarantine.queue_url,
                "VENDOR_BASE_URL": vendor.base_url,
                "VENDOR_SECRET": vendor.secret,
                **cache.environment,
            },
        )
        self.worker.add_event_source(
            sources.SqsEventSource(
                self.queue,
                # Calls are slow and dear: one message's trouble is never another's.
                batch_size=1,
                # The throttle: at this many the poller stops receiving, nothing is thrown back.
                max_concurrency=concurrency,
                report_batch_item_failures=True,
            )
        )
        data.grant_jobs(self.worker)
        data.grant_ledger(self.worker)
        data.grant_assets(self.worker, "s3:GetObject", "s3:PutObject")
        for queue in (self.queue, self.dlq, data.quarantine):
            queue.grant(self.worker, "sqs:SendMessage")
        secret.grant_read(self.worker)
        cache.grant(self.worker)

    def _queues(self, entry: Entry) -> tuple[sqs.Queue, sqs.Queue]:
        name = self._config.named(self.name)
        # Named, not referred to: the two queues name each other.
        source = sqs.Queue.from_queue_arn(
            self, "Source", Stack.of(self).format_arn(service="sqs", resource=name)
        )
        dlq = sqs.Queue(
            self,
            "Dlq",
            queue_name=f"{name}-dlq",
            # A message keeps its first timestamp when it moves here, so this must be the longer:
            # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
            retention_period=Duration.days(14),
            # What StartMessageMoveTask ("Start DLQ redrive" in the console) asks for: a DLQ of a
            # queue. Whoever starts it needs sqs:StartMessageMoveTask, ReceiveMessage,
            # DeleteMessage and GetQueueAttributes here and sqs:SendMessage on the queue; no key,
            # as the encryption is SQS's own.
            redrive_allow_policy=sqs.RedriveAllowPolicy(
                redrive_permission=sqs.RedrivePermission.BY_QUEUE, source_queues=[source]
            ),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            removal_policy=removal(self._config),
        )
        queue = sqs.Queue(
            self,
            "Queue",
            queue_name=name,
            visibility_timeout=Duration.seconds(entry.timeouts.visibility),
            retention_period=Duration.days(4),
            receive_message_wait_time=Duration.seconds(20),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            dead_letter_queue=sqs.DeadLetterQueue(max_receive_count=MAX_RECEIVES, queue=dlq),
        )
        return dlq, queue
