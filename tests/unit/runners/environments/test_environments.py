"""The state of a framework's environment, as it is read off the disk."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from pathlib import Path

import pytest

from app.cli import setup
from app.cli.parser import Parser
from runners.environments import background_install, builds, environments, frameworks
from runners.environments.install import install as install_into
from runners.environments.pythons import THIS
from runners.environments.virtualenv import Recipe, VirtualEnvironment
from runners.errors import HopscopeError, UsageError

SIGNS = {
    ("tensorflow", False): {
        "tensorflow/python/platform/build_info.py": "build_info = OrderedDict([('is_cuda_build', False)])\n"
    },
    ("tensorflow", True): {
        "tensorflow/python/platform/build_info.py": "build_info = OrderedDict([('is_cuda_build', True)])\n"
    },
    ("mxnet", False): {"mxnet-1.9.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: mxnet\n"},
    ("mxnet", True): {"mxnet_cu112-1.9.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: mxnet-cu112\n"},
}
"""What tells the builds apart: framework, for GPUs or not -> files beside its module."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_ENVS", str(tmp_path))
    for name in frameworks.FRAMEWORKS:
        monkeypatch.delenv(f"HOPSCOPE_{name.upper()}", raising=False)
    monkeypatch.setattr(environments, "chosen_build", lambda _name: ("cpu", "no GPU here"))
    monkeypatch.setattr(builds, "driver_found", lambda: True)
    return tmp_path


def make(path: Path, module: str | None = None, gpu: bool = False) -> None:
    """An environment around this interpreter, with a build of the framework of that name in it."""
    site = path / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    (path / "bin").mkdir(parents=True)
    (path / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    home = Path(os.path.realpath(sys.executable)).parent
    (path / "pyvenv.cfg").write_text(f"home = {home}\nversion = 3.{sys.version_info[1]}.0\n")
    site.mkdir(parents=True)
    if module:
        (site / module).mkdir()
        (site / module / "__init__.py").write_text("raise ImportError('must not be imported')\n")
        for file, text in SIGNS[module, gpu].items():
            (site / file).parent.mkdir(parents=True)
            (site / file).write_text(text)


def note(folder: Path, **progress: object) -> None:
    (folder / "tensorflow.json").write_text(json.dumps({"updated": time.time(), "build": "cpu", **progress}))


def finish(folder: Path, build: str = "cpu") -> VirtualEnvironment:
    """What a finished install leaves behind."""
    make(folder / "tensorflow")
    virtual = VirtualEnvironment(folder / "tensorflow", folder, "tensorflow")
    virtual.write_stamp(frameworks.FRAMEWORKS["tensorflow"].recipe(build))
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
    assert virtual.is_current(frameworks.FRAMEWORKS["tensorflow"].recipe("cpu"))

    changed = Recipe("tensorflow", (Path(__file__),), facts={"build": "cpu"})
    monkeypatch.setattr(frameworks.Framework, "recipe", lambda _self, _build: changed)
    found = environments.environment("tensorflow")
    assert found.state == "missing" and "changed" in (found.reason or "")


def test_cpu_build_beside_a_gpu_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(folder)
    monkeypatch.setattr(environments, "chosen_build", lambda _name: ("gpu", "NVML reports 2 GPUs"))
    found = environments.environment("tensorflow")
    assert found.state == "ready"
    assert "NVML reports 2 GPUs" in (found.reason or "") and "--build gpu" in (found.reason or "")


@pytest.mark.parametrize("name", ["tensorflow", "mxnet"])
@pytest.mark.parametrize(("gpu", "build"), [(False, "cpu"), (True, "gpu")])
def test_environment_of_the_users_own_is_used_without_importing_it(
    folder: Path, tmp_path: Path, name: str, gpu: bool, build: str
) -> None:
    make(tmp_path / "own", name, gpu)
    (folder / name).symlink_to(tmp_path / "own")
    found = environments.environment(name)
    assert (found.state, found.build) == ("ready", build)
    with pytest.raises(HopscopeError, match="left alone"):
        environments.install(name, "gpu" if build == "cpu" else "cpu")


def test_environment_named_by_the_user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(folder / "with", "tensorflow")
    make(folder / "without")
    monkeypatch.setenv("HOPSCOPE_TENSORFLOW", str(folder / "with"))
    found = environments.environment("tensorflow")
    assert (found.state, found.python) == ("ready", folder / "with" / "bin" / "python")
    monkeypatch.setenv("HOPSCOPE_TENSORFLOW", str(folder / "without"))
    found = environments.environment("tensorflow")
    assert found.state == "failed" and "has no TensorFlow" in (found.reason or "")
    assert background_install.start(["tensorflow"]) == []


def test_unknown_framework_and_build() -> None:
    with pytest.raises(UsageError, match="no framework 'torch'"):
        environments.environment("torch")
    with pytest.raises(UsageError, match="no build 'tpu'"):
        environments.install("tensorflow", "tpu")


def test_full_disk_is_told_before_anything_is_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe("tensorflow", (Path(__file__),), disk_bytes=10**18)
    virtual = VirtualEnvironment(folder / "tensorflow", folder, "tensorflow")
    with pytest.raises(HopscopeError, match=r"no space left on the disk: .* 1000000000\.0 GB"):
        install_into(virtual, recipe, THIS, lambda _step: None)
    assert not (folder / "tensorflow").exists()
    assert environments.environment("tensorflow").state == "failed"


def test_python_without_venv_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    monkeypatch.setattr("shutil.which", lambda _name: None)
    virtual = VirtualEnvironment(folder / "tensorflow", folder, "tensorflow")
    with pytest.raises(HopscopeError, match=r"apt-get install python3\.\d+-venv"):
        install_into(virtual, Recipe("x", (Path(__file__),)), THIS, lambda _step: None)


def test_what_waits_for_another_install_shows_it(folder: Path) -> None:
    with environments.in_queue("mxnet") as place, (folder / "tensorflow.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = environments.environment("mxnet")
        assert (found.state, found.progress) == ("installing", None)
        assert found.step == "waits for TensorFlow, which is installed first"
        with pytest.raises(HopscopeError, match="being installed"):
            environments.require("mxnet")
        place.close()
        assert environments.environment("mxnet").state == "missing"


def test_build_that_needs_a_driver_says_where_there_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(folder / "mxnet")
    virtual = VirtualEnvironment(folder / "mxnet", folder, "mxnet")
    virtual.write_stamp(frameworks.FRAMEWORKS["mxnet"].recipe("gpu"))
    assert environments.environment("mxnet").reason is None
    monkeypatch.setattr(builds, "driver_found", lambda: False)
    found = environments.environment("mxnet")
    assert found.state == "ready" and "libcuda.so.1" in (found.reason or "")


@pytest.mark.parametrize("name", list(frameworks.FRAMEWORKS))
def test_build_that_could_not_be_imported_is_refused_before_the_download(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    make(folder / name)
    known = frameworks.FRAMEWORKS[name]
    virtual = VirtualEnvironment(folder / name, folder, name)
    virtual.write_stamp(known.recipe("cpu"))
    (folder / f"{name}.json").write_text(json.dumps({"updated": 0.0, "build": "cpu", "state": "ready"}))
    before = sorted(folder.rglob("*"))
    installed: list[str] = []
    monkeypatch.setattr(
        environments,
        "install_into",
        lambda _virtual, recipe, *_, **__: installed.append(recipe.facts["build"]),
    )
    monkeypatch.setattr(builds, "driver_found", lambda: False)
    parser = Parser("setup", "")
    setup.add_arguments(parser)
    status = setup.execute(["--framework", name, "--build", "gpu"], parser)
    out, err = capsys.readouterr()
    if not known.needs_driver:
        assert status == 0 and installed == ["gpu"]
        return
    assert status == 1 and not installed and sorted(folder.rglob("*")) == before
    (line,) = err.splitlines()
    assert "cannot even be imported without the NVIDIA driver's libcuda.so.1" in line
    assert "install the driver first" in line
    assert out.startswith(f"{name}: ready, cpu build") and environments.environment(name).build == "cpu"


def test_every_build_has_its_requirements() -> None:
    for framework in (*frameworks.FRAMEWORKS.values(), *frameworks.TESTED_BESIDE.values()):
        for build in framework.disk_bytes:
            recipe = framework.recipe(build)
            assert recipe.fingerprint() and recipe.facts == {"build": build}
            assert bool(recipe.files) == (build == "gpu" and bool(framework.preloaded))


def test_what_is_put_beside_the_packages_counts_as_a_requirement(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.touch()
    plain = Recipe("x", (file,))
    with_one = Recipe("x", (file,), files={"x.pth": "import x"})
    assert len({plain.fingerprint(), with_one.fingerprint(), Recipe("y", (file,)).fingerprint()}) == 2
