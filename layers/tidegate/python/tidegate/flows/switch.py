"""A model's switch, turned by an operator: into the job table first, then where workers look."""

from __future__ import annotations

from typing import Any

from tidegate.doors.pace import Pace
from tidegate.doors.switches import Switch, Switches
from tidegate.errors import CacheUnavailable
from tidegate.rules.switch_request import SwitchRequest
from tidegate.telemetry import Telemetry


def switch(
    request: SwitchRequest,
    model: str,
    switches: Switches,
    pace: Pace,
    now: float,
    telemetry: Telemetry,
) -> dict[str, Any]:
    """Return a model's switch and its pause, after turning it if that is asked for.

    Where Redis cannot be reached nobody calls; what was said is made known when it is back, so
    `seen` is false.
    """
    if request.switch != "show":
        off = request.switch == "pause"
        until = None if request.seconds is None or not off else now + request.seconds
        turned = Switch(off, until, request.by, request.why, now)
        switches.turn(model, turned)
        telemetry.warn("model_switched", off=off, by=request.by, why=request.why)
        telemetry.count("Switched", model=model, to="off" if off else "on")
    current = switches.read(model)
    seen, pause = True, dict[str, str]()
    try:
        if request.switch != "show":
            pace.switch(off=current.off, until=current.until, turned=True)
        pause = pace.paused()
    except CacheUnavailable:
        seen = False
    ends = float(pause.get("until", 0)) / 1000
    return {
        "model": model,
        "paused": current.off and (current.until is None or current.until > now),
        "until": current.until,
        "by": current.by,
        "why": current.why,
        "at": current.at,
        "seen": seen,
        "cool_down": {
            "seconds": max(0.0, round(ends - now, 3)),
            "reason": pause.get("reason"),
            "in_a_row": int(pause.get("strikes", 0)),
            "rate": round(float(pause.get("factor", 1)), 3),
        },
    }
