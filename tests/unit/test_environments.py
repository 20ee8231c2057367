"""The state of a framework's environment, as it is read off the disk."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from pathlib import Path

import pytest

from runners import environments, frameworks
from runners.errors import HopscopeError, UsageError
from runners.install import install as install_into
from runners.virtualenv import Recipe, VirtualEnvironment


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_ENVS", str(tmp_path))
    monkeypatch.delenv("HOPSCOPE_TENSORFLOW", raising=False)
    monkeypatch.setattr(environments, "_suits", lambda: ("cpu", "no GPU here"))
    return tmp_path


def make(path: Path, module: str | None = None, cuda: bool = False) -> None:
    """An environment around this interpreter, with a module of that name in it."""
    site = path / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    (path / "bin").mkdir(parents=True)
    (path / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    home = Path(os.path.realpath(sys.executable)).parent
    (path / "pyvenv.cfg").write_text(f"home = {home}\nversion = 3.{sys.version_info[1]}.0\n")
    site.mkdir(parents=True)
    if module:
        info = site / module / "python" / "platform" / "build_info.py"
        info.parent.mkdir(parents=True)
        (site / module / "__init__.py").write_text("raise ImportError('must not be imported')\n")
        info.write_text(f"build_info = OrderedDict([('is_cuda_build', {cuda})])\n")


def note(folder: Path, **progress: object) -> None:
    (folder / "tensorflow.json").write_text(json.dumps({"updated": time.time(), "build": "cpu", **progress}))


def finish(folder: Path, build: str = "cpu") -> VirtualEnvironment:
    """What a finished install leaves behind."""
    make(folder / "tensorflow")
    virtual = VirtualEnvironment(folder / "tensorflow", folder, "tensorflow")
    virtual.write_stamp(environments.FRAMEWORKS["tensorflow"].recipe(build))
    note(folder, state="ready", build=build)
    return virtual


def test_nothing_there_is_missing(folder: Path) -> None:
    found = environments.environment("tensorflow")
    assert (found.state, found.reason, found.progress, found.build) == ("missing", None, None, None)
    assert found.path == folder / "tensorflow" and found.log == folder / "tensorflow.log"


def test_installing_while_the_lock_is_held(folder: Path) -> None:
    note(folder, state="installing", step="collecting keras", fraction=0.25)
    with (folder / "tensorflow.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = environments.environment("tensorflow")
    assert (found.state, found.progress, found.step) == ("installing", 0.25, "collecting keras")
    assert environments.environment("tensorflow").state == "missing"


def test_interrupted_install_says_so(folder: Path) -> None:
    note(folder, state="installing", step="collecting keras", fraction=0.25)
    found = environments.environment("tensorflow")
    assert found.state == "missing" and "interrupted" in (found.reason or "")


def test_progress_of_a_dead_installer_is_not_shown(folder: Path) -> None:
    note(folder, state="installing", step="collecting keras", fraction=0.25, updated=time.time() - 60)
    with (folder / "tensorflow.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = environments.environment("tensorflow")
    assert (found.state, found.progress) == ("installing", None)
    assert "keras" not in (found.step or "")


def test_failed_install_keeps_its_reason(folder: Path) -> None:
    note(folder, state="failed", reason="no network")
    found = environments.environment("tensorflow")
    assert (found.state, found.reason) == ("failed", "no network")
    with pytest.raises(
        HopscopeError, match=r"failed: no network.*python3 -m app setup --framework tensorflow"
    ):
        environments.require("tensorflow")


@pytest.mark.parametrize("build", ["cpu", "gpu"])
def test_finished_install_is_ready(folder: Path, build: str) -> None:
    finish(folder, build)
    found = environments.environment("tensorflow")
    assert (found.state, found.reason, found.build) == ("ready", None, build)
    assert environments.require("tensorflow") == found


def test_stamp_of_other_requirements_or_another_python_does_not_count(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual = finish(folder)
    python = folder / "tensorflow" / "bin" / "python"
    python.unlink()
    python.symlink_to("/bin/sh")
    assert environments.environment("tensorflow").state == "missing"
    python.unlink()
    python.symlink_to(os.path.realpath(sys.executable))
    assert virtual.is_current(environments.FRAMEWORKS["tensorflow"].recipe("cpu"))

    changed = Recipe("tensorflow", (Path(__file__),), facts={"build": "cpu"})
    monkeypatch.setattr(frameworks.Framework, "recipe", lambda _self, _build: changed)
    found = environments.environment("tensorflow")
    assert found.state == "missing" and "changed" in (found.reason or "")


def test_cpu_build_beside_a_gpu_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(folder)
    monkeypatch.setattr(environments, "_suits", lambda: ("gpu", "NVML reports 2 GPUs"))
    found = environments.environment("tensorflow")
    assert found.state == "ready"
    assert "NVML reports 2 GPUs" in (found.reason or "") and "--build gpu" in (found.reason or "")


@pytest.mark.parametrize(("cuda", "build"), [(False, "cpu"), (True, "gpu")])
def test_environment_of_the_users_own_is_used_without_importing_it(
    folder: Path, tmp_path: Path, cuda: bool, build: str
) -> None:
    make(tmp_path / "own", "tensorflow", cuda)
    (folder / "tensorflow").symlink_to(tmp_path / "own")
    found = environments.environment("tensorflow")
    assert (found.state, found.build) == ("ready", build)
    with pytest.raises(HopscopeError, match="left alone"):
        environments.install("tensorflow", "gpu" if build == "cpu" else "cpu")


def test_environment_named_by_the_user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(folder / "with", "tensorflow")
    make(folder / "without")
    monkeypatch.setenv("HOPSCOPE_TENSORFLOW", str(folder / "with"))
    found = environments.environment("tensorflow")
    assert (found.state, found.python) == ("ready", folder / "with" / "bin" / "python")
    monkeypatch.setenv("HOPSCOPE_TENSORFLOW", str(folder / "without"))
    found = environments.environment("tensorflow")
    assert found.state == "failed" and "has no TensorFlow" in (found.reason or "")
    assert environments.start_background_install() == []


def test_unknown_framework_and_build() -> None:
    with pytest.raises(UsageError, match="no framework 'torch'"):
        environments.environment("torch")
    with pytest.raises(UsageError, match="no build 'tpu'"):
        environments.install("tensorflow", "tpu")


def test_full_disk_is_told_before_anything_is_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe("tensorflow", (Path(__file__),), disk_bytes=10**18)
    virtual = VirtualEnvironment(folder / "tensorflow", folder, "tensorflow")
    with pytest.raises(HopscopeError, match=r"no space left on the disk: .* 1000000000\.0 GB"):
        install_into(virtual, recipe, sys.executable, lambda _step: None)
    assert not (folder / "tensorflow").exists()
    assert environments.environment("tensorflow").state == "failed"


def test_python_without_venv_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    virtual = VirtualEnvironment(folder / "tensorflow", folder, "tensorflow")
    with pytest.raises(HopscopeError, match=r"apt-get install python3\.\d+-venv"):
        install_into(virtual, Recipe("x", (Path(__file__),)), sys.executable, lambda _step: None)


def test_python_that_the_framework_has_no_build_for(monkeypatch: pytest.MonkeyPatch) -> None:
    future = frameworks.Framework("x", "X", "x", (3, 98), (3, 99), {"cpu": 0})
    with pytest.raises(HopscopeError, match=r"builds for Python 3\.98 to 3\.99 and this is 3\."):
        frameworks.base_python(future)


def test_build_follows_nvml(monkeypatch: pytest.MonkeyPatch) -> None:
    from runners import gpus

    card = gpus.Gpu(0, "GPU-1", "0:1", "H", (9, 0))
    monkeypatch.setattr(gpus, "list_gpus", lambda: gpus.Gpus((card,)))
    assert frameworks.choose_build() == ("gpu", "NVML reports 1 GPU")
    monkeypatch.setattr(gpus, "list_gpus", lambda: gpus.Gpus(problem="no driver"))
    assert frameworks.choose_build() == ("cpu", "no GPU: no driver")


def test_every_build_has_its_requirements() -> None:
    for framework in (*frameworks.FRAMEWORKS.values(), *frameworks.TESTED_BESIDE.values()):
        for build in framework.disk_bytes:
            recipe = framework.recipe(build)
            assert recipe.fingerprint() and recipe.facts == {"build": build}
