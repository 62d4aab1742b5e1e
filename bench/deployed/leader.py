"""Killing the one process that is with the vendor (Linux: /proc)."""

from __future__ import annotations

import os
import signal
import time
from urllib.parse import urlsplit

from bench.deployed.owner import connected
from cli.demo.facts import Unfinished
from cli.local.stack import StackInfo


def killed_at_vendor(info: StackInfo, patience: float) -> int:
    """Kill the function's process that has a connection to the vendor; return which it was.

    Raises:
        Unfinished: there was none within `patience` seconds, or there were several.
    """
    port, until = urlsplit(info.vendor_url).port or 0, time.monotonic() + patience
    while not (there := connected(port, info.processes["emulator"])):
        if time.monotonic() > until:
            raise Unfinished("nobody is with the vendor")
        time.sleep(0.1)
    if len(there) > 1:
        raise Unfinished(f"{len(there)} processes are with the vendor")
    os.kill(there[0], signal.SIGKILL)
    return there[0]
