"""The stacks of an environment, split by how long what is in them lives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aws_cdk import App, CfnOutput, Environment, Stack, Tags

from infra.api import Api
from infra.cache import Cache, CacheAccess
from infra.data import Data
from infra.environment import EnvironmentConfig
from infra.functions import FunctionFactory
from infra.model import Model
from infra.monitoring import Monitoring
from infra.network import Network
from infra.repair import Repair
from tidegate.rules.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class Stacks:
    """An environment's stacks; `local` has neither network nor cache."""

    network: Stack | None
    cache: Stack | None
    data: Stack
    service: Stack


def compose(app: App, *, config: EnvironmentConfig, catalogue: Catalogue, root: Path) -> Stacks:
    """Return the stacks of an environment, added to `app`.

    Args:
        app: the CDK app.
        config: the environment.
        catalogue: its models.
        root: the repository: where functions, layers and requirements are.

    Raises:
        CatalogueError: an entry cannot be deployed; names its key.
        BuildFailed: a layer could not be built.
    """
    if config.account is not None:
        # Told the account, CDK would ask AWS for its zones at synth; it takes the answer from here.
        key = f"availability-zones:account={config.account}:region={config.region}"
        app.node.set_context(key, list(config.availability_zones))
    network_stack = cache_stack = network = None
    if config.cache is None:
        assert config.redis_url is not None  # noqa: S101
        access = CacheAccess(config.redis_url)
    else:
        network_stack = _stack(app, config, "network", "Network: VPC, endpoints, security groups")
        network = Network(network_stack, "Network", config=config)
        cache_stack = _stack(app, config, "cache", "ElastiCache Serverless for Valkey")
        access = Cache(
            cache_stack, "Cache", config=config, limits=config.cache, network=network
        ).access
    data_stack = _stack(app, config, "data", "What must outlive a deployment")
    data = Data(data_stack, "Data", config=config, references=catalogue.references)
    service_stack = _stack(app, config, "service", "API, queues, workers, repair, alarms")
    functions = FunctionFactory(service_stack, "Functions", config=config, root=root)
    placement = network.placement if network else None
    models = [
        Model(
            service_stack,
            name,
            entry=entry,
            references=catalogue.sources(name),
            config=config,
            data=data,
            cache=access,
            functions=functions,
            placement=placement,
        )
        for name, entry in catalogue.models.items()
    ]
    api = Api(
        service_stack,
        "Api",
        config=config,
        data=data,
        cache=access,
        models=models,
        functions=functions,
        placement=placement,
    )
    repair = Repair(
        service_stack, "Repair", config=config, data=data, models=models, functions=functions
    )
    Monitoring(
        service_stack,
        "Monitoring",
        config=config,
        api=api,
        models=models,
        repair=repair,
        data=data,
    )
    _outputs(data_stack, data, service_stack, api)
    Tags.of(app).add("project", "tidegate")
    Tags.of(app).add("environment", config.name)
    return Stacks(network_stack, cache_stack, data_stack, service_stack)


def _stack(app: App, config: EnvironmentConfig, part: str, description: str) -> Stack:
    return Stack(
        app,
        config.named(part),
        description=f"Tidegate ({config.name}). {description}",
        env=Environment(account=config.account, region=config.region),
        # Deleting the data stack of prod takes two decisions.
        termination_protection=config.protected,
        tags={"project": "tidegate", "environment": config.name},
    )


def _outputs(data_stack: Stack, data: Data, service_stack: Stack, api: Api) -> None:
    CfnOutput(data_stack, "JobsTable", value=data.jobs.table_name)
    CfnOutput(data_stack, "LedgerTable", value=data.ledger.table_name)
    CfnOutput(data_stack, "PartnersTable", value=data.partners.table_name)
    CfnOutput(data_stack, "ReferencesTable", value=data.references.table_name)
    CfnOutput(data_stack, "AssetsBucket", value=data.assets.bucket_name)
    CfnOutput(data_stack, "QuarantineUrl", value=data.quarantine.queue_url)
    CfnOutput(service_stack, "ApiUrl", value=api.url, description="/v1/jobs follows")
    CfnOutput(service_stack, "ApiId", value=api.rest.rest_api_id)
