"""The frameworks' environments are installed while the dashboard serves, where an operator asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.environments import environments
from runners.environments.frameworks import FRAMEWORKS
from runners.environments.install import pythons_folder
from runners.environments.pythons import is_on_machine
from tests.e2e.conftest import Server, settled, start_server, wait_until
from tests.integration.package_index import UV, PackageIndex, make_wheel

PACKAGES = (
    ("tensorflow_cpu", "2.21.0", "tensorflow"),
    ("tensorflow", "2.21.0", "tensorflow"),
    ("tf_keras", "2.21.0", "tf_keras"),
    ("mxnet", "1.9.1", "mxnet"),
    ("numpy", "1.23.5", "numpy"),
)
ENDED = ("ready", "failed")
FITS = is_on_machine(environments.python_range(FRAMEWORKS["mxnet"]), UV, pythons_folder(Path("/nowhere")))
"""Whether this machine has a Python that MXNet can be installed for: nothing is fetched here."""


@pytest.fixture
def index(tmp_path: Path) -> Iterator[PackageIndex]:
    """Packages with the names that the CPU builds ask for, and nothing in them."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name, version, module in PACKAGES:
        make_wheel(folder, name, version, {f"{module}.py": ""})
    with PackageIndex(folder).serving() as serving:
        serving.held = {"tf_keras"}
        yield serving


@pytest.fixture
def variables(tmp_path: Path, index: PackageIndex, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An empty environments folder, for the server and for this process."""
    own = {
        "HOPSCOPE_ENVS": str(tmp_path / "envs"),
        "HOPSCOPE_TENSORFLOW": "",
        "HOPSCOPE_MXNET": "",
        **index.variables,
    }
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    return own


def ask_for(page: Any, server: Server, *frameworks: str) -> None:
    """Press the buttons of the Launch page that install these."""
    page.goto(f"{server.url}/launch")
    settled(page)
    for framework in frameworks:
        button = page.get_by_role("button", name=f"Install {framework}")
        button.click()
        button.wait_for(state="detached")


def state(framework: str = "tensorflow") -> str:
    return environments.environment(framework).state


def test_server_that_stops_ends_the_install_and_the_next_goes_on(
    tmp_path: Path, index: PackageIndex, variables: dict[str, str], open_page: Callable[..., Any]
) -> None:
    assert state() == "missing"
    with start_server(tmp_path, tmp_path, "--build", "cpu", environment=variables) as server:
        ask_for(open_page(), server, "TensorFlow")
        assert index.wait_wanted(120)
        found = environments.environment("tensorflow")
        assert (found.state, found.build) == ("installing", "cpu")
        assert found.step and found.log.exists()
    assert state("mxnet") == "missing"
    found = environments.environment("tensorflow")
    assert found.state == "missing" and "interrupted" in (found.reason or "")

    index.let_go()
    with start_server(tmp_path, tmp_path, "--build", "cpu", environment=variables) as server:
        ask_for(open_page(), server, "TensorFlow", "MXNet")
        wait_until(lambda: state() == "ready", 120, found.log.read_text)
        wait_until(lambda: state("mxnet") in ENDED, 120, environments.environment("mxnet").log.read_text)
    assert state("mxnet") == ("ready" if FITS else "failed")
    found = environments.environment("tensorflow")
    assert (found.build, found.progress, found.step) == ("cpu", None, None)
    # The second start found what the first had put in place.
    assert index.fetched("tensorflow") == 1


def test_killed_server_does_not_end_the_install(
    tmp_path: Path, index: PackageIndex, variables: dict[str, str], open_page: Callable[..., Any]
) -> None:
    with start_server(tmp_path, tmp_path, "--build", "cpu", environment=variables) as server:
        ask_for(open_page(), server, "TensorFlow")
        assert index.wait_wanted(120)
        server.kill()
    assert state() == "installing"
    with start_server(tmp_path, tmp_path, "--build", "cpu", environment=variables):
        assert state() == "installing"
        index.let_go()
        wait_until(lambda: state() == "ready", 120, environments.environment("tensorflow").log.read_text)
    assert index.fetched("tf_keras") == 1
