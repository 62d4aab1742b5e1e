"""The front door as partners meet it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from infra.build import RUNTIME_PYTHON
from tests.infrastructure.synthesis import Synthesis

PROBLEM = {"type", "title", "status", "detail", "code", "retryable", "request_id", "error"}


def _responses(every: Synthesis) -> dict[str, dict[str, Any]]:
    return {
        response["Properties"]["ResponseType"]: response["Properties"]
        for response in every.all_of("AWS::ApiGateway::GatewayResponse").values()
    }


def _method(every: Synthesis, path: str, verb: str) -> dict[str, Any]:
    resources = every.all_of("AWS::ApiGateway::Resource")
    (resource,) = [
        logical for logical, r in resources.items() if r["Properties"]["PathPart"] == path
    ]
    return every.one_of("AWS::ApiGateway::Method", ResourceId={"Ref": resource}, HttpMethod=verb)


def test_every_v1_route_asks_the_authorizer_and_health_does_not(every: Synthesis) -> None:
    v1, health = _method(every, "{proxy+}", "ANY"), _method(every, "healthz", "GET")
    (authorizer,) = every.all_of("AWS::ApiGateway::Authorizer")
    assert v1["AuthorizationType"] == "CUSTOM"
    assert v1["AuthorizerId"] == {"Ref": authorizer}
    assert health["AuthorizationType"] == "NONE"
    assert len(every.all_of("AWS::ApiGateway::Method")) == 2


def test_the_authorizer_is_asked_once_per_key_in_five_minutes(cloud: Synthesis) -> None:
    authorizer = cloud.one_of("AWS::ApiGateway::Authorizer", Type="REQUEST")
    assert authorizer["IdentitySource"] == "method.request.header.Authorization"
    assert authorizer["AuthorizerResultTtlInSeconds"] == 300


def test_a_stage_is_throttled_as_its_environment_says(every: Synthesis) -> None:
    stage = every.one_of("AWS::ApiGateway::Stage", StageName=every.config.name)
    (settings,) = stage["MethodSettings"]
    assert settings["ThrottlingRateLimit"] == every.config.throttle.rate
    assert settings["ThrottlingBurstLimit"] == every.config.throttle.burst
    assert stage["AccessLogSetting"]["DestinationArn"]


def test_old_tls_is_refused(every: Synthesis) -> None:
    rest = every.one_of("AWS::ApiGateway::RestApi", Name=every.config.named("api"))
    assert rest["SecurityPolicy"].startswith("SecurityPolicy_TLS13_1_2_")
    assert rest["EndpointConfiguration"]["Types"] == ["REGIONAL"]


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("UNAUTHORIZED", 401, "unauthenticated"),
        ("ACCESS_DENIED", 401, "unauthenticated"),
        ("MISSING_AUTHENTICATION_TOKEN", 404, "not_found"),
        ("REQUEST_TOO_LARGE", 413, "payload_too_large"),
        ("UNSUPPORTED_MEDIA_TYPE", 415, "unsupported_media_type"),
        ("THROTTLED", 429, "too_many_requests"),
        ("INTEGRATION_TIMEOUT", 503, "temporarily_unavailable"),
        ("DEFAULT_4XX", 400, "invalid_request"),
        ("DEFAULT_5XX", 503, "temporarily_unavailable"),
    ],
)
def test_api_gateways_own_refusals_look_like_ours(
    every: Synthesis, kind: str, status: int, code: str
) -> None:
    response = _responses(every)[kind]
    body = json.loads(response["ResponseTemplates"]["application/json"])
    assert response["StatusCode"] == str(status)
    assert set(body) == PROBLEM
    assert (body["status"], body["code"]) == (status, code)
    assert body["error"]["code"] == code


def test_every_refusal_is_a_problem_and_says_when_to_come_back(every: Synthesis) -> None:
    for kind, response in _responses(every).items():
        headers = {
            name.removeprefix("gatewayresponse.header."): value
            for name, value in response["ResponseParameters"].items()
        }
        assert headers["Content-Type"] == "'application/problem+json'"
        assert headers["Cache-Control"] == "'private, no-store'"
        assert headers["X-Request-Id"] == "context.requestId"
        if response["StatusCode"] in {"429", "503"}:
            seconds = re.fullmatch(r"'(\d+)'", headers["Retry-After"])
            assert seconds is not None, kind
            assert 1 <= int(seconds[1]) <= 60
        if response["StatusCode"] == "401":
            assert headers["WWW-Authenticate"] == "'Bearer'"


def test_the_api_function_answers_before_api_gateway_gives_up(every: Synthesis) -> None:
    name = every.config.named("api")
    function = every.one_of("AWS::Lambda::Function", FunctionName=name)
    assert (function["Timeout"], function["MemorySize"]) == (29, 1024)
    assert function["Handler"] == "api.handler.handler"


def test_links_are_built_on_an_address_that_needs_no_stage(every: Synthesis) -> None:
    # The stage waits for the function: a reference back would be a circle.
    name = every.config.named("api")
    told = every.one_of("AWS::Lambda::Function", FunctionName=name)["Environment"]["Variables"]
    assert every.templates["service"]["Outputs"]["ApiUrl"]["Value"] == told["PUBLIC_URL"]
    (stage,) = every.all_of("AWS::ApiGateway::Stage")
    assert stage not in json.dumps(told)


def test_functions_run_where_their_packages_were_built_for(every: Synthesis) -> None:
    architecture = ["x86_64"] if every.config.is_local else ["arm64"]
    for function in every.all_of("AWS::Lambda::Function").values():
        properties = function["Properties"]
        assert properties["Runtime"] == f"python{RUNTIME_PYTHON}"
        assert properties["Architectures"] == architecture
        assert properties["LoggingConfig"]["LogFormat"] == "JSON"
        assert len(properties["Layers"]) == 2
    for group in every.all_of("AWS::Logs::LogGroup").values():
        assert group["Properties"]["RetentionInDays"] == every.config.log_days


def test_no_library_is_asked_to_log_what_it_handles(every: Synthesis) -> None:
    functions = every.all_of("AWS::Lambda::Function").values()
    assert len(functions) > len(every.catalogue.models)
    for function in functions:
        assert function["Properties"]["LoggingConfig"]["ApplicationLogLevel"] == "INFO"
        told = function["Properties"]["Environment"]["Variables"]
        louder = ("LOG_LEVEL", "LOG_EVENT", "_DEBUG", "_DEV")  # Powertools' own settings
        assert not [name for name in told if name.endswith(louder)]


def test_bodies_arrive_as_bytes(every: Synthesis) -> None:
    """As text, bytes that are not UTF-8 would be replaced before the strict parser sees them."""
    assert every.one_of("AWS::ApiGateway::RestApi")["BinaryMediaTypes"] == ["application/json"]
