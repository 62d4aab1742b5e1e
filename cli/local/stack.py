"""The whole local stack: started in order, described in `stack.json`, torn down in reverse."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config

from cli import ROOT
from cli.local import redis
from cli.local.claim import claimed
from cli.local.deploy import deploy
from cli.local.emulator import CREDENTIALS, REGION, start_emulator
from cli.local.processes import LOOPBACK, StartFailed, answering, tail
from cli.local.vendor import start_vendor
from cli.partners import add_credit, add_partner
from cli.reference_file import read as read_members
from tidegate.clock import SystemClock, SystemIds
from tidegate.doors.dynamo import Table
from tidegate.doors.reference_sets import ReferenceSets
from tidegate.rules import catalogue

CATALOGUE = ROOT / "layers" / "tidegate" / "python" / "catalogue"
PARTNERS = ("acme", "globex")
ACCOUNTS = Path(__file__).with_name("accounts.txt")
"""The set `accounts`: the only ones that answers may name here."""
FUNDS = 1_000_000_000
"""Micro-credits each partner begins with: 1000 credits."""
ENVIRONMENT = "local"
PREFIX = f"tidegate-{ENVIRONMENT}-"
STACK_FILE = "stack.json"

Report = Callable[[str], None]


@dataclass(frozen=True)
class Partner:
    """Who may call the stack."""

    id: str
    api_key: str


@dataclass(frozen=True)
class StackInfo:
    """Where everything of a running stack is; also the content of `stack.json`."""

    api_url: str
    """What `/v1/jobs` is appended to."""
    partners: list[Partner]
    aws_endpoint: str
    region: str
    redis_url: str
    """The one node, for any client: `redis-cli -u`, `redis.Redis.from_url`."""
    redis_client: str
    """`cluster`: what the functions take the node for, as in the cloud."""
    vendor_url: str
    queues: dict[str, str]
    """URL by model."""
    dlqs: dict[str, str]
    """URL by model."""
    quarantine_queue: str
    functions: dict[str, str]
    """Name by role: `api`, `authorizer`, `sweeper`, `replay`, `worker-<model>`."""
    tables: dict[str, str]
    """Name by role: `jobs`, `ledger`, `partners`, `references`."""
    models: dict[str, list[str]]
    """The catalogue's names by task."""
    processes: dict[str, int]
    """Process group by name: `redis`, `vendor`, `emulator`."""


def client(endpoint: str, service: str, config: Config | None = None) -> Any:
    """Return a boto3 client of the emulator at `endpoint`, whatever profile the machine has."""
    return boto3.client(  # type: ignore[call-overload]
        service,
        endpoint_url=endpoint,
        config=config,
        region_name=REGION,
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )


@contextmanager
def running_stack(
    folder: Path,
    *,
    latency_ms: int = 0,
    vendor_options: Sequence[str] = (),
    overlay: Path | None = None,
    roles_enforced: bool = False,
    report: Report = lambda _step: None,
) -> Iterator[StackInfo]:
    """Run a stack whose files are in `folder`; everything has stopped when the block ends.

    The vendor answers after `latency_ms` and is started with `vendor_options`; `report` is told
    each step. `overlay` is a TOML file of catalogue keys that are other than usual here. With
    `roles_enforced` each function may do what its role allows and nothing else.

    Raises:
        Claimed: another process runs the stack of this folder.
        StartFailed: a part did not start; ends with its last output.
    """
    folder = folder.resolve()
    with ExitStack() as running:
        running.enter_context(claimed(folder))
        written = folder / STACK_FILE
        written.unlink(missing_ok=True)
        report("starting Redis, the vendor and the emulator")
        cache, port = redis.start_alone(folder)
        running.callback(cache.stop)
        vendor, vendor_url = start_vendor(folder, latency_ms, vendor_options)
        running.callback(vendor.stop)
        running.callback(shutil.rmtree, folder / "tmp", ignore_errors=True)
        emulator, endpoint = start_emulator(folder, roles_enforced=roles_enforced)
        running.callback(emulator.stop)
        report("deploying the application to it (cdk bootstrap, synth, deploy)")
        redis_url = f"redis://{LOOPBACK}:{port}/0"
        context = {"env": ENVIRONMENT, "vendor_url": vendor_url}
        context["redis_url"] = redis.clustered(redis_url)
        if overlay is not None:
            context["overlay"] = str(overlay.resolve())
        outputs = deploy(folder, endpoint, context)
        report("giving vendors their keys, partners keys and credits, and the set of accounts")
        info = StackInfo(
            aws_endpoint=endpoint,
            region=REGION,
            redis_url=redis_url,
            redis_client="cluster",
            vendor_url=vendor_url,
            processes={
                name: child.group
                for name, child in {"redis": cache, "vendor": vendor, "emulator": emulator}.items()
            },
            **_deployed(endpoint, outputs),
        )
        report("waiting for the API to answer")
        _await_answer(info.api_url, emulator.log)
        running.callback(written.unlink, missing_ok=True)
        _write(written, info)
        yield info


def read(folder: Path) -> StackInfo | None:
    """Return the description of the stack of `folder`, or None if none is ready."""
    path = folder / STACK_FILE
    if not path.exists():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    return StackInfo(**data | {"partners": [Partner(**partner) for partner in data["partners"]]})


def _deployed(endpoint: str, outputs: Mapping[str, str]) -> dict[str, Any]:
    """Return what the deployment made, having given vendors keys, partners keys and credits."""
    models = catalogue.load(CATALOGUE, ENVIRONMENT).models
    sqs, dynamodb = client(endpoint, "sqs"), client(endpoint, "dynamodb")
    vault = client(endpoint, "secretsmanager")
    for vendor in {entry.vendor for entry in models.values()}:
        # The emulator leaves generated secrets empty, and the mock vendor takes any key.
        name = f"tidegate/{ENVIRONMENT}/{vendor}"
        vault.put_secret_value(SecretId=name, SecretString=f"key-of-{vendor}")

    def queue(name: str) -> str:
        return str(sqs.get_queue_url(QueueName=PREFIX + name)["QueueUrl"])

    tasks = sorted({entry.task for entry in models.values()})
    roles = ["api", "authorizer", "sweeper", "replay", *(f"worker-{name}" for name in models)]
    _load_accounts(dynamodb)
    for partner in PARTNERS:
        add_credit(dynamodb, PREFIX + "ledger", partner, FUNDS, "local")
    described = {
        "api_url": outputs["ApiUrl"],
        "partners": [Partner(p, add_partner(dynamodb, PREFIX + "partners", p)) for p in PARTNERS],
        "queues": {name: queue(name) for name in models},
        "dlqs": {name: queue(f"{name}-dlq") for name in models},
        "quarantine_queue": queue("quarantine"),
        "functions": {role: PREFIX + role for role in roles},
        "tables": {role: PREFIX + role for role in ("jobs", "ledger", "partners", "references")},
        "models": {task: [n for n, e in models.items() if e.task == task] for task in tasks},
    }
    for connected in (sqs, dynamodb, vault):
        connected.close()
    return described


def _load_accounts(dynamodb: Any) -> None:
    """Load the set that the catalogue's contracts refer to."""
    clock, ids = SystemClock(), SystemIds()
    sets = ReferenceSets(Table(dynamodb, PREFIX + "references", clock, ids), clock, ids)
    with ACCOUNTS.open("rb") as file:
        sets.load("accounts", read_members(file).values, by="make up", why="the local stack's own")


def _await_answer(api_url: str, log: Path, patience: float = 60) -> None:
    """Wait until the deployed api function answers; its first start takes a second or two."""
    address = urlsplit(api_url)
    healthy = answering(address.port or 80, f"{address.path}/healthz")
    until = time.monotonic() + patience
    while not healthy():
        if time.monotonic() > until:
            raise StartFailed(f"the API did not answer in {patience:g} s\n{tail(log)}")
        time.sleep(0.5)


def _write(path: Path, info: StackInfo) -> None:
    """Write all or nothing, readable by nobody else: it holds keys."""
    scratch = path.with_suffix(".new")
    scratch.touch(mode=0o600)
    scratch.write_text(json.dumps(asdict(info), indent=2) + "\n", encoding="utf-8")
    scratch.replace(path)
