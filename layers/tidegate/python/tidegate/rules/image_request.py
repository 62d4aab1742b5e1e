"""What a partner may ask of `POST /v1/images/generations`: the flat body that image clients know.

It is the same request as a job's, told otherwise; what the entry calls a parameter stands beside
the prompt.
"""

from __future__ import annotations

from tidegate.errors import InvalidRequest
from tidegate.rules import request
from tidegate.rules.catalogue import Catalogue
from tidegate.rules.request import JobRequest

INPUT = ("prompt", "negative_prompt")
BODY = ("model", "locale", "safety_profile", "deadline_seconds", "metadata")


def parse(raw: bytes, catalogue: Catalogue) -> JobRequest:
    """Return the request in a body.

    Raises:
        RequestRefused: as `request.parse`; pointers are those of this body.
    """
    flat = request.document(raw)
    rest = {name: value for name, value in flat.items() if name not in {*INPUT, *BODY}}
    value = {name: flat[name] for name in BODY if name in flat}
    value |= {"input": {n: flat[n] for n in INPUT if n in flat}, "params": rest}
    model = flat.get("model")
    entry = catalogue.models.get(model) if isinstance(model, str) else None
    if entry is not None and entry.task != "image":
        why = "this model makes no images"
        raise InvalidRequest(f"/model: {why}", pointers=(("/model", why),))
    try:
        return request.checked(value, catalogue)
    except InvalidRequest as error:
        pointers = tuple((_here(pointer), why) for pointer, why in error.pointers)
        raise InvalidRequest(request.sentence(pointers), pointers=pointers) from None


def _here(pointer: str) -> str:
    """Return where a job's pointer leads in the flat body."""
    for nested in ("/input/", "/params/"):
        if pointer.startswith(nested):
            return pointer.replace(nested, "/", 1)
    return pointer
