"""IAM authentication against ElastiCache: the password is a signed URL, valid for 15 minutes.

docs.aws.amazon.com/AmazonElastiCache/latest/dg/auth-iam.html. Signing is local and takes less than
a millisecond, so nothing is cached and no connection ever meets a stale token.
"""

from __future__ import annotations

import boto3
from botocore.model import ServiceId
from botocore.signers import RequestSigner
from redis.credentials import CredentialProvider

LIFE = 900
"""Seconds a token is valid; ElastiCache allows no more."""


class IamCredentials(CredentialProvider):
    """Hands redis-py a new token for each connection."""

    def __init__(self, user: str, cache: str, region: str) -> None:
        self._user = user
        self._cache = cache.lower()
        session = boto3.Session(region_name=region)
        credentials = session.get_credentials()
        if credentials is None:
            raise LookupError("no AWS credentials to sign the token for Valkey with")
        self._signer = RequestSigner(
            ServiceId("elasticache"),
            region,
            "elasticache",
            "v4",
            credentials,
            session.events,
        )
        self._region = region

    def get_credentials(self) -> tuple[str, str]:
        """Return user and token."""
        url = (
            f"https://{self._cache}/?Action=connect&User={self._user}&ResourceType=ServerlessCache"
        )
        signed = self._signer.generate_presigned_url(
            {"method": "GET", "url": url, "body": {}, "headers": {}, "context": {}},
            operation_name="connect",
            expires_in=LIFE,
            region_name=self._region,
        )
        return self._user, signed.removeprefix("https://")
