"""`devices` on a double of NVIDIA's driver: the table and the map, watching on a terminal, recording."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from probes.nvml.snapshot import is_missing, merge
from runners.recordings.playback import Playback
from runners.recordings.recordings import read_recording
from tests.integration.waiting import LONG_S, until
from tests.nvml import NvmlDouble

ROOT = Path(__file__).resolve().parents[2]
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.fixture
def double(nvml_makeable: None, tmp_path: Path) -> Iterator[NvmlDouble]:
    with NvmlDouble(tmp_path, 2) as double:
        yield double


def command(*words: str) -> list[str]:
    return [
        sys.executable,
        "-c",
        "import sys; from app.cli import main; sys.exit(main(sys.argv[1:]))",
        *words,
    ]


def environment(double: NvmlDouble, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_")}
    return kept | double.environment() | {"TERM": "xterm", "PYTHONUNBUFFERED": "1"} | variables


def devices(double: NvmlDouble, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("devices", *words),
        cwd=ROOT,
        env=environment(double, **variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=False,
    )


def begin(double: NvmlDouble, *words: str, stdout: Any = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command("devices", *words),
        cwd=ROOT,
        env=environment(double),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


def test_the_table_and_the_map(double: NvmlDouble) -> None:
    double.set(0, "cuda_speed", 1)
    double.set(1, "cuda_speed", 2)
    double.set(1, "name", "NVIDIA H100 80GB HBM3")
    double.add_process(0, os.getpid(), memory=3 * 2**30, sm=25)
    done = devices(double, CUDA_VISIBLE_DEVICES="1")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert any(line.startswith("|   1  NVIDIA H100 80GB HBM3") for line in lines)
    (row,) = [line for line in lines if f" {os.getpid()} " in line]
    # In a container whose numbers are its own it cannot be known to be this process.
    assert "3072MiB" in row and " 25% " in row
    start = next(place for place, line in enumerate(lines) if line.startswith("Which card is which"))
    assert "(CUDA_DEVICE_ORDER is not set; CUDA_VISIBLE_DEVICES=1)" in lines[start]
    first, second = (line.split() for line in lines[start + 2 : start + 4])
    # Fastest first, NVML's 1 is CUDA's 0; of the two only CUDA's 1, the slower, is visible.
    assert (first[0], *first[3:]) == ("0", "0", "0", "1", "/GPU:0", "gpu(0)")
    assert (second[0], *second[3:]) == ("1", "-", "1", "0", "-", "-")
    assert "[hidden by CUDA_VISIBLE_DEVICES=1]" in done.stdout


def test_one_object_with_all_that_was_promised(double: NvmlDouble) -> None:
    double.fail("nvmlDeviceGetPowerUsage", 4, gpu=1)
    done = devices(double, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told.keys() >= {
        "driver",
        "cuda_driver",
        "nvml",
        "gpus",
        "topology",
        "p2p",
        "host",
        "seq",
        "t",
        "hz",
    }
    assert told["nvml"] == "ok" and len(told["topology"]) == len(told["p2p"]) == 2
    first, second = told["gpus"]
    assert (first["cuda_ordinal"], first["cuda_ordinals"]) == (0, {"PCI_BUS_ID": 0, "FASTEST_FIRST": 0})
    assert second["power_watts"] == {"state": "denied", "reason": "NVML_ERROR_NO_PERMISSION"}
    assert isinstance(first["power_watts"], float)


@pytest.mark.parametrize("code", [9, 18, 4, 999])
def test_without_a_driver_it_says_why_and_shows_the_host(double: NvmlDouble, code: int) -> None:
    double.fail_init(code)
    done = devices(double)
    assert (done.returncode, done.stderr) == (0, "")
    _, reason, host, *_ = done.stdout.splitlines()
    assert reason.startswith("No GPU can be read: ") and "NVML_ERROR_" in reason
    assert host.startswith("Host ")
    told = json.loads(devices(double, "--json").stdout)
    assert told["gpus"] == [] and told["nvml"]["text"] in reason and "cpu_cores" in told["host"]


def test_a_driver_that_hangs_is_told_too(double: NvmlDouble) -> None:
    double.hang("nvmlDeviceGetCount_v2")
    script = (
        "import runners.machine.monitor as m, app.cli.devices as d\n"
        "d.read_once = lambda: m.read_once(timeout_s=0.5)\n"
        "import sys; from app.cli import main; sys.exit(main(['devices']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=environment(double),
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "No GPU can be read: the NVIDIA driver does not answer: no sample within 0.5 s" in done.stdout


def test_watching_into_a_pipe_is_plain_repeated_output(double: NvmlDouble) -> None:
    text = b""
    with begin(double, "--watch", "--hz", "10") as watching:
        assert watching.stdout is not None
        while text.count(b"Which card is which") < 2:
            text += watching.stdout.readline()
        watching.send_signal(signal.SIGINT)
        rest, said = watching.communicate(timeout=LONG_S)
    assert (watching.returncode, said) == (0, b"")
    assert b"\x1b" not in text + rest
    assert text.count(b"| Processes:") == 2


def test_watching_as_json_is_an_object_a_line(double: NvmlDouble) -> None:
    with begin(double, "--watch", "--json", "--hz", "10") as watching:
        assert watching.stdout is not None
        told = [json.loads(watching.stdout.readline()) for _ in range(4)]
        watching.send_signal(signal.SIGINT)
        _, said = watching.communicate(timeout=LONG_S)
    assert (watching.returncode, said) == (0, b"")
    assert [one["seq"] for one in told] == [1, 2, 3, 4]
    assert all(one["gpus"][1]["cuda_ordinals"]["PCI_BUS_ID"] == 1 for one in told)


class Terminal:
    """The other end of a terminal on which a command runs."""

    def __init__(self, double: NvmlDouble, argv: list[str]) -> None:
        self.read = b""
        variables = environment(double, LINES="24", COLUMNS="80")
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.execvpe(argv[0], argv, variables)

    def until(self, expected: bytes) -> None:
        """Read until that has come."""
        deadline = time.monotonic() + LONG_S
        while expected not in self.read:
            assert time.monotonic() < deadline, self.read
            if select.select([self.end], [], [], 1)[0]:
                self.read += self._take()

    def close(self) -> int:
        """Read the rest, and give the status it ended with."""
        deadline = time.monotonic() + LONG_S
        with contextlib.suppress(OSError):
            while select.select([self.end], [], [], max(0.0, deadline - time.monotonic()))[0]:
                self.read += self._take()
        if time.monotonic() > deadline:
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.end)
        return os.waitstatus_to_exitcode(status)

    def _take(self) -> bytes:
        return os.read(self.end, 1 << 16)


@pytest.mark.parametrize("ended_by", ["key", "TERM"])
def test_watching_on_a_terminal_leaves_it_as_it_was(double: NvmlDouble, ended_by: str) -> None:
    terminal = Terminal(double, command("devices", "--watch", "--hz", "10"))
    terminal.until(b"Hopscope")
    double.set(0, "temperature", 99)
    terminal.until(b" 99C ")
    if ended_by == "key":
        os.write(terminal.end, b"\x03")
    else:
        os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.close() == 0
    text = terminal.read
    assert text.startswith(ENTER) and text.count(ENTER) == text.count(LEAVE) == 1
    shown = text.partition(LEAVE)
    assert b"\x1b[?25l" in shown[0] and shown[0].endswith(b"\x1b[?7h\x1b[?25h")
    assert shown[2].strip(b"\r\n^C") == b""
    # Not all of it is drawn again where one figure changed, and nothing is cleared on the way.
    assert shown[0].count(b"Persistence-M") == 1 and shown[0].count(b"\x1b[2J") == 2
    assert b"more lines: make the window taller" in shown[0]


def test_stopped_by_a_key_it_gives_the_terminal_back_and_takes_it_again(double: NvmlDouble) -> None:
    words = shlex.join(command("devices", "--watch", "--hz", "10"))
    # With jobs of their own, as a person's shell has them: what is stopped goes on with fg.
    terminal = Terminal(double, argv=["bash", "-mc", f"{words}; echo STOPPED; fg > /dev/null"])
    terminal.until(b"Hopscope")
    os.write(terminal.end, b"\x1a")
    terminal.until(b"STOPPED")
    # What came after the word may have come with it.
    before, _, terminal.read = terminal.read.partition(b"STOPPED")
    terminal.until(b"Persistence-M")
    os.write(terminal.end, b"\x03")
    assert terminal.close() == 0
    assert LEAVE in before
    assert terminal.read.index(ENTER) < terminal.read.index(b"Persistence-M")
    assert terminal.read.count(LEAVE) == 1


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_output(double: NvmlDouble) -> None:
    leader, follower = pty.openpty()
    with subprocess.Popen(
        command("devices", "--watch", "--hz", "10", "--for", "0.3"),
        cwd=ROOT,
        env=environment(double, TERM="dumb"),
        stdout=follower,
        stderr=subprocess.PIPE,
    ) as watching:
        os.close(follower)
        text = b""
        with contextlib.suppress(OSError):
            while piece := os.read(leader, 1 << 16):
                text += piece
    os.close(leader)
    assert watching.returncode == 0
    assert b"Persistence-M" in text and b"\x1b" not in text


def test_a_recording_holds_what_happened(double: NvmlDouble, tmp_path: Path) -> None:
    file = tmp_path / "machine.jsonl"
    with begin(double, "--record", str(file), "--hz", "10") as recording:

        def samples() -> int:
            return file.read_bytes().count(b"\n") - 1 if file.exists() else 0

        until(lambda: samples() >= 3)
        double.lose(1)
        double.xid(1, 79)
        until(lambda: b"NVML_ERROR_GPU_IS_LOST" in file.read_bytes())
        double.heal()
        seen = samples()
        until(lambda: samples() > seen + 25)
        recording.send_signal(signal.SIGINT)
        out, said = recording.communicate(timeout=LONG_S)
    assert recording.returncode == 0
    read = read_recording(file)
    assert read.notes == ()
    told = f"{file}: {len(read.lines)} samples in ".encode()
    assert out.startswith(told) and out.count(b"\n") == 1
    assert b"users and the command lines" in said
    assert read.header.gpus == ("NVIDIA A100-SXM4-80GB",) * 2
    states = []
    state = None
    for place in range(len(read.lines)):
        state = merge(state, read.message(place))
        states.append(is_missing(state["gpus"][1]["power_watts"]))
        assert not is_missing(state["gpus"][0]["power_watts"])
    assert state is not None
    assert (states[0], True in states, states[-1]) == (False, True, False)
    assert [event["code"] for event in state["gpus"][1]["xid"]] == [79]
    assert Playback(read).snapshot(len(read.lines) - 1) == {**state, "seq": len(read.lines)}


def test_a_recording_is_refused_where_one_is_and_packed_by_its_name(
    double: NvmlDouble, tmp_path: Path
) -> None:
    file = tmp_path / "machine.jsonl.gz"
    done = devices(double, "--record", str(file), "--hz", "10", "--for", "1", "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    content = file.read_bytes()
    assert told["recording"] == str(file) and told["bytes"] == len(content) and content[:2] == b"\x1f\x8b"
    assert told["samples"] == len(read_recording(file).lines) >= 2
    again = devices(double, "--record", str(file), "--for", "0.1")
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == f"hopscope: {file} exists; name another file, or add --overwrite\n"
    assert file.read_bytes() == content
    assert devices(double, "--record", str(file), "--for", "0", "--overwrite").returncode == 0
    assert len(read_recording(file).lines) == 1


def test_without_gpus_the_host_is_recorded_and_that_is_said(double: NvmlDouble, tmp_path: Path) -> None:
    double.fail_init(9)
    file = tmp_path / "host.jsonl"
    done = devices(double, "--record", str(file), "--for", "0")
    assert done.returncode == 0
    assert "(NVML_ERROR_DRIVER_NOT_LOADED); only the host is recorded" in done.stderr
    assert read_recording(file).header.gpus == ()


def test_what_copies_cost_is_measured_told_and_kept(double: NvmlDouble, tmp_path: Path) -> None:
    home = {"HOPSCOPE_HOME": str(tmp_path / "home")}
    done = devices(double, "--bandwidth", **home)
    assert done.returncode == 0
    rows = [line.split()[:2] for line in done.stdout.splitlines()[2:]]
    ends = ("gpu:0", "gpu:1", "host")
    assert {tuple(row) for row in rows} == {(a, b) for a in ends for b in ends} - {("host", "host")}
    assert "GiB/s" in done.stdout or "MiB/s" in done.stdout
    kept = tmp_path / "home" / "machine" / "copy_costs.json"
    assert f"kept in {kept}: " in done.stderr and kept.is_file()
    told = json.loads(devices(double, "--bandwidth", "--json", **home).stdout)
    assert told["skipped"] == [] and all(pair["bytes_per_second"] > 0 for pair in told["pairs"])


def test_nothing_to_measure_is_one_line(double: NvmlDouble, tmp_path: Path) -> None:
    double.fail_init(9)
    done = devices(double, "--bandwidth", HOPSCOPE_HOME=str(tmp_path / "home"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("hopscope: there is nothing to measure: ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "home" / "machine" / "copy_costs.json").exists()
