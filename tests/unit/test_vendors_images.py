"""What the image adapter sends, and which answers are images."""

from __future__ import annotations

import base64
import subprocess
import sys
from typing import Any

import pytest

from tests.unit.vendor_server import entry
from tests.unit.vendor_wire import PNG, Wire, ask, images
from tidegate.errors import VendorFailed


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.mark.parametrize(
    ("ratio", "size"), [("1:1", "1024x1024"), ("3:2", "1536x1024"), ("2:3", "1024x1536")]
)
def test_openai_images(ratio: str, size: str) -> None:
    item = {"b64_json": b64(PNG)}
    wire = Wire(images(item, item))
    params = {"aspect_ratio": ratio, "quality": "low", "n": 2, "seed": 3}
    data = {"prompt": "A tide", "negative_prompt": "people"}
    answer = ask(wire, entry("image-studio"), data, params)
    assert [(i.content, i.content_type) for i in answer.images] == [(PNG, "image/png")] * 2
    assert (answer.text, answer.finish, answer.input_tokens, answer.output_tokens) == (
        None,
        "complete",
        8,
        9,
    )
    assert wire.request is not None
    assert str(wire.request.url) == "http://vendor.test/base/images/generations"
    assert wire.request.headers["idempotency-key"] == "tg-job_1"
    assert wire.sent == {
        "model": "gpt-image-1",
        "prompt": "A tide\n\nAvoid: people",
        "n": 2,
        "size": size,
        "quality": "low",
    }


SVG = b"<svg xmlns='http://www.w3.org/2000/svg'/>"


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ({"b64_json": b64(b"\xff\xd8\xff\xe0rest")}, "image/jpeg"),
        ({"b64_json": b64(b"RIFF\0\0\0\0WEBPVP8 ")}, "image/webp"),
        ({"b64_json": b64(b"GIF89a rest")}, "image/gif"),
        ({"url": "data:image/png;base64," + b64(PNG)}, "image/png"),
        ({"url": "data:image/jpeg;base64," + b64(PNG)}, "image/png"),
        ({"url": "data:image/svg+xml;base64," + b64(SVG)}, "image/svg+xml"),
        ({"url": "data:image/svg+xml,%3Csvg%20/%3E"}, "image/svg+xml"),
        ({"url": None, "b64_json": b64(PNG)}, "image/png"),
    ],
)
def test_images_are_known_by_their_bytes(item: Any, kind: str) -> None:
    answer = ask(Wire(images(item)), entry("image-studio"), {"prompt": "A tide"}, {"n": 1})
    assert [i.content_type for i in answer.images] == [kind]


@pytest.mark.parametrize(
    "item",
    [
        {"url": "https://vendor.test/image.png"},
        {"url": "http://169.254.169.254/latest"},
        {"url": "file:///etc/passwd"},
        {"url": "data:text/html;base64," + b64(b"<script>")},
        {"url": "data:image/png;base64," + b64(b"<html>")},
        {"url": "data:image/svg+xml;base64," + b64(b"<html><svg></svg>")},
        {"url": "data:image/png;base64,@@@"},
        {"url": "data:image/png;base64,"},
        {"b64_json": b64(b"plain text")},
        {"b64_json": b64(SVG)},
        {"b64_json": b64(PNG)[:-1] + "!"},
        {"b64_json": b64(PNG) + "\n"},
        {"b64_json": "\u00e9\u00e9\u00e9\u00e9"},
        {"b64_json": ""},
        {"b64_json": 7},
        {},
        None,
        "image",
    ],
)
def test_what_is_no_image_is_no_answer(item: Any) -> None:
    with pytest.raises(VendorFailed):
        ask(Wire(images(item)), entry("image-studio"), {"prompt": "A tide"}, {"n": 1})


@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_number_of_images_is_no_answer(count: int) -> None:
    items = [{"b64_json": b64(PNG)}] * count
    with pytest.raises(VendorFailed):
        ask(Wire(images(*items)), entry("image-studio"), {"prompt": "A tide"}, {"n": 2})


def test_a_worker_imports_its_own_adapter_alone() -> None:
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, 'layers/tidegate/python')\n"
        "from tidegate.rules.catalogue import load\n"
        "from tidegate.vendors.registry import build\n"
        "entry = load(Path('layers/tidegate/python/catalogue')).models['chat-claude']\n"
        "build(entry, 'http://vendor.test', str, None)\n"
        "print(sorted(m for m in sys.modules if m.startswith('tidegate.vendors.')))\n"
        "assert 'jsonschema_rs' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "anthropic_messages" in done.stdout
    assert "openai" not in done.stdout
    assert "cohere" not in done.stdout
