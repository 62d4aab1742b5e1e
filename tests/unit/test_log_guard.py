"""Others' lines while a handler runs: where and what kind, whatever is done to the root logger."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tidegate.errors import CacheUnavailable
from tidegate.log_guard import HandlerFailed, guarded
from tidegate.settings import SettingMissing

LIBRARY = Path(__file__).parents[2] / "layers" / "tidegate" / "python"
WORDS = "WORDS-nobody-may-read"

NOISE = f"""
import logging, sys, threading, warnings
sys.path.insert(0, {str(LIBRARY)!r})
from tidegate.log_guard import guarded
from tidegate.telemetry import Telemetry

class Ends:
    def __del__(self):
        raise KeyError({WORDS!r})

def fails():
    raise ValueError({WORDS!r})

def louder():  # as Lambda's runtime does before it imports a handler
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s %(exc_text)s"))
    logging.getLogger().handlers[:] = [handler]
    logging.getLogger().setLevel(logging.DEBUG)
    logging.getLogger("botocore.parsers").setLevel(logging.DEBUG)

@guarded()
def handler(event, context):
    louder()
    for log in (logging.getLogger(), logging.getLogger("botocore.parsers")):
        log.debug("body: %s", {WORDS!r})
        log.info({WORDS!r})
        log.warning("retrying %s", {WORDS!r}, stack_info=True)
        try:
            fails()
        except ValueError as error:
            log.exception(error)
    warnings.warn({WORDS!r})
    Ends()
    thread = threading.Thread(target=fails, name={WORDS!r})
    thread.start()
    thread.join()
    Telemetry("worker", "local").info("swept", sent=3)

louder()
for _ in range(2):
    handler(None, None)
    louder()
"""


def at(code: str) -> int:
    """Return the number of the line of `NOISE` that has this code."""
    return next(n for n, line in enumerate(NOISE.splitlines(), 1) if code + "(" in line)


def test_nobodys_words_are_written_and_our_lines_are() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "always", "-c", NOISE], capture_output=True, check=True, text=True
    )
    assert WORDS not in run.stdout + run.stderr
    assert run.stderr == ""
    lines = run.stdout.splitlines()
    others = [line for line in lines if not line.startswith("{") and " worker " not in line]
    assert others == 2 * [
        f"WARNING root <string>:{at('log.warning')} None",
        f"ERROR root <string>:{at('log.exception')} ValueError None",
        f"WARNING botocore.parsers <string>:{at('log.warning')} None",
        f"ERROR botocore.parsers <string>:{at('log.exception')} ValueError None",
        f"WARNING py.warnings <string>:{at('warnings.warn')} UserWarning None",
        f"WARNING py.unhandled <string>:{at('raise KeyError')} KeyError None",
        f"WARNING py.unhandled <string>:{at('raise ValueError')} ValueError None",
    ]
    assert run.stdout.count('"message":"swept"') == 2


class AccessDenied(Exception):
    """As botocore's `ClientError`."""

    response = {"Error": {"Code": "AccessDenied", "Message": WORDS}}  # noqa: RUF012
    operation_name = "GetItem"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError(f"{WORDS!r} is not a valid Status"), "ValueError"),
        (AccessDenied(WORDS), "AccessDenied AccessDenied GetItem"),
    ],
)
def test_an_exception_nobody_expected_says_its_class_and_where(error: Exception, said: str) -> None:
    @guarded()
    def handler(_event: object, _context: object) -> None:
        raise error

    with pytest.raises(HandlerFailed) as caught:
        handler({}, None)
    assert str(caught.value) == said
    assert caught.value.__suppress_context__
    assert caught.traceback[-1].name == "handler"


@pytest.mark.parametrize("error", [SettingMissing("JOBS_TABLE"), CacheUnavailable("Redis is out")])
def test_what_we_say_ourselves_is_still_said(error: Exception) -> None:
    @guarded()
    def handler(_event: object, _context: object) -> None:
        raise error

    with pytest.raises(type(error), match=str(error)):
        handler({}, None)
