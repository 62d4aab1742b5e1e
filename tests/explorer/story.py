"""A story: what happens in a run, and how it may end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.explorer.clients import Post
from tests.explorer.world import World

Ends = frozenset[str]

DONE: Ends = frozenset({"completed"})


@dataclass(frozen=True)
class Scenario:
    """A story. Without faults each run of it is the same."""

    name: str
    posts: tuple[Post, ...]
    ends: Ends = DONE
    """States in which the last job of each key is when there is no fault."""
    also: Ends = frozenset()
    """States in which it may be besides, when there is one."""
    script: tuple[str, ...] = ()
    """What the vendor's first calls come to."""
    steps: tuple[tuple[float, Callable[[World], None]], ...] = ()
    funds: int = 10_000_000
    patience: float = 0.0
    """Seconds by which its own schedule may put off the end when a fault is in the way."""
    limited: int = 0
    """Answers 429 without faults, of posts beyond the partner's limit."""
    in_turn: tuple[str, str] | None = None
    """Without faults: the partner whose jobs are all done before the last of the other one's."""
    refused: int = 0
    """Keys that are told 402 in the end."""
    found: Mapping[str, int] | None = None
    """Without faults: the partners' jobs by what the cache did for them (`Job.cache_status`)."""
    refreshes: int = 0
    """Without faults: stale answers made anew, or tried to."""
    calls: int | None = None
    """Vendor calls without faults, if that is what the story is about."""
    quiet: float = 0.0
    """Seconds in which there are no faults: other stories are about what happens in them."""
    last: bool = False
    """Whether it is about a job's last start: an answer that is lost is not asked for again."""
    extra: frozenset[str] = frozenset()
    """Faults that may cost one vendor call more in this story, although alone."""

    @property
    def shared(self) -> bool:
        """Return whether partners share the work: what one's job has staged is not the other's."""
        return len({post.partner for post in self.posts}) > 1

    def begin(self, world: World) -> None:
        """Give credits and put everything on the calendar."""
        if self.quiet:
            world.hub.faultless = True
            world.step(self.quiet, lambda: setattr(world.hub, "faultless", False))
        for partner in sorted({post.partner for post in self.posts}):
            world.deployed.ledger.credit(partner, "first", self.funds, world.hub.now())
        world.deployed.vendor.script.extend(self.script)
        for post in self.posts:
            world.step(post.at, _posting(world, post))
        for at, act in self.steps:
            world.step(at, _acting(world, act))


def _posting(world: World, post: Post) -> Callable[[], None]:
    return lambda: world.post(post)


def _acting(world: World, act: Callable[[World], None]) -> Callable[[], None]:
    return lambda: act(world)
