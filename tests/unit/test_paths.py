from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.rules.paths import (
    EVERY,
    MAX_CHARACTERS,
    MAX_POINTER,
    MAX_STEPS,
    Path,
    Step,
    found,
    parse,
    rest,
    shared,
)

NAMES = ("a", "b", "a-b", "0", "", "it's", "\\", "~1", "x/y", "é\n")
STEPS = st.lists(st.sampled_from([*NAMES, 0, 1, 7, EVERY]), max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.just("a"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("$", ()),
        ("$.a", ("a",)),
        ("$._A-9_", ("_A-9_",)),
        ("$.a.b", ("a", "b")),
        ("$['a']", ("a",)),
        ("$['']", ("",)),
        ("$['a.b [*] \"']", ('a.b [*] "',)),
        (r"$['it\'s']", ("it's",)),
        (r"$['\\']['\\\'']", ("\\", "\\'")),
        ("$['0'][0][10][*].x", ("0", 0, 10, EVERY, "x")),
        ("$" + "[*]" * MAX_STEPS, (EVERY,) * MAX_STEPS),
        ("$['" + "é" * (MAX_CHARACTERS - 5) + "']", ("é" * (MAX_CHARACTERS - 5),)),
    ],
)
def test_what_a_path_says(text: str, steps: tuple[Step, ...]) -> None:
    assert parse(text) == Path(steps)
    assert hash(parse(text)) == hash(Path(steps))


@pytest.mark.parametrize(
    ("text", "what", "at"),
    [
        ("", "begins with $", 0),
        ("a", "begins with $", 0),
        (" $", "begins with $", 0),
        ("$a", "a step begins", 1),
        ("$.a ", "a step begins", 3),
        ("$.a\n", "a step begins", 3),
        ("$.a]", "a step begins", 3),
        ("$.aé", "a step begins", 3),
        ("$.", "plain name", 1),
        ("$..a", "plain name", 1),
        ("$.*", "plain name", 1),
        ("$.0", "plain name", 1),
        ("$.a.-b", "plain name", 3),
        ("$.é", "plain name", 1),
        ("$[", "brackets", 1),
        ("$[]", "brackets", 1),
        ("$[a]", "brackets", 1),
        ("$[-1]", "brackets", 1),
        ("$[01]", "brackets", 1),
        ("$[٣]", "brackets", 1),
        ("$[1:2]", "brackets", 1),
        ("$[ 0]", "brackets", 1),
        ('$["a"]', "brackets", 1),
        ("$.a[?@.b]", "brackets", 3),
        ("$['a", "does not end", 4),
        ("$['a'", "does not end", 4),
        ("$['it's']", "does not end", 5),
        (r"$['a\']", "does not end", 7),
        (r"$['a\nb']", "backslash", 4),
        (r"$['\u0041']", "backslash", 3),
        ("$['a\\", "backslash", 4),
        ("$" + ".a" * (MAX_STEPS + 1), "more than 20 steps", 41),
        ("$['" + "a" * MAX_CHARACTERS + "']", "longer than 500", 500),
    ],
)
def test_what_is_wrong_and_where(text: str, what: str, at: int) -> None:
    with pytest.raises(ValueError, match=f" at character {at}$") as caught:
        parse(text)
    assert what in str(caught.value)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("$", [("", {"a": [1, None], "b": {"x/y": 2, "~": [3]}, "0": 4})]),
        ("$.a", [("/a", [1, None])]),
        ("$.a[0]", [("/a/0", 1)]),
        ("$.a[1]", [("/a/1", None)]),
        ("$.a[2]", []),
        ("$.a[99999999999999999999]", []),
        ("$.a.b", []),
        ("$.a['0']", []),
        ("$[0]", []),
        ("$['0']", [("/0", 4)]),
        ("$.a[*]", [("/a/0", 1), ("/a/1", None)]),
        ("$.a[*].x", []),
        ("$.b[*]", [("/b/x~1y", 2), ("/b/~0", [3])]),
        ("$.b['~'][*]", [("/b/~0/0", 3)]),
        ("$.none[*]", []),
        ("$['0'][*]", []),
        ("$[*][0]", [("/a/0", 1)]),
    ],
)
def test_where_a_path_leads(text: str, places: list[tuple[str, Any]]) -> None:
    value = {"a": [1, None], "b": {"x/y": 2, "~": [3]}, "0": 4}
    assert list(found(parse(text), value)) == places


def test_a_long_name_is_not_copied_for_each_element_under_it() -> None:
    value = {"n" * 1_000_000: [0] * 100_000}
    for path in ("$[*]", "$[*][*]"):
        pointers = {pointer for pointer, _ in found(parse(path), value)}
        assert pointers == {"/" + "n" * (MAX_POINTER - 1)}


@pytest.mark.parametrize(
    ("left", "right", "both", "beyond"),
    [
        ("$.a", "$.a.b", "$", ("$.a", "$.a.b")),
        ("$.a[*].x", "$.a[*].y", "$.a[*]", ("$.x", "$.y")),
        ("$.a[*].p.x", "$.a[*].p.y", "$.a[*]", ("$.p.x", "$.p.y")),
        ("$.a[*].b[*].x", "$.a[*].b[*].y", "$.a[*].b[*]", ("$.x", "$.y")),
        ("$.a[*].total", "$['a'][*].b[*].y", "$.a[*]", ("$.total", "$.b[*].y")),
        ("$.a[*].x", "$.b[*].x", "$", ("$.a[*].x", "$.b[*].x")),
        ("$.a[*].x", "$.a[0].x", "$", ("$.a[*].x", "$.a[0].x")),
        ("$[*]", "$[*]", "$[*]", ("$", "$")),
        ("$", "$[*]", "$", ("$", "$[*]")),
    ],
)
def test_what_two_paths_share(left: str, right: str, both: str, beyond: tuple[str, str]) -> None:
    beginning = shared(parse(left), parse(right))
    assert beginning == shared(parse(right), parse(left)) == parse(both)
    assert tuple(rest(parse(path), beginning) for path in (left, right)) == tuple(
        map(parse, beyond)
    )


@given(STEPS, st.booleans())
def test_any_path_can_be_written(steps: list[Step], quoted: bool) -> None:
    assert parse(written(steps, quoted=quoted)) == Path(tuple(steps))


@given(STEPS, VALUES)
def test_found_is_what_a_naive_reading_finds(steps: list[Step], value: Any) -> None:
    naive = [(pointer(keys), place) for keys, place in everything(value) if fits(steps, keys)]
    assert list(found(Path(tuple(steps)), value)) == naive


@given(st.text("$.[]*'\\a0- ", max_size=12))
def test_any_text_is_a_path_or_a_value_error(text: str) -> None:
    try:
        path = parse("$" + text)
    except ValueError as error:
        assert " at character " in str(error)  # noqa: PT017  # either is right
    else:
        assert parse(written(path.steps, quoted=True)) == path


def written(steps: list[Step] | tuple[Step, ...], *, quoted: bool) -> str:
    text = "$"
    for step in steps:
        if step is EVERY:
            text += "[*]"
        elif isinstance(step, int):
            text += f"[{step}]"
        elif step in {"a", "b", "a-b"} and not quoted:
            text += f".{step}"
        else:
            text += "['" + step.replace("\\", "\\\\").replace("'", "\\'") + "']"
    return text


def everything(value: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every place of a value, in the order of its text."""
    yield (), value
    below: Any = ()
    if isinstance(value, dict):
        below = value.items()
    elif isinstance(value, list):
        below = enumerate(value)
    for key, member in below:
        for keys, place in everything(member):
            yield (key, *keys), place


def fits(steps: list[Step], keys: tuple[str | int, ...]) -> bool:
    return len(steps) == len(keys) and all(
        step is EVERY or step == key for step, key in zip(steps, keys, strict=True)
    )


def pointer(keys: tuple[str | int, ...]) -> str:
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)
