"""What answering a repeat from the cache costs: Tidegate, and beside it LiteLLM's proxy.

Same vendor, a Redis each of the same kind, the same messages, one request after the other. Not the
same work: Tidegate's process is handed API Gateway's event, speaks no HTTP to its client, and
writes the job to DynamoDB; LiteLLM's has its HTTP server in it, and stores nothing of the request.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from bench.deployed.report import console, grid
from bench.deployed.rig import FOLDER, say
from bench.peers.batch import ALL, COUNTED, TIMED, Batch, Cost, cost
from bench.peers.lite_proxy import VENDOR_MODEL, Proxy, proxy
from bench.peers.meters import metered
from bench.peers.ours import MODEL, tidegate
from bench.peers.packages import LOCK, PeerUnavailable, installed, locked
from bench.results import written
from cli.demo.vendor import Vendor
from cli.local.redis import single
from cli.local.stack import CATALOGUE, ENVIRONMENT
from cli.local.vendor import start_vendor
from tidegate.rules import catalogue

CROWD = 50
SLOW = 3.0
"""Seconds of a vendor's call that the crowd meets: longer than it takes all of it to arrive."""

QUESTION = (
    "A shop sells honey in jars of 250 g and 500 g. The small jar is 4.20 and the large one 7.90. "
    "A customer wants 2 kg and would rather have few jars, but has only 32.00 with her. Which jars "
    "should she take, what do they cost, and how much does she have left? Answer in two sentences."
)


class Bench:
    """Where everything is, and the vendor that both call."""

    def __init__(self, folder: Path, vendor_url: str) -> None:
        models = catalogue.load(CATALOGUE, ENVIRONMENT).models
        self.folder, self.vendor_url = folder, vendor_url
        self.names = {"tidegate": models[MODEL].vendor_model, "litellm": VENDOR_MODEL}
        self.vendor = Vendor(vendor_url, self.names)

    def calls(self, who: str) -> int:
        """Return how many calls the vendor had from one of them."""
        asked = (json.loads(call.asked) for call in self.vendor.calls())
        return sum(body is not None and body["model"] == self.names[who] for body in asked)

    def ours(self) -> dict[str, Cost]:
        """Return what Tidegate's answers cost."""
        say("Tidegate: emulated AWS, one job through api and worker, then its repeats")
        folder = self.folder / "tidegate"
        with (
            single(folder) as redis_url,
            metered(redis_url) as meter,
            tidegate(folder, redis_url, self.vendor_url, messages(0)) as running,
        ):
            calls = self._counter("tidegate")
            return {
                "tidegate, new key": cost(running.hits, meter, calls),
                "tidegate, same key": cost(running.replays, meter, calls),
            }

    def theirs(self) -> tuple[dict[str, Cost], dict[str, Any]]:
        """Return what LiteLLM's answers cost, and what else there is to say of it.

        One process stores answers, another gives them: the first time from Redis, then from its
        own memory, where LiteLLM keeps a copy of what it has read.

        Raises:
            PeerUnavailable: its packages cannot be had.
        """
        say(f"LiteLLM: its packages ({LOCK.name}), a proxy that stores {ALL} answers, another")
        commands = installed(FOLDER / "peers" / "litellm")
        folder = self.folder / "litellm"
        bodies = [_asked(number) for number in range(ALL)]
        with single(folder) as redis_url, metered(redis_url) as meter:
            with proxy(commands, folder, redis_url, self.vendor_url) as storing:
                storing.fill(bodies)
                crowd = self._crowd(storing)
            with proxy(commands, folder, redis_url, self.vendor_url) as running:
                calls, stored = self._counter("litellm"), iter(bodies)

                def first(number: int) -> Batch:
                    return running.answered(list(islice(stored, number)))

                def again(number: int) -> Batch:
                    return running.answered(bodies[:1] * number)

                running.fill([_asked(ALL)] * 20)  # imports and connections
                costs = {
                    "litellm, Redis": cost(first, meter, calls),
                    "litellm, memory": cost(again, meter, calls),
                }
                return costs, {
                    "version": locked("litellm"),
                    "http_cpu_ms": round(running.served(TIMED) * 1000, 2),
                    "vendor_calls_for_a_crowd": crowd,
                }

    def _crowd(self, cold: Proxy) -> int:
        self.vendor.script("litellm", {"type": "delay", "seconds": SLOW, "times": None})
        before = self.calls("litellm")
        cold.crowd(CROWD, _asked(-1))
        self.vendor.behave()
        return self.calls("litellm") - before

    def _counter(self, who: str) -> Callable[[], int]:
        return lambda: self.calls(who)


def main() -> int:
    """Measure both; return 1 if a repeat was no hit, or the peer could not be measured."""
    peer: dict[str, Any] = {}
    folder = FOLDER / "hit_path"
    process, vendor_url = start_vendor(folder)
    with process:
        bench = Bench(folder, vendor_url)
        costs = bench.ours()
        try:
            theirs, peer = bench.theirs()
            costs |= theirs
        except PeerUnavailable as error:
            peer = {"not_measured": f"{LOCK.name} cannot be installed here"}
            print(f"LiteLLM was not measured: {peer['not_measured']}\n{error}")
        bench.vendor.close()
    _show(costs)
    if "version" in peer:
        console().print(
            f"  LiteLLM {peer['version']}: {CROWD} at once with nothing stored are "
            f"{peer['vendor_calls_for_a_crowd']} vendor calls (Tidegate's: see the part `crowd`); "
            f"{peer['http_cpu_ms']} ms of CPU are its HTTP server's (`/health/liveliness`)",
            markup=False,
        )  # fmt: skip
    written("hit_path", {
        "counted": COUNTED, "timed": TIMED, "litellm": peer,
        "costs": {who: asdict(each) for who, each in costs.items()},
    })  # fmt: skip
    sound = all(
        each.as_expected == each.requests and not each.vendor_calls for each in costs.values()
    )
    return 0 if sound and "version" in peer else 1


def messages(number: int) -> list[dict[str, str]]:
    """Return a conversation of its own for each number."""
    return [{"role": "user", "content": f"{QUESTION} (Customer {number}.)"}]


def _asked(number: int) -> dict[str, Any]:
    return {"messages": messages(number), "temperature": 0.0, "max_tokens": 1024}


def _show(costs: Mapping[str, Cost]) -> None:
    def row(what: str, value: Callable[[Cost], object]) -> tuple[object, ...]:
        return (what, *(value(each) for each in costs.values()))

    grid("A repeat, answered from the cache", ("", *costs), [
        row("repeats", lambda each: each.requests),
        row("answered as expected", lambda each: each.as_expected),
        row("vendor calls in all", lambda each: each.vendor_calls),
        row("Redis round trips each", lambda each: f"{each.redis_round_trips:.2f}"),
        row("commands each", lambda each: _listed(each.redis_commands)),
        row("DynamoDB calls each", lambda each: _listed(_of(each.aws_calls, "dynamodb"))),
        row("other AWS calls each", lambda each: f"{_others(each.aws_calls):.2f}"),
        row("CPU ms each", lambda each: f"{each.cpu_ms:.2f}"),
        row("latency p50 ms", lambda each: each.latency_ms.p50),
        row("latency p95 ms", lambda each: each.latency_ms.p95),
    ])  # fmt: skip


def _of(calls: Mapping[str, float], service: str) -> dict[str, float]:
    return {
        name.partition(".")[2]: number
        for name, number in calls.items()
        if name.startswith(f"{service}.")
    }


def _others(calls: Mapping[str, float]) -> float:
    return sum(calls.values()) - sum(_of(calls, "dynamodb").values())


def _listed(counts: Mapping[str, float]) -> str:
    return "\n".join(f"{number:.2f} {name}" for name, number in counts.items()) or "0"


if __name__ == "__main__":
    sys.exit(main())
