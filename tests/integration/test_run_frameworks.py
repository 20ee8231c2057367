"""`run` finds the environment of the framework that a script uses, and refuses what that cannot run on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from runners.plan.plan import ROOT

TRAIN = "import net\nprint(net.total())\n"
NET = """
import sys
import mxnet as mx
def total():
    return int((mx.nd.ones((2, 3)) * 2).sum().asscalar()), mx.__version__, sys.prefix
"""
# NVML's module on a machine with one card, newer than MXNet's build.
NVML = """
from types import SimpleNamespace
class NVMLError(Exception): pass
class NVMLLibraryMismatchError(Exception): pass
nvmlInit = nvmlShutdown = lambda: None
nvmlDeviceGetCount = lambda: 1
nvmlDeviceGetHandleByIndex = lambda index: index
nvmlDeviceGetUUID = lambda handle: "GPU-aaaa"
nvmlDeviceGetPciInfo_v3 = lambda handle: SimpleNamespace(busId="00000000:01:00.0")
nvmlDeviceGetName = lambda handle: "NVIDIA H200"
nvmlDeviceGetCudaComputeCapability = lambda handle: (9, 0)
"""


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hopscope_home: Path) -> Path:
    """A script that uses MXNet through a module of its own."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "net.py").write_text(NET)
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "app"), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("options", [(), ("--framework", "mxnet")])
def test_a_script_runs_where_its_framework_is(
    scripts: Path, mx_python: Path, options: tuple[str, ...]
) -> None:
    done = run(scripts, "run", *options, "--", "train.py")
    assert (done.returncode, done.stdout) == (0, f"(12, '1.9.1', '{mx_python.parents[1]}')\n"), done.stderr
    listed = run(scripts, "runs", "--json")
    (shown,) = json.loads(listed.stdout)["runs"]
    assert (shown["framework"], shown["state"]) == ("mxnet", "finished")


@pytest.mark.parametrize(
    "words", [("run", "--devices", "gpu:0", "--", "train.py"), ("demo", "mx-module", "--devices", "gpu:0")]
)
def test_a_card_that_the_build_has_no_code_for_is_refused_in_one_line(
    scripts: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    (scripts / "nvml").mkdir()
    (scripts / "nvml" / "pynvml.py").write_text(NVML)
    monkeypatch.setenv("PYTHONPATH", str(scripts / "nvml"))
    done = run(scripts, *words)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("hopscope: gpu:0 (NVIDIA H200) has compute capability 9.0, and MXNet's")
    assert not list(scripts.glob("home/runs/*"))
