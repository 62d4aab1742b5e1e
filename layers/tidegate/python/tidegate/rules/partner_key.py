"""A partner's API key: `tg_<key id>_<secret>`.

The key id finds the record, the 256-bit secret proves the holder; only its SHA-256 is stored.
A fast hash is enough: nobody guesses 256 random bits (NIST SP 800-63B, look-up secrets).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass

_ID_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_KEY = re.compile(r"tg_([a-z0-9]{12})_([A-Za-z0-9_-]{43})")
_PARTNER = re.compile(r"[a-z0-9][a-z0-9-]{1,39}")


@dataclass(frozen=True, slots=True)
class PartnerKey:
    """The two halves of a key. `repr` hides the secret."""

    key_id: str
    secret: str

    def __repr__(self) -> str:
        return f"PartnerKey({self.key_id})"

    def reveal(self) -> str:
        """Return the key as the partner sends it."""
        return f"tg_{self.key_id}_{self.secret}"


def mint(random_bytes: Callable[[int], bytes]) -> PartnerKey:
    """Return a new key: 60 random bits of id, 256 of secret, drawn from `random_bytes(count)`."""
    key_id = "".join(_ID_LETTERS[byte & 31] for byte in random_bytes(12))
    secret = base64.urlsafe_b64encode(random_bytes(32)).rstrip(b"=").decode()
    return PartnerKey(key_id, secret)


def parse(text: str) -> PartnerKey | None:
    """Return the key in `text`, or None if it does not have the shape of one."""
    match = _KEY.fullmatch(text)
    return PartnerKey(match[1], match[2]) if match else None


def digest(secret: str) -> str:
    """Return what is stored of a secret: its SHA-256 in hex."""
    return hashlib.sha256(secret.encode()).hexdigest()


def matches(secret: str, stored: str) -> bool:
    """Return whether `secret` hashes to `stored`, in constant time."""
    return hmac.compare_digest(digest(secret), stored)


def is_partner_id(text: str) -> bool:
    """Return whether `text` may name a partner: 2 to 40 lower-case letters, digits, hyphens."""
    return _PARTNER.fullmatch(text) is not None
