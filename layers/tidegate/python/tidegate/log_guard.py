"""Nothing but our own lines tells values: what everybody else logs, warns of or raises is a place.

Lambda's runtime sets the root logger to the function's `ApplicationLogLevel`, and at DEBUG botocore
logs whole requests and answers, secrets among them. Exceptions carry values at any level: an enum
quotes what it was given, redis-py the command, and the runtime logs the text of what escapes. So
other loggers keep silent below WARNING, and from there on a line says where and what kind. Our own
lines (`telemetry.py`) are records of our own making and pass by both.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from tidegate.errors import TidegateError
from tidegate.settings import SettingMissing

READABLE = (TidegateError, SettingMissing)
"""Exceptions whose text is ours."""

Handler = Callable[[Any, Any], Any]


class HandlerFailed(Exception):
    """An exception that no one expected, its traceback kept; `str()` is its class.

    Of AWS's errors it is also the code and the operation: `ClientError AccessDenied GetItem`.
    """

    def __init__(self, error: Exception) -> None:
        response = getattr(error, "response", None)  # botocore's; the authorizer pays for imports
        told = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
        of_aws = (told, getattr(error, "operation_name", None)) if told else ()
        super().__init__(" ".join(map(str, (type(error).__name__, *of_aws))))


class Place(logging.LogRecord):
    """A record without its message: `<file>:<line>`, and an exception's class.

    What a call gives as `extra` would still be written; no library of ours gives any.
    """

    def __init__(
        self, name: str, level: int, pathname: str, lineno: int, _msg: object, _args: object,
        exc_info: Any = None, func: str | None = None, _stack: str | None = None, **_more: object,
    ) -> None:  # fmt: skip
        said = f"{Path(pathname).name}:{lineno}"
        if exc_info and exc_info[0]:
            said += f" {exc_info[0].__name__}"
        super().__init__(name, level, pathname, lineno, said, None, None, func)


def guarded(*readable: type[Exception]) -> Callable[[Handler], Handler]:
    """Return a decorator of handlers: what others log meanwhile, and what escapes, has no values.

    `readable` are further exceptions whose text is ours.
    """

    def guarding(handler: Handler) -> Handler:
        @wraps(handler)
        def guarded_handler(event: Any, context: Any) -> Any:
            _guard()  # every time: whoever changed the root logger meanwhile is overruled
            with _WithoutValues(READABLE + readable):
                return handler(event, context)

        return guarded_handler

    return guarding


class _WithoutValues:
    """Lets an exception out as `HandlerFailed`."""

    def __init__(self, readable: tuple[type[Exception], ...]) -> None:
        self._readable = readable

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: object, trace: TracebackType | None) -> None:
        if isinstance(error, Exception) and not isinstance(error, self._readable):
            raise HandlerFailed(error).with_traceback(trace) from None


def _guard() -> None:
    logging.disable(logging.INFO)  # whatever level a logger has
    logging.setLogRecordFactory(Place)
    # These would write texts to stderr.
    warnings.showwarning = cast("Any", _warned)
    threading.excepthook = sys.unraisablehook = _raised


def _warned(
    _message: object, category: type[Warning], filename: str, lineno: int, *_: object
) -> None:
    _say("py.warnings", filename, lineno, category)


def _raised(args: Any) -> None:
    """Tell of an exception in a thread, or in what no one can catch it of, such as `__del__`."""
    frames = traceback.extract_tb(args.exc_traceback)
    filename, lineno = (frames[-1].filename, frames[-1].lineno) if frames else ("-", 0)
    _say("py.unhandled", filename, lineno or 0, args.exc_type)


def _say(name: str, filename: str, lineno: int, kind: type[BaseException]) -> None:
    logger = logging.getLogger(name)
    if logger.isEnabledFor(logging.WARNING):
        logger.handle(Place(name, logging.WARNING, filename, lineno, "", (), (kind, None, None)))
