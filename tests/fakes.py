"""What tests hand in where functions get time, chance and a vendor from outside."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from tidegate.vendors.base import VendorAnswer, VendorCall


class FakeClock:
    """Time that moves only when somebody sleeps or a test says so."""

    def __init__(self, now: float = 1_900_000_000.0) -> None:
        self.time = now
        self.slept: Callable[[float], None] = lambda _seconds: None
        """Told how long somebody slept, for what has a clock of its own."""

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.slept(seconds)


class FakeIds:
    """Names in order, and a fraction of the test's choice."""

    def __init__(self, fraction: float = 0.0) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._fraction = fraction

    def _next(self) -> int:
        with self._lock:
            self._count += 1
            return self._count

    def job_id(self, now: float) -> str:
        return f"job_{int(now)}{self._next():06d}"

    def token(self) -> str:
        return f"token{self._next():06d}"

    def fraction(self) -> float:
        return self._fraction


def answer(text: str | None = "42", **fields: object) -> VendorAnswer:
    values: dict[str, object] = {
        "text": text,
        "images": (),
        "finish": "complete",
        "input_tokens": 3,
        "output_tokens": 5,
        "request_id": "req_1",
        "vendor_model": "m",
        **fields,
    }
    return VendorAnswer(**values)  # type: ignore[arg-type]


@dataclass
class ScriptedVendor:
    """Answers with what the script says next, then with `otherwise`; keeps every call."""

    script: list[VendorAnswer | Exception] = field(default_factory=list)
    otherwise: Callable[[VendorCall], VendorAnswer] = lambda _call: answer()
    calls: list[VendorCall] = field(default_factory=list)

    def call(self, call: VendorCall) -> VendorAnswer:
        self.calls.append(call)
        if self.script:
            step = self.script.pop(0)
            if isinstance(step, Exception):
                raise step
            return step
        return self.otherwise(call)


class LambdaContext:
    """As much of Lambda's context as handlers use."""

    aws_request_id = "invocation"

    def __init__(self, remaining: float = 60.0) -> None:
        self.remaining = remaining

    def get_remaining_time_in_millis(self) -> int:
        return int(self.remaining * 1000)
