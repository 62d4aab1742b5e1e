"""Which adapter speaks for an entry."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from tidegate.clock import Clock
from tidegate.rules.catalogue import Entry
from tidegate.vendors.base import Vendor, http_client


def build(
    entry: Entry,
    base_url: str,
    api_key: Callable[[], str],
    clock: Clock,
    transport: httpx.BaseTransport | None = None,
) -> Vendor:
    """Return the adapter of an entry.

    Imports that adapter alone: a worker serves one model, and pays for each import at its start.

    Args:
        entry: the model.
        base_url: where the vendor's API begins, as in the worker's VENDOR_BASE_URL.
        api_key: returns the vendor's key; asked at every call, so that a new key needs no start.
        clock: for the total deadline.
        transport: in place of the network, for tests.
    """
    client = http_client(entry, transport=transport)
    base_url = base_url.rstrip("/")
    match entry.adapter:
        case "openai-chat":
            from tidegate.vendors.openai_chat import OpenAIChat

            return OpenAIChat(client, base_url, api_key, clock)
        case "anthropic-messages":
            from tidegate.vendors.anthropic_messages import AnthropicMessages

            return AnthropicMessages(client, base_url, api_key, clock)
        case "cohere-chat":
            from tidegate.vendors.cohere_chat import CohereChat

            return CohereChat(client, base_url, api_key, clock)
        case "openai-images":
            from tidegate.vendors.openai_images import OpenAIImages

            return OpenAIImages(client, base_url, api_key, clock)
