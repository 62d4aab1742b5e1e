"""What a partner may ask: the body of `POST /v1/jobs`, strictly typed, unknown fields refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tidegate.errors import InvalidBody, InvalidRequest, PayloadTooLarge, UnknownModel
from tidegate.rules import instructions, strict_json
from tidegate.rules.canonical import canonical
from tidegate.rules.catalogue import Catalogue, Entry, Locale, Task
from tidegate.rules.job import Lane

MAX_BODY = 256 * 1024
"""Bytes of a request body: room for any entry's input, and small beside DynamoDB's 400 KB item."""

_M = TypeVar("_M", bound="_Strict")

Text = Annotated[str, StringConstraints(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Message(_Strict):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: Text


class ChatInput(_Strict):
    """Input of task `chat`."""

    messages: list[Message] = Field(min_length=1, max_length=200)


class CodeInput(_Strict):
    """Input of task `code`."""

    instruction: Text
    code: str
    language: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+#._-]{1,40}$")]


class ImageInput(_Strict):
    """Input of task `image`."""

    prompt: Text
    negative_prompt: str | None = None


class ExtractInput(_Strict):
    """Input of task `extract`."""

    text: Text


INPUTS: dict[Task, type[_Strict]] = {
    "chat": ChatInput,
    "code": CodeInput,
    "image": ImageInput,
    "extract": ExtractInput,
}

STRUCTURED: frozenset[Task] = frozenset({"chat", "extract"})
"""Tasks whose answers can be JSON of a schema that the request brings."""

MetadataKey = Annotated[str, StringConstraints(min_length=1, max_length=64)]
MetadataValue = Annotated[str, StringConstraints(max_length=512)]


class JobBody(_Strict):
    """The body as it is written. A new field joins the job key unless `keys` excludes it."""

    model: Text
    input: dict[str, Any]
    params: dict[str, Any] = Field(default_factory=dict)
    locale: Locale | None = None
    safety_profile: Text | None = None
    response_schema: dict[str, Any] | None = None
    """JSON Schema that the answer must be of, besides the model's own contract."""
    priority: Lane = "normal"
    deadline_seconds: int | None = Field(default=None, ge=10, le=86_400)
    metadata: dict[MetadataKey, MetadataValue] = Field(default_factory=dict, max_length=16)


class JobRequest(_Strict):
    """A validated request with its entry's defaults resolved. A new field joins the job key."""

    body: JobBody
    task: Task
    params: dict[str, Any]
    locale: str | None
    safety_profile: str | None
    system: str | None
    """What the vendor is told before the input; None is nothing."""

    @property
    def model(self) -> str:
        """Return the catalogue's name of the model."""
        return self.body.model


def parse(raw: bytes, catalogue: Catalogue) -> JobRequest:
    """Return the request in a body of `POST /v1/jobs`.

    Raises:
        PayloadTooLarge: over `MAX_BODY` or the entry's own limit of input.
        InvalidBody: not strict JSON, or not an object.
        UnknownModel: no such entry.
        InvalidRequest: wrong type, value or field; carries JSON pointers.
    """
    return checked(document(raw), catalogue)


def document(raw: bytes) -> dict[str, Any]:
    """Return the JSON object in a body.

    Raises:
        PayloadTooLarge: over `MAX_BODY`.
        InvalidBody: not strict JSON, or not an object.
    """
    if len(raw) > MAX_BODY:
        raise PayloadTooLarge(f"the body has {len(raw)} bytes; at most {MAX_BODY} are accepted")
    try:
        value = strict_json.loads(raw)
    except strict_json.NotStrictJson as error:
        raise InvalidBody(f"the body is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidBody("the body must be a JSON object")
    return value


def checked(value: dict[str, Any], catalogue: Catalogue) -> JobRequest:
    """Return the request in a JSON object, with defaults resolved.

    Raises:
        PayloadTooLarge: over the entry's own limit of input.
        UnknownModel: no such entry.
        InvalidRequest: wrong type, value or field; carries JSON pointers.
    """
    body = _validated(JobBody, value, "")
    entry = catalogue.models.get(body.model)
    if entry is None:
        raise UnknownModel(
            "this model is not in the catalogue; GET /v1/models lists what is",
            pointers=(("/model", "unknown model"),),
        )
    given = _validated(INPUTS[entry.task], body.input, "/input").model_dump(exclude_none=True)
    size = len(canonical(given))
    if size > entry.max_input_bytes:
        raise PayloadTooLarge(
            f"the input has {size} bytes; model {body.model} accepts {entry.max_input_bytes}"
        )
    body = body.model_copy(update={"input": given})
    params = resolved(body.params, entry)
    problems = instructions.problems(entry, body.locale, body.safety_profile)
    if body.response_schema is not None:
        problems += _schema_problems(body.response_schema, entry)
    if problems:
        raise InvalidRequest(sentence(problems), pointers=tuple(problems))
    told = instructions.told(entry, body.locale, body.safety_profile)
    return JobRequest(body=body, task=entry.task, params=params, **told._asdict())


def _schema_problems(schema: dict[str, Any], entry: Entry) -> list[tuple[str, str]]:
    if entry.task not in STRUCTURED:
        return [("/response_schema", f"task {entry.task} has no answers in JSON")]
    from tidegate.rules.response_schema import problem  # here, as few requests bring one

    wrong = problem(schema)
    return [] if wrong is None else [("/response_schema" + wrong[0], wrong[1])]


def resolved(given: dict[str, Any], entry: Entry) -> dict[str, Any]:
    """Return the parameters with defaults in place; one without value is absent.

    Raises:
        InvalidRequest: a parameter the entry does not have, or a value it does not allow.
    """
    problems = [
        (f"/params/{_escaped(name)}", "this model has no such parameter")
        for name in given
        if name not in entry.parameters
    ]
    params: dict[str, Any] = {}
    for name, parameter in entry.parameters.items():
        value = given.get(name, parameter.default)
        if name in given:
            problem = parameter.problem_with(value)
            if problem:
                problems.append((f"/params/{name}", problem))
                continue
        if value is not None:
            params[name] = float(value) if parameter.type == "number" else value
    if problems:
        raise InvalidRequest(sentence(problems), pointers=tuple(problems))
    return params


def _validated(model: type[_M], value: Any, at: str) -> _M:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        problems = [
            (at + _pointer(e["loc"]), _message(e["type"], e["msg"]))
            for e in error.errors(include_url=False, include_input=False)
        ]
        raise InvalidRequest(sentence(problems), pointers=tuple(problems)) from None


def _pointer(location: tuple[int | str, ...]) -> str:
    return "".join("/" + _escaped(str(part)) for part in location)


def _message(kind: str, message: str) -> str:
    return "unknown field" if kind == "extra_forbidden" else message


def _escaped(name: str) -> str:
    """Return a member's name as a token of a JSON pointer (RFC 6901), cut to a readable length."""
    return name[:64].replace("~", "~0").replace("/", "~1")


def sentence(problems: Sequence[tuple[str, str]]) -> str:
    """Return what is wrong, for people: the first problem, and how many more there are."""
    pointer, message = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{pointer or '/'}: {message}{more}"
