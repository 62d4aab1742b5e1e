"""Canonical JSON (RFC 8785): one byte string for one value, types and structure kept."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785


def canonical(value: Any) -> bytes:
    """Return the RFC 8785 form of a JSON value."""
    return rfc8785.dumps(value)


def sha256(value: Any) -> str:
    """Return the SHA-256 (hex) of a value's canonical form."""
    return hashlib.sha256(canonical(value)).hexdigest()
