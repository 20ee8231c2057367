"""The framework's environment is installed while the dashboard serves, whatever becomes of the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runners import environments
from tests.e2e.conftest import start_server, wait_until
from tests.integration.package_index import PackageIndex, make_wheel


@pytest.fixture
def index(tmp_path: Path) -> Iterator[PackageIndex]:
    """Packages with the names that the CPU build asks for, and nothing in them."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name in ("tensorflow_cpu", "tensorflow", "tf_keras"):
        make_wheel(folder, name, "2.21.0")
    with PackageIndex(folder).serving() as serving:
        serving.held = {"tf_keras"}
        yield serving


@pytest.fixture
def variables(tmp_path: Path, index: PackageIndex, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An empty environments folder, for the server and for this process."""
    own = {"HOPSCOPE_ENVS": str(tmp_path / "envs"), "HOPSCOPE_TENSORFLOW": "", **index.variables}
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    return own


def state() -> str:
    return environments.environment("tensorflow").state


def test_server_that_stops_ends_the_install_and_the_next_goes_on(
    tmp_path: Path, index: PackageIndex, variables: dict[str, str]
) -> None:
    assert state() == "missing"
    with start_server(tmp_path, tmp_path, "--build", "cpu", environment=variables):
        assert index.wait_wanted(60)
        found = environments.environment("tensorflow")
        assert (found.state, found.build) == ("installing", "cpu")
        assert found.step and found.log.exists()
    found = environments.environment("tensorflow")
    assert found.state == "missing" and "interrupted" in (found.reason or "")

    index.let_go()
    with start_server(tmp_path, tmp_path, "--build", "cpu", environment=variables):
        wait_until(lambda: state() == "ready", 60, found.log.read_text)
    found = environments.environment("tensorflow")
    assert (found.build, found.progress, found.step) == ("cpu", None, None)
    # The second start found what the first had put in place.
    assert sum("/files/tensorflow" in path for path in index.asked) == 1


def test_killed_server_does_not_end_the_install(
    tmp_path: Path, index: PackageIndex, variables: dict[str, str]
) -> None:
    with start_server(tmp_path, tmp_path, "--build", "cpu", environment=variables) as server:
        assert index.wait_wanted(60)
        server.kill()
    assert state() == "installing"
    with start_server(tmp_path, tmp_path, "--build", "cpu", environment=variables):
        assert state() == "installing"
        index.let_go()
        wait_until(lambda: state() == "ready", 60, environments.environment("tensorflow").log.read_text)
    assert sum("/files/tf_keras" in path for path in index.asked) == 1
