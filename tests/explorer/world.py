"""One run: clients post, Lambda invokes, the sweeper's minute comes, the operator steps in."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from api.handler import handle as handle_api
from replay.handler import handle as handle_replay
from sweeper.handler import handle as handle_sweeper
from tests.explorer.clients import Heard, Post, http_event
from tests.explorer.deployment import Deployment
from tests.explorer.hub import EPOCH, Hub, Plan
from tests.explorer.memory_queue import DELIVER, URL, Stored, record
from tests.explorer.processes import Context
from worker.handler import handle as handle_worker

SWEEP_MS = 60_000
API_SECONDS = 29
"""API Gateway's limit, after which a client has no answer."""

HORIZON_MS = 4_000_000
"""When a run is given up: past every deadline there is."""

REPLAY_SECONDS = 120
HIDDEN_MS = 61_000
"""After which an operator starts a replay anew: the dead letters of the first are seen again."""

WORKERS = 2
AGAIN_MS = 2000


class Told(NamedTuple):
    """What an operator was told of a quarantined answer, and what was so at that moment."""

    by: str
    result: str
    state: str
    decided_by: str | None


class World:
    """A deployment with everybody around it, for one run at a time."""

    def __init__(self) -> None:
        self.hub = Hub()
        self.deployed = Deployment(self.hub)
        self.deployed.sqs.wake = self._deliver

    def reset(self, plan: Plan) -> None:
        """Begin a run."""
        self.hub.reset(plan)
        self.deployed.reset()
        self.heard: list[Heard] = []
        self.asked: list[tuple[Post, int]] = []
        """Posts, and when they were sent."""
        self.void: list[tuple[str | None, str | None, int, int]] = []
        """Model, partner, since when their answers are void, when the operator was told so."""
        self.told: list[Told] = []
        self.damaged: set[str] = set()
        """Values in Redis that nobody wrote so."""
        self.busy: dict[str, int] = {}
        self.off: dict[str, tuple[int, float]] = {}
        """By model: from when till when an operator has been told that it is paused."""
        self._last_tick = EPOCH

    def run(self) -> None:
        """Let everything happen until nothing is left to do, or time is up."""
        self.hub.run(self._moment)

    @property
    def late(self) -> bool:
        """Return whether the run was given up."""
        return self.hub.ms > EPOCH + HORIZON_MS

    def step(self, at: float, act: Callable[[], None]) -> None:
        """Let something happen so many seconds after the beginning."""
        self.hub.at(EPOCH + round(at * 1000), act)

    def post(self, post: Post, tries: int | None = None) -> None:
        """Send a request now; sent again if there is no answer to it."""
        left = post.tries if tries is None else tries

        def heard(answer: dict[str, Any] | None) -> None:
            status = 0 if answer is None else int(answer["statusCode"])
            body = json.loads(answer["body"]) if answer else {}
            headers = answer["multiValueHeaders"] if answer else {}
            self.heard.append(Heard(post, status, body, headers))
            if status == 429:
                self._limited(post, headers, left)
            if (status == 0 or status >= 500) and left > 1:
                self.hub.at(self.hub.ms + AGAIN_MS, lambda: self.post(post, left - 1))

        self.asked.append((post, self.hub.ms))
        self.request("POST", post.path, post.partner, post.headers, post.body(), heard)

    def _limited(self, post: Post, headers: dict[str, list[str]], left: int) -> None:
        """Post again when that is allowed; nobody is refused who asked within the limit."""
        minute = self.hub.ms - 60_000
        asked = sum(sent.partner == post.partner and at > minute for sent, at in self.asked)
        if asked <= self.deployed.catalogue.partners.requests_per_minute:
            self.hub.broken.append(f"429 above the limit: told after {asked} posts")
        if left > 1:
            again = self.hub.ms + int(headers["Retry-After"][0]) * 1000
            self.hub.at(again, lambda: self.post(post, left - 1))

    def cancel(self, key: str, partner: str = "acme", tries: int = 3) -> None:
        """Cancel the job that the last answer to a key named, if there was one."""
        ids = [h.body["id"] for h in self.heard if h.post.key == key and 200 <= h.status < 300]
        if not ids:
            return

        def heard(answer: dict[str, Any] | None) -> None:
            if (answer is None or answer["statusCode"] >= 500) and tries > 1:
                self.hub.at(self.hub.ms + AGAIN_MS, lambda: self.cancel(key, partner, tries - 1))

        self.request("POST", f"/v1/jobs/{ids[-1]}/cancel", partner, {}, None, heard)

    def request(
        self,
        method: str,
        path: str,
        partner: str,
        headers: dict[str, list[str]],
        body: str | None,
        heard: Callable[[dict[str, Any] | None], None],
    ) -> None:
        """Invoke the api function; `heard` gets its answer, or None if none came in time."""
        event = http_event(method, path, partner, headers, body)
        process = self.deployed.apis.take()
        api, app = process[1]
        context: Any = Context(self.hub, API_SECONDS)
        waiting = [True]

        def answered(answer: dict[str, Any] | None) -> None:
            if waiting:
                waiting.clear()
                heard(answer)

        def ended(answer: dict[str, Any] | None) -> None:
            self.deployed.apis.give(process, dead=answer is None)
            lost = answer is not None and self.hub.ask("api.reply", ("unheard",))
            answered(None if lost else answer)

        self.hub.at(self.hub.ms + API_SECONDS * 1000, lambda: answered(None))
        self.hub.spawn("api", lambda: handle_api(event, context, api, app), ended)

    def redrive(self, model: str = "chat") -> None:
        """Move the DLQ's messages back by hand."""
        self.deployed.sqs.redrive(URL + model)

    def replay(
        self, model: str = "chat", tries: int = 3, jobs: Sequence[str] | None = None
    ) -> None:
        """Have the replay function put dead letters back: all, or some jobs'; again if it fails."""
        process = self.deployed.replays.take()
        event: dict[str, Any] = {
            "action": "replay",
            "model": model,
            "dry_run": False,
            "rate_per_second": 100,
        }
        if jobs is not None:
            event["job_ids"] = list(jobs)
        context: Any = Context(self.hub, REPLAY_SECONDS)

        def ended(result: dict[str, Any] | None) -> None:
            self.deployed.replays.give(process, dead=result is None)
            failed = result is None or any(i["result"] == "failed" for i in result["items"])
            if failed and tries > 1:
                self.hub.at(self.hub.ms + HIDDEN_MS, lambda: self.replay(model, tries - 1, jobs))

        def body() -> Any:
            return handle_replay(event, context, process[1], self.deployed.catalogue)

        self.hub.spawn("replay", body, ended)

    def _deliver(self, url: str) -> None:
        model = url.removeprefix(URL).removesuffix("-low")
        if model not in self.deployed.workers:
            return
        while self.busy.get(url, 0) < WORKERS:
            stored = self.deployed.sqs.receive(url)
            if stored is None:
                return
            self._invoke(url, model, stored)
            if self.hub.ask("sqs.deliver", DELIVER):
                self._invoke(url, model, stored)

    def _invoke(self, url: str, model: str, stored: Stored) -> None:
        pool = self.deployed.workers[model]
        process = pool.take()
        doors, entry = process[1]
        event = {"Records": [record(stored, url)]}
        receipt, name = stored.receipt, stored.id
        context: Any = Context(self.hub, entry.timeouts.function)
        running = [True]
        self.busy[url] = self.busy.get(url, 0) + 1

        def over() -> None:
            if running:  # its time is up: what it still says, nobody hears
                running.clear()
                self.busy[url] -= 1
                self._deliver(url)

        def ended(result: dict[str, Any] | None) -> None:
            pool.give(process, dead=result is None)
            done = running and result is not None and not result["batchItemFailures"]
            if done and not self.hub.ask(f"sqs.delete {name}", ("unacknowledged",)):
                self.deployed.sqs.delete(url, receipt)
            over()

        self.hub.at(self.hub.ms + entry.timeouts.function * 1000, over)
        self.hub.spawn(f"worker {name}", lambda: handle_worker(event, context, doors, entry), ended)

    def _sweep(self) -> None:
        process = self.deployed.sweepers.take()
        context: Any = Context(self.hub, 55)

        def ended(result: Any) -> None:
            self.deployed.sweepers.give(process, dead=result is None)

        def body() -> Any:
            return handle_sweeper(context, process[1], self.deployed.catalogue)

        self.hub.spawn("sweeper", body, ended)

    def _moment(self, event: int | None) -> int | None:
        """Return when to go on: the next event, or the sweeper's minute if something is due then.

        Minutes in which the sweeper would find nothing are left out.
        """
        if self.late:
            return None
        due = self.deployed.store.due
        if due:
            first = max(min(due.values()), self.hub.ms, self._last_tick + 1)
            tick = EPOCH + -(-(first - EPOCH) // SWEEP_MS) * SWEEP_MS
            if event is None or tick <= event:
                self._last_tick = tick
                self.hub.at(tick, self._sweep)
                return tick
        return event
