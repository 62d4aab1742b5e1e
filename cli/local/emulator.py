"""Emulated AWS: ministack, kept on the loopback address and inside one folder."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from cli.local.processes import LOOPBACK, Child, answering, environment, free_port, start

SERVER = Path(__file__).with_name("paced_emulator.py")
REGION = "us-east-1"
ACCOUNT = "000000000000"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
"""What the emulator accepts; it knows no secrets."""


def start_emulator(folder: Path, *, roles_enforced: bool = False) -> tuple[Child, str]:
    """Start the emulator with nothing in it; return it and its endpoint URL.

    With `roles_enforced` functions may do what their roles allow and nothing else, as on AWS, and
    only `CREDENTIALS` are an operator's. Its Lambda workers are processes of the same group and end
    with it.
    """
    port = free_port()
    temporary = folder / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)  # unpacked functions of a stack that was killed
    temporary.mkdir(parents=True)
    endpoint = f"http://{LOOPBACK}:{port}"
    child = start(
        "emulator",
        [sys.executable, "-P", str(SERVER)],  # -P: this folder has a redis.py
        log=folder / "logs" / "emulator.log",
        env=environment(
            # It listens on every address unless told otherwise, for each protocol apart.
            BIND_HOST=LOOPBACK,
            MINISTACK_HOST=LOOPBACK,
            GATEWAY_PORT=str(port),
            AUTH="true" if roles_enforced else "false",
            IOT_MTLS_ENABLED="0",
            SFTP_ENABLED="0",
            # With Docker at hand it would look for leftover containers and remove them.
            DOCKER_HOST=f"unix://{temporary}/no-docker",
            # Without these it writes to /tmp.
            TMPDIR=str(temporary),
            S3_DATA_DIR=str(temporary / "s3"),
            STATE_DIR=str(temporary / "state"),
            S3_PERSIST="0",
            PERSIST_STATE="0",
            MINISTACK_REGION=REGION,
            MINISTACK_ACCOUNT_ID=ACCOUNT,
            AWS_DEFAULT_REGION=REGION,
            **CREDENTIALS,
        ),
        cwd=temporary,
        ready=answering(port, "/_ministack/ready"),
        patience=60,
    )
    return child, endpoint
