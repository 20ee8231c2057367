"""The text of the user's files is kept with the run, and nothing about it can break the program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.store.sources import has_sources, read_source
from probes.trace import sources
from probes.trace.recording import Recording
from probes.trace.sources import FOLDER, Sources, kept_name


class Kept:
    """A run's folder, and what was noted of its files."""

    def __init__(self, folder: Path) -> None:
        self.run = folder / "run"
        self.trace = self.run / "trace"
        self.trace.mkdir(parents=True)
        self.notes: dict[str, str] = {}
        self.sources = self.another()

    def another(self) -> Sources:
        """Those of one more process."""
        return Sources(str(self.trace), self._note)

    def _note(self, notes: dict[str, str]) -> None:
        self.notes.update(notes)

    def files(self) -> list[str]:
        return (
            sorted(path.name for path in (self.trace / FOLDER).iterdir())
            if (self.trace / FOLDER).exists()
            else []
        )


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


def written(path: Path, data: bytes | str) -> str:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return str(path)


def test_a_file_is_kept_once_and_read_back(kept: Kept, tmp_path: Path) -> None:
    file = written(tmp_path / "train.py", "a = 1\r\n\tb = 2\n")
    kept.sources.keep(file)
    written(tmp_path / "train.py", "edited later\n")
    kept.sources.keep(file)
    assert kept.files() == [kept_name(file)]
    assert read_source(kept.run, [file]) == ["a = 1", "        b = 2"]
    assert kept.notes == {}


def test_what_is_not_kept_is_noted_with_its_reason(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MOST_BYTES", 100)
    monkeypatch.setattr(sources, "MOST_ALL_BYTES", 150)
    fifo = str(tmp_path / "pipe.py")
    os.mkfifo(fifo)
    reasons = {
        written(tmp_path / "large.py", "x" * 101): "is larger than",
        written(tmp_path / "binary.py", b"a\0b"): "is not text",
        fifo: "is not a regular file",
        str(tmp_path / "gone.py"): "No such file",
        str(tmp_path / "zero\0.py"): "could not be kept",
    }
    for file in reasons:
        kept.sources.keep(file)
    assert kept.files() == []
    assert set(kept.notes) == set(reasons)
    assert all(reason in kept.notes[file] for file, reason in reasons.items())
    kept.sources.keep(written(tmp_path / "first.py", "x" * 100))
    too_much = written(tmp_path / "second.py", "x" * 100)
    kept.sources.keep(too_much)
    assert len(kept.files()) == 1 and "all files together" in kept.notes[too_much]


def test_the_number_of_files_is_bounded(kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_FILES", 2)
    for number in range(5):
        kept.sources.keep(written(tmp_path / f"part{number}.py", "x"))
    assert len(kept.files()) == 2
    assert list(kept.notes.values()) == ["only the first 2 files were kept"]


def test_a_file_written_after_the_start_may_not_be_what_ran(kept: Kept, tmp_path: Path) -> None:
    late = tmp_path / "late.py"
    late.write_text("x = 1\n")
    os.utime(late, (4_000_000_000, 4_000_000_000))
    kept.sources.keep(str(late))
    assert read_source(kept.run, [str(late)]) == ["x = 1"]
    assert "after the program had started" in kept.notes[str(late)]


def test_another_text_in_another_process_is_told(kept: Kept, tmp_path: Path) -> None:
    file = written(tmp_path / "train.py", "first\n")
    kept.sources.keep(file)
    same, other = kept.another(), kept.another()
    same.keep(file)
    assert kept.notes == {}
    written(tmp_path / "train.py", "second\n")
    other.keep(file)
    assert read_source(kept.run, [file]) == ["first"]
    assert "changed while the run went on" in kept.notes[file]


def test_a_full_disk_or_a_lost_folder_is_only_noted(kept: Kept, tmp_path: Path) -> None:
    (kept.trace / FOLDER).write_text("a file where the folder would be")
    file = written(tmp_path / "train.py", "x = 1\n")
    kept.sources.keep(file)
    assert "could not be kept" in kept.notes[file]
    assert read_source(kept.run, [file]) is None
    assert not has_sources(kept.run)


def test_a_copy_is_not_open_to_more_people_than_the_file(kept: Kept, tmp_path: Path) -> None:
    file = written(tmp_path / "secret.py", "x = 1\n")
    Path(file).chmod(0o600)
    kept.sources.keep(file)
    assert (kept.trace / FOLDER / kept_name(file)).stat().st_mode & 0o777 == 0o600


def test_names_of_files_stay_within_what_a_file_system_takes(kept: Kept, tmp_path: Path) -> None:
    for name in ("\u00e4" * 120 + ".py", "a b'\";.py", os.fsdecode(b"\xff\xfe.py")):
        file = written(tmp_path / name, "x = 1\n")
        kept.sources.keep(file)
        assert read_source(kept.run, [file]) == ["x = 1"]
    assert all(name.isascii() and len(name) < 120 for name in kept.files())


def test_what_would_deceive_the_eye_is_shown(kept: Kept, tmp_path: Path) -> None:
    file = written(tmp_path / "odd.py", "a = 1  # \u202e\u200b\x1b[31m\n# coding: none\n" + "y" * 3000)
    kept.sources.keep(file)
    first, _, last = read_source(kept.run, [file]) or []
    assert first == "a = 1  # \ufffd\ufffd\ufffd[31m"
    assert last.endswith("(1,000 more characters)") and len(last) < 2100


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("# coding: latin-1\ns = '\u00e4'\n".encode("latin-1"), "s = '\u00e4'"),
        ("# coding: hex\ns = '\u00e4'\n".encode(), "s = '\u00e4'"),
        ("# coding: nothing\ns = '\u00e4'\n".encode(), "s = '\u00e4'"),
        (b"\xef\xbb\xbf# with a mark\ns = '\xc3\xa4'\n", "s = '\u00e4'"),
    ],
)
def test_the_encoding_is_the_files_own(kept: Kept, tmp_path: Path, data: bytes, shown: str) -> None:
    file = written(tmp_path / "train.py", data)
    kept.sources.keep(file)
    assert (read_source(kept.run, [file]) or [])[1] == shown


def test_a_link_in_a_runs_folder_is_not_followed(kept: Kept, tmp_path: Path) -> None:
    (kept.trace / FOLDER).mkdir()
    (kept.trace / FOLDER / kept_name("/x/train.py")).symlink_to(written(tmp_path / "private", "secret"))
    assert read_source(kept.run, ["/x/train.py"]) is None


def test_a_recording_keeps_the_users_files_and_no_librarys(tmp_path: Path) -> None:
    trace = tmp_path / "run" / "trace"
    recording = Recording(str(trace), "none")
    try:
        file = written(tmp_path / "train.py", "x = 1\n")
        recording.sites.place(file, 1, "main")
        recording.sites.place(file, 2, "main")
        recording.sites.place(os.__file__, 3, "library")
    finally:
        recording.end()
    assert [path.name for path in (trace / FOLDER).iterdir()] == [kept_name(file)]
