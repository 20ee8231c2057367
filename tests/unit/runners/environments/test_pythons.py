"""Finding an interpreter that a framework has builds for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runners.environments.pythons import find_python

OLD, NEW = (3, 97), (3, 99)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH, with what a script needs, and a home without any Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/none:{folder}")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("PYENV_ROOT", "XDG_DATA_HOME", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.delenv(name, raising=False)
    return folder


def interpreter(file: Path, says: str, status: int = 0) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\necho {says}\nexit {status}\n")
    file.chmod(0o755)
    return file


def find(tmp_path: Path) -> str | None:
    return find_python(OLD, NEW, tmp_path / "fetched")


def test_this_one_where_it_fits(tmp_path: Path) -> None:
    here = sys.version_info[:2]
    assert find_python(here, here, tmp_path) == sys.executable
    assert find_python((3, 1), (3, 2), tmp_path) is None


def test_the_newest_on_path_that_works(tmp_path: Path, path: Path) -> None:
    assert find(tmp_path) is None
    interpreter(path / "python3.97", "3 97")
    newer = interpreter(path / "python3.98", "3 98")
    assert find(tmp_path) == str(newer)


@pytest.mark.parametrize(
    ("says", "status"),
    [("pyenv: python3.98: command not found", 127), ("3 98", 1), ("3 11", 0), ("", 0), ("no numbers", 0)],
)
def test_what_does_not_work_hides_nothing_behind_it(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch, says: str, status: int
) -> None:
    interpreter(path / "python3.98", says, status)
    assert find(tmp_path) is None
    behind = interpreter(tmp_path / "usr" / "python3.98", "3 98")
    monkeypatch.setenv("PATH", f"{path}:{tmp_path}/usr")
    assert find(tmp_path) == str(behind)


@pytest.mark.parametrize(
    "place",
    [
        ".pyenv/versions/3.98.2/bin/python3.98",
        ".local/share/uv/python/cpython-3.98.2-linux-x86_64-gnu/bin/python3.98",
        "fetched/cpython-3.98.2-linux-x86_64-gnu/bin/python3.98",
    ],
)
@pytest.mark.usefixtures("path")
def test_pythons_that_are_not_on_path(tmp_path: Path, place: str) -> None:
    there = interpreter(tmp_path / place, "3 98")
    assert find(tmp_path) == str(there)


def test_a_python_without_its_version_in_its_name(tmp_path: Path, path: Path) -> None:
    interpreter(path / "python3", "3 5")
    plain = interpreter(path / "python", "3 97")
    assert find(tmp_path) == str(plain)
