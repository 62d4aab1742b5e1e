"""The deployed application: one stack for all tests of this folder, told apart by their words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.local import stack as local
from cli.local.emulator import CREDENTIALS
from cli.local.stack import ENVIRONMENT, StackInfo, running_stack
from cli.main import app
from cli.partners import add_credit, add_partner
from tests.patience import until
from tests.system import processes
from tests.system.aws import Aws
from tests.system.crash import Crash, kill_a_worker
from tests.system.partner import Partner, Words
from tests.system.vendor import Vendor

Command = Callable[..., str]

SOON_STALE = "risk-report"
"""The model whose answers are stale after seconds here; no other test asks it twice for the same.
"""

FRESH = 6
"""Those seconds: a machine that stands still for a moment ends none too soon."""


@pytest.fixture(scope="session")
def stack_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stack").resolve()


@pytest.fixture(scope="session")
def stack(stack_folder: Path) -> Iterator[StackInfo]:
    """Run the stack, each function with its role alone; afterwards nothing of it may be left."""
    overlay = stack_folder / "catalogue.toml"
    overlay.write_text(f"[models.{SOON_STALE}]\ncache.soft_ttl = {FRESH}\ncache.jitter = 0\n")
    with running_stack(stack_folder, overlay=overlay, roles_enforced=True) as info:
        yield info
    if processes.READABLE:
        groups = info.processes.values()
        until(
            lambda: not processes.of_groups(groups) | processes.of_folder(stack_folder),
            patience=3,
            awaited="end of the stack's processes",
        )


@pytest.fixture(scope="session")
def words() -> Words:
    return Words()


@pytest.fixture(scope="session")
def acme(stack: StackInfo) -> Iterator[Partner]:
    with Partner(stack.api_url, stack.partners[0]) as partner:
        yield partner


@pytest.fixture(scope="session")
def globex(stack: StackInfo) -> Iterator[Partner]:
    with Partner(stack.api_url, stack.partners[1]) as partner:
        yield partner


@pytest.fixture
def newcomer(stack: StackInfo, aws: Aws, words: Words) -> Iterator[Callable[[int], Partner]]:
    """Make a partner with so many micro-credits, whose balance nobody else moves."""
    with ExitStack() as opened:

        def make(funds: int) -> Partner:
            name = "new" + words("partner").removeprefix(words.mark)  # logs show it
            key = add_partner(aws.dynamodb, stack.tables["partners"], name)
            add_credit(aws.dynamodb, stack.tables["ledger"], name, funds, "first")
            made = Partner(stack.api_url, local.Partner(name, key))
            return opened.enter_context(made)

        yield make


@pytest.fixture
def tidegate(stack: StackInfo, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run an operator's command on the stack and return what it says."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)

    def command(*words: str) -> str:
        where = ["--env", ENVIRONMENT, "--region", stack.region]
        where += ["--endpoint-url", stack.aws_endpoint]
        told = CliRunner().invoke(app, [*words, *where])
        assert told.exit_code == 0, told.output
        return told.output

    return command


@pytest.fixture(scope="session")
def aws(stack: StackInfo) -> Iterator[Aws]:
    with Aws(stack) as connected:
        yield connected


@pytest.fixture(scope="session")
def _vendor(stack: StackInfo) -> Iterator[Vendor]:
    with Vendor(stack.vendor_url) as vendor:
        yield vendor


@pytest.fixture
def vendor(_vendor: Vendor) -> Iterator[Vendor]:
    """The mock vendor, with nothing scripted."""
    _vendor.forget()
    yield _vendor
    _vendor.forget()


@pytest.fixture(scope="session")
def crash(stack: StackInfo, acme: Partner, _vendor: Vendor, words: Words) -> Crash:
    """A worker killed amid its call to the vendor."""
    if not processes.READABLE:
        pytest.skip("finds the worker in /proc, which only Linux has")
    return kill_a_worker(stack, acme, _vendor, words)


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Callable[[str, float], None]:
    """Note a figure; it is shown at the end of the run and stands in a JUnit report.

    (`record_property` warns beside such a report, and warnings are errors here.)
    """

    def note(what: str, value: float) -> None:
        request.node.user_properties.append((what, round(value, 1)))

    return note


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports("passed"):
        for what, value in report.user_properties:
            terminalreporter.write_line(f"{what}: {value}")


@pytest.fixture(scope="session", autouse=True)
def _crash_first(request: pytest.FixtureRequest) -> None:
    """Kill the worker before all else: its job takes a minute to come back, which others use."""
    wanted = any("crash" in getattr(item, "fixturenames", ()) for item in request.session.items)
    if wanted and processes.READABLE:
        with suppress(Exception):  # its own test says what went wrong
            request.getfixturevalue("crash")
