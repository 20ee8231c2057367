"""Last words of a process that died while its standard error was looked through."""

from __future__ import annotations

from pathlib import Path

from probes.trace.stderr_rest import take_rest


def test_the_programs_own_lines_are_kept_and_the_files_removed(tmp_path: Path) -> None:
    (tmp_path / "12.stderr").write_bytes(
        b"I0000 sendrecv_ops.cc:98] Send /job\nF0000 check failed: x\nI0000 executor.cc:879] Process node\n"
    )
    (tmp_path / "13.stderr").write_bytes(b"no newline")
    assert take_rest(str(tmp_path)) == b"F0000 check failed: x\nno newline"
    assert list(tmp_path.iterdir()) == []


def test_nothing_left_is_nothing(tmp_path: Path) -> None:
    assert take_rest(str(tmp_path / "no such folder")) == b""
