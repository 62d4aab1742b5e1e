"""What must outlive everything else: jobs, money, partners, references, assets, keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from aws_cdk import Aws, Duration, Fn
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.environment import EnvironmentConfig
from infra.functions import removal
from infra.policy import acknowledge
from tidegate.rules.contracts import ReferenceSource
from tidegate.rules.quarantine import KEPT

TTL_ATTRIBUTE = "expires_at"

DUE_INDEX = "due"
"""Of jobs: what the sweeper must look at, and when. Sparse: few jobs are in it."""

Folder = Literal["assets", "outputs", "quarantine"]
"""Of the assets bucket: images, large inputs and outputs, and raw answers that failed the gate."""

_TRANSACTION = (
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
    "dynamodb:DeleteItem",
    "dynamodb:ConditionCheckItem",
)
"""What a transaction is made of; each part is allowed or refused on its own
(docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html)."""


class Data(Construct):
    """Tables, bucket, quarantine queue and one secret per vendor account.

    `references` are the catalogue's sets: where one is in PostgreSQL there is a secret for it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: EnvironmentConfig,
        references: Mapping[str, ReferenceSource],
    ) -> None:
        super().__init__(scope, construct_id)
        self._config = config
        self.jobs = self._table("jobs")
        self.jobs.add_global_secondary_index(
            index_name=DUE_INDEX,
            partition_key=dynamodb.Attribute(name="due_shard", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="due_at", type=dynamodb.AttributeType.NUMBER),
            projection_type=dynamodb.ProjectionType.KEYS_ONLY,
        )
        # Entries are for ever: nothing expires, and no function may delete.
        self.ledger = self._table("ledger", expires=False)
        self.partners = self._table("partners")
        # A set is valid until the next one is loaded: each load removes what nobody reads any more.
        self.references = self._table("references", expires=False)
        # Bucket names are the world's, so this one tells the account and the region as well.
        self._bucket_name = f"{config.named('assets')}-{Aws.ACCOUNT_ID}-{config.region}"
        self.assets = self._bucket()
        self.quarantine = sqs.Queue(
            self,
            "Quarantine",
            queue_name=config.named("quarantine"),
            retention_period=Duration.days(14),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            removal_policy=removal(config),
        )
        acknowledge(
            self.quarantine,
            {"AwsSolutions-SQS3": "No consumer: a message reminds, until operators have decided."},
        )
        self.secrets = {
            vendor: self._secret(
                f"Secret-{vendor}",
                config.vendors[vendor].secret,
                f"API key of the {vendor} account, as plain text",
                "Vendors have no API for it; operators rotate the keys.",
            )
            for vendor in config.vendors
        }
        self.references_secret_name = f"tidegate/{config.name}/references"
        self.references_secret = (
            self._secret(
                "Secret-references",
                self.references_secret_name,
                "Connection string of the PostgreSQL that reference sets are in, as plain text",
                "Whoever looks after that database rotates its password.",
            )
            if any(source.source == "postgresql" for source in references.values())
            else None
        )

    @property
    def queue_url_prefix(self) -> str:
        """Return a queue's URL up to the model: every queue is `tidegate-<env>-<something>`.

        One setting however many models there are: a function's settings have 4 KB in all
        (docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). Taken from a real URL,
        as its host is the partition's in the cloud and the emulator's locally.
        """
        return Fn.select(0, Fn.split("quarantine", self.quarantine.queue_url))

    def grant_jobs(self, grantee: iam.IGrantable) -> None:
        """Let a function read jobs by key and move them on; nobody scans."""
        _allow(grantee, self.jobs.table_arn, "dynamodb:GetItem", "dynamodb:Query", *_TRANSACTION)

    def grant_due(self, grantee: iam.IGrantable) -> None:
        """Let a function ask which jobs are due; for the sweeper, and nobody else."""
        _allow(grantee, f"{self.jobs.table_arn}/index/{DUE_INDEX}", "dynamodb:Query")

    def grant_ledger(self, grantee: iam.IGrantable, *reads: str) -> None:
        """Let a function add entries and change balances, and do `reads`; nobody deletes."""
        _allow(grantee, self.ledger.table_arn, "dynamodb:PutItem", "dynamodb:UpdateItem", *reads)

    def grant_references(self, grantee: iam.IGrantable) -> None:
        """Let a function look values up; nobody but an operator's command loads them."""
        _allow(grantee, self.references.table_arn, "dynamodb:GetItem", "dynamodb:BatchGetItem")

    def grant_objects(self, function: lambda_.Function, folder: Folder, *actions: str) -> None:
        """Let a function do `actions`, such as `s3:GetObject`, with a folder of the bucket."""
        # By name, not by reference: cdk-nag's id of the finding can then be written down.
        objects = f"arn:{Aws.PARTITION}:s3:::{self._bucket_name}/{folder}/*"
        function.add_to_role_policy(iam.PolicyStatement(actions=list(actions), resources=[objects]))
        finding = objects.replace(Aws.PARTITION, "<AWS::Partition>")
        finding = finding.replace(Aws.ACCOUNT_ID, "<AWS::AccountId>")
        assert function.role is not None  # noqa: S101
        acknowledge(
            function.role,
            {f"AwsSolutions-IAM5[Resource::{finding}]": "Named by job or content; all ours."},
        )

    def _table(self, name: str, *, expires: bool = True) -> dynamodb.Table:
        table = dynamodb.Table(
            self,
            name.capitalize(),
            table_name=self._config.named(name),
            partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            # Only garbage collection: deletion may take days
            # (docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html).
            time_to_live_attribute=TTL_ATTRIBUTE if expires else None,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=self._config.protected
            ),
            deletion_protection=self._config.protected,
            removal_policy=removal(self._config),
        )
        if not self._config.protected:
            acknowledge(table, {"AwsSolutions-DDB3": "Only prod holds data worth restoring."})
        return table

    def _bucket(self) -> s3.Bucket:
        logs = None if self._config.is_local else self._log_bucket()
        return s3.Bucket(
            self,
            "Assets",
            server_access_logs_bucket=logs,
            bucket_name=self._bucket_name,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="expire",
                    # Longer than any item that points here: a job's output is kept for 60 days
                    # after its deadline (a day) or its answer's reuse (a week) ends.
                    expiration=Duration.days(90),
                    abort_incomplete_multipart_upload_after=Duration.days(1),
                ),
                # Of two rules S3 follows the shorter. A day longer than the record, which so finds
                # its raw answer as long as there is a record.
                s3.LifecycleRule(
                    id="expire-quarantine",
                    prefix="quarantine/",
                    expiration=Duration.days(KEPT // 86_400 + 1),
                ),
            ],
            removal_policy=removal(self._config),
        )

    def _log_bucket(self) -> s3.Bucket:
        """Return where S3 writes who fetched what: pre-signed URLs leave no other trace."""
        return s3.Bucket(
            self,
            "AssetsLog",
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(id="expire", expiration=Duration.days(self._config.log_days))
            ],
            removal_policy=removal(self._config),
        )

    def _secret(
        self, construct_id: str, name: str, description: str, unrotated: str
    ) -> secretsmanager.Secret:
        """Return a secret that begins as noise, until an operator puts the value in.

        `unrotated` is why Secrets Manager does not rotate it.
        """
        made = secretsmanager.Secret(
            self,
            construct_id,
            secret_name=name,
            description=description,
            removal_policy=removal(self._config),
        )
        acknowledge(made, {"AwsSolutions-SMG4": unrotated})
        return made


def _allow(grantee: iam.IGrantable, arn: str, *actions: str) -> None:
    """Allow actions on a table or an index alone: `Table.grant` would add all its indexes."""
    iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=[arn])
