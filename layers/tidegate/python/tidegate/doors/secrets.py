"""A secret of Secrets Manager, read when first needed and again every few minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

LIFE = 300.0
"""Seconds a value is kept, so that a rotated key is in use within five minutes."""


class Secret:
    """Call it for its value."""

    def __init__(self, client: SecretsManagerClient, name: str, clock: Clock) -> None:
        self._client = client
        self._name = name
        self._clock = clock
        self._value = ""
        self._until = 0.0

    def __call__(self) -> str:
        """Return the secret's value."""
        now = self._clock.now()
        if now >= self._until:
            self._value = self._client.get_secret_value(SecretId=self._name)["SecretString"]
            self._until = now + LIFE
        return self._value

    def forget(self) -> None:
        """Have it read anew at the next call: the value did not serve."""
        self._until = 0.0
