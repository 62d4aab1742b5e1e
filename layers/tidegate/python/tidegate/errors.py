"""Every error Tidegate raises on purpose, in one tree.

TidegateError                    code, HTTP status, retry class
├── RequestRefused               the partner can mend it; nothing stored, nothing charged
│   ├── InvalidBody              400  not the JSON we accept
│   ├── IdempotencyKeyMissing    400
│   ├── IdempotencyKeyInvalid    400
│   ├── Unauthenticated          401
│   ├── NotFound                 404
│   ├── JobNotComplete           409  ask again
│   ├── JobFailed                409  it never will be
│   ├── PayloadTooLarge          413
│   ├── UnsupportedMediaType     415
│   ├── InvalidRequest           422  JSON, but not this request
│   ├── UnknownModel             422
│   └── IdempotencyKeyReused     422
├── Unavailable                  503  ours, passing: conflicts, throttles
├── ContractUnusable             500  ours: an entry's contract is no JSON Schema
├── DoorError                    a side effect that could not be done
│   ├── CacheUnavailable         Redis is out of reach: defer, never call unlimited
│   ├── LostFence                another attempt owns the job now
│   └── Conflict                 a transaction met another one
└── VendorError                  what a vendor did instead of answering
    ├── VendorTimeout            retryable
    ├── VendorUnreachable        retryable
    ├── VendorThrottled          retryable, with the wait it asked for
    ├── VendorFailed             retryable: 5xx, error or HTML in a 200, empty answer
    ├── VendorRefused            permanent: 400, 404, 413, 422, content policy
    └── VendorAccount            401, 402, 403: the model's account, no job's fault
"""

from enum import StrEnum
from typing import ClassVar


class Retry(StrEnum):
    """What trying again would do. The one classification every layer reads."""

    RETRYABLE = "retryable"
    PERMANENT = "permanent"
    ACCOUNT = "account"


class TidegateError(Exception):
    """Base of the tree. `str()` is for people and never holds a prompt, an answer or a secret."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    retry: ClassVar[Retry] = Retry.PERMANENT


class RequestRefused(TidegateError):
    """A 4xx: what was wrong, where (JSON pointers), what to do."""

    status = 400
    code = "invalid_request"

    def __init__(self, detail: str, *, pointers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(detail)
        self.pointers = pointers
        """Pairs of JSON pointer (RFC 6901) and what is wrong there."""


class InvalidBody(RequestRefused):
    """The body is not the JSON we accept."""

    code = "invalid_json"


class InvalidRequest(RequestRefused):
    """The body is JSON, but not a request of this route."""

    status = 422
    code = "validation_failed"


class IdempotencyKeyMissing(RequestRefused):
    """The route needs an `Idempotency-Key`."""

    code = "idempotency_key_missing"


class IdempotencyKeyInvalid(RequestRefused):
    """The `Idempotency-Key` is not 1 to 255 visible ASCII characters."""

    code = "idempotency_key_invalid"


class Unauthenticated(RequestRefused):
    """No partner stands behind the request."""

    status = 401
    code = "unauthenticated"


class NotFound(RequestRefused):
    """Not there, or another partner's."""

    status = 404
    code = "not_found"


class JobNotComplete(RequestRefused):
    """The result is asked for while the job runs."""

    status = 409
    code = "job_not_complete"
    retry = Retry.RETRYABLE


class JobFailed(RequestRefused):
    """The result is asked for of a job that ended without one."""

    status = 409
    code = "job_failed"


class PayloadTooLarge(RequestRefused):
    """The body is over the limit."""

    status = 413
    code = "payload_too_large"


class UnsupportedMediaType(RequestRefused):
    """The body is not `application/json`."""

    status = 415
    code = "unsupported_media_type"


class UnknownModel(RequestRefused):
    """The catalogue has no such model."""

    status = 422
    code = "unknown_model"


class IdempotencyKeyReused(RequestRefused):
    """Same key, altered payload parameters."""

    status = 422
    code = "idempotency_key_reused"


class Unavailable(TidegateError):
    """Ours and passing; the same request may simply be sent again."""

    status = 503
    code = "temporarily_unavailable"
    retry = Retry.RETRYABLE


class ContractUnusable(TidegateError):
    """An entry's contract is no JSON Schema, or refers to something outside itself."""

    code = "contract_unusable"
    retry = Retry.RETRYABLE


class DoorError(TidegateError):
    """A side effect that could not be done."""

    retry = Retry.RETRYABLE


class CacheUnavailable(DoorError):
    """Redis is out of reach, read-only or too slow."""

    code = "cache_unavailable"


class LostFence(DoorError):
    """A newer attempt owns the job: nothing this worker writes counts any more."""

    code = "lost_fence"


class Conflict(DoorError):
    """A DynamoDB transaction met another one; not a refusal."""

    code = "conflict"


class VendorError(TidegateError):
    """What a vendor did instead of answering.

    Args:
        detail: for people; never the vendor's text, which may quote the prompt.
        vendor_status: the HTTP status, if there was one.
        retry_after: seconds the vendor asked to wait, if it did.
        request_id: the vendor's own id of the call, if known.
    """

    status = 502
    code = "vendor_error"

    def __init__(
        self,
        detail: str,
        *,
        vendor_status: int | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.vendor_status = vendor_status
        self.retry_after = retry_after
        self.request_id = request_id


class VendorTimeout(VendorError):
    """No answer within the entry's connect, read or total timeout."""

    code = "vendor_timeout"
    retry = Retry.RETRYABLE


class VendorUnreachable(VendorError):
    """The connection failed or broke."""

    code = "vendor_unreachable"
    retry = Retry.RETRYABLE


class VendorThrottled(VendorError):
    """429, or 503/529 with a wait."""

    code = "vendor_throttled"
    retry = Retry.RETRYABLE


class VendorFailed(VendorError):
    """408, 409, 425, 5xx, or a 200 that carries an error, HTML or nothing."""

    code = "vendor_failed"
    retry = Retry.RETRYABLE


class VendorRefused(VendorError):
    """400, 404, 413, 422, content policy: the same request would be refused again."""

    code = "vendor_refused"


class VendorAccount(VendorError):
    """401, 402, 403: our account with the vendor, no job's fault."""

    code = "vendor_account"
    retry = Retry.ACCOUNT
