"""What one catalogue entry makes: its queues, its dead-letter queue and its worker."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Annotations
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.cache import CacheAccess
from infra.data import Data
from infra.environment import EnvironmentConfig
from infra.functions import FunctionFactory, Placement
from infra.queues import add_queues
from tidegate.rules.catalogue import CatalogueError, Entry
from tidegate.rules.contracts import ReferenceSource
from tidegate.rules.pacing import share_of
from tidegate.rules.policies import VISIBILITY_FACTOR

WORKER_MEMORY = 512

FEWEST = 2
"""Executions that one queue may be limited to
(docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html)."""

OPERATOR = 1
"""Executions kept free of messages: an operator invokes the worker to pause its model, and must not
be throttled just when all is busy."""

PACE_WARNING = "tidegate:pace"
"""Id of the warning about a pace, by which CDK lets it be acknowledged."""


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
    """Queues, DLQ and worker of one model."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        entry: Entry,
        references: Mapping[str, ReferenceSource],
        config: EnvironmentConfig,
        data: Data,
        cache: CacheAccess,
        functions: FunctionFactory,
        placement: Placement | None,
    ) -> None:
        super().__init__(scope, name)
        timeout_chain(name, entry)
        if entry.vendor not in config.vendors:
            raise CatalogueError(
                f"models.{name}.vendor: no account with {entry.vendor!r} in env={config.name}; "
                f"there are {', '.join(config.vendors)}"
            )
        self._check_pace(name, entry)
        self.name = name
        self.entry = entry
        self.queues = add_queues(self, name, visibility=entry.timeouts.visibility, config=config)
        vendor, secret = config.vendors[entry.vendor], data.secrets[entry.vendor]
        normal = entry.max_concurrency
        low = max(FEWEST, share_of(normal, entry.shares.low))
        self.worker = functions.function(
            f"worker-{name}",
            package="worker",
            timeout=entry.timeouts.function,
            memory=WORKER_MEMORY,
            placement=placement,
            # A fence, not the throttle. Less than what the sources may use together and Lambda
            # throttles messages it has received, until they are in the DLQ
            # (docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html).
            reserved=normal + low + OPERATOR,
            # A deferral sends the job's message again, to the queue it came from. Lambda takes that
            # for a loop gone wrong: after some 16 deferrals it would refuse the message, which ends
            # in the DLQ, without a line in the log
            # (docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html).
            # What ends this loop is the job's deadline.
            loops=True,
            environment={
                "MODEL": name,
                "JOBS_TABLE": data.jobs.table_name,
                "LEDGER_TABLE": data.ledger.table_name,
                "ASSETS_BUCKET": data.assets.bucket_name,
                "QUEUE_URL": self.queues.normal.queue_url,
                "LOW_QUEUE_URL": self.queues.low.queue_url,
                "DLQ_URL": self.queues.dlq.queue_url,
                "QUARANTINE_URL": data.quarantine.queue_url,
                "VENDOR_BASE_URL": vendor.base_url,
                "VENDOR_SECRET": vendor.secret,
                **cache.environment,
                **_references(references, data),
            },
        )
        # Together more than the calls the vendor may have in flight: which worker calls, the pace
        # decides. Were the places split here, those of one priority would stand idle now and then.
        _feed(self.worker, self.queues.normal, normal)
        _feed(self.worker, self.queues.low, low)
        data.grant_jobs(self.worker)
        data.grant_ledger(self.worker)
        data.grant_objects(self.worker, "assets", "s3:PutObject")
        data.grant_objects(self.worker, "outputs", "s3:GetObject", "s3:PutObject")
        # It reads what it has put there when an operator has released the answer.
        data.grant_objects(self.worker, "quarantine", "s3:GetObject", "s3:PutObject")
        self.queues.grant_send(self.worker)
        for queue in (self.queues.dlq, data.quarantine):
            queue.grant(self.worker, "sqs:SendMessage")
        secret.grant_read(self.worker)
        cache.grant(self.worker)
        self._grant_references(references, data)

    def _grant_references(self, references: Mapping[str, ReferenceSource], data: Data) -> None:
        kinds = {source.source for source in references.values()}
        if "dynamodb" in kinds:
            data.grant_references(self.worker)
        if "postgresql" in kinds and data.references_secret is not None:
            data.references_secret.grant_read(self.worker)

    def _check_pace(self, name: str, entry: Entry) -> None:
        """Tell whoever synthesises that the entry's limits and its places do not fit."""
        wrong = entry.pace.mismatch(entry.in_flight)
        if wrong:
            Annotations.of(self).add_warning_v2(PACE_WARNING, f"models.{name}.pace: {wrong}")


def _references(references: Mapping[str, ReferenceSource], data: Data) -> dict[str, str]:
    """Return what a worker is told of where the sets are that its entry refers to."""
    told = {}
    for source in references.values():
        if source.source == "dynamodb":
            told["REFERENCES_TABLE"] = data.references.table_name
        else:
            told["REFERENCES_SECRET"] = data.references_secret_name
    return told


def _feed(worker: lambda_.Function, queue: sqs.Queue, concurrency: int) -> None:
    """Have a worker invoked with a queue's messages, so many at once at most."""
    worker.add_event_source(
        sources.SqsEventSource(
            queue,
            # Calls are slow and dear: one message's trouble is never another's.
            batch_size=1,
            # The throttle: at this many the poller stops receiving, nothing is thrown back.
            max_concurrency=concurrency,
            report_batch_item_failures=True,
        )
    )
