"""Readers of the public key while a thousand answers are promoted under it, bad ones staged beside.

Nobody ever sees a part of an answer, one that was not checked, none at all, or one without an end.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tests.patience import REDIS
from tidegate.clock import SystemClock
from tidegate.doors.cache import Cache
from tidegate.doors.envelope import Cached, opened
from tidegate.doors.staged import Staged
from tidegate.doors.valkey import Valkey
from tidegate.settings import RedisSettings

JOB_KEY = "promoted"
PUBLIC = f"tg:{{{JOB_KEY}}}:result"
ANSWERS, READERS, TOGETHER = 1000, 4, 5
NOW, LIFE = 1_900_000_000.0, 600.0
PATIENCE = 60.0
"""Seconds after which a thread that does not go on is stuck."""
BAD = "unchecked"


def checked(number: int) -> Cached:
    """Return one of the answers: most are small, every fiftieth has some 100 KB."""
    text = f"answer {number} " * (9000 if number % 50 == 0 else number % 300 + 1)
    at = NOW + number
    return Cached(f"job_{number}", {"text": text}, at, at + LIFE, at + LIFE)


def unchecked(number: int) -> Staged:
    text = f"{BAD} {number} " * (number % 300 + 1)
    return Staged(f"job_{number}", text, (), False, 1, 1, 1, None, NOW)


@dataclass
class Progress:
    """How often each reader has read, and who waits for that."""

    reads: list[int] = field(default_factory=lambda: [0] * READERS)
    changed: threading.Condition = field(default_factory=threading.Condition)
    over: threading.Event = field(default_factory=threading.Event)

    def one_more(self, reader: int) -> None:
        with self.changed:
            self.reads[reader] += 1
            self.changed.notify_all()

    def end(self) -> None:
        with self.changed:
            self.over.set()
            self.changed.notify_all()

    def all_read(self) -> None:
        """Wait until every reader has begun and ended a read from here on, or all is over."""
        with self.changed:
            enough = [reads + 2 for reads in self.reads]
            assert self.changed.wait_for(
                lambda: self.over.is_set() or all(map(int.__le__, enough, self.reads)), PATIENCE
            ), "a reader is stuck"


@dataclass
class Seen:
    """What one reader has seen."""

    values: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def note(self, answer: Cached | None, what: str) -> None:
        if answer is None:
            self.wrong.append(what)
        elif answer.output != checked(int(answer.job_id.removeprefix("job_"))).output:
            self.wrong.append(f"another answer: {answer.job_id}")
        else:
            self.values.add(answer.job_id)


def connected(url: str) -> Valkey:
    return Valkey(RedisSettings(url, None, None, "us-east-1"), None, SystemClock(), REDIS)


def reader(url: str, number: int, progress: Progress) -> Seen:
    """Read as fast as possible until all is over: raw, and as the api does."""
    valkey, seen, last = connected(url), Seen(), 0.0
    cache = Cache(valkey)
    try:
        while not progress.over.is_set() and not seen.wrong:
            raw = valkey.get(PUBLIC)
            if raw is None or BAD in raw:
                seen.wrong.append(f"raw: {raw}")
            else:
                seen.note(opened(JOB_KEY, raw), "a part of an answer")
            left = valkey._do(lambda client: client.pttl(PUBLIC))
            if not 0 < left <= LIFE * 1000:
                seen.wrong.append(f"an end in {left} ms")
            looked = cache.look(JOB_KEY, NOW).result
            seen.note(looked, "a look without an answer")
            if looked is not None and looked.answered_at < last:
                seen.wrong.append("an answer from before the last")
            last = last if looked is None else looked.answered_at
            progress.one_more(number)
    finally:
        progress.end()  # of all, whatever ended this one
        valkey.close()
    return seen


def stager(url: str, progress: Progress) -> int:
    """Stage bad answers as fast as possible, as workers do that nobody waits for."""
    valkey, number = connected(url), 0
    while not progress.over.is_set():
        number += 1
        Cache(valkey).stage(JOB_KEY, unchecked(number), LIFE)
    valkey.close()
    return number


def writer(url: str, progress: Progress) -> None:
    """Promote all answers; now and then wait until everybody has seen the last one."""
    valkey = connected(url)
    cache = Cache(valkey)
    for number in range(2, ANSWERS + 1):
        cache.stage(JOB_KEY, unchecked(number), LIFE)
        answer = checked(number)
        cache.promote(JOB_KEY, answer, answer.answered_at)
        if number % TOGETHER == 0:
            progress.all_read()
        if number % 7 == 0:
            cache.unstage(JOB_KEY)
    valkey.close()


def test_readers_see_whole_checked_answers_and_nothing_else(redis_url: str) -> None:
    first = connected(redis_url)
    Cache(first).promote(JOB_KEY, checked(1), NOW + 1)
    progress = Progress()
    with ThreadPoolExecutor(READERS + 2) as pool:
        readers = [pool.submit(reader, redis_url, n, progress) for n in range(READERS)]
        staged = pool.submit(stager, redis_url, progress)
        try:
            writer(redis_url, progress)
        finally:
            progress.end()
    for each in readers:
        seen = each.result()
        assert seen.wrong == []
        assert len(seen.values) >= ANSWERS // TOGETHER
    assert staged.result() > 0
    last = Cache(first).look(JOB_KEY, NOW).result
    assert last == checked(ANSWERS)
    first.close()
