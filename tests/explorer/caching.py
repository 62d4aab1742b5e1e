"""What the cache promises, held against what clients heard, and against every promotion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.explorer.clients import Heard, Post
from tests.explorer.hub import Fault
from tests.explorer.story import Scenario
from tests.explorer.world import World
from tidegate.doors.actions import Item
from tidegate.doors.envelope import opened
from tidegate.doors.epochs import LIFE
from tidegate.doors.items import job_of
from tidegate.flows.refresh import PAUSE
from tidegate.rules.job import OPERATOR, Job
from tidegate.rules.keys import claim_id


@dataclass
class Caching:
    """Watches a run; `broken` says what was violated."""

    world: World
    scenario: Scenario
    broken: list[str] = field(default_factory=list)
    refreshes: list[Job] = field(default_factory=list)
    """The operator's jobs, as they began."""
    _made: dict[str, tuple[int, float, int]] = field(default_factory=dict)
    """By key in Redis: when its answer was made, when the key ends, after how many wipes."""

    def __post_init__(self) -> None:
        self.world.deployed.scripts.append(self._ran)
        self.world.deployed.store.watchers.append(self._changed)

    def _say(self, invariant: str, what: str) -> None:
        self.broken.append(f"{invariant}: {what}")

    def _ran(self, script: str, keys: list[str], _args: list[Any], _answer: Any) -> None:
        if script != "promote":
            return
        redis, now = self.world.deployed.redis, self.world.hub.ms
        held = redis.live(keys[1])
        answer = None if held is None else opened(keys[1].partition("{")[2][:64], held[0])
        if held is None or answer is None:
            return
        at, before = round(answer.answered_at * 1000), self._made.get(keys[1])
        if before is not None and before[1] > now and before[2] == redis.wipes and before[0] > at:
            self._say("the newer answer stays", f"{keys[1]}: {before[0] - at} ms older")
        self._made[keys[1]] = (at, held[1], redis.wipes)

    def _changed(self, table: str, before: Item | None, after: Item | None) -> None:
        if table != "jobs" or after is None:
            return
        if after["sk"] == "answer" and (before or after)["answered_at"] > after["answered_at"]:
            self._say("the newer answer stays", f"{after['pk']} of {after['job_id']}")
        if after["sk"] == "status" and before is None and after["partner"] == OPERATOR:
            self._begun(job_of(after))

    def _begun(self, job: Job) -> None:
        """Check that a refresh is no second one within the pause of one that did not succeed."""
        for other in self.refreshes:
            item = self.world.deployed.store.items("jobs", f"job#{other.id}")["status"]
            paused = job.created_at - other.created_at < PAUSE and item["status"] != "completed"
            same = item["job_key"] == job.job_key
            if same and paused and not self.world.deployed.redis.wipes:
                self._say("one refresh at a time, and a pause", f"{other.id}, {job.id}")
        self.refreshes.append(job)

    def rested(self, faults: Sequence[Fault], calls: int) -> Iterator[str]:
        """Yield what does not hold when nothing is left to do."""
        items = [item for item in self.world.deployed.store.all("jobs") if item["sk"] == "status"]
        jobs = {item["id"]: job_of(item) for item in items}
        for job in jobs.values():
            yield from self._ages(job)
        yield from self._starts(jobs, faults)
        yield from self._asked(jobs)
        first: dict[tuple[str, str], int] = {}
        for post, at in self.world.asked:
            first.setdefault((post.partner, post.key), at)
        for heard in self.world.heard:
            answer = jobs.get(heard.job or "")
            if answer is not None:
                sent = first[heard.post.partner, heard.post.key]
                yield from self._wished(heard, sent, answer)
                yield from self._void(heard.post, sent, answer, faults)
        if not faults:
            yield from self._without_faults(jobs, calls)

    def _ages(self, job: Job) -> Iterator[str]:
        if job.answered_at is None:
            return
        if round(job.answered_at * 1000) < round(job.newer_than * 1000):
            yield f"as new as was asked: {job.id} is answered by {job.answer_of}"
        soft, hard = self.world.deployed.catalogue.models[job.model].cache.lives(0.5, 0.5)
        if not job.from_cache:
            return
        age = (job.finished_at or 0.0) - job.answered_at
        if age >= hard:
            yield f"nothing after its end: {job.id} has an answer of {age:.1f} s"
        elif job.reserved == 0 and (age >= soft) != (job.cache_status == "stale"):
            yield f"stale is told so: {job.id} has an answer of {age:.1f} s"

    def _starts(self, jobs: dict[str, Job], faults: Sequence[Fault]) -> Iterator[str]:
        """Yield the jobs that the vendor was called for more often than they may start."""
        made = Counter(key.partition(".")[0] for _, key in self.world.deployed.vendor.calls)
        for name, calls in made.items():
            job = jobs[name]
            entry = self.world.deployed.catalogue.models[job.model]
            free = {"account", "429"}  # the vendor is paused, and the job put back
            if len(self.scenario.posts) >= entry.breaker.failures:
                free |= {"500", "timeout"}
            refused = sum(fault.kind in free for fault in faults)
            refused += sum(each in free for each in self.scenario.script)
            if calls > entry.retry.starts * (job.replay_count + 1) + refused:
                yield f"vendor calls of a job: {calls} for {name}"

    def _asked(self, jobs: dict[str, Job]) -> Iterator[str]:
        """Yield the jobs that partners have and did not ask for."""
        claims = {
            claim_id(post.partner, post.route, post.key): post.partner
            for post in self.scenario.posts
        }
        for job in jobs.values():
            if job.partner != OPERATOR and claims.get(job.idempotency_hash) != job.partner:
                yield f"a partner has what it asked for: {job.id}"
            if job.partner == OPERATOR and job.priority != "low":
                yield f"a refresh is in lane low: {job.id}"

    def _wished(self, heard: Heard, sent: int, job: Job) -> Iterator[str]:
        wish = heard.post.cache_control or ""
        made = sent if job.answered_at is None else round(job.answered_at * 1000)
        if wish and made < sent:
            yield f"{wish}: {heard.post.key} has an answer of {(sent - made) / 1000} s before"
        if wish == "no-store" and job.reusable:
            yield f"no-store: {heard.post.key} has {job.id}"

    def _void(self, post: Post, sent: int, job: Job, faults: Sequence[Fault]) -> Iterator[str]:
        late = LIFE if any(fault.door.startswith("redis") for fault in faults) else 0
        for model, partner, since, told in self.world.void:
            meant = model in {None, post.model} and partner in {None, post.partner}
            if not meant or sent < told + late or job.answered_at is None:
                continue
            if round(job.answered_at * 1000) <= since:
                yield f"void is void: {post.key} is answered by {job.answer_of}"

    def _without_faults(self, jobs: dict[str, Job], calls: int) -> Iterator[str]:
        of_partners = [job for job in jobs.values() if job.partner != OPERATOR]
        found = Counter(job.cache_status for job in of_partners)
        if self.scenario.found is not None and found != Counter(self.scenario.found):
            yield f"the cache does its part: {dict(found)}"
        if len(self.refreshes) != self.scenario.refreshes:
            yield f"the cache does its part: {len(self.refreshes)} refreshes"
        if self.scenario.calls not in {None, calls}:
            yield f"the cache does its part: {calls} calls"
