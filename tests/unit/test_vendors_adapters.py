"""What each adapter sends, and how it reads what comes back."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from tests.unit.vendor_server import SteppingClock, entry
from tidegate.errors import VendorFailed, VendorRefused
from tidegate.rules.catalogue import Contract, Entry
from tidegate.vendors.base import VendorAnswer, VendorCall
from tidegate.vendors.registry import build

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
CHAT = {"messages": [{"role": "user", "content": "Hi"}]}


class Wire:
    """A vendor that answers one body and remembers the request."""

    def __init__(self, body: Any, headers: Mapping[str, str] | None = None) -> None:
        self.body = body
        self.headers = headers or {}
        self.request: httpx.Request | None = None

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.request = request
        return httpx.Response(200, json=self.body, headers=self.headers)

    @property
    def sent(self) -> Any:
        assert self.request is not None
        return json.loads(self.request.content)


def ask(
    wire: Wire, model: Entry, data: Mapping[str, Any], params: Mapping[str, Any] | None = None
) -> VendorAnswer:
    transport = httpx.MockTransport(wire)
    vendor = build(model, "http://vendor.test/base/", lambda: "sk-1", SteppingClock(), transport)
    return vendor.call(VendorCall(model, data, params or {}, "tg-job_1"))


def openai(text: str | None = "Hello.", finish: str = "stop", **more: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "model": "gpt-x",
        "choices": [{"message": {"content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        **more,
    }


def anthropic(*blocks: Any, stop: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "model": "claude-x",
        "content": list(blocks) or [{"type": "text", "text": "Hello."}],
        "stop_reason": stop,
        "usage": {"input_tokens": 5, "output_tokens": 4},
        **more,
    }


def cohere(*parts: Any, finish: str = "COMPLETE") -> dict[str, Any]:
    return {
        "id": "c-1",
        "message": {"content": list(parts) or [{"type": "text", "text": "x = 1"}]},
        "finish_reason": finish,
        "usage": {
            "tokens": {"input_tokens": 7, "output_tokens": 6},
            "billed_units": {"input_tokens": 1, "output_tokens": 1},
        },
    }


def images(*items: Any) -> dict[str, Any]:
    return {"created": 1, "data": list(items), "usage": {"input_tokens": 8, "output_tokens": 9}}


def test_openai_chat() -> None:
    wire = Wire(openai(), {"x-request-id": "req_1"})
    params = {"temperature": 0.0, "top_p": 0.5, "max_tokens": 9, "seed": 4, "other": 1}
    answer = ask(wire, entry("chat-mini", system="Be brief."), CHAT, params)
    assert answer == VendorAnswer("Hello.", (), "complete", 3, 2, "req_1", "gpt-x")
    assert wire.request is not None
    assert wire.request.method == "POST"
    assert str(wire.request.url) == "http://vendor.test/base/chat/completions"
    assert wire.request.headers["authorization"] == "Bearer sk-1"
    assert wire.request.headers["idempotency-key"] == "tg-job_1"
    assert wire.request.headers["content-type"] == "application/json"
    assert wire.sent == {
        "model": "gpt-4o-mini",
        "messages": [{"role": "system", "content": "Be brief."}, *CHAT["messages"]],
        "temperature": 0.0,
        "top_p": 0.5,
        "max_tokens": 9,
        "seed": 4,
    }


def test_the_bodys_id_stands_in_for_a_missing_header() -> None:
    assert ask(Wire(openai()), entry("chat-mini"), CHAT).request_id == "chatcmpl-1"


@pytest.mark.parametrize("name", [7, None, "x" * 201, "two words", "line\n", {"a": 1}])
def test_names_unfit_for_logs_are_dropped(name: Any) -> None:
    answer = ask(Wire(openai(id=name, model=name)), entry("chat-mini"), CHAT)
    assert (answer.request_id, answer.vendor_model) == (None, None)


@pytest.mark.parametrize("count", [-1, True, "3", 2.5, None, 10**30])
def test_senseless_token_counts_are_zero(count: Any) -> None:
    body = openai(usage={"prompt_tokens": count, "completion_tokens": 2})
    answer = ask(Wire(body), entry("chat-mini"), CHAT)
    assert (answer.input_tokens, answer.output_tokens) == (0, 2)


def test_openai_is_told_the_closed_contract() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}
    contract = Contract.model_validate({"schema": schema})
    wire = Wire(openai('{"a": {}}'))
    ask(wire, entry("risk-report", contract=contract), {"text": "Pay 10"}, {})
    assert wire.sent["messages"][-1] == {"role": "user", "content": "Pay 10"}
    assert wire.sent["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "answer",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {
                    "a": {"type": "object", "properties": {}, "additionalProperties": False}
                },
                "additionalProperties": False,
            },
        },
    }


@pytest.mark.parametrize("text", ["half an ans", ""])
def test_openai_truncated(text: str) -> None:
    answer = ask(Wire(openai(text, "length")), entry("chat-mini"), CHAT)
    assert (answer.text, answer.finish) == (text, "truncated")


def test_anthropic_messages() -> None:
    wire = Wire(
        anthropic(
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "Hel"},
            {"type": "text", "text": "lo."},
        ),
        {"request-id": "req_2"},
    )
    data = {
        "messages": [
            {"role": "system", "content": "Speak French."},
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": "Go on"},
        ]
    }
    model = entry("chat-claude", system="Be brief.")
    answer = ask(wire, model, data, {"temperature": 1.0, "max_tokens": 50, "seed": 1})
    assert answer == VendorAnswer("Hello.", (), "complete", 5, 4, "req_2", "claude-x")
    assert wire.request is not None
    assert str(wire.request.url) == "http://vendor.test/base/v1/messages"
    assert wire.request.headers["x-api-key"] == "sk-1"
    assert wire.request.headers["anthropic-version"] == "2023-06-01"
    assert wire.request.headers["idempotency-key"] == "tg-job_1"
    assert "authorization" not in wire.request.headers
    assert wire.sent == {
        "model": "claude-sonnet-4-5",
        "system": "Be brief.\n\nSpeak French.",
        "messages": data["messages"][1:],
        "max_tokens": 50,
        "temperature": 1.0,
    }


def test_anthropic_always_gets_a_limit_and_never_an_empty_system() -> None:
    wire = Wire(anthropic())
    ask(wire, entry("chat-claude"), CHAT)
    assert wire.sent["max_tokens"] == 1024
    assert "system" not in wire.sent


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
def test_anthropic_truncated(stop: str) -> None:
    assert ask(Wire(anthropic(stop=stop)), entry("chat-claude"), CHAT).finish == "truncated"


def test_anthropic_refusal() -> None:
    with pytest.raises(VendorRefused):
        ask(Wire(anthropic(stop="refusal")), entry("chat-claude"), CHAT)


@pytest.mark.parametrize(
    "body",
    [
        anthropic(stop=None),
        anthropic(stop="tool_use"),
        anthropic(stop="pause_turn"),
        anthropic(content=[]),
        anthropic(content="Hello."),
        anthropic(content=[None, 3, {"type": "text", "text": 5}]),
        {"type": "error", "error": {"type": "overloaded_error", "message": "x"}},
    ],
)
def test_anthropic_no_answer(body: Any) -> None:
    with pytest.raises(VendorFailed):
        ask(Wire(body), entry("chat-claude"), CHAT)


def test_cohere_chat() -> None:
    wire = Wire(cohere())
    code = "print('````')"
    data = {"instruction": "Tidy up.", "code": code, "language": "python"}
    params = {"temperature": 0.0, "top_p": 0.9, "max_tokens": 5, "seed": 0}
    answer = ask(wire, entry("code-command"), data, params)
    assert answer == VendorAnswer("x = 1", (), "complete", 7, 6, "c-1", None)
    assert wire.request is not None
    assert str(wire.request.url) == "http://vendor.test/base/v2/chat"
    assert wire.request.headers["authorization"] == "Bearer sk-1"
    assert wire.request.headers["idempotency-key"] == "tg-job_1"
    system, user = wire.sent.pop("messages")
    assert system["role"] == "system"
    assert user == {
        "role": "user",
        "content": f"Tidy up.\n\nLanguage: python\n\n`````python\n{code}\n`````",
    }
    assert wire.sent["model"] == "command-a-03-2025"
    assert {k: v for k, v in wire.sent.items() if k not in {"model", "messages"}} == {
        "temperature": 0.0,
        "p": 0.9,
        "max_tokens": 5,
        "seed": 0,
    }


def test_cohere_truncated() -> None:
    wire = Wire(cohere(finish="MAX_TOKENS"))
    assert ask(wire, entry("code-command", task="chat"), CHAT).finish == "truncated"


def test_cohere_refusal() -> None:
    with pytest.raises(VendorRefused):
        ask(Wire(cohere(finish="ERROR_TOXIC")), entry("code-command", task="chat"), CHAT)


@pytest.mark.parametrize(
    "body",
    [
        cohere(finish="ERROR"),
        cohere(finish="TIMEOUT"),
        cohere(finish="TOOL_CALL"),
        cohere({"type": "text", "text": ""}),
        {**cohere(), "message": {"content": None}},
        {"message": "internal error"},
    ],
)
def test_cohere_no_answer(body: Any) -> None:
    with pytest.raises(VendorFailed):
        ask(Wire(body), entry("code-command", task="chat"), CHAT)


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.mark.parametrize(
    ("ratio", "size"), [("1:1", "1024x1024"), ("3:2", "1536x1024"), ("2:3", "1024x1536")]
)
def test_openai_images(ratio: str, size: str) -> None:
    item = {"b64_json": b64(PNG)}
    wire = Wire(images(item, item))
    params = {"aspect_ratio": ratio, "quality": "low", "n": 2, "seed": 3}
    data = {"prompt": "A tide", "negative_prompt": "people"}
    answer = ask(wire, entry("image-studio"), data, params)
    assert [(i.content, i.content_type) for i in answer.images] == [(PNG, "image/png")] * 2
    assert (answer.text, answer.finish, answer.input_tokens, answer.output_tokens) == (
        None,
        "complete",
        8,
        9,
    )
    assert wire.request is not None
    assert str(wire.request.url) == "http://vendor.test/base/images/generations"
    assert wire.request.headers["idempotency-key"] == "tg-job_1"
    assert wire.sent == {
        "model": "gpt-image-1",
        "prompt": "A tide\n\nAvoid: people",
        "n": 2,
        "size": size,
        "quality": "low",
    }


SVG = b"<svg xmlns='http://www.w3.org/2000/svg'/>"


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ({"b64_json": b64(b"\xff\xd8\xff\xe0rest")}, "image/jpeg"),
        ({"b64_json": b64(b"RIFF\0\0\0\0WEBPVP8 ")}, "image/webp"),
        ({"b64_json": b64(b"GIF89a rest")}, "image/gif"),
        ({"url": "data:image/png;base64," + b64(PNG)}, "image/png"),
        ({"url": "data:image/jpeg;base64," + b64(PNG)}, "image/png"),
        ({"url": "data:image/svg+xml;base64," + b64(SVG)}, "image/svg+xml"),
        ({"url": "data:image/svg+xml,%3Csvg%20/%3E"}, "image/svg+xml"),
        ({"url": None, "b64_json": b64(PNG)}, "image/png"),
    ],
)
def test_images_are_known_by_their_bytes(item: Any, kind: str) -> None:
    answer = ask(Wire(images(item)), entry("image-studio"), {"prompt": "A tide"}, {"n": 1})
    assert [i.content_type for i in answer.images] == [kind]


@pytest.mark.parametrize(
    "item",
    [
        {"url": "https://vendor.test/image.png"},
        {"url": "http://169.254.169.254/latest"},
        {"url": "file:///etc/passwd"},
        {"url": "data:text/html;base64," + b64(b"<script>")},
        {"url": "data:image/png;base64," + b64(b"<html>")},
        {"url": "data:image/svg+xml;base64," + b64(b"<html><svg></svg>")},
        {"url": "data:image/png;base64,@@@"},
        {"url": "data:image/png;base64,"},
        {"b64_json": b64(b"plain text")},
        {"b64_json": b64(SVG)},
        {"b64_json": b64(PNG)[:-1] + "!"},
        {"b64_json": b64(PNG) + "\n"},
        {"b64_json": "\u00e9\u00e9\u00e9\u00e9"},
        {"b64_json": ""},
        {"b64_json": 7},
        {},
        None,
        "image",
    ],
)
def test_what_is_no_image_is_no_answer(item: Any) -> None:
    with pytest.raises(VendorFailed):
        ask(Wire(images(item)), entry("image-studio"), {"prompt": "A tide"}, {"n": 1})


@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_number_of_images_is_no_answer(count: int) -> None:
    items = [{"b64_json": b64(PNG)}] * count
    with pytest.raises(VendorFailed):
        ask(Wire(images(*items)), entry("image-studio"), {"prompt": "A tide"}, {"n": 2})


def test_a_worker_imports_its_own_adapter_alone() -> None:
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, 'layers/tidegate/python')\n"
        "from tidegate.rules.catalogue import load\n"
        "from tidegate.vendors.registry import build\n"
        "entry = load(Path('layers/tidegate/python/catalogue')).models['chat-claude']\n"
        "build(entry, 'http://vendor.test', str, None)\n"
        "print(sorted(m for m in sys.modules if m.startswith('tidegate.vendors.')))\n"
        "assert 'jsonschema_rs' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "anthropic_messages" in done.stdout
    assert "openai" not in done.stdout
    assert "cohere" not in done.stdout
