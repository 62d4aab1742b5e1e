"""50 jobs that the vendor refuses until they are dead-lettered; replay is killed twice on its way.

It is started again. Afterwards one more is dead-lettered and its message moved by hand from the DLQ
to its queue.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from bench.deployed.audit import audit
from bench.deployed.owner import PROC, members
from bench.deployed.report import conclude, grid
from bench.deployed.rig import Rig, asked, await_all_done, insist, new_mark, rig, say
from bench.results import written
from cli.demo.books import await_that
from cli.demo.crowd import side_by_side
from cli.demo.facts import Check
from cli.dlq import Refused, invoke
from cli.local.stack import ENVIRONMENT, client
from tidegate.rules.job import Status

JOBS = 50
MODEL = "chat-mini"
RATE = 10
PATIENCE = 300.0


@dataclass(frozen=True, slots=True)
class Run:
    """One invocation of the replay function."""

    killed: bool
    looked_at: int
    results: dict[str, int]
    hidden: int


def main() -> int:
    """Run everything; return 1 if anything is not as promised."""
    accepted: dict[str, str] = {}
    with rig(__doc__ or "") as (stage, arguments):
        size = arguments.size or JOBS
        dead = _dead_lettered(stage, size, accepted)
        begun = time.time()
        runs = _replayed(stage, size)
        jobs = await_all_done(stage, PATIENCE, say)
        took = max((job.finished_at or 0.0) for job in jobs.values()) - begun
        replayed = [jobs[job_id] for job_id in dead]
        checks = [
            Check("jobs dead-lettered", len(dead), size),
            Check("of these completed", sum(j.status == "completed" for j in replayed), size),
            Check("replays per job", sorted({job.replay_count for job in replayed}), [1]),
            Check("calls per job by its replay", sorted({job.starts for job in replayed}), [1]),
            Check("runs of the function that were killed", sum(run.killed for run in runs), 2),
            Check("messages left in the DLQ", _waiting(stage), 0),
            *_moved_by_hand(stage, accepted),
        ]
        books = audit(stage, accepted)
    grid("Runs of the replay function", ("", "looked at", "results", "out of sight"), [
        ("killed" if run.killed else "to its end", run.looked_at, run.results, run.hidden)
        for run in runs
    ])  # fmt: skip
    grid("Jobs dead-lettered and replayed", ("", "found", "as promised"), [
        (c.what, c.outcome, "yes" if c.holds else "NO") for c in checks
    ])  # fmt: skip
    conclude(books, took)
    written("outage", {
        "runs": [asdict(run) for run in runs], "seconds_until_all_were_final": took,
        "checks": {check.what: check.outcome for check in checks}, "audit": asdict(books),
    })  # fmt: skip
    return 0 if all(check.holds for check in checks) and books.clean else 1


def _dead_lettered(stage: Rig, size: int, accepted: dict[str, str]) -> list[str]:
    """Return the ids of jobs whose every attempt failed, their messages being in the DLQ."""
    already = _waiting(stage)
    stage.stage.vendor.fail(MODEL, 409, times=None)  # no outage: that would wait
    marks = [new_mark() for _ in range(size)]
    partners = stage.stage.partners

    def post(number: int) -> str:
        partner = partners[number % len(partners)]
        return insist(partner, asked(MODEL, marks[number]), marks[number]).reply.job_id

    made = dict(zip(marks, side_by_side(post, range(size), 8), strict=True))
    accepted.update(made)
    jobs = await_all_done(stage, PATIENCE, say)
    await_that(lambda: _waiting(stage) - already >= size, "messages in the DLQ", PATIENCE)
    stage.stage.vendor.behave()
    return [each for each in made.values() if jobs[each].status is Status.DEAD_LETTERED]


def _replayed(stage: Rig, size: int) -> list[Run]:
    """Return the runs that it took, the first two of them killed on the way."""
    lambda_ = client(stage.info.aws_endpoint, "lambda")
    runs: list[Run] = []
    until = time.monotonic() + PATIENCE
    for goal in (size // 3, 2 * size // 3):
        runs.append(_killed_at(stage, lambda_, goal))
        say(f"killed with {_reopened(stage)} jobs re-opened")
    while time.monotonic() < until:
        answer = _asked(lambda_)
        results: dict[str, int] = {}
        for item in answer["items"]:
            results[item["result"]] = results.get(item["result"], 0) + 1
        runs.append(Run(False, answer["looked_at"], results, answer["hidden"]))
        say(f"replay looked at {answer['looked_at']}: {results}, hidden {answer['hidden']}")
        if _waiting(stage) == 0:
            break
        time.sleep(10)
    return runs


def _killed_at(stage: Rig, lambda_: Any, goal: int) -> Run:
    """Run the function and kill it as soon as so many jobs are open again."""
    answers: list[dict[str, Any]] = []

    def run() -> None:
        with suppress(Refused):
            answers.append(_asked(lambda_))

    thread = threading.Thread(target=run)
    thread.start()
    killed = False
    while thread.is_alive() and not killed:
        if _reopened(stage) >= goal:
            killed = _kill(stage)
        time.sleep(0.05)
    thread.join()
    return Run(killed and not answers, 0, {}, 0)


def _asked(lambda_: Any) -> dict[str, Any]:
    request = {"action": "replay", "model": MODEL, "dry_run": False, "rate_per_second": RATE}
    return invoke(lambda_, ENVIRONMENT, request)


def _kill(stage: Rig) -> bool:
    """Kill the process of the replay function; return whether there was one."""
    wanted = f"AWS_LAMBDA_FUNCTION_NAME={stage.info.functions['replay']}".encode()
    for pid in members(stage.info.processes["emulator"]):
        with suppress(OSError):
            if wanted in (PROC / str(pid) / "environ").read_bytes().split(b"\0"):
                os.kill(pid, signal.SIGKILL)
                return True
    return False


def _reopened(stage: Rig) -> int:
    return sum(job.replay_count > 0 for job in stage.jobs().values())


def _waiting(stage: Rig) -> int:
    return stage.stage.books.waiting([stage.info.dlqs[MODEL]])


def _moved_by_hand(stage: Rig, accepted: dict[str, str]) -> list[Check]:
    """Return what came of a message that somebody put back into its queue."""
    [job_id] = _dead_lettered(stage, 1, accepted)
    sqs = client(stage.info.aws_endpoint, "sqs")
    dlq = stage.info.dlqs[MODEL]
    [message] = sqs.receive_message(QueueUrl=dlq, WaitTimeSeconds=2)["Messages"]
    moved_at = time.time()
    sqs.send_message(QueueUrl=stage.info.queues[MODEL], MessageBody=message["Body"])
    sqs.delete_message(QueueUrl=dlq, ReceiptHandle=message["ReceiptHandle"])
    await_that(lambda: stage.jobs()[job_id].status is Status.COMPLETED, "the moved job", PATIENCE)
    job = stage.jobs()[job_id]
    say(f"completed {(job.finished_at or moved_at) - moved_at:.1f} s after it was moved")
    return [
        Check("moved by hand: the job", job.status.value, "completed"),
        Check("moved by hand: re-opened", job.replay_count, 1),
        Check("moved by hand: left in the DLQ", _waiting(stage), 0),
    ]


if __name__ == "__main__":
    sys.exit(main())
