"""What ids look like. What does not look like one names nothing, and no store is asked for it.

DynamoDB refuses a partition key of more than 2048 bytes
(docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html), so a store that is
asked for anything at all reports a stranger's slip as a failure of ours.
"""

from __future__ import annotations

import re

JOB_ID = "job_[0-9A-Za-z]{1,60}"
"""Wider than the ids made today (`clock.SystemIds`): those of other releases are jobs as well."""

_JOB = re.compile(JOB_ID)
_MODEL = re.compile("[a-z0-9-]{1,30}")


def is_job_id(text: str) -> bool:
    """Return whether `text` may name a job."""
    return _JOB.fullmatch(text) is not None


def is_model_name(text: str) -> bool:
    """Return whether `text` may name a model: 1 to 30 lower-case letters, digits, hyphens."""
    return _MODEL.fullmatch(text) is not None
