"""Loading an environment's own libraries before the module that needs them, and not earlier."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runners import preload
from runners.environments import frameworks

MXNET = frameworks.FRAMEWORKS["mxnet"]
SHOW = """
import importlib.util, os, sys
sys.path.insert(0, {folder!r})
import site
site.addsitedir({folder!r})
def mine():
    with open("/proc/self/maps") as maps:
        return sorted({{line.split()[-1] for line in maps if {folder!r} in line}})
print("ctypes" in sys.modules, mine())
importlib.util.find_spec("target")
print(mine())
{more}
import target
print(target.SEEN, target.__spec__.origin, [os.path.basename(file) for file in mine()])
"""


def library() -> Path:
    """Some shared object that can be loaded: an extension module."""
    return next(file for folder in sys.path for file in Path(folder or ".").rglob("*.cpython-*.so"))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages as an install leaves it, whose module `target` looks what is loaded."""
    (tmp_path / "libs").mkdir()
    for name in ("one.so", "two.so"):
        shutil.copy(library(), tmp_path / "libs" / name)
    for name, content in frameworks.preloading_files("target", ("libs/one.so", "libs/two.so")).items():
        (tmp_path / name).write_text(content)
    (tmp_path / "target.py").write_text("SEEN = 'one.so' in open('/proc/self/maps').read()\n")
    return tmp_path


def run(folder: Path, more: str = "") -> subprocess.CompletedProcess[str]:
    code = SHOW.format(folder=str(folder), more=more)
    return subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)


def test_nothing_is_loaded_before_the_module_is_imported(site: Path) -> None:
    done = run(site)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "False []",
        "[]",
        f"True {site}/target.py ['one.so', 'two.so']",
    ]


def test_the_recorders_hook_on_the_same_module_is_called_too(site: Path) -> None:
    root = str(Path(preload.__file__).resolve().parents[1])
    more = f"""
sys.path.insert(0, {root!r})
from probes.imports import after_import
after_import("target", lambda module: print("recorded", module.SEEN))
"""
    done = run(site, more)
    assert done.stderr == ""
    assert done.stdout.splitlines()[2:] == [
        "recorded True",
        f"True {site}/target.py ['one.so', 'two.so']",
    ]


def test_what_is_missing_is_told_by_the_import(site: Path) -> None:
    (site / "libs" / "one.so").unlink()
    (site / "libs" / "two.so").write_text("no library")
    done = run(site)
    assert done.returncode == 1
    error = done.stderr.strip().splitlines()[-1]
    assert error.startswith("ImportError: target needs libraries that cannot be loaded: there is no ")
    assert f"{site}/libs/one.so; " in error and "two.so" in error


def test_libraries_are_loaded_in_order_for_all_to_link_with(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[tuple[str, int]] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda file, mode: loaded.append((file, mode)))
    monkeypatch.setattr(os.path, "exists", lambda _file: True)
    assert preload.load(MXNET.preloaded, "/site") == []
    assert loaded == [(f"/site/{file}", ctypes.RTLD_GLOBAL) for file in MXNET.preloaded]


def test_what_the_system_has_need_not_be_in_a_package(tmp_path: Path) -> None:
    assert preload.load(["nowhere/libc.so.6"], str(tmp_path)) == []
    (words,) = preload.load(["nowhere/libnone.so.1"], str(tmp_path))
    assert words == f"there is no {tmp_path}/nowhere/libnone.so.1"


def test_what_links_with_another_stands_behind_it() -> None:
    files = [Path(file).name.partition(".")[0] for file in MXNET.preloaded]
    for before, behind in (
        ("libcudart", "libcublasLt"),
        ("libcublasLt", "libcublas"),
        ("libcublas", "libcusolver"),
        ("libcusparse", "libcusolver"),
        ("libcublas", "libcudnn"),
    ):
        assert files.index(before) < files.index(behind)


def test_only_the_build_for_gpus_loads_anything() -> None:
    assert MXNET.recipe("cpu").files == {}
    module, start = MXNET.recipe("gpu").files.items()
    assert module == ("_hopscope_preload.py", Path(preload.__file__).read_text())
    assert start[0].endswith(".pth") and start[1].count("\n") == 1
    assert start[1].startswith("import _hopscope_preload; _hopscope_preload.before_import('mxnet', (")
    packages = (frameworks.REQUIREMENTS / "mxnet-gpu.txt").read_text()
    for file in MXNET.preloaded:
        package = file.split("/")[1].replace("_", "-")
        assert f"nvidia-{package}-cu11>=" in packages
