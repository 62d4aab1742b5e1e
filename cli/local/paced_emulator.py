"""Ministack, made fit for a laptop; run as a script.

On AWS a burst of fifty requests is answered by fifty execution environments. Ministack imitates
that with fifty processes, each of which unpacks and imports everything: on two cores no request is
answered for a minute, and 4 GB of copies are on the disk. Here workers start a few at a time,
whoever waits for one takes, if it comes first, one that has become free, and archives are unpacked
once.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ministack import app
from ministack.core import iam_actions, iam_evaluator, lambda_runtime
from ministack.services import lambda_svc

PATIENCE = 30.0
"""Seconds after which a worker is started regardless: whoever waits may be awaited by the rest."""


class Pace:
    """Lends workers like `lambda_runtime`, of which it is a layer."""

    def __init__(self, starts: int) -> None:
        self._starts = starts
        self._starting: set[int] = set()
        self._changed = threading.Condition()
        self._acquire = lambda_runtime.acquire_worker
        self._release = lambda_runtime.release_worker
        self._spawn = lambda_runtime.Worker._spawn

    def acquire(
        self,
        name: str,
        config: dict[str, Any],
        code: bytes,
        qualifier: str = "$LATEST",
        max_concurrency: int | None = None,
    ) -> tuple[Any, str]:
        """Return a worker and `reused` or `spawn`; wait while many are starting."""
        key = lambda_runtime._worker_key(name, config, qualifier)
        until = time.monotonic() + PATIENCE
        with self._changed:
            while not self._may_go_on(key) and time.monotonic() < until:
                self._changed.wait(1)
            worker, how = self._acquire(name, config, code, qualifier, max_concurrency)
            if how == "spawn":
                self._starting.add(id(worker))
            return worker, how

    def release(self, worker: Any) -> None:
        """Take a worker back."""
        self._release(worker)
        self._settled(worker)

    def spawn(self, worker: Any) -> None:
        """Start a worker's process."""
        try:
            self._spawn(worker)
        finally:
            self._settled(worker)

    def _may_go_on(self, key: str) -> bool:
        workers = lambda_runtime._workers.get(key, ())
        return len(self._starting) < self._starts or any(not w.in_use for w in workers)

    def _settled(self, worker: Any) -> None:
        with self._changed:
            self._starting.discard(id(worker))
            self._changed.notify_all()


class SharedArchive(zipfile.ZipFile):
    """An archive that is unpacked once; every folder it is extracted to links to that.

    On AWS, too, what a function finds in /opt and /var/task is shared and read-only.
    """

    _unpacking = threading.Lock()

    def extractall(self, path: Any = None, members: Any = None, pwd: bytes | None = None) -> None:
        """Let `path` show what is in the archive; `members` and `pwd` are not supported."""
        digest = hashlib.sha256(Path(str(self.filename)).read_bytes()).hexdigest()
        home = Path(tempfile.gettempdir()) / "unpacked" / digest
        with self._unpacking:
            if not home.exists():
                scratch = home.with_suffix(".new")
                super().extractall(scratch, members, pwd)
                scratch.rename(home)
        for entry in home.iterdir():
            (Path(path) / entry.name).symlink_to(entry)


def as_aws_asks(
    extract_action: Callable[..., str | None], extract_resource: Callable[..., str]
) -> tuple[Callable[..., str | None], Callable[..., str]]:
    """Return both, corrected where ministack asks a role for something else than AWS does."""

    def action(*request: Any) -> str | None:
        asked = extract_action(*request)
        # AWS knows no action for batches (docs.aws.amazon.com/service-authorization: Amazon SQS).
        return asked.removesuffix("Batch") if asked and asked.startswith("sqs:") else asked

    def resource(service: str, *request: Any) -> str:
        asked = extract_resource(service, *request)
        if service == "secretsmanager":
            # A secret's `Ref` is its ARN; ministack puts its name into policies instead.
            return asked.rpartition(":secret:")[2].rpartition("-")[0]
        return asked

    return action, resource


class Loopback:
    """Where a request comes from, as `iam_evaluator` keeps it: here, and as if by TLS.

    Our own policies refuse plain HTTP, which is all that ministack speaks.
    """

    def get(self) -> tuple[str, bool]:
        """Return address and whether by TLS."""
        return "127.0.0.1", True

    def set(self, _origin: tuple[str, bool]) -> None:
        """Keep nothing."""


def main() -> None:
    """Serve until SIGTERM, as the settings in the environment say."""
    pace = Pace(starts=max(2, os.cpu_count() or 2))
    lambda_svc.acquire_worker = pace.acquire
    lambda_svc.release_worker = pace.release
    lambda_runtime.Worker._spawn = lambda worker: pace.spawn(worker)
    lambda_runtime.zipfile = SimpleNamespace(**{**vars(zipfile), "ZipFile": SharedArchive})
    iam_actions.extract_iam_action, iam_actions.extract_resource_arn = as_aws_asks(
        iam_actions.extract_iam_action, iam_actions.extract_resource_arn
    )
    iam_evaluator._request_origin = Loopback()
    app.main()


if __name__ == "__main__":
    main()
