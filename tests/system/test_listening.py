"""What the local stack opens to the network: nothing."""

from __future__ import annotations

import pytest

from cli.local.stack import StackInfo
from tests.system import processes
from tests.system.partner import Partner

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not processes.READABLE, reason="reads /proc, which only Linux has"),
]

LOOPBACK = "0100007F"
"""127.0.0.1 as /proc/net/tcp writes it."""


def test_everything_listens_on_the_loopback_address_only(acme: Partner, stack: StackInfo) -> None:
    acme.http.get("/v1/models")  # so that there are functions as well
    members = {name: processes.of_groups([g]) for name, g in stack.processes.items()}
    assert all(members.values()), members
    assert len(members["emulator"]) > 1
    for name, pids in members.items():
        opened = [
            socket
            for socket in processes.sockets(pids)
            if socket.state == processes.LISTENING or socket.table.startswith("udp")
        ]
        assert opened, name
        for socket in opened:
            assert socket.table == "tcp", f"{name}: {socket}"
            assert socket.local.startswith(LOOPBACK), f"{name}: {socket}"
    told = {stack.aws_endpoint, stack.vendor_url, stack.redis_url}
    assert all("//127.0.0.1:" in address for address in told)
