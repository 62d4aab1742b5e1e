"""A thousand identical posts, each under its own key, as the answer to them is not there or ends.

The answer's lives are short here, without jitter, and the vendor is slow: a burst is over before it
has answered, but where it is meant to go on. Calls are counted by the vendor's own journal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field

from bench.deployed.audit import audit
from bench.deployed.burst import WIDTH, Burst
from bench.deployed.leader import killed_at_vendor
from bench.deployed.outcome import Outcome, Situation, books, outcome
from bench.deployed.report import conclude, console, grid
from bench.deployed.rig import Rig, asked, await_all_done, insist, new_mark, rig, say
from bench.results import written
from cli.demo.books import await_that
from cli.demo.crowd import at_once
from tidegate.rules.job import Status

POSTS = 1000
MODEL = "risk-report"
SOFT, HARD, NEGATIVE = 60, 100, 5
"""Lives in seconds."""
BRISK, LONGEST = 5.0, 40.0
"""Seconds the vendor takes where a burst is to go on after it, and at most where it is not."""
EARLY = 1.0
"""Seconds by which a burst begins before a life ends."""
PATIENCE = 400.0

OVERLAY = f"""
[models.{MODEL}.cache]
soft_ttl = {SOFT}
hard_ttl = {HARD}
jitter = 0.0
negative_ttl = {NEGATIVE}
[models.{MODEL}.timeouts]
read = {LONGEST + 5:.0f}
total = {LONGEST + 6:.0f}
"""

COLD = Situation("cold")
AT_SOFT = Situation(
    "soft expiry", created=0, refreshed=1, thinking=BRISK, life=SOFT, early=EARLY
)  # fmt: skip
AFTER_HARD = Situation("hard expiry", life=HARD)
ACROSS_HARD = Situation("1 s before it", refreshed=1, life=HARD, early=EARLY)
FAILS = Situation(
    "gate fails", calls=None, created=None, thinking=1.0, spread=40.0,
    reply='{"account_id": 4711, "confidence_score": 0.', # cut off
    ends=frozenset({Status.QUARANTINED, Status.FAILED}),
)  # fmt: skip
KILLED = Situation("leader killed", calls=2, kills=True)


@dataclass(slots=True)
class Stampede:
    """The stack and what is tried on it."""

    rig: Rig
    size: int
    slow: float = LONGEST
    """Seconds the vendor takes where a burst is to be over before it has answered."""
    accepted: dict[str, str] = field(default_factory=dict)
    """Job ids by key."""

    def warm(self) -> None:
        """Have the front door's processes started, and learn how long a burst takes here."""
        for count in (4, WIDTH, WIDTH, WIDTH):
            at_once(count, lambda _n: self.rig.stage.partner.get("/v1/models"))
        for _ in range(4):
            mark = self.seeded()
            trial = Burst(self.rig, mark, asked(MODEL, mark), max(self.size // 10, WIDTH))
            trial.run()
            self.accepted.update((post.key, post.job_id) for post in trial.posts)
        seconds = (trial.ended - trial.begun) * self.size / trial.size
        self.slow = min(1.3 * seconds + 2, LONGEST)
        say(
            f"{trial.size / (trial.ended - trial.begun):.0f} posts a second; where it is slow, "
            f"the vendor takes {self.slow:.0f} s"
        )

    def seeded(self) -> str:
        """Return the mark of work that is done now."""
        mark = new_mark()
        job_id = insist(self.rig.stage.partner, asked(MODEL, mark), _seed(mark)).reply.job_id
        self.accepted[_seed(mark)] = job_id
        self.rig.until_done(job_id, PATIENCE)
        return mark

    def works(self) -> Iterator[tuple[Situation, str]]:
        """Yield each situation and the mark of its work, which is answered in time if it is to."""
        soft, hard = self.seeded(), self.seeded()
        yield COLD, new_mark()
        yield AT_SOFT, soft
        yield AFTER_HARD, hard
        across = self.seeded()
        yield FAILS, new_mark()
        yield ACROSS_HARD, across
        yield KILLED, new_mark()

    def play(self, situation: Situation, mark: str) -> Outcome:
        """Return what comes of a burst for the work of a mark, once all jobs have ended."""
        vendor = self.rig.stage.vendor
        thinking = self.slow if situation.thinking is None else situation.thinking
        vendor.script(MODEL, {"type": "delay", "seconds": thinking, "times": None})
        if situation.reply is not None:
            vendor.script(MODEL, {"type": "reply", "text": situation.reply, "times": None})
        burst = Burst(self.rig, mark, asked(MODEL, mark), self.size, situation.spread)
        before = books(self.rig)
        self._await_end_of(situation, mark)
        say(f"{situation.name}: {self.size} posts")
        with ThreadPoolExecutor(1) as beside:
            killing = beside.submit(self._kill, burst) if situation.kills else None
            burst.run()
            if killing is not None:
                killing.result()
        await_all_done(self.rig, PATIENCE, say)
        vendor.behave()
        self.accepted.update((post.key, post.job_id) for post in burst.posts if post.job_id)
        found = outcome(self.rig, situation, burst, before, NEGATIVE)
        say(f"{situation.name}: {found.vendor_calls} vendor calls, wrong: {found.wrong or 'none'}")
        return found

    def _await_end_of(self, situation: Situation, mark: str) -> None:
        """Return shortly before the answer's life ends, or a moment after."""
        if situation.life is None:
            return
        answered = self.rig.jobs()[self.accepted[_seed(mark)]].finished_at or 0.0
        late = time.time() - (answered + situation.life - situation.early)
        if late > EARLY / 2:
            say(f"{situation.name}: {late:.1f} s late")
        time.sleep(max(0.0, -late))

    def _kill(self, burst: Burst) -> None:
        """Kill the leader amid the burst.

        Raises:
            Unfinished: there was none, or no telling which it was.
        """
        await_that(lambda: len(burst.posts) >= self.size // 2, "half of the answers", PATIENCE)
        pid = killed_at_vendor(self.rig.info, PATIENCE)
        say(f"killed the leader, process {pid}, after {len(burst.posts)} answers")


def main() -> int:
    """Run all; return 1 if anything is not as promised."""
    with rig(__doc__ or "", overlay=OVERLAY) as (stage, arguments):
        stampede = Stampede(stage, arguments.size or POSTS)
        stampede.warm()
        found = [
            stampede.play(situation, mark)
            for situation, mark in stampede.works()
            if arguments.only is None or arguments.only in situation.name
        ]
        ended = audit(stage, stampede.accepted)
    _show(found)
    conclude(ended)
    for each in found:
        for what in each.wrong:
            console().print(f"  {each.situation}: {what}", style="red", markup=False)
    written("stampede", {
        "clients": WIDTH, "slow": stampede.slow,
        "soft_ttl": SOFT, "hard_ttl": HARD, "negative_ttl": NEGATIVE,
        "situations": [asdict(each) for each in found], "audit": asdict(ended),
    })  # fmt: skip
    return 0 if ended.clean and not any(each.wrong for each in found) else 1


def _show(found: Sequence[Outcome]) -> None:
    grid(
        f"Identical posts by {WIDTH} clients, each under its own key",
        ("", "posts", "2xx", "hits", "stale", "joined", "created", "failed", "calls",
         "burst, s", "longest, s"),
        [(o.situation, o.posts, o.answered, o.fresh + o.stale, o.stale, o.joined, o.created,
          o.failed, f"{o.vendor_calls} of {o.most_calls}", o.seconds, o.longest) for o in found],
    )  # fmt: skip
    grid(
        "When the posts came, by the vendor's calls; who paid, in micro-credits",
        ("", "before", "amid", "else", "sent again", "leaders", "refreshes", "by a call",
         "partner", "operator"),
        [(o.situation, o.before, o.amid, o.posts - o.before - o.amid, o.repeated, o.led,
          o.refreshes, o.refreshed, o.partner_paid, o.operator_paid) for o in found],
    )  # fmt: skip


def _seed(mark: str) -> str:
    return f"{mark}-seed"


if __name__ == "__main__":
    sys.exit(main())
