"""The monitor with samplers that die, hang or talk nonsense, and with the real one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.machine import monitor
from runners.machine.monitor import Monitor

PATIENCE_S = 60.0
SAMPLER = """
import json, sys, time
first = sys.argv[sys.argv.index("--seq") + 1] == "0"
def say(seq, **more):
    print(json.dumps({"seq": seq, "t": time.time(), "hz": 1, "nvml": "ok", "gpus": [], **more}), flush=True)
"""


class Heard:
    """What a monitor published, to wait for."""

    def __init__(self, watching: Monitor) -> None:
        self.messages: list[dict[str, Any]] = []
        self._more = threading.Condition()
        watching.subscribe(self._hear)

    def _hear(self, message: dict[str, Any], _snapshot: dict[str, Any]) -> None:
        with self._more:
            self.messages.append(message)
            self._more.notify_all()

    def until(self, condition: Callable[[], Any]) -> None:
        with self._more:
            assert self._more.wait_for(condition, PATIENCE_S), self.messages

    def states(self) -> list[str]:
        return [message["sampler"]["state"] for message in self.messages if "sampler" in message]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., tuple[Monitor, Heard]]]:
    """Start a monitor whose sampler is this program, or the real one."""
    started: list[Monitor] = []

    def start(program: str | None = None, hz: float = 10.0) -> tuple[Monitor, Heard]:
        if program is not None:
            script = tmp_path / "sampler.py"
            script.write_text(SAMPLER + program)
            monkeypatch.setattr(monitor, "sampler_command", lambda: [sys.executable, str(script)])
        watching = Monitor(hz)
        heard = Heard(watching)
        started.append(watching)
        watching.start()
        return watching, heard

    yield start
    for watching in started:
        watching.stop()


def test_a_sampler_that_dies_is_replaced_and_the_numbers_go_on(
    watch: Callable[..., tuple[Monitor, Heard]],
) -> None:
    watching, heard = watch("""
seq = int(sys.argv[sys.argv.index("--seq") + 1])
say(seq + 1, full=True)
if first:
    sys.exit("out of luck")
time.sleep(60)
""")
    heard.until(lambda: heard.states() == ["stale", "live"])
    told = next(message["sampler"]["text"] for message in heard.messages if "sampler" in message)
    assert told == "the sampler ended with status 1 (out of luck); a new one is started"
    assert [message["seq"] for message in heard.messages] == [1, 1, 2]
    assert (watching.restarts, watching.problem, watching.state) == (1, None, "live")


def test_a_sampler_that_hangs_is_replaced(
    watch: Callable[..., tuple[Monitor, Heard]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "SILENT_S", 1.0)
    _, heard = watch("""
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
say(1, full=True)
while not first:
    time.sleep(0.2)
    say(2)
time.sleep(60)
""")
    heard.until(lambda: "live" in heard.states())
    told = next(message["sampler"]["text"] for message in heard.messages if "sampler" in message)
    assert told.startswith("the sampler said nothing for 1 s")


def test_nonsense_is_passed_over(watch: Callable[..., tuple[Monitor, Heard]]) -> None:
    watching, heard = watch("""
print("nonsense", flush=True)
print(json.dumps({"seq": 1}), flush=True)
print(json.dumps([1, 2]), flush=True)
say(2, full=True)
time.sleep(60)
""")
    heard.until(lambda: heard.messages)
    assert [message["seq"] for message in heard.messages] == [2]
    assert watching.restarts == 0


def test_a_listener_that_fails_does_not_keep_the_others_from_hearing(
    watch: Callable[..., tuple[Monitor, Heard]], capsys: pytest.CaptureFixture[str]
) -> None:
    watching = Monitor(10.0)

    def fail(_message: object, _snapshot: object) -> None:
        raise RuntimeError("no ears")

    watching.subscribe(fail)
    heard = Heard(watching)
    watching.start()
    try:
        heard.until(lambda: len(heard.messages) >= 2)
    finally:
        watching.stop()
    assert "no ears" in capsys.readouterr().err


def test_the_real_sampler_and_its_rate(watch: Callable[..., tuple[Monitor, Heard]]) -> None:
    watching, heard = watch(hz=0.1)
    heard.until(lambda: heard.messages)
    assert heard.messages[0]["full"]
    # Before its next sample were due, ten seconds later, it takes the new rate.
    assert watching.set_rate(50) == 10.0
    heard.until(lambda: len(heard.messages) >= 12)
    assert watching.snapshot is not None
    assert watching.snapshot["host"]["cpu_cores"] >= 1
    told = watching.history()
    assert len(told["t"]) >= 12
    assert len(told["host"]["memory_used_bytes"]) == len(told["t"])
    watching.stop()
    assert watching.state == "stopped"


def test_one_snapshot_for_the_command_line() -> None:
    told = monitor.read_once(between_s=0.05)
    assert "full" not in told
    assert isinstance(told["host"]["cpu_percent"], float)


def test_a_driver_that_does_not_answer_is_told_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hang.py").write_text("import time; time.sleep(60)")
    monkeypatch.setattr(monitor, "sampler_command", lambda: [sys.executable, str(tmp_path / "hang.py")])
    told = monitor.read_once(timeout_s=0.5)
    assert told["nvml"]["text"] == "the NVIDIA driver does not answer: no sample within 0.5 s"
    assert told["gpus"] == []
    assert told["host"]["memory_total_bytes"] > 0
