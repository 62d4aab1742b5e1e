"""Many items at once, in memory as in DynamoDB."""

from __future__ import annotations

import pytest
from moto import mock_aws

from tests.contract.referring import library
from tests.explorer.hub import Hub
from tests.explorer.memory_table import MemoryTable, Store
from tidegate.doors.actions import put


def test_the_items_that_there_are_are_read_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        real = library("references").table
        memory = MemoryTable(Hub(), Store(), "references")
        for table in (real, memory):
            for number in range(120):
                table.write([put({"pk": f"p{number % 3}", "sk": str(number), "value": number})])
            assert table.get_many([]) == []
        keys = [(f"p{number % 3}", str(number)) for number in range(200)]
        found = [sorted(t.get_many(keys + keys), key=lambda i: i["value"]) for t in (real, memory)]
    assert found[0] == found[1]
    assert [item["value"] for item in found[0]] == list(range(120))
