"""What is a right answer, and what a vendor makes of it that an operator may yet accept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from hashlib import sha256
from typing import Any

from tests.explorer.models import MEMBER, STRANGER
from tests.pictures import picture
from tidegate.vendors.base import Image

ABOUT = "answer to "


def answer_to(asked: Mapping[str, Any], params: Mapping[str, Any]) -> str:
    """Return the one right answer to a request: code is repeated, with its names."""
    if "code" in asked:
        return str(asked["code"])
    return ABOUT + json.dumps([asked, params], sort_keys=True)


def pictures(text: str) -> list[Image]:
    """Return as many images as were asked for, of an answer; none if it is no image's."""
    if not text.startswith(ABOUT):
        return []
    asked, params = json.loads(text.removeprefix(ABOUT))
    return [picture(f"{text} {n}") for n in range(params.get("n", 1) if "prompt" in asked else 0)]


def report(text: str, account: int, long: bool = False) -> str:
    """Return an answer in JSON that names an account; a long one says more than can be packed."""
    more = [sha256(f"{text} {n}".encode()).hexdigest() for n in range(40 if long else 0)]
    return json.dumps({"account_id": account, "report": " ".join([text, *more])})


def holds(output: Mapping[str, Any], right: Set[str], fewer: bool = False) -> bool:
    """Return whether an output is one of the right answers; an image's name tells its content.

    `fewer` is whether some of its images will do.
    """
    if "images" in output:
        names = [image["key"].rpartition("/")[2] for image in output["images"]]
        whole = [[sha256(each.content).hexdigest() for each in pictures(text)] for text in right]
        return any(names and names == (w[: len(names)] if fewer else w) for w in whole)
    if "data" in output:
        return output["data"] in [json.loads(report(text, MEMBER)) for text in right]
    return output.get("text") in right


def released(output: Mapping[str, Any], right: Set[str]) -> bool:
    """Return whether an output is what fails the gate of one of the right answers, and no more."""
    bad = [json.loads(report(text, STRANGER, long)) for text in right for long in (False, True)]
    return output.get("data") in bad
