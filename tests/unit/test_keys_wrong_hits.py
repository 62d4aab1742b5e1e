"""The table of wrong hits: pairs that are nearly one request and must never share an answer.

Below it the pairs that are one request, told in two ways.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.key_requests import SCHEMA, Ask, chat, code, extract, image, turns
from tidegate.rules.contracts import AnswerChecks, Contract
from tidegate.rules.epochs import Epochs

SAME_WORDS = {"safety_profiles": {"a": "Same.", "b": "Same."}}
CONTRACT = Contract.model_validate({"schema": SCHEMA})


def with_params(**params: Any) -> Ask:
    return chat(params=params)


def as_code(text: str, language: str = "python", **entry: Any) -> Ask:
    return code(text, language=language).but(entry={"normalise": "code", **entry})


def in_text(*words: str) -> Ask:
    return chat(*words, model="chat-text")


TWO_KEYS: list[tuple[str, Ask, Ask]] = [
    # What is asked
    ("a word more", chat("do X"), chat("do not X")),
    ("an amount", chat("Give 10 mg"), chat("Give 100 mg")),
    ("a decimal point", chat("Pay 1.00"), chat("Pay 100")),
    ("a sign", chat("Move -5"), chat("Move 5")),
    ("a negation by one letter", chat("It is legal"), chat("It is illegal")),
    ("the question mark", chat("He left?"), chat("He left")),
    ("upper case", in_text("polish"), in_text("Polish")),
    ("whitespace inside", in_text("a b"), in_text("a  b")),
    ("a tab for a blank", in_text("a b"), in_text("a\tb")),
    ("a line end for a blank", in_text("a b"), in_text("a\nb")),
    ("an empty line", in_text("a\nb"), in_text("a\n\nb")),
    ("an indent", in_text("if x:\n a\nb"), in_text("if x:\n a\n b")),
    ("outer whitespace where exact", chat("a"), chat("a ")),
    ("line ends where exact", chat("a\nb"), chat("a\r\nb")),
    ("Unicode forms where exact", chat("caf\u00e9"), chat("cafe\u0301")),
    ("a look-alike letter", in_text("pay"), in_text("p\u0430y")),
    ("a ligature", in_text("fi"), in_text("\ufb01")),
    ("a full-width digit", in_text("1"), in_text("\uff11")),
    ("a digit raised", in_text("x2"), in_text("x\u00b2")),
    ("a dash", in_text("1-2"), in_text("1\u20132")),
    ("a blank that does not break", in_text("a b"), in_text("a\u00a0b")),
    ("a character of no width", in_text("ab"), in_text("a\u200bb")),
    ("a character that is control", in_text("ab"), in_text("a\u0000b")),
    ("the number and its words", in_text("1"), in_text("one")),
    # How it is put together
    ("two messages or one", chat("a", "b"), chat("ab")),
    ("one message split elsewhere", chat("ab", "c"), chat("a", "bc")),
    ("one message said twice", turns(("user", "a")), turns(("user", "a"), ("user", "a"))),
    ("two messages joined by a line", turns(("user", "a"), ("user", "b")), chat("a\nb")),
    ("the order of messages", turns(("user", "a"), ("user", "b")),
     turns(("user", "b"), ("user", "a"))),
    ("who said it", turns(("user", "a")), turns(("assistant", "a"))),
    ("who said which", turns(("user", "a"), ("assistant", "b")),
     turns(("assistant", "a"), ("user", "b"))),
    ("a role within the words", turns(("system", "a"), ("user", "b")),
     turns(("user", "system: a\nuser: b"))),
    ("a message within the words", turns(("user", "a"), ("user", "b")),
     turns(("user", 'a"},{"role":"user","content":"b'))),
    ("our words or the partner's", chat("Hi").but(entry={"system": "Be brief."}),
     turns(("system", "Be brief."), ("user", "Hi")).but(entry={"system": None})),
    ("the code and the instruction", code("b", "a"), code("a", "b")),
    ("code that begins with the instruction", code("b", "ac"), code("cb", "a")),
    ("the language", code("x = 1", language="python"), code("x = 1", language="ruby")),
    ("no code or a blank", code(""), code(" ")),
    ("code: blanks within a string", as_code("x = 'a b'"), as_code("x = 'a  b'")),
    ("code: a string or a name", as_code("x = 'a'"), as_code("x = a")),
    ("code: an operator", as_code("x = a < b"), as_code("x = a <= b")),
    ("code: an indent", as_code("if a:\n    b()\n    c()\n"), as_code("if a:\n    b()\nc()\n")),
    ("code: a name", as_code("a = 1"), as_code("b = 1")),
    ("code: a comment where comments count", as_code("a = 1  # one"), as_code("a = 1  # two")),
    ("code: the language", as_code("x = 1", "python"), as_code("x = 1", "javascript")),
    ("code: a language unknown", as_code("a  b", "cobol"), as_code("a b", "cobol")),
    ("code: what does not parse", as_code("if (  :"), as_code("if ( :")),
    ("code: blanks in the instruction", code("x", "a b").but(entry={"normalise": "code"}),
     code("x", "a  b").but(entry={"normalise": "code"})),
    ("what to avoid, empty or absent", image(), image(negative_prompt="")),
    ("what to avoid", image(negative_prompt="people"), image(negative_prompt="peoples")),
    ("what to avoid, within the prompt", image("A boat", negative_prompt="people"),
     image("A boat\n\nAvoid: people")),
    ("what to draw and what to avoid", image("a", negative_prompt="b"),
     image("b", negative_prompt="a")),
    # Parameters
    ("temperature", with_params(temperature=0.5), with_params(temperature=0.50001)),
    ("temperature's sign", with_params(temperature=0.5), with_params(temperature=-0.5)),
    ("the smallest number and none", with_params(temperature=5e-324), with_params(temperature=0)),
    ("two numbers that look alike", with_params(temperature=0.1 + 0.2),
     with_params(temperature=0.3)),
    ("top_p", with_params(top_p=0.5), with_params(top_p=0.6)),
    ("top_p or none", with_params(top_p=1), with_params()),
    ("top_p or temperature", with_params(top_p=0.5), with_params(temperature=0.5)),
    ("max_tokens", with_params(max_tokens=100), with_params(max_tokens=1000)),
    ("seed", with_params(seed=1), with_params(seed=2)),
    ("seed or none", with_params(seed=0), with_params()),
    ("large seeds", with_params(seed=2**53 - 1), with_params(seed=2**53 - 2)),
    ("a text of digits", with_params(user="1"), with_params(user="1.0")),
    ("a text that says nothing", with_params(user=""), with_params()),
    ("a text that says null", with_params(user="null"), with_params()),
    ("a text or a number", with_params(user="1"), with_params(seed=1)),
    ("a text or a truth", with_params(user="true"), with_params(stream=True)),
    ("false or absent", with_params(stream=False), with_params()),
    ("a parameter within another", with_params(user="a", seed=1), with_params(user="aseed: 1")),
    ("a parameter within another, as JSON", with_params(user="a", seed=1),
     with_params(user='a","seed":1,"x":"')),
    ("two parameters' values exchanged", with_params(user="plain", style="1"),
     with_params(user="1", style="plain")),
    ("a parameter within the input", chat("Hi", params={"user": "a"}), chat("Hi a")),
    # Who and what answers
    ("partner", chat(), chat().but(partner="umbrella")),
    ("partner by case", chat(), chat().but(partner="Acme")),
    ("a partner called as the scope", chat().but(partner="shared"), chat().cached(scope="shared")),
    ("model", chat(), chat(model="chat-two")),
    ("version of the entry", chat(), chat().but(entry={"version": "1.0"})),
    ("the vendor's model", chat(), chat().but(entry={"vendor_model": "m-2"})),
    ("vendor", chat(), chat().but(entry={"vendor": "other"})),
    ("adapter", chat(), chat().but(entry={"adapter": "cohere-chat"})),
    ("vendor and its model run together", chat().but(entry={"vendor": "a", "vendor_model": "bc"}),
     chat().but(entry={"vendor": "ab", "vendor_model": "c"})),
    ("instructions", chat(), chat().but(entry={"system": "Be kind."})),
    ("instructions or none", chat(), chat().but(entry={"system": None})),
    ("locale", chat(locale="en-GB"), chat(locale="de-DE")),
    ("locale or none", chat(locale="en-GB"), chat()),
    ("locale or the partner's wish", chat(locale="ja"), chat("Hi", "ja")),
    ("safety profile", chat(safety_profile="strict"), chat(safety_profile="frank")),
    ("another default profile", chat(), chat().but(entry={"default_safety_profile": "frank"})),
    ("the words of a profile", chat(safety_profile="frank"),
     chat(safety_profile="frank").but(entry={"safety_profiles": {"frank": "Be plain."}})),
    ("profiles of the same words", chat(safety_profile="a").but(entry=SAME_WORDS),
     chat(safety_profile="b").but(entry=SAME_WORDS)),
    ("normalisation", chat(), chat().but(entry={"normalise": "text"})),
    ("comments", code("x"), code("x").but(entry={"ignore_comments": True})),
    ("a schema of the request's own or none", chat(), chat(response_schema=SCHEMA)),
    ("its schema", chat(response_schema=SCHEMA),
     chat(response_schema={**SCHEMA, "required": ["n"]})),
    ("what code must be", chat(), chat().but(entry={"answer": AnswerChecks(max_characters=9)})),
    ("a contract or none", extract("x"), extract("x").but(entry={"contract": None})),
    ("the contract's version", extract("x"),
     extract("x").but(entry={"contract": CONTRACT.model_copy(update={"version": "2"})})),
    ("the contract's schema", extract("x"), extract("x").but(entry={
        "contract": CONTRACT.model_copy(update={"schema_": {**SCHEMA, "required": ["n"]}})})),
    ("what a contract accepts", extract("x"),
     extract("x").but(entry={"contract": CONTRACT.model_copy(update={"fenced": True})})),
    # When
    ("the day", chat().cached(time_bucket=86_400).but(now=86_399.9),
     chat().cached(time_bucket=86_400).but(now=86_400.0)),
    ("of its time or of any", chat(), chat().cached(time_bucket=86_400)),
    ("length of the stretch", chat().cached(time_bucket=60).but(now=60.0),
     chat().cached(time_bucket=3600).but(now=3600.0)),
    ("since an invalidation", chat(), chat().but(epochs=Epochs(model=1))),
    ("an invalidation of model or partner", chat().but(epochs=Epochs(model=1)),
     chat().but(epochs=Epochs(partner=1))),
    ("an invalidation of partner or both", chat().but(epochs=Epochs(partner=1)),
     chat().but(epochs=Epochs(both=1))),
    # Whose answer is nobody else's
    ("keys where nothing is reused", chat().cached(reuse="never"),
     chat().cached(reuse="never").but(claim="claim-2")),
    ("keys where nothing is joined", chat().cached(join=False),
     chat().cached(join=False).but(claim="claim-2")),
    ("keys where nothing may be kept", chat().but(stored=False),
     chat().but(stored=False, claim="claim-2")),
    ("kept or not", chat(), chat().but(stored=False)),
]  # fmt: skip


def named(table: list[tuple[str, Ask, Ask]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("one", "other"), [(a, b) for _, a, b in table], ids=[name for name, _, _ in table]
    )


@named(TWO_KEYS)
def test_two_keys(one: Ask, other: Ask) -> None:
    assert one.key() != other.key()


HI = '{"role": "user", "content": "Hi"}'

ONE_KEY: list[tuple[str, Ask, Ask]] = [
    ("a default said and unsaid", chat(), with_params(temperature=0.0, max_tokens=64)),
    ("a default text", chat(), with_params(style="plain")),
    ("a default truth", chat(), with_params(logprobs=False)),
    ("a default profile", chat(), chat(safety_profile="strict")),
    ("a number written whole", with_params(temperature=1), with_params(temperature=1.0)),
    ("zero and less than zero", with_params(temperature=0), with_params(temperature=-0.0)),
    ("no locale, said", chat(), chat(locale=None)),
    ("nothing to avoid, said", image(), image(negative_prompt=None)),
    ("a locale in lower case", chat(locale="en-GB"), chat(locale="EN-gb")),
    ("priority", chat(), chat(priority="low")),
    ("deadline", chat(), chat(deadline_seconds=60)),
    ("metadata", chat(metadata={"a": "1"}), chat(metadata={"a": "2"})),
    ("Unicode forms in text", in_text("caf\u00e9"), in_text("cafe\u0301")),
    ("line ends in text", in_text("a\nb"), in_text("a\r\nb")),
    ("outer whitespace in text", in_text("a"), in_text(" a\r\n")),
    ("code: its layout", as_code("x = f( 1,2 )"), as_code("x=f(1, 2)\n\n")),
    ("code: a comment that is ignored", as_code("a = 1  # one", ignore_comments=True),
     as_code("a = 1", ignore_comments=True)),
    ("another key for the same", chat(), chat().but(claim="claim-2")),
    ("another hour of no day", chat(), chat().but(now=1_800_000_000.0)),
    ("the same day", chat().cached(time_bucket=86_400).but(now=86_400.0),
     chat().cached(time_bucket=86_400).but(now=2 * 86_400 - 0.1)),
    ("partners that share", chat().cached(scope="shared"),
     chat().cached(scope="shared").but(partner="umbrella")),
    ("how it is run", chat(), chat().but(entry={"max_concurrency": 9, "deadline": 60})),
    ("for how long it is kept", chat(), chat().cached(hard_ttl=60, soft_ttl=30, negative_ttl=9)),
    ("what else could be asked", chat(), chat().but(entry={"locales": ()})),
]  # fmt: skip


@named(ONE_KEY)
def test_one_key(one: Ask, other: Ask) -> None:
    assert one.key() == other.key()


@pytest.mark.parametrize(
    "raw",
    [
        '{"input": {"messages": [{"content": "Hi", "role": "user"}]}, "model": "chat"}',
        '\n{\t"model" :"chat"\r\n,"input":{"messages":[{"role":"user","content":"Hi"}]} } ',
        '{"model": "\\u0063hat", "\\u0069nput": {"messages": [{"role": "user", '
        '"content": "\\u0048\\u0069"}]}}',
        '{"model": "chat", "params": {"temperature": 0e5}, "input": {"messages": [' + HI + "]}}",
        '{"model": "chat", "params": {"temperature": -0.0}, "input": {"messages": [' + HI + "]}}",
    ],
)
def test_one_request_written_otherwise(raw: str) -> None:
    assert chat("Hi").key(raw) == chat("Hi").key()
