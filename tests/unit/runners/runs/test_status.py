"""The status file: whole or old, never half."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from runners.errors import HopscopeError
from runners.runs.status import SPARE_NAME, STATUS_NAME, StatusFile, read_object


def test_a_status_is_replaced_whole(tmp_path: Path) -> None:
    file = StatusFile(tmp_path)
    assert file.write({"state": "running", "reason": "x" * 100})
    assert file.write({"state": "finished"}, last=True)
    assert read_object(tmp_path / STATUS_NAME) == {"state": "finished"}
    file.clear()
    assert [entry.name for entry in tmp_path.iterdir()] == [STATUS_NAME]


def test_room_for_the_next_one_is_kept(tmp_path: Path) -> None:
    StatusFile(tmp_path).write({"state": "running"})
    assert (tmp_path / SPARE_NAME).stat().st_blocks * 512 >= 4096


def test_a_refused_write_keeps_the_old_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = StatusFile(tmp_path)
    assert file.write({"state": "running"})

    def refuse(*_arguments: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", refuse)
    assert not file.write({"state": "finished"})
    assert read_object(tmp_path / STATUS_NAME) == {"state": "running"}
    monkeypatch.undo()
    assert file.write({"state": "finished"})
    assert read_object(tmp_path / STATUS_NAME) == {"state": "finished"}


def test_a_folder_that_is_gone_is_not_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        StatusFile(tmp_path / "gone").write({"state": "finished"})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not JSON"),
        (b'{"state": "runn', "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1]", "does not hold a JSON object"),
    ],
)
def test_damage_is_told(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "spec.json").write_bytes(content)
    with pytest.raises(HopscopeError, match=words):
        read_object(tmp_path / "spec.json")


def test_what_is_missing_or_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(HopscopeError, match=r"spec\.json is missing"):
        read_object(tmp_path / "spec.json")
    (tmp_path / "spec.json").mkdir()
    with pytest.raises(HopscopeError, match=r"spec\.json cannot be read"):
        read_object(tmp_path / "spec.json")


def test_what_is_written_is_json(tmp_path: Path) -> None:
    StatusFile(tmp_path).write({"reason": 'a "quoted" line\n'}, last=True)
    assert json.loads((tmp_path / STATUS_NAME).read_text()) == {"reason": 'a "quoted" line\n'}


def test_a_file_of_two_names_is_never_written(tmp_path: Path) -> None:
    """A folder from elsewhere had the owner's notes under the spare's name, and they were overwritten."""
    notes = tmp_path / "notes"
    notes.write_text("mine")
    run = tmp_path / "run"
    run.mkdir()
    (run / SPARE_NAME).hardlink_to(notes)
    file = StatusFile(run)
    assert file.write({"state": "running"})
    (run / SPARE_NAME).unlink()
    (run / SPARE_NAME).hardlink_to(notes)
    assert file.write({"state": "stopped"}, last=True)
    assert read_object(run / STATUS_NAME) == {"state": "stopped"}
    assert (notes.read_text(), notes.stat().st_nlink) == ("mine", 1)
