"""The recorder's files in a user's process: none stays open, no other is touched, no loss is silent."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.store.run import open_run
from probes.trace.descriptors import Held
from probes.trace.recording import Recording
from probes.trace.rows import DROPPED
from probes.trace.ticking import Ticking
from probes.trace.writer import TraceWriter, dropped_in
from tests.unit.traces import op_fields

HEADER = {"mono_ns": 0, "wall_ns": 0, "pid": 1, "framework": "mxnet", "host": "here"}
MIB = 1 << 20


def writer_in(folder: Path, *names: str) -> TraceWriter:
    return TraceWriter(str(folder / "trace"), names or ["1-1"], HEADER)


def define(writer: TraceWriter, key: int) -> None:
    writer.append(["K", key, "op", {"op": f"Op{key}", "device": "cpu:0"}])


def happen(writer: TraceWriter, key: int, times: int) -> None:
    for _ in range(times):
        writer.append_bytes(b'["e","op",1,0,%d,1,null,null,1]\n' % key)


def open_files() -> set[str]:
    links = set()
    for number in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            links.add(str(number.readlink()))
    return links


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """This process may make no file larger than `size` bytes meanwhile; it would be killed for trying."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def test_no_descriptor_of_a_trace_stays_open(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    happen(writer, 1, 40_000)
    writer.grow_counts(100_000)
    assert Path(writer.path).stat().st_size > MIB
    assert not [link for link in open_files() if link.startswith(str(tmp_path))]
    writer.close()
    assert not [link for link in open_files() if link.startswith(str(tmp_path))]


def test_another_file_under_the_name_of_a_trace_is_left_alone(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    define(writer, 1)
    path = Path(writer.path)
    path.unlink()
    path.write_bytes(b"a user's own")
    happen(writer, 1, 40_000)
    writer.close()
    assert path.read_bytes() == b"a user's own"
    dropped, _ = dropped_in(writer.counts[0])
    assert dropped > 30_000


def test_a_descriptor_that_is_somebody_elses_by_now_is_not_closed(tmp_path: Path) -> None:
    number = os.open(tmp_path / "ours", os.O_CREAT | os.O_RDWR)
    held = Held(number)
    theirs = os.open(tmp_path / "theirs", os.O_CREAT | os.O_RDWR)
    os.dup2(theirs, number)
    assert not held.ours()
    held.close()
    assert os.write(number, b"still open") == 10
    os.close(number)
    os.close(theirs)


def test_what_finds_no_room_is_counted_and_what_others_refer_to_is_written_later(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    with largest_file(1 << 16):
        define(writer, 1)
        happen(writer, 1, 5_000)
        define(writer, 2)
        writer.counts[2] = 7
    dropped, _ = dropped_in(writer.counts[0])
    assert 0 < dropped < 5_000
    writer.close()
    with contextlib.closing(open_run(tmp_path)) as store:
        assert {key.id: key.count for key in store.keys("op")} == {1: 0, 2: 7}
        assert store.query("SELECT count(*) FROM events") == [(5_000 - dropped,)]
        first = store.unseen()[0]
        assert (first.what, first.count, first.why) == (DROPPED, dropped, "File too large")


def test_events_go_on_where_there_is_room_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probes.trace.writer.AGAIN_S", 0.0)
    writer = writer_in(tmp_path)
    define(writer, 1)
    with largest_file(1 << 16):
        happen(writer, 1, 5_000)
    dropped, _ = dropped_in(writer.counts[0])
    happen(writer, 1, 3)
    assert dropped_in(writer.counts[0])[0] == dropped
    with contextlib.closing(open_run(tmp_path)) as store:
        assert store.query("SELECT count(*) FROM events") == [(5_003 - dropped,)]


def test_counters_that_find_no_room_keep_those_that_have_theirs(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    define(writer, 1)
    with largest_file(1 << 16):
        writer.grow_counts(1 << 15)
        writer.counts[1] += 5
        writer.counts[30_000] += 1
    writer.close()
    with contextlib.closing(open_run(tmp_path)) as store:
        assert [key.count for key in store.keys("op")] == [5]


def test_a_thread_that_counts_while_counters_grow_loses_nothing(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    before = writer.counts
    writer.grow_counts(100_000)
    before[5] += 1
    writer.counts[5] += 1
    assert (before[5], writer.counts[5]) == (2, 2)


def test_a_process_after_an_exec_has_a_trace_of_its_own(tmp_path: Path) -> None:
    first = writer_in(tmp_path, "7-1", "7-1-mxnet", "7-1-mxnet-2")
    text = Path(first.path).read_bytes()
    paths = [Path(writer_in(tmp_path, "7-1", "7-1-mxnet", "7-1-mxnet-2").path).name for _ in range(2)]
    assert paths == ["7-1-mxnet.jsonl", "7-1-mxnet-2.jsonl"]
    assert Path(first.path).read_bytes() == text
    with pytest.raises(FileExistsError):
        writer_in(tmp_path, "7-1", "7-1-mxnet", "7-1-mxnet-2")


@pytest.mark.parametrize("umask", [0, 0o777])
def test_a_trace_is_its_owners_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        writer = writer_in(tmp_path)
        happen(writer, 1, 40_000)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "trace").stat().st_mode) == 0o700
    modes = {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "trace").iterdir()}
    assert modes == {0o600}


def in_a_fork(act: object) -> None:
    """Call `act` in a forked child that ends at once, as those of multiprocessing do."""
    assert callable(act)
    child = os.fork()
    if not child:
        act()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Recording]:
    recording = Recording(str(tmp_path / "trace"), "mxnet", str(tmp_path))
    recording.start_ticking()
    yield recording
    recording.end()


def traces(folder: Path) -> list[str]:
    return sorted(file.name for file in (folder / "trace").glob("*.jsonl"))


def test_a_fork_that_does_nothing_leaves_no_trace(tmp_path: Path, recording: Recording) -> None:
    for _ in range(5):
        in_a_fork(lambda: None)
    in_a_fork(recording.end)
    assert len(traces(tmp_path)) == 1


def test_a_fork_that_does_something_has_a_small_trace_with_its_parents_definitions(
    tmp_path: Path, recording: Recording
) -> None:
    key = recording.key("a", "op", op_fields("Add"))
    recording.happened(key, "op")
    in_a_fork(lambda: recording.happened(key, "op", times=3))
    in_a_fork(lambda: in_a_fork(lambda: recording.happened(key, "op", times=5)))
    recording.happened(key, "op")
    assert len(traces(tmp_path)) == 3
    files = [file for file in (tmp_path / "trace").iterdir() if f"{os.getpid()}-" not in file.name]
    assert sum(file.stat().st_blocks * 512 for file in files) <= 2 * (128 << 10)
    with contextlib.closing(open_run(tmp_path)) as store:
        assert sorted(found.count or 0 for found in store.keys("op")) == [2, 3, 5]


def test_a_fork_that_may_not_begin_a_trace_leaves_word(tmp_path: Path, recording: Recording) -> None:
    key = recording.key("a", "op", op_fields("Add"))
    from probes.trace import refusals

    refusals.reserve(str(tmp_path / "trace"))

    def act() -> None:
        with largest_file(4096):
            recording.happened(key, "op")

    in_a_fork(act)
    with contextlib.closing(open_run(tmp_path)) as store:
        (row,) = store.unseen()
        assert (row.what, row.count, row.why) == ("a forked process", 1, "File too large")


def test_the_program_does_not_meet_the_recorders_thread(recording: Recording) -> None:
    assert not [thread for thread in threading.enumerate() if "hopscope" in thread.name]
    before = threading.active_count()
    ticked = threading.Event()
    masks: list[set[int]] = []

    def tick() -> None:
        masks.append(set(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
        ticked.set()

    ticking = Ticking(tick, recording.guard("a test"))
    assert ticked.wait(60)
    assert threading.active_count() == before
    ticking.stop()
    ticking.wait()
    assert {signal.SIGUSR1, signal.SIGTERM, signal.SIGINT, signal.SIGCHLD} <= masks[0]
    assert signal.SIGSEGV not in masks[0]


CLOSES_WHILE_A_TRACE_GROWS = """
import os, sys, threading
from probes.trace import writer

writer._FIRST = writer._CHUNK = 4096
folder, precious = sys.argv[1:]
trace = writer.TraceWriter(folder, ["1-1"], {})
over = threading.Event()

def close_and_open():
    while not over.is_set():
        for number in range(3, 12):
            try:
                os.close(number)
            except OSError:
                pass
        mine = os.open(precious, os.O_RDWR)
        assert os.fstat(mine).st_size == 4096, os.fstat(mine).st_size

thread = threading.Thread(target=close_and_open)
thread.start()
for _ in range(40_000):
    trace.append_bytes(b'["e","op",1,0,1,1,null,null,1]\\n')
trace.grow_counts(1 << 16)
over.set()
thread.join()
trace.close()
print(writer.dropped_in(trace.counts[0])[0])
"""


def test_a_thread_that_closes_what_it_did_not_open_while_a_trace_grows(tmp_path: Path) -> None:
    """Bug: what was checked a moment before could be another file's number when it was used."""
    precious = tmp_path / "precious"
    precious.write_bytes(b"." * 4096)
    done = subprocess.run(
        [sys.executable, "-c", CLOSES_WHILE_A_TRACE_GROWS, str(tmp_path / "trace"), str(precious)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
    assert precious.read_bytes() == b"." * 4096
    assert (tmp_path / "trace" / "1-1.jsonl").read_bytes().count(b"\n") == 40_001


def test_each_file_that_is_not_kept_is_noted_once(tmp_path: Path, recording: Recording) -> None:
    """Bug: each note came with all that were there, so that a trace grew with their square."""
    for number in range(1000):
        recording.sites.define(f"{number}.py:1", None, f"/nowhere/{number:0100}.py", 1, "f")
    recording.end()
    (trace,) = (tmp_path / "trace").glob("*.jsonl")
    assert trace.stat().st_size < 1 << 20
    with contextlib.closing(open_run(tmp_path)) as store:
        notes = store.processes()[0].header["source_notes"]
        assert len(notes) == 201
        assert notes[""] == "of more than 200 files the text was not kept, or may not be what ran"
