"""Every environment, synthesised once: starting jsii is what takes the time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.infrastructure.synthesis import CLOUD, ENVIRONMENTS, Synthesis, synthesise


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Synthesis]:
    """Give the synthesis of an environment by name."""
    made: dict[str, Synthesis] = {}

    def of(name: str) -> Synthesis:
        if name not in made:
            made[name] = synthesise(name, tmp_path_factory.mktemp(name))
        return made[name]

    return of


@pytest.fixture(params=ENVIRONMENTS)
def every(request: pytest.FixtureRequest, environment: Callable[[str], Synthesis]) -> Synthesis:
    """Each environment in turn."""
    return environment(request.param)


@pytest.fixture(params=CLOUD)
def cloud(request: pytest.FixtureRequest, environment: Callable[[str], Synthesis]) -> Synthesis:
    """Each environment of the cloud in turn."""
    return environment(request.param)


@pytest.fixture
def prod(environment: Callable[[str], Synthesis]) -> Synthesis:
    """Production."""
    return environment("prod")


@pytest.fixture
def local(environment: Callable[[str], Synthesis]) -> Synthesis:
    """The emulator's."""
    return environment("local")
