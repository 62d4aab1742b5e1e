"""Requests for jobs, by task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Ask:
    """The body of `POST /v1/jobs`."""

    model: str
    input: dict[str, Any]
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def body(self) -> dict[str, Any]:
        """Return the JSON to send."""
        return {"model": self.model, "input": self.input, "params": self.params}


def chat(model: str, text: str) -> Ask:
    """Ask a question, deterministically: an answer may then be used again."""
    messages = [{"role": "user", "content": text}]
    return Ask(model, {"messages": messages}, {"temperature": 0})


def code(model: str, instruction: str, source: str) -> Ask:
    """Ask for a change of Python code."""
    return Ask(model, {"instruction": instruction, "code": source, "language": "python"})


def image(model: str, prompt: str) -> Ask:
    """Ask for a picture."""
    return Ask(model, {"prompt": prompt}, {"seed": 7})


def extract(model: str, text: str) -> Ask:
    """Ask for a structured assessment."""
    return Ask(model, {"text": text})


def of_task(task: str, model: str) -> Ask:
    """Return an example for a model of the catalogue.

    Raises:
        LookupError: the demo knows no example of this task.
    """
    examples = {
        "chat": chat(model, "Why is the sea salty?"),
        "code": code(model, "Add type hints.", "def area(w, h):\n    return w * h"),
        "image": image(model, "A lighthouse at low tide, ink on paper"),
        "extract": extract(model, "Account 4711 paid 9,800 EUR to a payee it never paid before."),
    }
    return examples[task]
