"""Every number of a vendor's that becomes a time, a size or a sum, and what it is at most.

Counts of tokens have a test of their own (test_tokens.py, test_vendors_usage.py).
"""

from __future__ import annotations

import base64
import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.unit.vendor_calls import ask
from tests.unit.vendor_headers import NOW
from tests.unit.vendor_server import Teller, raw_server, teller
from tests.unit.vendor_wire import PNG, images, openai
from tidegate.errors import VendorError, VendorFailed, VendorThrottled, VendorUnreachable
from tidegate.rules import picture
from tidegate.vendors.base import MAX_ERROR_BYTES
from tidegate.vendors.retry_after import MAX_WAIT, seconds

MODEL = "chat-mini"
LONG = "9" * 5000


@pytest.fixture(scope="module")
def vendor() -> Iterator[Teller]:
    with teller() as told:
        yield told


@pytest.mark.parametrize(
    ("header", "value", "at_most"),
    [
        ("retry-after", "1e300", MAX_WAIT),
        ("retry-after", LONG, MAX_WAIT),
        ("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT", MAX_WAIT),
        ("retry-after", "Fri, 31 Dec 99999 23:59:59 GMT", MAX_WAIT),
        ("retry-after", "Mon, 01 Jan 0001 00:00:00 GMT", 0.0),
        ("retry-after", "-1", None),
        ("retry-after", "NaN", None),
        ("retry-after", "inf", None),
        ("retry-after-ms", LONG, MAX_WAIT),
        ("x-ms-retry-after-ms", "1e300", MAX_WAIT),
        ("x-ratelimit-reset-tokens", "9" * 400 + "d", MAX_WAIT),
        ("x-ratelimit-reset-requests", LONG, MAX_WAIT),
        ("anthropic-ratelimit-requests-reset", "9999-12-31T23:59:59Z", MAX_WAIT),
    ],
)
def test_a_wait_is_at_most_a_month(
    vendor: Teller, header: str, value: str, at_most: float | None
) -> None:
    vendor.says(429, {}, **{header: value})
    with pytest.raises(VendorThrottled) as error:
        ask(MODEL, vendor.url)
    assert error.value.retry_after == at_most


@pytest.mark.parametrize(
    "name",
    ["ratelimit" * 9000, "rate-limit-" * 8000 + "rese", "x-ratelimit-reset-" + "reset" * 9000],
)
def test_a_headers_name_costs_no_more_than_its_length(name: str) -> None:
    begun = time.process_time()
    seconds(httpx.Headers([(name, "1")]), NOW)
    assert time.process_time() - begun < 0.5  # in steps that grow with its square it was 3


@pytest.mark.parametrize("length", ["9" * 19, "9" * 400, "-1", "NaN"])
def test_a_declared_length_is_not_taken_for_the_bodys(length: str) -> None:
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n".encode()
    with (
        raw_server(lambda connection: connection.sendall(head + b'{"a": 1}')) as (url, _),
        pytest.raises(VendorUnreachable),
    ):
        ask(MODEL, url)


def test_a_body_is_read_up_to_the_entrys_limit() -> None:
    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65_536)

    with raw_server(endless) as (url, _), pytest.raises(VendorFailed, match="larger than 4000000"):
        ask(MODEL, url)


def test_a_refusal_is_read_up_to_its_limit_and_means_what_its_status_means(vendor: Teller) -> None:
    spent = {"pad": "x" * MAX_ERROR_BYTES, "error": {"code": "insufficient_quota"}}
    vendor.says(429, spent)
    with pytest.raises(VendorThrottled):
        ask(MODEL, vendor.url)


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_numbers_that_nobody_asks_for_matter_to_nobody(vendor: Teller, number: int) -> None:
    vendor.says(200, openai(created=number, index=number))
    assert ask(MODEL, vendor.url).text == "Hello."


def test_a_number_of_too_many_digits_is_no_answer_and_soon_read() -> None:
    body = b'{"created": ' + b"9" * 1_000_000 + b"}"
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body)
    begun = time.process_time()
    with (
        raw_server(lambda connection: connection.sendall(head + body)) as (url, _),
        pytest.raises(VendorFailed, match="not JSON"),
    ):
        ask(MODEL, url)
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("status", [100, 299, 999, 1000, 99999])
def test_a_status_is_of_three_digits_and_has_a_class(vendor: Teller, status: int) -> None:
    vendor.says(status, {})
    with pytest.raises(VendorError) as caught:
        ask(MODEL, vendor.url)
    assert (caught.value.vendor_status or 0) < 1000


def test_ids_and_names_are_of_200_characters_at_most(vendor: Teller) -> None:
    body = openai(id="i" * 201, model="m" * 201)
    vendor.says(200, body, x_request_id="r" * 201)
    answer = ask(MODEL, vendor.url)
    assert (answer.request_id, answer.vendor_model) == (None, None)


def test_of_more_images_than_were_asked_for_one_is_kept(vendor: Teller) -> None:
    item = {"b64_json": base64.b64encode(PNG).decode()}
    vendor.says(200, images(*[item] * 500))
    assert len(ask("image-studio", vendor.url).images) == 2


def test_an_images_size_is_at_most_what_its_format_can_write() -> None:
    largest = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\xff" * 8 + b"\x08\x02\0\0\0" + b"\0" * 4
    seen = picture.read(largest)
    assert seen is None or max(seen.width, seen.height) < 2**32
