"""OpenAI's image generation (platform.openai.com/docs/api-reference/images).

The API takes no seed: an entry's `seed` only tells one request from another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tidegate.vendors import openai_errors
from tidegate.vendors.base import Image, VendorAnswer, VendorApi, VendorCall
from tidegate.vendors.envelope import Reply, at, label
from tidegate.vendors.meaning import Signs
from tidegate.vendors.picture import NotAnImage, from_base64, from_data_url

_SIZES = {"1:1": "1024x1024", "3:2": "1536x1024", "2:3": "1024x1536"}


@dataclass(frozen=True, slots=True)
class OpenAIImages(VendorApi):
    """Task image."""

    signs: ClassVar[Signs] = openai_errors.SIGNS

    def call(self, call: VendorCall) -> VendorAnswer:
        """Return the images that came; of more than were asked for, one too many.

        Raises:
            VendorError: one of its subclasses.
        """
        reply = self.post(call, "/images/generations", self.bearer(), _body(call))
        items = reply.at("data")
        if not isinstance(items, list):
            raise reply.failed("the vendor's answer has no list of images")
        # One too many is enough to fail by; each of an absurd number would be stored before that.
        items = items[: call.params.get("n", 1) + 1]
        made_as = label(reply.at("output_format"))
        declared = f"image/{made_as}" if made_as else None
        return VendorAnswer(
            text=None,
            images=tuple(_image(reply, item, declared) for item in items),
            finish="complete",
            input_tokens=reply.count("usage", "input_tokens"),
            output_tokens=reply.count("usage", "output_tokens"),
            request_id=reply.request_id,
            vendor_model=label(reply.at("model")),
        )


def _image(reply: Reply, item: Any, declared: str | None) -> Image:
    encoded, url = at(item, "b64_json"), at(item, "url")
    try:
        if isinstance(encoded, str):
            return Image(from_base64(encoded), declared)
        if isinstance(url, str) and url[:5].lower() == "data:":
            content, said = from_data_url(url)
            return Image(content, said or declared)
    except NotAnImage as error:
        raise reply.failed(f"the vendor's image {error}") from None
    # The vendor's own URL is neither handed out nor fetched: it expires, and it leads anywhere.
    raise reply.failed("the vendor's answer does not hold the image itself")


def _body(call: VendorCall) -> dict[str, Any]:
    words, avoid = call.input["prompt"], call.input.get("negative_prompt")
    body: dict[str, Any] = {
        "model": call.entry.vendor_model,
        "prompt": f"{words}\n\nAvoid: {avoid}" if avoid else words,
        "n": call.params.get("n", 1),
    }
    if "aspect_ratio" in call.params:
        body["size"] = _SIZES[call.params["aspect_ratio"]]
    if "size" in call.params:
        body["size"] = call.params["size"]
    if "quality" in call.params:
        body["quality"] = call.params["quality"]
    return body
