"""Relays between the deployed functions and what they call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from bench.deployed.call import ROLES, Watch
from bench.deployed.http_relay import http_relay
from bench.deployed.redis_relay import redis_relay
from bench.deployed.steps import aws_step
from cli.local import redis
from cli.local.stack import StackInfo, client


@contextmanager
def redirected(info: StackInfo, watch: Watch) -> Iterator[None]:
    """Send what the api and the workers say to AWS, Redis and the vendor through relays.

    A function's own environment is where its SDK looks first for an endpoint, on AWS as here.
    """
    lambda_ = client(info.aws_endpoint, "lambda")
    group = info.processes["emulator"]
    before: dict[str, dict[str, str]] = {}
    with ExitStack() as opened:
        for role in ROLES:
            changes = {
                "AWS_ENDPOINT_URL": opened.enter_context(
                    http_relay(role, info.aws_endpoint, group, aws_step, watch)
                ),
                "REDIS_URL": opened.enter_context(
                    redis_relay(role, redis.clustered(info.redis_url), group, watch)
                ),
            }
            if role == "worker":
                changes["VENDOR_BASE_URL"] = opened.enter_context(
                    http_relay(role, info.vendor_url, group, _vendor_step, watch)
                )
            for name in (n for r, n in info.functions.items() if r.partition("-")[0] == role):
                found = lambda_.get_function_configuration(FunctionName=name)
                before[name] = found["Environment"]["Variables"]
                _configure(lambda_, name, _redirected(before[name], info.vendor_url, changes))
        try:
            yield
        finally:
            for name, variables in before.items():
                _configure(lambda_, name, variables)
            lambda_.close()


def _redirected(
    variables: Mapping[str, str], vendor_url: str, changes: Mapping[str, str]
) -> dict[str, str]:
    changed = {**variables, **changes}
    if "VENDOR_BASE_URL" in variables:  # keep the path: vendors have their own
        changed["VENDOR_BASE_URL"] = variables["VENDOR_BASE_URL"].replace(
            vendor_url, changes["VENDOR_BASE_URL"]
        )
    return changed


def _configure(lambda_: Any, name: str, variables: Mapping[str, str]) -> None:
    lambda_.update_function_configuration(
        FunctionName=name, Environment={"Variables": dict(variables)}
    )


def _vendor_step(method: str, _headers: Mapping[str, str], path: str, _body: bytes) -> str:
    return f"vendor {method} {path}"
