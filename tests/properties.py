"""What property tests suppress: a busy machine is no reason to fail, speed is the bench's."""

from __future__ import annotations

from hypothesis import HealthCheck

ANY_MACHINE = (HealthCheck.too_slow,)

ONE_SERVER = (*ANY_MACHINE, HealthCheck.function_scoped_fixture)
"""For tests whose examples share a server on purpose, under names of their own."""
