"""The stories that are run: small, each about one promise."""

from __future__ import annotations

from tests.explorer.clients import Post
from tests.explorer.scenarios_cache import CACHED
from tests.explorer.scenarios_gate import GATED
from tests.explorer.scenarios_pace import PACED
from tests.explorer.story import DONE, Scenario
from tests.explorer.world import World

DEAD = "dead_lettered"


def _cancel(world: World) -> None:
    world.cancel("k")


def _redrive(world: World) -> None:
    world.redrive()


def _replay(world: World) -> None:
    world.replay()


FAILING = ("500", "timeout", "timeout")

SCENARIOS: dict[str, Scenario] = {
    story.name: story
    for story in (
        Scenario("one job", (Post("k"),)),
        Scenario("one job, the client insists", (Post("k", tries=3),)),
        Scenario(
            "one key twice",
            (Post("k", tries=2), Post("k", at=0.012, tries=2), Post("k", at=30)),
        ),
        Scenario(
            "same work, two keys",
            (Post("k"), Post("l", at=0.012), Post("m", at=30)),
        ),
        Scenario(
            "an image, asked for twice",
            (
                Post("k", model="image", tries=3),
                Post("k", at=0.5, model="image"),
                Post("k", at=30, model="image"),
            ),
        ),
        Scenario("never reused", (Post("k", model="once", tries=2), Post("l", model="once"))),
        Scenario(
            "two partners, shared work",
            (Post("k", model="shared"), Post("k", model="shared", partner="beta", at=0.012)),
        ),
        Scenario(
            "funds for one of two",
            (Post("k", "one", tries=2), Post("l", "two", at=0.012)),
            funds=1060,
            refused=1,
        ),
        Scenario("vendor stumbles", (Post("k"),), script=("429", "timeout")),
        Scenario("vendor is down", (Post("k"),), script=("500",) * 12, ends=frozenset({DEAD})),
        Scenario(
            "every worker dies",
            (Post("k"),),
            script=("crash",) * 12,
            ends=frozenset({DEAD}),
            also=DONE,
            patience=120.0,
        ),
        Scenario(
            "dead-lettered, then the key again",
            (Post("k"), Post("k", at=65, tries=2)),
            script=FAILING,
            also=frozenset({DEAD}),
        ),
        Scenario(
            "dead-lettered and redriven by hand",
            (Post("k"),),
            script=FAILING,
            steps=((60, _redrive), (130, _redrive)),
            patience=70.0,
            also=frozenset({DEAD}),
        ),
        Scenario(
            "redriven while the client asks again",
            (Post("k"), Post("k", at=60.012, tries=2)),
            script=FAILING,
            steps=((60, _redrive),),
            also=frozenset({DEAD}),
        ),
        Scenario(
            "replayed",
            (Post("k"),),
            script=FAILING,
            steps=((65, _replay), (200, _replay)),
            patience=70.0,
            also=frozenset({DEAD}),
        ),
        Scenario(
            "replayed while the client asks again",
            (Post("k"), Post("k", at=65.022, tries=2)),
            script=FAILING,
            steps=((65, _replay),),
            also=frozenset({DEAD}),
        ),
        Scenario(
            "replayed twice and redriven at once",
            (Post("k"),),
            script=FAILING,
            steps=((65, _replay), (65.017, _replay), (65.027, _redrive)),
            also=frozenset({DEAD}),
        ),
        Scenario(
            "cancelled before the start",
            (Post("k"),),
            steps=((0.062, _cancel),),
            ends=frozenset({"cancelled"}),
            also=DONE,
        ),
        Scenario(
            "cancelled while the vendor works",
            (Post("k"), Post("l", at=0.5)),
            steps=((0.52, _cancel),),
            ends=frozenset({"cancelled", "completed"}),
        ),
        Scenario(
            "quarantined",
            (Post("k"), Post("k", at=30)),
            script=("invalid",),
            ends=frozenset({"quarantined"}),
            also=DONE,
        ),
        Scenario(
            "refused by the vendor",
            (Post("k"),),
            script=("refused",),
            ends=frozenset({"failed"}),
            also=DONE,
        ),
        Scenario(
            "short deadline",
            (Post("k", deadline=20),),
            script=("account", "account", "account"),
            ends=frozenset({"failed"}),
            also=frozenset({"expired", "completed"}),
            patience=15.0,  # opened again by a send that hung, it has its 20 s again
        ),
        *PACED,
        *CACHED,
        *GATED,
    )
}
