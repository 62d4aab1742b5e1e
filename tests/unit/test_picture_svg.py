"""The size of an SVG, and what is not taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llmock.simulation import build_fake_image_data_uri

from tests.properties import ANY_MACHINE
from tests.unit.picture_files import svg
from tidegate.rules.picture import Picture, read
from tidegate.rules.svg import MAX_HEAD
from tidegate.vendors.picture import from_data_url


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ("width='640' height='480'", (640, 480)),
        ('width="640px" height="480px"', (640, 480)),
        ("width = ' 640 '\n\theight\r\n=\n'480.0'", (640, 480)),
        ("width='640.4' height='+479.6px'", (640, 480)),
        ("width='640' height='480' viewBox='0 0 1 1'", (640, 480)),
        ("viewBox='0 0 640 480'", (640, 480)),
        ("viewBox='-5,-10, 640\n480.'", None),
        ("viewBox='-5,-10.5, 640\n480'", (640, 480)),
        ("width='100%' height='100%' viewBox='0 0 640 480'", (640, 480)),
        ("width='10em' height='5cm' viewBox='0 0 640 480'", (640, 480)),
        ("width='7' viewBox='0 0 640 480'", (640, 480)),
        ("width='7' height='auto' viewBox='0 0 640 480'", (640, 480)),
        ("width='-7' height='7' viewBox='0 0 640 480'", (640, 480)),
        ("width='0' height='7' viewBox='0 0 640 480'", None),
        ("width='0.3' height='7'", None),
        ("width='9999999999' height='1'", None),
        ("viewBox='0 0 0 480'", None),
        ("viewBox='0 0 -640 480'", None),
        ("viewBox='0 0 640'", None),
        ("viewBox='0 0 640 480 1'", None),
        ("viewBox='0 0 1e3 1e3'", None),
        ("width='100%' height='100%'", None),
        ("width='&#49;' height='1'", None),
        ("width='\u0661' height='1'", None),
        ("width='1' height='NaN'", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_size_is_in_pixels_or_the_view_boxs(
    attributes: str, size: tuple[int, int] | None
) -> None:
    assert read(svg(attributes)) == (size and Picture("image/svg+xml", *size))


@pytest.mark.parametrize(
    "before",
    [
        "\ufeff",
        "\r\n\t ",
        "<?xml version='1.0'?>",
        '\ufeff<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n',
        "<?xml version='1.1' encoding='utf-8' ?>",
        "<!-- <!DOCTYPE svg> -->\n<!-- <svg width='9' - é -->",
        "<!---->",
    ],
)
def test_what_may_stand_before_the_root(before: str) -> None:
    assert read(svg(before=before)) == Picture("image/svg+xml", 1, 1)


@pytest.mark.parametrize(
    "before",
    [
        "<!DOCTYPE svg>",
        '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">',
        "<!DOCTYPE svg [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;&a;'>]>",
        "<!ENTITY a 'aaaa'>",
        "<?xml version='1.0'?><!doctype svg SYSTEM 'file:///etc/passwd'>",
        "<!-- -- --><!-- -->",
        "<!-- --->",
        "<!--",
        " <?xml version='1.0'?>",
        "<?xml version='1.0'?><?xml version='1.0'?>",
        "<?xml version='1.0' encoding='UTF-16'?>",
        "<?xml version='1.0' encoding='utf-8\"?>",
        "<?xml-stylesheet href='https://vendor.test/style.css'?>",
        "<html>",
        "<g/>",
        "text",
        "\0",
        "\u00a0",
    ],
)
def test_what_may_not(before: str) -> None:
    assert read(svg(before=before)) is None


@pytest.mark.parametrize(
    "attributes",
    [
        "width='1' width='1' height='1'",
        "width='1'height='1'",
        "width=1 height=1",
        "width='1' height='1' bare",
        "width='1' height='1' title='a < b'",
        "width='1' height='1' title=\"a < b\"",
        "width='1' height='1' title='a & b'",
        "width='1' height='1' title=\"a & b\"",
        "width='1' height='1' title='&b;'",
        "width='1' height='1' title='\x01'",
        "width='1' height='1' title='",
        "width='1' height='1' / ",
        "width='1' height='1' xmlns='http://www.w3.org/2000/svg'",
        "width='1' height='1' 7='1'",
        pytest.param(f"width='1' height='1' title='{'a' * MAX_HEAD}'", id="longer than the head"),
    ],
)
def test_a_root_that_is_not_well_formed(attributes: str) -> None:
    assert read(svg(attributes)) is None


@pytest.mark.parametrize(
    "content",
    [
        svg().decode().encode("utf-16"),
        svg(before="<!-- é -->").decode().encode("latin-1"),
        svg()[: svg().index(b">")],
        svg().replace(b"<svg", b"<SVG"),
        svg().replace(b"<svg", b"<svgs"),
        svg().replace(b"<svg", b"<s:svg"),
        svg().replace(b"http://www.w3.org/2000/svg", b"http://www.w3.org/1999/xhtml"),
        b"<svg width='1' height='1'/>",
        b"\x1f\x8b" + svg(),
    ],
    ids=["utf-16", "latin-1", "cut", "capitals", "longer name", "prefix", "xhtml", "bare", "gzip"],
)
def test_what_is_no_svg(content: bytes) -> None:
    assert read(content) is None


def test_what_is_fine_in_a_root() -> None:
    odd = "title='a &lt; &#233; &#xE9; > \"é\"' data-a:b.c='' width='1' height='1'"
    assert read(svg(odd)) == Picture("image/svg+xml", 1, 1)
    assert read(svg(f"title='{'é' * 30_000}' width='1' height='1'")) is not None
    # The head's limit cuts a letter that comes after the root in two: no fault of the picture.
    assert read(svg() + "é".encode() * MAX_HEAD) is not None
    assert read(svg().replace(b">", b"/>", 1)) is not None


@pytest.mark.parametrize("size", ["1024x1024", "1536x1024"])
def test_the_mocks_pictures(size: str) -> None:
    content, declared = from_data_url(build_fake_image_data_uri("a <cat> & a 'dog'", size))
    width, _, height = size.partition("x")
    assert read(content) == Picture("image/svg+xml", int(width), int(height))
    assert declared == "image/svg+xml"


@given(st.text(st.sampled_from("<svg xmlns='\"/>!-?& \n") | st.characters(codec="utf-8")))
@settings(max_examples=150, deadline=None, suppress_health_check=ANY_MACHINE)
def test_any_text_around_a_root(text: str) -> None:
    for content in (svg(text), svg(before=text), text.encode() + svg()[:30]):
        found = read(content)
        assert found is None or found.kind == "image/svg+xml"
