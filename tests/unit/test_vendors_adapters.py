"""What each text adapter sends, and how it reads what comes back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.vendor_server import entry
from tests.unit.vendor_wire import CHAT, Wire, anthropic, ask, cohere, openai
from tidegate.errors import VendorFailed, VendorRefused
from tidegate.rules.contracts import Contract
from tidegate.vendors.base import VendorAnswer, VendorCall


def test_openai_chat() -> None:
    wire = Wire(openai(), {"x-request-id": "req_1"})
    params = {"temperature": 0.0, "top_p": 0.5, "max_tokens": 9, "seed": 4, "other": 1}
    answer = ask(wire, entry("chat-mini"), CHAT, params, "Be brief.")
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


@pytest.mark.parametrize("count", [-1, True, "3", 2.5, None, 10**30, 1e300, [3], {"count": 3}])
def test_senseless_token_counts_are_not_said(count: Any) -> None:
    body = openai(usage={"prompt_tokens": count, "completion_tokens": 2.0})
    answer = ask(Wire(body), entry("chat-mini"), CHAT)
    assert (answer.input_tokens, answer.output_tokens) == (None, 2)


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
    params = {"temperature": 1.0, "max_tokens": 50, "seed": 1}
    answer = ask(wire, entry("chat-claude"), data, params, "Be brief.")
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
        anthropic(content="Hello."),
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
    answer = ask(wire, entry("code-command"), data, params, "Only code.")
    assert answer == VendorAnswer("x = 1", (), "complete", 1, 1, "c-1", None)  # as billed
    assert wire.request is not None
    assert str(wire.request.url) == "http://vendor.test/base/v2/chat"
    assert wire.request.headers["authorization"] == "Bearer sk-1"
    assert wire.request.headers["idempotency-key"] == "tg-job_1"
    system, user = wire.sent.pop("messages")
    assert system == {"role": "system", "content": "Only code."}
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


@pytest.mark.parametrize("billed", [None, {}, {"input_tokens": 0, "output_tokens": "1"}])
def test_cohere_counts_what_was_processed_where_it_bills_nothing(billed: Any) -> None:
    body = cohere()
    body["usage"]["billed_units"] = billed
    answer = ask(Wire(body), entry("code-command", task="chat"), CHAT)
    assert (answer.input_tokens, answer.output_tokens) == (7, 6)


def test_anthropics_cached_input_is_input() -> None:
    usage = {"input_tokens": 5, "output_tokens": 4, "cache_creation_input_tokens": 100}
    body = anthropic(usage={**usage, "cache_read_input_tokens": 2000})
    assert ask(Wire(body), entry("chat-claude"), CHAT).input_tokens == 2105
    body = anthropic(usage={**usage, "cache_read_input_tokens": None})
    assert ask(Wire(body), entry("chat-claude"), CHAT).input_tokens == 105


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
        {**cohere(), "message": {"content": None}},
        {"message": "internal error"},
    ],
)
def test_cohere_no_answer(body: Any) -> None:
    with pytest.raises(VendorFailed):
        ask(Wire(body), entry("code-command", task="chat"), CHAT)


BODIES = {"chat-mini": openai(), "chat-claude": anthropic(), "code-command": cohere()}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("system", ["Answer for the locale ja.", None])
def test_the_model_is_told_what_the_request_came_to_and_not_the_entrys_words(
    name: str, system: str | None
) -> None:
    wire = Wire(BODIES[name])
    ask(wire, entry(name, task="chat", system="An entry changed since."), CHAT, system=system)
    told = [m["content"] for m in wire.sent["messages"] if m["role"] == "system"]
    told += [wire.sent["system"]] if "system" in wire.sent else []
    assert told == ([] if system is None else [system])


def test_what_the_model_is_told_stays_out_of_logs() -> None:
    call = VendorCall(entry("chat-mini"), CHAT, {}, "tg-job_1", system="Private words.")
    assert "Private" not in repr(call)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("chat-claude", anthropic(content=[])),
        ("chat-claude", anthropic(content=[None, 3, {"type": "text", "text": 5}])),
        ("code-command", cohere({"type": "text", "text": ""})),
    ],
)
def test_an_answer_without_words_is_for_the_gate_to_judge(name: str, body: Any) -> None:
    answer = ask(Wire(body), entry(name, task="chat"), CHAT)
    assert (answer.text, answer.finish) == ("", "complete")
