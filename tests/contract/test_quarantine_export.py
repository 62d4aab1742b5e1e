"""`tidegate quarantine export`: whole lines in a file of its owner's, or no file."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.contract.quarantining import (
    CHAT,
    LONG,
    WRONG,
    ReplayFunction,
    exported,
    failed,
    objects,
    posted,
    reached,
    record_of,
    tidegate,
)
from tests.fakes import answer
from tests.pictures import picture
from tests.pipeline import Pipeline

SCHEMA = {"type": "object", "properties": {"river": {"type": "string"}}, "required": ["river"]}


@pytest.fixture
def pipeline(deploy: Callable[..., Pipeline], monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    made = deploy()
    reached(made, ReplayFunction(), monkeypatch)
    return made


def test_an_export_is_whole_and_read_again_line_by_line(pipeline: Pipeline, tmp_path: Path) -> None:
    of_schema = {"response_schema": SCHEMA, "params": {"max_tokens": 9}}
    text = '{"river": "\u2028\ud800"}'
    second, first = failed(pipeline), failed(pipeline, text, model=CHAT, request=of_schema)
    pipeline.clock.time += 1
    assert tidegate("discard", second, "--why", "no use").exit_code == 0
    file = tmp_path / "set.jsonl"
    done = tidegate("export", str(file), "--state", "all")
    assert (done.exit_code, done.stdout) == (0, ""), done.output
    assert "records written: 2" in done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600

    lines = {each["job_id"]: each for each in map(json.loads, file.read_text().splitlines())}
    record = record_of(pipeline, first)
    reasons = lines[first].pop("reasons")
    assert [set(reason) for reason in reasons] == [{"code", "pointer", "message"}]
    assert lines[first].pop("params")["max_tokens"] == 9
    assert lines[first].pop("at").endswith("Z")
    assert lines[first] == {
        "job_id": first,
        "model": CHAT,
        "task": "chat",
        "attempt": 1,
        "input": {"messages": [{"role": "user", "content": "work-1"}]},
        "system": None,
        "response_schema": SCHEMA,
        "answer": text,
        "cut": False,
        "made_by": record.made_by,
        "correlation": record.correlation,
        "decision": None,
    }
    assert lines[second]["answer"] is None
    assert lines[second]["decision"].pop("at").endswith("Z")
    assert lines[second]["decision"] == {"state": "discarded", "by": "user/moto", "why": "no use"}
    assert lines[second]["system"].startswith("You assess")
    (bare,) = exported("--no-input")
    assert lines[first].keys() - bare.keys() == {"input", "system", "response_schema"}
    assert exported("--limit", "1", "--state", "all")[0]["job_id"] == first


def test_images_are_named_where_they_are(pipeline: Pipeline) -> None:
    pipeline.vendor.script = [answer(None, images=(picture(width=96, height=32),))]
    body = {"model": "image-studio", "input": {"prompt": "a cat"}}
    job_id = posted(pipeline, body, "a")
    raw = tidegate("show", job_id, "--raw").output
    (image,) = exported("--model", "image-studio")[0]["answer"]
    assert f"{image['key']}  image/png, 96 x 32" in raw
    stored = pipeline.s3.get_object(Bucket="assets", Key=image["key"])["Body"].read()
    assert stored == picture(width=96, height=32).content


def test_a_file_is_written_whole_or_not_at_all(pipeline: Pipeline, tmp_path: Path) -> None:
    large = failed(pipeline, LONG, model=CHAT, finish="truncated")
    pipeline.clock.time += 1
    job_id = failed(pipeline)
    file = tmp_path / "set.jsonl"
    file.write_text("mine")
    refused = tidegate("export", str(file))
    assert (refused.exit_code, "--force" in refused.output) == (2, True)
    assert tidegate("export", str(tmp_path), "--force").exit_code == 2
    (name,) = objects(pipeline)
    pipeline.s3.delete_object(Bucket="assets", Key=name)
    half = tidegate("export", str(file), "--force")  # one is written, then S3 has no answer
    assert (half.exit_code, "NoSuchKey" in half.output) == (1, True)
    assert (file.read_text(), list(tmp_path.iterdir())) == ("mine", [file])

    assert tidegate("discard", large, "--why", "lost").exit_code == 0
    key = {"pk": {"S": f"job#{job_id}"}, "sk": {"S": "input"}}
    pipeline.dynamodb.delete_item(TableName="jobs", Key=key)
    assert tidegate("export", str(file), "--force").exit_code == 0
    line = json.loads(file.read_text())
    assert (line["job_id"], line["input"], json.loads(line["answer"])) == (job_id, None, WRONG)
    assert list(tmp_path.iterdir()) == [file]
    nowhere = tidegate("export", str(tmp_path / "no" / "set.jsonl"))
    assert (nowhere.exit_code, "No such file" in nowhere.output) == (1, True)


def test_who_may_not_read_is_told_so(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: Any, **__: Any) -> Any:
        error: Any = {"Error": {"Code": "AccessDeniedException", "Message": "no dynamodb:Query"}}
        raise ClientError(error, "Query")

    monkeypatch.setattr("cli.quarantine_records.Quarantine.listed", denied)
    for words in (("list",), ("export", "-")):
        result = tidegate(*words)
        assert (result.exit_code, "no dynamodb:Query" in result.output) == (1, True)
