"""`make bench`: every part, or those that are named; each prints its figures and writes them."""

from __future__ import annotations

import subprocess
import sys

PARTS = {
    "explore": ("bench.explore", "--pairs"),
    "mutants": ("bench.mutants",),
    "balance": ("bench.balance",),
    "crowd": ("bench.crowd",),
    "stampede": ("bench.stampede",),
    "gate": ("bench.gate",),
    "parser_bounds": ("bench.parser_bounds",),
    "hit_path": ("bench.hit_path",),
    "kills": ("bench.kills",),
    "redis_lost": ("bench.redis_lost",),
    "outage": ("bench.outage",),
    "patience": ("bench.patience",),
    "quota": ("bench.quota", "requests"),
    "quota_tokens": ("bench.quota", "tokens"),
    "quota_crowded": ("bench.quota", "crowded"),
    "quota_exceeded": ("bench.quota", "exceeded"),
    "storm": ("bench.storm",),
    "fairness": ("bench.fairness",),
}
"""Module and arguments by name."""


def main(wanted: list[str]) -> int:
    """Run the wanted parts, all if none is named; return how many failed."""
    unknown = sorted(set(wanted) - set(PARTS))
    if unknown:
        print(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
        return 1
    failed = [
        name
        for name in wanted or PARTS
        if subprocess.run([sys.executable, "-m", *PARTS[name]], check=False).returncode
    ]
    if failed:
        print(f"failed: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
