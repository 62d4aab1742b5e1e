"""What clients send and hear."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Post:
    """What a client sends, and how often at most if it gets no answer."""

    key: str
    text: str = "hello"
    at: float = 0.0
    partner: str = "acme"
    model: str = "chat"
    tries: int = 1
    deadline: int | None = None
    priority: str | None = None
    cache_control: str | None = None

    @property
    def headers(self) -> dict[str, list[str]]:
        """Return the headers it is sent with."""
        headers = {"Content-Type": ["application/json"], "Idempotency-Key": [self.key]}
        if self.cache_control is not None:
            headers["Cache-Control"] = [self.cache_control]
        return headers

    @property
    def input(self) -> dict[str, Any]:
        """Return what the vendor is to answer."""
        if self.model == "code":
            return {"instruction": "repeat it", "code": self.text, "language": "python"}
        if self.model == "pair":
            return {"prompt": self.text}
        if self.model in {"report", "rare"}:
            return {"text": self.text}
        return {"messages": [{"role": "user", "content": self.text}]}

    @property
    def route(self) -> str:
        """Return the route its key is of."""
        return "images" if self.model == "image" else "jobs"

    @property
    def path(self) -> str:
        return "/v1/images/generations" if self.model == "image" else "/v1/jobs"

    def body(self) -> str:
        if self.model == "image":
            return json.dumps({"model": self.model, "prompt": self.text})
        body: dict[str, Any] = {"model": self.model, "input": self.input}
        if self.deadline is not None:
            body["deadline_seconds"] = self.deadline
        if self.priority is not None:
            body["priority"] = self.priority
        return json.dumps(body)


@dataclass
class Heard:
    """An answer a client got; status 0: none."""

    post: Post
    status: int
    body: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, Any] = field(default_factory=dict)

    @property
    def job(self) -> str | None:
        """Return the id of the job it tells of."""
        return self.body.get("id") or self.body.get("job_id")


def http_event(
    method: str, path: str, partner: str, headers: dict[str, list[str]], body: str | None
) -> dict[str, Any]:
    """Return API Gateway's event for a request."""
    return {
        "resource": "/v1/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": {name: values[-1] for name, values in headers.items()},
        "multiValueHeaders": headers,
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": None,
        "stageVariables": None,
        "requestContext": {
            "requestId": "request",
            "authorizer": {"partner": partner},
            "httpMethod": method,
            "path": f"/test{path}",
            "stage": "test",
        },
        "body": body,
        "isBase64Encoded": False,
    }
