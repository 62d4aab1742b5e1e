"""Every error Tidegate raises on purpose: one tree, each with HTTP status, code, retry class."""

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


class InsufficientCredits(RequestRefused):
    """The balance does not cover what the job may cost."""

    status = 402
    code = "insufficient_credits"


class NotFound(RequestRefused):
    """Not there, or another partner's."""

    status = 404
    code = "not_found"


class JobNotComplete(RequestRefused):
    """The result is asked for while the job runs."""

    status = 409
    code = "job_not_complete"
    retry = Retry.RETRYABLE


class RequestInProgress(RequestRefused):
    """The same request is running; ask for its job, or again later."""

    status = 409
    code = "request_in_progress"
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


class GenerationFailed(TidegateError):
    """The job behind a blocking route ended without an answer, for good."""

    status = 502
    code = "generation_failed"


class GenerationEnded(GenerationFailed):
    """It ended, but the same request may simply be made again."""

    retry = Retry.RETRYABLE


class NotReplayable(TidegateError):
    """A job that cannot be re-opened; `str()` says why, to an operator."""

    status = 409
    code = "not_replayable"


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
    """What a vendor did instead of answering; never its own text, which may quote the prompt.

    `retry_after` is in seconds, `request_id` the vendor's own; None where it said nothing.
    """

    status = 502
    code = "vendor_error"

    def __init__(
        self, detail: str, *, vendor_status: int | None = None, retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:  # fmt: skip
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
