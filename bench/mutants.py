"""The design broken on purpose, and how it is found: `python -m bench.mutants [--pairs] [NAME …]`.

Without `--pairs` at most one fault is tried; with it two, for the mutants not found before.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from dataclasses import asdict
from typing import Any

from bench.results import written
from tests.explorer.hunt import hunt, sound
from tests.explorer.mutants import load
from tests.explorer.scenarios import SCENARIOS


def tried(work: tuple[str, int]) -> dict[str, Any]:
    """Return a row of the table: how one mutant is found with at most so many faults."""
    name, most = work
    mutant, begun = load()[name], time.monotonic()
    stories = sorted(SCENARIOS.values(), key=lambda story: story.name != mutant.where)
    found, runs = hunt(mutant, sound(), stories, most)
    row: dict[str, Any] = {"mutant": name, "runs": runs, "seconds": time.monotonic() - begun}
    if found is None:
        return {**row, "faults": None, "tried": most, "why_not": mutant.why}
    return {**row, **asdict(found), "plan": {str(c): o for c, o in found.plan.items()}}


def main(words: list[str]) -> int:
    """Print the table; return how many mutants were not found although they should be."""
    parser = argparse.ArgumentParser(prog="python -m bench.mutants")
    parser.add_argument("--pairs", action="store_true", help="two faults where one finds nothing")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("names", nargs="*", help="some mutants only")
    asked = parser.parse_args(words)
    names = asked.names or list(load())
    work = [(name, 2 if asked.pairs or load()[name].at == 2 else 1) for name in names]
    rows, missed = [], 0
    with multiprocessing.get_context("fork").Pool(asked.jobs) as pool:
        for row in pool.imap(tried, work):
            rows.append(row)
            mutant = load()[row["mutant"]]
            if row["faults"] is None:
                missed += mutant.at >= 0
                end = f"not found with {row['tried']}: {mutant.why or '?'}"
            else:
                end = f"{row['faults']} faults  {row['invariant']}  ({row['scenario']})"
            print(f"{row['mutant']:58} {row['runs']:>6} runs {row['seconds']:6.1f} s  {end}",
                  flush=True)  # fmt: skip
    at = [sum(row["faults"] == n for row in rows) for n in (0, 1, 2)]
    ends = f"{at[0]} found without a fault, {at[1]} with one, {at[2]} with two"
    print(f"{len(rows)} mutants: {ends}, {len(rows) - sum(at)} not")
    print(f"figures: {written('mutants', rows)}")
    return missed


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
