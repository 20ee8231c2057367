"""Which interpreters an environment can be made with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runners.environments.pythons import BASE, THIS, PythonRange, is_on_machine, search_path

OLDER = PythonRange("MXNet", (3, 1), (3, 3))


def test_this_one_where_it_fits() -> None:
    assert THIS.request == BASE
    assert PythonRange("x", (3, 0), sys.version_info[:2]).request == BASE
    assert OLDER.request == ">=3.1,<3.4"


@pytest.mark.parametrize(("status", "there"), [(0, True), (2, False)])
def test_uv_is_asked_for_others(tmp_path: Path, status: int, there: bool) -> None:
    uv = tmp_path / "uv"
    uv.write_text(f'#!/bin/sh\n[ "$UV_PYTHON_INSTALL_DIR" = {tmp_path} ] || exit 0\nexit {status}\n')
    uv.chmod(0o755)
    assert is_on_machine(OLDER, str(uv), tmp_path) is there
    assert is_on_machine(THIS, None, tmp_path)
    assert not is_on_machine(OLDER, None, tmp_path)
    assert not is_on_machine(OLDER, str(tmp_path / "none"), tmp_path)


def test_pythons_that_are_not_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/first")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("PYENV_ROOT", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    places = [".pyenv/versions/3.98.2/bin", ".local/share/uv/python/cpython-3.98.2-linux-x86_64-gnu/bin"]
    for place in places:
        (tmp_path / place).mkdir(parents=True)
    assert sorted(search_path().split(":")) == sorted(
        ["/first", *(str(tmp_path / place) for place in places)]
    )
