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

    def __init_subclass__(
        cls, status: int | None = None, code: str | None = None, retry: Retry | None = None
    ) -> None:
        super().__init_subclass__()
        cls.status = cls.status if status is None else status
        cls.code = cls.code if code is None else code
        cls.retry = cls.retry if retry is None else retry


class RequestRefused(TidegateError, status=400, code="invalid_request"):
    """A 4xx, or the 504 that was asked for: what was wrong, where (JSON pointers), what to do."""

    def __init__(self, detail: str, *, pointers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(detail)
        self.pointers = pointers
        """Pairs of JSON pointer (RFC 6901) and what is wrong there."""


class InvalidBody(RequestRefused, code="invalid_json"):
    """The body is not the JSON we accept."""


class InvalidRequest(RequestRefused, status=422, code="validation_failed"):
    """The body is JSON, but not a request of this route."""


class IdempotencyKeyMissing(RequestRefused, code="idempotency_key_missing"):
    """The route needs an `Idempotency-Key`."""


class IdempotencyKeyInvalid(RequestRefused, code="idempotency_key_invalid"):
    """The `Idempotency-Key` is not 1 to 255 visible ASCII characters."""


class Unauthenticated(RequestRefused, status=401, code="unauthenticated"):
    """No partner stands behind the request."""


class InsufficientCredits(RequestRefused, status=402, code="insufficient_credits"):
    """The balance does not cover what the job may cost."""


class NotFound(RequestRefused, status=404, code="not_found"):
    """Not there, or another partner's."""


class JobNotComplete(RequestRefused, status=409, code="job_not_complete", retry=Retry.RETRYABLE):
    """The result is asked for while the job runs."""


class RequestInProgress(
    RequestRefused, status=409, code="request_in_progress", retry=Retry.RETRYABLE
):
    """The same request is running; ask for its job, or again later."""


class JobFailed(RequestRefused, status=409, code="job_failed"):
    """The result is asked for of a job that ended without one."""


class RateLimited(RequestRefused, status=429, code="rate_limited", retry=Retry.RETRYABLE):
    """A partner asked more often than it may; `retry_after` is in seconds."""

    def __init__(self, detail: str, *, retry_after: int) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class QueueFull(RateLimited, code="queue_full"):
    """As many of the partner's jobs wait for this model as may."""


class BypassLimited(RateLimited, code="cache_bypass_limited"):
    """A partner asked past the cache more often than it may."""


class NotCached(RequestRefused, status=504, code="cache_miss_only_if_cached"):
    """`only-if-cached`, and no answer is at hand."""


class NeverFits(RequestRefused, status=422, code="exceeds_token_limit"):
    """One call would use more tokens than the model may in a minute: it could never start."""


class PayloadTooLarge(RequestRefused, status=413, code="payload_too_large"):
    """The body is over the limit."""


class UnsupportedMediaType(RequestRefused, status=415, code="unsupported_media_type"):
    """The body is not `application/json`."""


class UnknownModel(RequestRefused, status=422, code="unknown_model"):
    """The catalogue has no such model."""


class IdempotencyKeyReused(RequestRefused, status=422, code="idempotency_key_reused"):
    """Same key, altered payload parameters."""


class Unavailable(TidegateError, status=503, code="temporarily_unavailable", retry=Retry.RETRYABLE):
    """Ours and passing; the same request may simply be sent again."""


class Defect(TidegateError, code="internal"):
    """A store or a queue refused what we asked as wrong: our mistake, and asking again is too."""


class GenerationFailed(TidegateError, status=502, code="generation_failed"):
    """The job behind a blocking route ended without an answer, for good."""


class GenerationEnded(GenerationFailed, retry=Retry.RETRYABLE):
    """It ended, but the same request may simply be made again."""


class NotReplayable(TidegateError, status=409, code="not_replayable"):
    """A job that cannot be re-opened; `str()` says why, to an operator."""


class ContractUnusable(TidegateError, code="contract_unusable", retry=Retry.RETRYABLE):
    """An entry's contract is no JSON Schema, or refers to something outside itself."""


class DoorError(TidegateError, retry=Retry.RETRYABLE):
    """A side effect that could not be done."""


class CacheUnavailable(DoorError, code="cache_unavailable"):
    """Redis is out of reach, read-only or too slow."""


class CacheRefused(CacheUnavailable, code="cache_refused"):
    """What was asked of Redis is wrong, a mistake of ours; a request goes on as without Redis."""


class ReferencesUnavailable(DoorError, code="references_unavailable"):
    """What an answer refers to could not be looked up: ours, and passing."""


class ReferenceSetMissing(ReferencesUnavailable, code="reference_set_missing"):
    """A set of references was never loaded, or is empty; `str()` names it."""


class LostFence(DoorError, code="lost_fence"):
    """A newer attempt owns the job: nothing this worker writes counts any more."""


class Conflict(DoorError, code="conflict"):
    """A DynamoDB transaction met another one; not a refusal."""


class Throttled(DoorError, code="throttled"):
    """DynamoDB was asked for more at once than it gives; not a refusal."""


class VendorError(TidegateError, status=502, code="vendor_error"):
    """What a vendor did instead of answering; never its own text, which may quote the prompt.

    `retry_after` is in seconds, `request_id` the vendor's own; None where it said nothing.
    """

    def __init__(
        self, detail: str, *, vendor_status: int | None = None, retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(detail)
        self.vendor_status = vendor_status
        self.retry_after = retry_after
        self.request_id = request_id


class VendorTimeout(VendorError, code="vendor_timeout", retry=Retry.RETRYABLE):
    """No answer within the entry's connect, read or total timeout."""


class VendorUnreachable(VendorError, code="vendor_unreachable", retry=Retry.RETRYABLE):
    """The connection failed or broke."""


class VendorThrottled(VendorError, code="vendor_throttled", retry=Retry.RETRYABLE):
    """429, or 503/529 with a wait."""


class VendorFailed(VendorError, code="vendor_failed", retry=Retry.RETRYABLE):
    """408, 409, 425, 5xx, or a 200 that carries an error, HTML or nothing."""


class VendorRefused(VendorError, code="vendor_refused"):
    """400, 404, 413, 422, content policy: the same request would be refused again."""

    def __init__(
        self, detail: str, *, vendor_status: int | None = None, retry_after: float | None = None,
        request_id: str | None = None, known: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(
            detail, vendor_status=vendor_status, retry_after=retry_after, request_id=request_id
        )
        self.known = known


class VendorAccount(VendorError, code="vendor_account", retry=Retry.ACCOUNT):
    """401, 402, 403: our account with the vendor, no job's fault."""
