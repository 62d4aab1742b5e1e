"""What every vendor adapter shares: the call it gets, the answer it returns, the HTTP it uses.

Adapters speak to one vendor API each. They never retry, hold four separate timeouts and a total,
and read a response only up to a limit; errors leave as one class of the tree in `tidegate.errors`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import httpx

from tidegate.clock import Clock
from tidegate.errors import VendorAccount, VendorFailed
from tidegate.rules.catalogue import Entry
from tidegate.vendors import classify
from tidegate.vendors.deadline import Deadline, DeadlineTransport
from tidegate.vendors.envelope import Finish, Reply, parsed
from tidegate.vendors.meaning import Signs

MAX_ERROR_BYTES = 65_536
"""How much of a refusal is read, to tell one kind of 429 from another."""


@dataclass(frozen=True, slots=True)
class VendorCall:
    """One call to a vendor: a validated request, and the name we give the attempt."""

    entry: Entry
    input: Mapping[str, Any] = field(repr=False)
    """Validated, by task: chat `{messages}`, code `{instruction, code, language}`,
    image `{prompt, negative_prompt?}`, extract `{text}`."""
    params: Mapping[str, Any] = field(repr=False)
    """Parameters with all defaults resolved; those without a value are absent."""
    idempotency_key: str
    """Ours, the same over redeliveries; sent as the `Idempotency-Key` header."""
    system: str | None = field(repr=False, kw_only=True)
    """What the model is told before the input, as it was when the job was accepted."""
    response_schema: Mapping[str, Any] | None = field(repr=False, default=None, kw_only=True)
    """The partner's own JSON Schema of the answer, besides the entry's contract."""
    seconds: float = math.inf
    """The caller's own limit; the entry's total timeout bounds the call besides."""


@dataclass(frozen=True, slots=True)
class Image:
    """One image as the vendor made it; not yet looked at."""

    content: bytes = field(repr=False)
    declared: str | None
    """The content type in the vendor's words, with any parameters; None if it said nothing."""


@dataclass(frozen=True, slots=True)
class VendorAnswer:
    """What a vendor answered; not yet checked by the gate."""

    text: str | None = field(repr=False)
    images: tuple[Image, ...]
    finish: Finish
    input_tokens: int | None
    """As the vendor counted them; None: it gave no count that can be read."""
    output_tokens: int | None
    request_id: str | None
    vendor_model: str | None
    """The model the vendor says it ran."""


class Vendor(Protocol):
    """One vendor's API."""

    def call(self, call: VendorCall) -> VendorAnswer:
        """Return the vendor's answer to one attempt.

        Raises:
            VendorError: one of its subclasses, and nothing else.
        """
        ...


def http_client(entry: Entry, *, transport: httpx.BaseTransport | None = None) -> httpx.Client:
    """Return the HTTP client for one model's vendor; it belongs to the worker that made it.

    Few connections and a short keep-alive, because a frozen Lambda wakes up with dead sockets.
    No proxy, certificate or netrc is taken from the environment.
    """
    timeouts = entry.timeouts
    return httpx.Client(
        transport=transport
        or DeadlineTransport(
            httpx.Limits(max_connections=4, max_keepalive_connections=1, keepalive_expiry=5)
        ),
        timeout=httpx.Timeout(
            connect=timeouts.connect,
            read=min(timeouts.read, timeouts.total),
            write=timeouts.connect,
            pool=timeouts.connect,
        ),
        headers={"accept": "application/json", "accept-encoding": "identity"},
        follow_redirects=False,
        trust_env=False,
    )


def post(
    client: httpx.Client,
    clock: Clock,
    call: VendorCall,
    url: str,
    *,
    headers: Mapping[str, str],
    body: Mapping[str, Any],
    signs: Signs = (),
) -> Reply:
    """Return the JSON object a vendor answers to one POST; sends it once.

    `signs` is what its refusals mean.

    Raises:
        VendorError: the class that says what trying again would do.
    """
    deadline = Deadline(clock, min(call.entry.timeouts.total, call.seconds))
    try:
        with (
            deadline.armed(),
            client.stream(
                "POST",
                url,
                headers={
                    **headers,
                    "content-type": "application/json",
                    "idempotency-key": call.idempotency_key,
                },
                content=json.dumps(body, allow_nan=False).encode(),
            ) as response,
        ):
            if response.status_code != httpx.codes.OK:
                said = _beginning(response, deadline)
                raise classify.status(response, said, clock.now(), signs)
            raw = _body(response, deadline, call.entry.max_answer_bytes)
    except classify.TRANSPORT_ERRORS as error:
        # `from None`: the client's own message may quote a header, and with it the key.
        raise classify.transport(error) from None
    return parsed(raw, classify.request_id(response.headers))


@dataclass(frozen=True, slots=True)
class VendorApi:
    """What an adapter is made of; each adds what it sends and how it reads what comes back."""

    client: httpx.Client
    base_url: str
    api_key: Callable[[], str] = field(repr=False)
    clock: Clock
    signs: ClassVar[Signs] = ()
    """What the vendor's refusals mean."""

    def key(self) -> str:
        """Return the vendor's API key.

        Raises:
            VendorAccount: it is empty or cannot stand in a header.
        """
        key = self.api_key().strip()
        if not key or not key.isascii() or not key.isprintable():
            raise VendorAccount("the vendor's API key cannot be used as a header")
        return key

    def bearer(self) -> dict[str, str]:
        """Return the key as most vendors want it."""
        return {"authorization": f"Bearer {self.key()}"}

    def post(
        self,
        call: VendorCall,
        path: str,
        headers: Mapping[str, str],
        body: Mapping[str, Any],
        more_signs: Signs = (),
    ) -> Reply:
        """Return the JSON object that the vendor answers at `path`.

        `more_signs` are those that hold for this call alone.

        Raises:
            VendorError: the class that says what trying again would do.
        """
        url = self.base_url + path
        signs = (*self.signs, *more_signs)
        return post(self.client, self.clock, call, url, headers=headers, body=body, signs=signs)


def _body(response: httpx.Response, deadline: Deadline, limit: int) -> bytes:
    """Return the whole body, if it comes in time and within the limit."""
    request_id = classify.request_id(response.headers)
    if response.headers.get("content-encoding", "identity") != "identity":
        # We asked for none, and a few compressed bytes could unpack to any number.
        raise VendorFailed(
            "the vendor's answer is compressed", vendor_status=200, request_id=request_id
        )
    chunks: list[bytes] = []
    size = 0
    for chunk in response.iter_bytes():
        deadline.check()
        size += len(chunk)
        if size > limit:
            raise VendorFailed(
                f"the vendor's answer is larger than {limit} bytes",
                vendor_status=200,
                request_id=request_id,
            )
        chunks.append(chunk)
    return b"".join(chunks)


def _beginning(response: httpx.Response, deadline: Deadline) -> bytes:
    """Return what can be had of a refusal's body; the status alone already says enough."""
    try:
        return _body(response, deadline, MAX_ERROR_BYTES)
    except VendorFailed:
        return b""
    except classify.TRANSPORT_ERRORS:
        return b""
