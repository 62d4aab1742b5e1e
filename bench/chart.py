"""Bars over time as an SVG file: one panel for each client, on one scale or each on its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from bench.results import FOLDER

WIDTH, HEIGHT = 760, 200
"""Of the area of a panel's bars, in pixels."""
LEFT, TOP, GAP = 64, 56, 64
COLOURS = {"answered": "#2a7f62", "429": "#c8553d", "other": "#6b6b6b", "wait": "#33658a"}


@dataclass(frozen=True, slots=True)
class Panel:
    """One row of stacked bars."""

    title: str
    series: Mapping[str, Sequence[float]]
    """Heights by what they are, from below; a colour for each."""
    limit: float | None = None
    """Where a line is drawn."""
    own_scale: bool = False


def drawn(
    part: str, title: str, panels: Sequence[Panel], across: str, upward: str, step: float
) -> Path:
    """Write a chart beside the figures of a part and return where it is.

    `step` is how much further right each bar is, in the unit that `across` names.
    """
    bars = max(len(values) for panel in panels for values in panel.series.values())
    shared = max(_highest(panel) for panel in panels)
    height = TOP + len(panels) * (HEIGHT + GAP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 24}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="15">{escape(title)}</text>',
    ]
    for number, panel in enumerate(panels):
        bottom = TOP + number * (HEIGHT + GAP) + HEIGHT
        top = _highest(panel) if panel.own_scale else shared
        lines += _panel(panel, bottom, top, max(bars, 1), step)
        lines.append(
            f'<text x="{LEFT + WIDTH}" y="{bottom + 32}" text-anchor="end">{escape(across)}</text>'
        )
        lines.append(
            f'<text x="14" y="{bottom - HEIGHT / 2}" text-anchor="middle" '
            f'transform="rotate(-90 14 {bottom - HEIGHT / 2})">{escape(upward)}</text>'
        )
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{part}.svg"
    path.write_text("\n".join([*lines, "</svg>"]) + "\n", encoding="utf-8")
    return path


def _panel(panel: Panel, bottom: float, top: float, bars: int, step: float) -> Iterator[str]:
    wide = WIDTH / bars
    yield f'<text x="{LEFT}" y="{bottom - HEIGHT - 10}">{escape(panel.title)}</text>'
    for place, name in enumerate(panel.series):
        x = LEFT + WIDTH - 90 * (len(panel.series) - place)
        y = bottom - HEIGHT - 20
        yield f'<rect x="{x}" y="{y}" width="10" height="10" fill="{COLOURS[name]}"/>'
        yield f'<text x="{x + 15}" y="{y + 10}">{escape(name)}</text>'
    mark = _round(top / 4)
    for tick in range(math.floor(top / mark) + 1):
        y = bottom - HEIGHT * tick * mark / top
        yield f'<path d="M{LEFT} {y:.1f}h{WIDTH}" stroke="#dddddd"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick * mark:g}</text>'
    each = max(1, round(_round(bars * step / 8) / step))
    for bar in range(0, bars + 1, each):
        middle = LEFT + bar * wide
        yield f'<text x="{middle:.1f}" y="{bottom + 16}" text-anchor="middle">{bar * step:g}</text>'
    for bar in range(bars):
        y = float(bottom)
        for name, values in panel.series.items():
            high = HEIGHT * values[bar] / top if bar < len(values) else 0.0
            if high:
                y -= high
                yield (
                    f'<rect x="{LEFT + bar * wide + 0.5:.1f}" y="{y:.1f}" '
                    f'width="{max(wide - 1, 1):.1f}" height="{high:.1f}" fill="{COLOURS[name]}"/>'
                )
    if panel.limit is not None:
        y = bottom - HEIGHT * panel.limit / top
        yield f'<path d="M{LEFT} {y:.1f}h{WIDTH}" stroke="black" stroke-dasharray="6 4"/>'


def _highest(panel: Panel) -> float:
    stacks: list[float] = [sum(stack) for stack in zip(*_filled(panel), strict=True)]
    highest: float = max([*stacks, panel.limit or 0.0, 1.0])
    return highest * 1.05


def _filled(panel: Panel) -> list[list[float]]:
    longest = max(len(values) for values in panel.series.values())
    return [[*values, *[0.0] * (longest - len(values))] for values in panel.series.values()]


def _round(value: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, ... above."""
    power: float = 10.0 ** math.floor(math.log10(value))
    return float(next(power * step for step in (1, 2, 5, 10) if power * step >= value))
