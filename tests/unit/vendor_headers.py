"""Headers that ask to wait, as a vendor may send them: well-formed ones, and any at all."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
from hypothesis import strategies as st

from tidegate.vendors.retry_after import MAX_WAIT, seconds

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT

Lines = list[tuple[str, str]]


def wait_of(lines: Lines, now: float = NOW) -> float | None:
    """The wait of header lines as they come over the wire: bytes, in any order, names repeated."""
    raw = [(name.encode(), value.encode()) for name, value in lines]
    return seconds(httpx.Headers(raw), now)


MOMENTS = st.integers(-2_000_000_000, 200_000_000_000)
COUNTS = st.integers(0) | st.floats(0, 1e25, allow_nan=False).map(lambda x: float(f"{x:.3f}"))
SHORT = st.floats(0, MAX_WAIT).map(lambda wait: round(wait, 3))


def spelled(moment: float, form: str) -> str:
    date = datetime.fromtimestamp(moment, UTC)
    return f"{date:{form}}".replace("YEAR", f"{date.year:04}")


IMF = "%a, %d %b YEAR %H:%M:%S GMT"
RFC_850 = "%A, %d-%b-%y %H:%M:%S GMT"
ASCTIME = "%a %b %e %H:%M:%S YEAR"
RFC_3339 = "YEAR-%m-%dT%H:%M:%SZ"

EXPLICIT = ["retry-after", "retry-after-ms", "x-ms-retry-after-ms"]
KNOWN = [
    *EXPLICIT,
    "date",
    "x-ratelimit-reset",
    "x-ratelimit-remaining",
    "x-ratelimit-reset-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-tokens",
    "anthropic-ratelimit-tokens-reset",
    "anthropic-ratelimit-tokens-remaining",
]
NEARLY = st.from_regex(
    r"\A[+-]?[0-9]{1,20}(\.[0-9]{0,400})?(e[+-]?[0-9]{1,4})?(ms|s|m|h|d|,)?[0-9]{0,3}s?\Z"
) | st.builds(
    "{}, {:02}{}{}{}{:02} {:02}:{:02}:{:02} {}".format,
    st.sampled_from(["Sun", "Sunday", "x", ""]),
    st.integers(0, 33),
    st.sampled_from([" ", "-"]),
    st.sampled_from(["Feb", "Jun", "Foo"]),
    st.sampled_from([" ", "-"]),
    st.integers(0, 99) | st.integers(0, 10**25),
    st.integers(0, 25),
    st.integers(0, 61),
    st.integers(0, 62),
    st.sampled_from(["GMT", "", "+2359", "-9999", "Z"]),
)
ANY_TEXT = (
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
    | NEARLY
    | st.floats().map(str)
    | st.integers().map(str)
    | st.builds(spelled, MOMENTS, st.sampled_from([IMF, RFC_850, ASCTIME, RFC_3339]))
)
ANY_LINES = st.lists(st.tuples(st.sampled_from(KNOWN), ANY_TEXT), max_size=6)


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, str, float]:
    """A well-formed explicit header, and the wait it asks for at `NOW`."""
    name = draw(st.sampled_from(EXPLICIT))
    if name == "retry-after" and draw(st.booleans()):
        wait = draw(st.integers(-10_000, 10_000_000))
        form = draw(st.sampled_from([IMF, RFC_850, ASCTIME, RFC_3339]))
        return name, spelled(NOW + wait, form), wait
    count = draw(SHORT | COUNTS)
    value = f"{count:.3f}" if isinstance(count, float) else str(count)
    blank = draw(st.sampled_from(["", " ", "\t"]))
    # Python's `int / 1000` fails over 1e308, where it can only be clamped anyway.
    return name, blank + value + blank, min(count, 10**25) / (1 if name == "retry-after" else 1000)
