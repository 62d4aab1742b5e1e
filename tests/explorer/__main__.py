"""Shows one run, choice by choice: `python -m tests.explorer SCENARIO [CHOICE:OPTION ...]`."""

from __future__ import annotations

import sys

from tests.explorer.explore import explorer
from tests.explorer.hub import EPOCH
from tests.explorer.scenarios import SCENARIOS

SHOWN = (
    "id", "partner", "status", "attempt", "starts", "bad_answers", "version", "owner", "due_at",
    "finished_at", "reserved", "charged", "replay_count", "cache_status", "answer_of",
    "release_of", "error",
)  # fmt: skip


def main(words: list[str]) -> None:
    """Print a run and what it broke."""
    scenario = SCENARIOS[words[0]]
    plan = {int(c): int(o) for c, _, o in (word.partition(":") for word in words[1:])}
    run = explorer().run(scenario, plan)
    world = explorer().world
    lines = []
    for index, (ms, actor, door, chosen) in enumerate(world.hub.log):
        mark = f"   <<< {chosen}" if chosen else ""
        lines.append(f"{index:4} {(ms - EPOCH) / 1000:9.3f}  {actor:10} {door}{mark}")
    lines += [f"heard {h.post.key} {h.status} {h.body.get('status')}" for h in world.heard]
    statuses = [item for item in world.deployed.store.all("jobs") if item["sk"] == "status"]
    lines += [str({name: item[name] for name in item if name in SHOWN}) for item in statuses]
    queues = world.deployed.sqs.queues.items()
    lines += [f"{url} {[message.body for message in stored.values()]}" for url, stored in queues]
    sys.stdout.write("\n".join([*lines, *(run.broken or ["nothing is broken"])]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
