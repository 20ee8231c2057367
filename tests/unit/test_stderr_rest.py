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


def test_what_a_server_passed_on_is_not_told_again(tmp_path: Path) -> None:
    told, rest = b"started\n", b"I0000 dump_graph.cc:245] Dumped Graph to /x.pb\nE0000 lost a peer\n"
    (tmp_path / "12-server.stderr").write_bytes(told + rest)
    (tmp_path / "12-server.stderr.read").write_bytes(b"%020d" % len(told))
    assert take_rest(str(tmp_path)) == b"E0000 lost a peer\n"
    assert list(tmp_path.iterdir()) == []


def test_nothing_left_is_nothing(tmp_path: Path) -> None:
    assert take_rest(str(tmp_path / "no such folder")) == b""
