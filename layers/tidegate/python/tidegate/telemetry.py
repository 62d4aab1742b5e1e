"""Logs and metrics, from the first day and without a word of prompts, answers, keys or secrets.

A log line is JSON with the fields bound for the request or job at hand. Metrics are EMF, collected
during an invocation and written once per set of dimensions at its end; partners are no dimension.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit
from botocore.exceptions import ParamValidationError

from tidegate.errors import Defect

FIELDS = (
    "request_id",
    "job_id",
    "idempotency_key_hash",
    "partner",
    "model",
    "attempt",
    "error_class",
    "upstream_ms",
)
"""On every line; `ABSENT` where there is none."""

ABSENT = "-"


class Telemetry:
    """What a function tells its operators."""

    def __init__(self, service: str, environment: str) -> None:
        self._environment = environment
        self._logger = Logger(service=service, location=None)
        self._counts: dict[tuple[tuple[str, str], ...], dict[str, list[float]]] = {}
        self._units: dict[str, MetricUnit] = {}
        self.fresh()

    def fresh(self) -> None:
        """Forget the fields of the request or job before."""
        self._logger.append_keys(**dict.fromkeys(FIELDS, ABSENT))

    def bind(self, **fields: Any) -> None:
        """Put fields on every line from here on; their names are those of `FIELDS`."""
        unknown = set(fields) - set(FIELDS)
        if unknown:
            raise ValueError(f"not a log field: {', '.join(sorted(unknown))}")
        self._logger.append_keys(**{n: ABSENT if v is None else v for n, v in fields.items()})

    def info(self, event: str, **details: str | float | bool | None) -> None:
        """Log what happened, by a fixed name, with plain details."""
        self._write(logging.INFO, event, details)

    def warn(self, event: str, **details: str | float | bool | None) -> None:
        """Log what should not have happened but was dealt with."""
        self._write(logging.WARNING, event, details)

    def error(self, event: str, **details: str | float | bool | None) -> None:
        """Log what needs somebody who mends it."""
        self._logger.error(event, extra=details)

    def failed(self, event: str, error: Exception) -> None:
        """Warn of trouble that was dealt with, by its class; a mistake of ours is an error besides.

        An error's own text may quote what was asked; that of a `Defect` does not.
        """
        self.warn(event, reason=type(error).__name__)
        if isinstance(error, Defect | ParamValidationError):
            refused = str(error) if isinstance(error, Defect) else type(error).__name__
            self.error("defect", of=event, refused=refused)
            self.count("Defects")

    def count(self, name: str, value: float = 1, **dimensions: str) -> None:
        """Add to a count."""
        self._add(name, value, MetricUnit.Count, dimensions)

    def duration(self, name: str, seconds: float, **dimensions: str) -> None:
        """Record a duration."""
        self._add(name, max(seconds, 0.0) * 1000, MetricUnit.Milliseconds, dimensions)

    def flush(self) -> None:
        """Write the metrics of this invocation and start anew."""
        for dimensions, metrics in self._counts.items():
            emf = EphemeralMetrics(namespace="Tidegate")
            emf.add_dimension("environment", self._environment)
            for dimension, of in dimensions:
                emf.add_dimension(dimension, of)
            for name, values in metrics.items():
                for value in values:
                    emf.add_metric(name=name, unit=self._units[name], value=value)
            emf.flush_metrics()
        self._counts.clear()

    def _write(self, level: int, event: str, details: dict[str, Any]) -> None:
        """Write a record of our own making: `log_guard.py` silences or empties all others."""
        logger = logging.getLogger(self._logger.name)
        if level >= logger.level:
            record = logging.LogRecord(logger.name, level, "", 0, event, None, None)
            record.__dict__.update(details)
            logger.handle(record)

    def _add(self, name: str, value: float, unit: MetricUnit, dimensions: dict[str, str]) -> None:
        key = tuple(sorted(dimensions.items()))
        self._units[name] = unit
        self._counts.setdefault(key, defaultdict(list))[name].append(value)
