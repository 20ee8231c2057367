"""The sampler in a process of its own, and what it says, merged as those who listen do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from probes.nvml.snapshot import is_missing, merge
from tests.integration.waiting import LONG_S
from tests.nvml import NvmlDouble

ROOT = Path(__file__).resolve().parents[2]
Snapshot = dict[str, Any]

LOST = "error GPU_IS_LOST"
UNKNOWN = "error UNKNOWN"
DENIED = "denied NO_PERMISSION"
UNSUPPORTED = "unsupported NOT_SUPPORTED"


def once(double: NvmlDouble, *options: str) -> Snapshot:
    """One snapshot of a fresh process."""
    done = subprocess.run(
        [sys.executable, "-m", "probes.nvml.sampler", "--once", "--no-host", *options],
        cwd=ROOT,
        env=os.environ | double.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=True,
    )
    assert done.stderr == ""
    return merge(None, json.loads(done.stdout))


class Sampler:
    """A running sampler, ten samples a second."""

    def __init__(self, double: NvmlDouble, *options: str) -> None:
        self.double = double
        self.snapshot: Snapshot = {}
        self.samples = 0
        self._missed: list[Snapshot] = []
        """Those that came since the last one that was waited for, the newest apart."""
        self._more = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "probes.nvml.sampler", "--hz", "10", *(options or ("--no-host",))],
            cwd=ROOT,
            env=os.environ | double.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failure: object, *_more: object) -> None:
        self.process.send_signal(signal.SIGKILL)
        self._thread.join()
        assert self.process.stderr
        said = self.process.stderr.read()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            pipe.close()
        self.process.wait()
        assert failure or said == ""

    def until(self, condition: Callable[[Snapshot], Any]) -> Snapshot:
        """Wait for a snapshot of which this is true, however soon the next one comes."""
        found: list[Snapshot] = []

        def look() -> bool:
            missed, self._missed = self._missed, []
            found.extend(one for one in (self.snapshot, *missed) if one and condition(one))
            return bool(found) or self.process.poll() is not None

        with self._more:
            reached = self._more.wait_for(look, LONG_S)
            assert reached, f"never so: {json.dumps(self.snapshot)[:4000]}"
            assert self.process.poll() is None, "the sampler ended"
            return found[0]

    def next(self) -> Snapshot:
        """The first snapshot that was begun after this call."""
        after = self.samples + 2
        return self.until(lambda _snapshot: self.samples >= after)

    def _listen(self) -> None:
        assert self.process.stdout
        snapshot: Snapshot | None = None
        for line in self.process.stdout:
            snapshot = merge(snapshot, json.loads(line))
            with self._more:
                if self.snapshot:
                    self._missed.append(self.snapshot)
                self.snapshot = snapshot
                self.samples += 1
                self._more.notify_all()
        with self._more:
            self._more.notify_all()


def gone(value: Any) -> str | None:
    """Why a field has no value, as 'state NVML_NAME'; None where it has one."""
    return f"{value['state']} {value['reason'].removeprefix('NVML_ERROR_')}" if is_missing(value) else None


def differing(gpu: Snapshot, sound: Snapshot) -> dict[str, str | None]:
    """The fields of a GPU that are not as in a sound one's row, and why."""
    assert gpu.keys() == sound.keys()
    return {name: gone(value) for name, value in gpu.items() if value != sound[name]}


def steady(snapshot: Snapshot) -> bool:
    """Whether all rates are there, which takes two samples, or a look at the PCIe link."""
    return snapshot["nvml"] == "ok" and not any(
        gone(gpu[f"pcie_{way}_bytes_per_second"]) for gpu in snapshot["gpus"] for way in ("tx", "rx")
    )


def others(snapshot: Snapshot) -> list[Snapshot]:
    """All of four cards but the third, which is to fail."""
    return [snapshot["gpus"][index] for index in (0, 1, 3)]


def steady_beside_it(snapshot: Snapshot) -> bool:
    """As `steady`, of all but the third."""
    return snapshot["nvml"] == "ok" and steady({**snapshot, "gpus": others(snapshot)})
