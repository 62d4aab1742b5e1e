"""An operator decides about answers that failed the gate, by the replay function; and what befalls
the sets that answers refer to."""

from __future__ import annotations

from typing import Any

from replay.handler import handle as handle_replay
from tests.explorer.processes import Context
from tests.explorer.world import AGAIN_MS, REPLAY_SECONDS, Told, World

TRIES = 3
LOOK_MS = 10_000
LOOKS = 30


def decide(world: World, verb: str, by: str = "me", looks: int = LOOKS) -> None:
    """Release or discard what is in quarantine, as soon as something is."""
    records = [item for item in world.deployed.store.all("jobs") if "facts" in item]
    if records:
        named = sorted({item["pk"].partition("#")[2] for item in records})
        _ask(world, {"quarantine": verb, "job_ids": named, "by": by, "why": "a test"}, TRIES)
    elif looks:
        world.hub.at(world.hub.ms + LOOK_MS, lambda: decide(world, verb, by, looks - 1))


def _ask(world: World, event: dict[str, Any], tries: int) -> None:
    """Invoke the replay function; again if it does not say what became of each job."""
    process = world.deployed.replays.take()
    context: Any = Context(world.hub, REPLAY_SECONDS)

    def ended(answer: dict[str, Any] | None) -> None:
        world.deployed.replays.give(process, dead=answer is None)
        items = [] if answer is None else answer["items"]
        world.told += [Told(event["by"], item["result"], *_decided(world, item)) for item in items]
        failed = answer is None or any(item["result"] == "failed" for item in items)
        if failed and tries > 1:
            world.hub.at(world.hub.ms + AGAIN_MS, lambda: _ask(world, event, tries - 1))

    def body() -> Any:
        return handle_replay(event, context, process[1], world.deployed.catalogue)

    world.hub.spawn("replay", body, ended)


def _decided(world: World, item: dict[str, Any]) -> tuple[str, str | None]:
    """Return how a job's answer was decided on, and by whom, at this moment."""
    items = world.deployed.store.items("jobs", f"job#{item['job_id']}").values()
    (record,) = (each for each in items if "facts" in each)
    return record["state"], record.get("decided_by")


def leave(world: World) -> None:
    """Let the references be out of reach until they are loaded."""
    world.deployed.sets.leave()


def lose(world: World) -> None:
    """Let there be no set."""
    world.deployed.sets.lose()


def load(world: World) -> None:
    """Load the sets."""
    world.deployed.sets.load()
