"""Which runs are this home's own: nobody else's folder can claim it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from runners.runs import ownership
from runners.runs.run import Run, read_run


@pytest.fixture
def own(hopscope_home: Path) -> Run:
    folder = hopscope_home / "runs" / "20260101-000000-train-0000"
    (folder / "edited").mkdir(parents=True)
    (folder / "spec.json").write_text(json.dumps({"kind": "script", "command": ["python", "train.py"]}))
    (folder / "edited" / "edits.json").write_text("{}")
    (folder / "edited" / "0-train.py").write_text("x = 1")
    ownership.sign(folder)
    return read_run(folder)


def test_a_launched_run_is_own_wherever_its_folder_is_renamed_to(own: Run, hopscope_home: Path) -> None:
    assert ownership.is_own(own)
    assert (hopscope_home / ownership.KEY_NAME).stat().st_mode & 0o777 == 0o600
    (own.path / "out.log").write_text("more")
    assert ownership.is_own(read_run(own.path.rename(own.path.with_name("renamed"))))


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "spec.json").write_text('{"command": ["evil"]}'),
        lambda folder: (folder / "edited" / "0-train.py").write_text("import evil"),
        lambda folder: (folder / "edited" / "1-more.py").write_text(""),
        lambda folder: (folder / "edited" / "0-train.py").unlink(),
        lambda folder: shutil.rmtree(folder / "edited"),
        lambda folder: (folder / "launch.mac").unlink(),
        lambda folder: (folder / "launch.mac").write_bytes(b"\xff" * 64),
        lambda folder: (folder / "launch.mac").write_text(""),
        lambda folder: subprocess.run(["mkfifo", folder / "edited" / "pipe"], check=True),
        lambda folder: ((folder / "spec.json").unlink(), (folder / "spec.json").mkdir()),
        lambda folder: (folder / "edited" / "key").symlink_to("/etc/passwd"),
    ],
)
def test_what_was_changed_since_is_not(own: Run, change: Callable[[Path], object]) -> None:
    change(own.path)
    assert not ownership.is_own(own)


def test_a_copy_is_not(own: Run) -> None:
    """It may come back from somebody else with other sources in it."""
    copy = own.path.with_name("20260101-000000-train-0001")
    shutil.copytree(own.path, copy)
    assert not ownership.is_own(read_run(copy))


def test_a_key_that_others_know_signs_nothing(own: Run, hopscope_home: Path) -> None:
    key = hopscope_home / ownership.KEY_NAME
    for spoil in (lambda: key.chmod(0o644), lambda: key.write_bytes(b""), key.unlink):
        spoil()
        assert not ownership.is_own(own)
        ownership.sign(own.path)
        assert ownership.is_own(own) and key.stat().st_mode & 0o777 == 0o600


def test_a_run_of_an_earlier_version_or_of_another_home_is_not(
    own: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "other"))
    assert not ownership.is_own(own)
    ownership.sign(own.path)
    assert ownership.is_own(own)
