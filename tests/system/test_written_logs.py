"""What may be read in the logs: ids and codes, never a prompt, an answer, a key or a secret.

The last of the folder by its name, but for the books: it searches for the words of all tests
before it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.local.stack import StackInfo
from tests.system.aws import Aws
from tests.system.partner import Partner, Words, ask
from tests.system.vendor import Vendor

pytestmark = pytest.mark.system

VENDORS_OWN = "vendor.log"


def test_nothing_private_is_logged(
    acme: Partner,
    aws: Aws,
    stack: StackInfo,
    stack_folder: Path,
    vendor: Vendor,
    words: Words,
) -> None:
    vendor.say("chat-mini", words("answer"))
    job = acme.run(ask("chat-mini", words("prompt")), words("key"))
    files = [
        path
        for path in (stack_folder / "logs").iterdir()
        if path.is_file() and path.name != VENDORS_OWN
    ]
    logs = {path.name: path.read_text(errors="replace") for path in files}
    logs["log groups"] = "\n".join(aws.log_lines())
    for name in ("emulator.log", "log groups"):  # else the search would prove nothing
        assert job["id"] in logs[name], name
        assert '"idempotency_key_hash":"' in logs[name], name
    secrets = [words.mark, *(f"key-of-{name}" for name in ("openai", "anthropic", "cohere"))]
    secrets += [partner.api_key.rsplit("_", 1)[1] for partner in stack.partners]
    found = {
        name: [line[:300] for line in log.splitlines() if any(s in line for s in secrets)][:3]
        for name, log in logs.items()
    }
    assert not any(found.values()), found
