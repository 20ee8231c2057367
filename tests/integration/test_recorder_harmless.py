"""A recorded program's files stay as it wrote them, and a trace without room says so."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.store.run import open_run
from probes.trace.rows import DROPPED
from tests.integration.recording import SCRIPTS, record, written

FILLS_THE_DISK = """
import sys
import mxnet as mx

x = mx.nd.ones((2,))
x.wait_to_read()
with open(sys.argv[1], "wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(4096))
    except OSError:
        pass
for number in range(3000):
    # Each line's first calls are events of their own.
    line = compile("\\n" * number + "x + 1", __file__, "eval")
    for _ in range(3):
        eval(line)
"""

FORKS = """
import multiprocessing, sys
import mxnet as mx

def work(number):
    return number * 2

def read(number):
    return float(mx.nd.ones((2,)).sum().asnumpy()[0])

if __name__ == "__main__":
    mx.nd.ones((2,)).wait_to_read()
    context = multiprocessing.get_context("fork")
    for epoch in range(5):
        with context.Pool(4) as pool:
            assert pool.map(work, range(8)) == [number * 2 for number in range(8)]
    with context.Pool(1) as pool:
        assert pool.map(read, range(2)) == [2.0, 2.0]
"""

BECOMES_ANOTHER = """
import os, sys
import mxnet as mx

left = int(sys.argv[1])
for _ in range(left + 1):
    mx.nd.ones((2,)).wait_to_read()
if left:
    os.execv(sys.executable, [sys.executable, __file__, str(left - 1)])
"""


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file system of two megabytes that holds the runs."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(disk)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.strip()}")
    monkeypatch.setenv("HOPSCOPE_HOME", str(disk / "home"))
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_program_that_closes_all_descriptors_keeps_its_files(
    mx_python: Path, hopscope_home: Path, tmp_path: Path
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    steps = 20_000
    recorded = record(mx_python, SCRIPTS / "closed_descriptors.py", str(files), str(steps), framework="mxnet")
    assert recorded.run.exit_code == 0, recorded.log[-2000:]
    expected = b"".join(b"%-99d\n" % step for step in range(0, steps, 20))
    assert {file.name for file in files.iterdir() if file.read_bytes() != expected} == set()
    assert recorded.report["unseen"] == []
    with closing(open_run(recorded.run.path)) as store:
        assert sum(key.count or 0 for key in store.keys("op") if key.fields["op"] == "_ones") == steps + 1


def test_a_recording_cut_by_a_full_disk_is_not_said_to_be_complete(
    mx_python: Path, disk: Path, tmp_path: Path
) -> None:
    recorded = record(mx_python, written(tmp_path, FILLS_THE_DISK), str(disk / "fill"), framework="mxnet")
    assert recorded.run.exit_code == 0, recorded.log[-2000:]
    first = recorded.report["unseen"][0]
    assert (first["what"], first["why"]) == (DROPPED, "No space left on device")
    assert first["count"] > 0
    assert recorded.report["findings"][0]["evidence"]["what"] == DROPPED
    assert recorded.report["hidden"] == DROPPED


def test_forked_workers_leave_only_what_they_record(
    mx_python: Path, hopscope_home: Path, tmp_path: Path
) -> None:
    recorded = record(mx_python, written(tmp_path, FORKS), framework="mxnet")
    assert recorded.run.exit_code == 0, recorded.log[-2000:]
    with closing(open_run(recorded.run.path)) as store:
        assert sorted(process.header["process"] for process in store.processes()) == ["fork", "main"]
    files = list((recorded.run.path / "trace").rglob("*"))
    assert sum(file.stat().st_blocks * 512 for file in files if file.is_file()) < 512 << 10


def test_what_a_process_recorded_before_an_exec_stays(
    mx_python: Path, hopscope_home: Path, tmp_path: Path
) -> None:
    """Each program that it becomes has the same process id and the same start."""
    recorded = record(mx_python, written(tmp_path, BECOMES_ANOTHER), "3", framework="mxnet")
    assert recorded.run.exit_code == 0, recorded.log[-2000:]
    with closing(open_run(recorded.run.path)) as store:
        assert len({process.pid for process in store.processes()}) == 1
        counts = [key.count for key in store.keys("op") if key.fields["op"] == "_ones"]
    assert sorted(count or 0 for count in counts) == [1, 2, 3, 4]
