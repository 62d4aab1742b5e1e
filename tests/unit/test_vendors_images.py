"""What the image adapter sends, and what it hands on; whether that passes is not its to say."""

from __future__ import annotations

import base64
import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties import ANY_MACHINE
from tests.unit.vendor_server import entry
from tests.unit.vendor_wire import PNG, Wire, ask, images
from tidegate.errors import VendorFailed
from tidegate.vendors.picture import NotAnImage, from_base64, from_data_url


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
    assert [(i.content, i.declared) for i in answer.images] == [(PNG, None)] * 2
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


def made(*items: Any, n: int = 1, **more: Any) -> list[tuple[bytes, str | None]]:
    wire = Wire({**images(*items), **more})
    answer = ask(wire, entry("image-studio"), {"prompt": "A tide"}, {"n": n})
    return [(image.content, image.declared) for image in answer.images]


SVG = b"<svg xmlns='http://www.w3.org/2000/svg'/>"


@pytest.mark.parametrize(
    ("item", "content", "declared"),
    [
        ({"b64_json": b64(PNG)}, PNG, None),
        ({"url": None, "b64_json": b64(PNG)}, PNG, None),
        ({"b64_json": b64(b"I cannot draw that.")}, b"I cannot draw that.", None),
        ({"url": "data:image/png;base64," + b64(PNG)}, PNG, "image/png"),
        ({"url": "data:image/jpeg;base64," + b64(PNG)}, PNG, "image/jpeg"),
        ({"url": "DATA:Image/PNG;BASE64," + b64(PNG)}, PNG, "Image/PNG"),
        ({"url": "data:text/html;base64," + b64(b"<script>")}, b"<script>", "text/html"),
        ({"url": "data:image/svg+xml;base64," + b64(SVG)}, SVG, "image/svg+xml"),
        ({"url": "data:image/svg+xml;charset=utf-8,%3Csvg%20/%3E"}, b"<svg />",
         "image/svg+xml;charset=utf-8"),
        ({"url": "data:image/png; a=b;c=d;base64,iVBO"}, b"\x89PN", "image/png; a=b;c=d"),
        ({"url": "data:image/png;base64,iVBORw%3D%3D"}, b"\x89PNG", "image/png"),
        ({"url": "data:;base64,iVBO"}, b"\x89PN", None),
        ({"url": "data: ;base64,iVBO"}, b"\x89PN", None),
        ({"url": "data:;charset=utf-8,a,b"}, b"a,b", None),
        ({"url": "data:image/svg+xml,<svg\n/>"}, b"<svg\n/>", "image/svg+xml"),
        ({"url": "data:,\u00e9"}, "\u00e9".encode(), None),
    ],
)  # fmt: skip
def test_the_bytes_and_what_was_said_of_them(
    item: Any, content: bytes, declared: str | None
) -> None:
    assert made(item) == [(content, declared)]


@pytest.mark.parametrize(
    ("said", "declared"),
    [("png", "image/png"), ("webp", "image/webp"), ("tiff", "image/tiff"), (None, None),
     ("", None), (7, None), (["png"], None), ("a b", None), ("p" * 201, None)],
)  # fmt: skip
def test_the_format_that_the_answer_names(said: Any, declared: str | None) -> None:
    assert made({"b64_json": b64(PNG)}, output_format=said) == [(PNG, declared)]


def test_a_data_urls_own_type_goes_before_the_answers() -> None:
    url, bare = "data:image/svg+xml;base64," + b64(SVG), "data:;base64," + b64(SVG)
    found = made({"url": url}, {"url": bare}, n=2, output_format="png")
    assert found == [(SVG, "image/svg+xml"), (SVG, "image/png")]


@pytest.mark.parametrize(
    "item",
    [
        {"url": "https://vendor.test/image.png"},
        {"url": "http://169.254.169.254/latest"},
        {"url": "file:///etc/passwd"},
        {"url": "data:image/png;base64,@@@"},
        {"url": "data:image/png;base64,"},
        {"url": "data:image/png,"},
        {"url": "data:image/png;base64,%"},
        {"url": "data:image/png;base64"},
        {"url": "data:image/\u00fcng;base64,iVBO"},
        {"url": "data:image/" + "p" * 101 + ";base64,iVBO"},
        {"url": "data:image/png" + ";a=b" * 5 + ";base64,iVBO"},
        {"b64_json": b64(PNG)[:-1] + "!"},
        {"b64_json": b64(PNG)[:-1]},
        {"b64_json": b64(PNG) + "\n"},
        {"b64_json": "\u00e9\u00e9\u00e9\u00e9"},
        {"b64_json": "="},
        {"b64_json": ""},
        {"b64_json": 7},
        {},
        None,
        "image",
    ],
)
def test_what_holds_no_image_is_no_answer(item: Any) -> None:
    with pytest.raises(VendorFailed) as error:
        made(item)
    assert not error.value.__cause__
    for said in ("vendor.test", "passwd", "iVBO", "pppp"):
        assert said not in str(error.value)


@pytest.mark.parametrize(
    "text", ["data:image/png,\ud800", "data:image/png;base64,\ud800", "\ud800"]
)
def test_half_of_a_surrogate_pair_is_no_image(text: str) -> None:
    for read in (from_data_url, from_base64):
        with pytest.raises(NotAnImage) as error:
            read(text)
        assert error.value.__suppress_context__ or not error.value.__context__


@given(
    st.text(max_size=60)
    | st.text(st.sampled_from("data:imge/pn;b64,=%+A ")).map(lambda text: f"data:{text}")
)
@settings(max_examples=200, deadline=None, suppress_health_check=ANY_MACHINE)
def test_any_text_is_an_image_or_none(text: str) -> None:
    for read in (from_data_url, from_base64):
        with suppress(NotAnImage):
            assert read(text)


@pytest.mark.parametrize(("count", "kept"), [(0, 0), (1, 1), (2, 2), (3, 3), (1000, 3)])
def test_another_number_of_images_is_the_gates_to_judge(count: int, kept: int) -> None:
    assert made(*[{"b64_json": b64(PNG)}] * count, n=2) == [(PNG, None)] * kept


@pytest.mark.parametrize("data", [None, {}, "images", 7], ids=["null", "object", "text", "number"])
def test_no_list_of_images_is_no_answer(data: Any) -> None:
    with pytest.raises(VendorFailed):
        made(data=data)


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
