"""A model's switch, turned by an operator: into the job table first, then where workers look."""

from __future__ import annotations

from typing import Any

from tidegate.doors.pace import RECOVERY, Pace
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

    Where Redis cannot be reached nobody calls, and `seen` is false. What was said is stored; but
    workers that find Redis again with what it knew before go by that, until the next look here.
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
        turned_now = request.switch != "show"
        pace.switch(off=current.off, until=current.until, turned=turned_now, at=current.at)
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
            "rate": round(_rate(pause, now), 3),
        },
    }


def _rate(pause: dict[str, str], now: float) -> float:
    """Return the share of the limits that is used now, as `pace_take` reckons it."""
    since = now - float(pause.get("factor_at", 0)) / 1000
    return min(1.0, float(pause.get("factor", 1)) + max(0.0, since) / RECOVERY)
