"""What tests of every kind share: where runs go, and the interpreters that have the frameworks."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.environments import environments
from tests.nvml import NvmlDouble, why_not


def pytest_configure() -> None:
    """In the background of a script interrupts are ignored, and so by all that is started from there."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, usual)


@pytest.fixture(scope="session")
def tf_python() -> Path:
    """The interpreter of TensorFlow's environment; $HOPSCOPE_TENSORFLOW names another environment."""
    return _interpreter("tensorflow")


@pytest.fixture(scope="session")
def mx_python() -> Path:
    """The interpreter of MXNet's environment; $HOPSCOPE_MXNET names another environment."""
    return _interpreter("mxnet")


def _interpreter(framework: str) -> Path:
    found = environments.environment(framework)
    if found.state != "ready":
        why = found.reason or "python3 -m tests makes it"
        pytest.skip(f"the environment of {framework} is {found.state}: {why}")
    return found.python


@pytest.fixture(scope="session")
def empty_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with nothing but pip, to copy: making one takes seconds."""
    path = tmp_path_factory.mktemp("environment") / "empty"
    bare_python = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([bare_python, "-I", "-m", "venv", str(path)], check=True)
    return path


@pytest.fixture(scope="session")
def nvml_makeable() -> None:
    """Skips where the double of NVIDIA's driver cannot be made."""
    if reason := why_not():
        pytest.skip(reason)


@pytest.fixture
def nvml_double(nvml_makeable: None, tmp_path: Path) -> Iterator[NvmlDouble]:
    """NVIDIA's driver with eight GPUs, for child processes that get its `environment()`."""
    with NvmlDouble(tmp_path, gpus=8) as double:
        yield double


@pytest.fixture
def hopscope_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty $HOPSCOPE_HOME, for this process and those it starts; its runs are stopped at the end."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("HOPSCOPE_HOME", str(home))
    yield home
    stop_runs()


def stop_runs() -> None:
    """Stop every run of the present $HOPSCOPE_HOME that still goes on, watched or not."""
    from runners.runs import registry

    for run in registry.runs():
        if not run.ended or run.state == "lost":
            registry.stop(run, grace_s=0)
