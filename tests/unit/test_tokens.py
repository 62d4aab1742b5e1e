"""How many tokens a call came to: the vendor's word where it can be believed, else ours."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tidegate.rules.job import Usage
from tidegate.rules.tokens import (
    IMAGE_TOKENS,
    MOST_IMAGE_TOKENS,
    MOST_OUTPUT,
    MOST_WRAPPING,
    Exchange,
    counted,
)

ANSWER = "Seven words, of which none is long."
CALL = Exchange(Usage(60, 100), sent=88, text=ANSWER, images=0)
SAID = st.none() | st.integers(0, 2**53 - 1)
ANY = st.builds(
    Exchange,
    most=st.builds(Usage, st.integers(17, 10**5), st.integers(0, 10**5)),
    sent=st.integers(1, 250_000),
    text=st.none() | st.text(max_size=200),
    images=st.integers(0, 4),
)


def test_a_count_that_can_be_is_the_vendors() -> None:
    found = counted(70, 9, CALL)
    assert (found.usage, found.unsaid, found.beyond) == (Usage(70, 9), (), ())


def test_each_count_that_was_not_said_is_estimated_alone() -> None:
    half = (len(ANSWER) + 1) // 2
    assert counted(None, 9, CALL).usage == Usage(60, 9, estimated=True)
    assert counted(70, None, CALL).usage == Usage(70, half, estimated=True)
    assert counted(None, None, CALL).usage == Usage(60, half, estimated=True)


def test_nothing_is_not_believed_of_something() -> None:
    assert counted(0, 0, CALL) == counted(None, None, CALL)
    nothing = Exchange(Usage(60, 100), sent=88, text="", images=0)
    assert counted(70, 0, nothing).usage == Usage(70, 0)


def test_an_estimate_is_not_above_the_limit_that_was_sent() -> None:
    long = Exchange(Usage(60, 10), sent=88, text=ANSWER, images=0)
    assert counted(70, None, long).usage.output_tokens == 10


def test_a_count_that_cannot_be_is_bounded() -> None:
    found = counted(10**12, 10**12, CALL)
    assert found.usage == Usage(88 + MOST_WRAPPING, 100, estimated=True)
    assert (found.unsaid, found.beyond) == ((), ("input", "output"))


def test_reasoning_that_nobody_sees_counts_up_to_the_limit() -> None:
    assert counted(70, 100, CALL).usage == Usage(70, 100)
    unlimited = Exchange(Usage(60, 0), sent=88, text="Yes.", images=0)
    assert counted(70, 20_000, unlimited).usage == Usage(70, 20_000)
    assert counted(70, 10**6, unlimited).usage.output_tokens == MOST_OUTPUT


def test_images_have_tokens_of_their_own() -> None:
    drawn = Exchange(Usage(60, 0), sent=88, text=None, images=2)
    assert counted(70, None, drawn).usage == Usage(70, 2 * IMAGE_TOKENS, estimated=True)
    many = Exchange(Usage(60, 0), sent=88, text=None, images=9)
    assert counted(70, 10**12, many).usage.output_tokens == 9 * MOST_IMAGE_TOKENS


@given(SAID, SAID, ANY)
def test_every_count_is_bounded_and_none_of_something_is_nothing(
    said_input: int | None, said_output: int | None, call: Exchange
) -> None:
    found = counted(said_input, said_output, call)
    bound = call.bound()
    assert 0 < found.usage.input_tokens <= bound.input_tokens
    assert 0 <= found.usage.output_tokens <= bound.output_tokens
    assert (found.usage.output_tokens > 0) or not call.answered
    said = (found.usage.input_tokens, found.usage.output_tokens) == (said_input, said_output)
    assert found.usage.estimated or said
