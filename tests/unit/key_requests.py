"""Requests with all that their keys depend on, and models that differ in what they take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tidegate.rules import keys
from tidegate.rules.catalogue import Catalogue, Entry, parse
from tidegate.rules.epochs import Epochs
from tidegate.rules.request import JobRequest
from tidegate.rules.request import parse as parse_request

PARAMETERS: dict[str, Any] = {
    "temperature": {"type": "number", "default": 0.0, "minimum": -2, "maximum": 2},
    "top_p": {"type": "number", "minimum": 0, "maximum": 1},
    "max_tokens": {"type": "integer", "default": 64, "minimum": 1, "maximum": 4096},
    "seed": {"type": "integer"},
    "user": {"type": "string"},
    "style": {"type": "string", "default": "plain", "choices": ["plain", "ornate", "1"]},
    "stream": {"type": "boolean"},
    "logprobs": {"type": "boolean", "default": False},
}
PLAIN: dict[str, Any] = {
    "adapter": "openai-chat",
    "vendor": "openai",
    "vendor_model": "m-1",
    "task": "chat",
    "max_concurrency": 2,
    "timeouts": {"read": 10, "total": 12},
    "parameters": PARAMETERS,
    "cache": {"reuse": "always"},
}
TOLD: dict[str, Any] = {
    **PLAIN,
    "system": "Be brief.",
    "locales": ["en-GB", "de-DE", "ja"],
    "safety_profiles": {"strict": "Decline advice.", "frank": "Speak plainly."},
    "default_safety_profile": "strict",
}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
PICTURES: dict[str, Any] = {**PLAIN, "task": "image", "adapter": "openai-images"}
MODELS = parse(
    {
        "models": {
            "chat": TOLD,
            "chat-two": TOLD,
            "chat-text": {**TOLD, "normalise": "text"},
            "code": {**TOLD, "task": "code"},
            "code-two": {**TOLD, "task": "code"},
            "image": PICTURES,
            "image-two": PICTURES,
            "extract": {**TOLD, "task": "extract", "contract": {"schema": SCHEMA}},
            "extract-two": {**TOLD, "task": "extract", "contract": {"schema": SCHEMA}},
        }
    }
)


NEVER = Epochs()


@dataclass(frozen=True)
class Ask:
    """One request at one moment; `entry` holds what is changed in its model's entry."""

    body: Mapping[str, Any]
    partner: str = "acme"
    claim: str = "claim-1"
    epochs: Epochs = NEVER
    now: float = 1_700_000_000.0
    stored: bool = True
    entry: Mapping[str, Any] = field(default_factory=dict)

    def but(self, **changes: Any) -> Ask:
        return replace(self, **changes)

    def saying(self, **fields: Any) -> Ask:
        return replace(self, body={**self.body, **fields})

    def cached(self, **policy: Any) -> Ask:
        """Return the request to a model with another policy of reuse."""
        cache = self.model.cache.model_copy(update=policy)
        return replace(self, entry={**self.entry, "cache": cache})

    @property
    def model(self) -> Entry:
        return MODELS.models[self.body["model"]].model_copy(update=dict(self.entry))

    def request(self, raw: str | None = None) -> JobRequest:
        name, models = self.body["model"], MODELS.models
        changed = Catalogue.model_construct(models={**models, name: self.model})
        return parse_request((raw or json.dumps(self.body)).encode(), changed)

    def meaning(self, raw: str | None = None) -> dict[str, Any]:
        return keys.meaning(
            self.request(raw),
            self.model,
            partner=self.partner,
            claim=self.claim,
            now=self.now,
            stored=self.stored,
        )

    def key(self, raw: str | None = None) -> str:
        """Return the job key; `raw` is the body as it is written, if not as `json` writes it."""
        return keys.job_key(self.meaning(raw), self.epochs)


def chat(*words: str, model: str = "chat", **fields: Any) -> Ask:
    """Return a conversation that the user begins and the assistant takes turns in."""
    roles = ("user", "assistant")
    said = [{"role": roles[n % 2], "content": word} for n, word in enumerate(words or ("Hi",))]
    return Ask({"model": model, "input": {"messages": said}, **fields})


def turns(*messages: tuple[str, str], **fields: Any) -> Ask:
    said = [{"role": role, "content": content} for role, content in messages]
    return Ask({"model": "chat", "input": {"messages": said}, **fields})


def image(prompt: str = "A boat", **fields: Any) -> Ask:
    return Ask({"model": "image", "input": {"prompt": prompt, **fields}})


def code(text: str, instruction: str = "Tidy up.", language: str = "python") -> Ask:
    data = {"instruction": instruction, "code": text, "language": language}
    return Ask({"model": "code", "input": data})


def extract(text: str) -> Ask:
    return Ask({"model": "extract", "input": {"text": text}})
