"""A run's samples: a process beside its supervisor, which keeps a sampler and writes what that says.

    python -m runners.run_samples RUN_DIR SUPERVISOR_PID ALIVE DONE FILE

It is no descendant of the supervisor, so nothing of it is counted among the run's processes, and none that
hangs in a driver keeps the run from ending. ALIVE is a pipe that the supervisor has the other end of: where
that closes, however the supervisor ended, this ends, and its sampler with it. DONE is a pipe to the
supervisor: "begun" at first, and at the end how many samples found no room. FILE is the descriptor of
samples.jsonl, whose rows runners/sample_rows.py describes. Nothing that goes wrong here reaches the run. Only
the standard library is used.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runners.errors import HopscopeError
from runners.run_usage import RunUsage
from runners.sample_rows import HZ, SAMPLES_NAME, Rows
from runners.sampler_child import SamplerChild
from runners.status import read_object

MODULE = "runners.run_samples"
SAMPLER_MODULE = "probes.nvml.sampler"
BEGUN = b"begun\n"
LATE = 1.5
"""So many ticks after the last sample the next one is missing, and a row says so."""
LONGEST_WAY_S = 60.0
"""A message that seems to be older than this is not: the clock was set meanwhile."""
MOST_CARDS = 16
END_WAIT_S = 0.2
"""How long the supervisor waits at most for the last samples."""


class Recorder:
    """Samples one run until its supervisor is gone."""

    def __init__(
        self, supervisor: int, alive: int, file: int, uuids: Sequence[str], command: Sequence[str]
    ) -> None:
        """`alive` and `file` are descriptors; `uuids` are the cards to keep; `command` samples."""
        self._alive = alive
        self.rows = Rows(file, uuids)
        self._usage = RunUsage(supervisor)
        self._child = SamplerChild(command)
        self._silent_at = time.monotonic() + LATE / HZ
        """When a row has to say that the sampler says nothing."""

    def run(self) -> None:
        """Return once the supervisor is gone."""
        while not self._over():
            now = time.monotonic()
            self._hear(now)
            self._child.attend(now)
            if now >= self._silent_at:
                self.rows.miss(self._child.why)
                self._add(time.time(), now)
                self._silent_at = now + 1 / HZ

    def end(self) -> None:
        """End the sampler."""
        self._child.end()

    def _over(self) -> bool:
        """Wait until something is to be done, and return whether that is to end."""
        waiting = select.poll()
        waiting.register(self._alive, select.POLLIN)
        if (output := self._child.output) is not None:
            waiting.register(output, select.POLLIN)
        left = min(self._child.due, self._silent_at) - time.monotonic()
        ready = waiting.poll(max(0.0, left) * 1000 + 1)
        return any(descriptor == self._alive for descriptor, _ in ready)

    def _hear(self, now: float) -> None:
        for message in self._child.read(now):
            try:
                self.rows.take(message)
                # Its own clock says when it was sampled; the other clock stood as much earlier.
                t = float(message["t"])
                self._add(t, now - min(max(0.0, time.time() - t), LONGEST_WAY_S))
                self._silent_at = now + LATE / HZ
            except (TypeError, KeyError, ValueError, AttributeError) as error:
                self.rows.miss(f"the sampler's message was not understood: {type(error).__name__}: {error}")
                # It says only what changed, so nothing that follows can be trusted.
                self._child.restart(now)
                return

    def _add(self, t: float, mono: float) -> None:
        self.rows.add(t, mono, self._usage.read(mono))


class Companion:
    """The process that samples a run, as the run's supervisor has it."""

    def __init__(self, folder: Path) -> None:
        """Make what ties the two together; without room for the file there will be no samples."""
        self._folder = folder
        self._open: dict[str, int] = {}
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._open["file"] = os.open(folder / SAMPLES_NAME, flags, 0o644)
            self._open["alive"], self._open["living"] = os.pipe()
            self._open["done"], self._open["doing"] = os.pipe()

    def start(self, supervisor: int) -> int | None:
        """Start it beside the supervisor with this pid; its own pid, None where that cannot be."""
        if len(self._open) < 5:
            return None
        given = [self._open[name] for name in ("alive", "doing", "file")]
        words = [str(self._folder), str(supervisor), *map(str, given)]
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            # -E: the user's PYTHON* variables are for the program.
            process = subprocess.Popen(
                [sys.executable, "-E", "-m", MODULE, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=given,
                start_new_session=True,
            )
            # It outlives this process, which must not wait for it.
            process.returncode = 0
            return process.pid
        return None

    def keep(self) -> None:
        """Keep only the supervisor's own ends, in the supervisor."""
        self._close("file", "alive", "doing")
        if "done" in self._open:
            os.set_blocking(self._open["done"], False)

    def end(self) -> int:
        """End it, wait a moment for its last row, and return how many samples found no room."""
        if "done" not in self._open:
            return 0
        said = self._said()
        self._close("living")
        # One that has not begun will write nothing.
        if said.startswith(BEGUN):
            said += self._said_at_its_end()
        self._close("done")
        last = said.splitlines()[-1:]
        return int(last[0]) if last and last[0].isdigit() else 0

    def _said_at_its_end(self) -> bytes:
        said, deadline = b"", time.monotonic() + END_WAIT_S
        waiting = select.poll()
        waiting.register(self._open["done"], select.POLLIN)
        while (left := deadline - time.monotonic()) > 0:
            if waiting.poll(left * 1000):
                piece = self._said()
                if not piece:
                    break
                said += piece
        return said

    def _said(self) -> bytes:
        try:
            return os.read(self._open["done"], 1024)
        except OSError:
            return b""

    def _close(self, *names: str) -> None:
        for name in names:
            if name in self._open:
                os.close(self._open.pop(name))


def sampler_command(uuids: Sequence[str]) -> list[str]:
    """Return the command of a sampler for these cards."""
    only = ["--only", ",".join(uuids)] if uuids else ["--no-gpus"]
    return [sys.executable, "-E", "-m", SAMPLER_MODULE, "--hz", f"{HZ:g}", *only]


def cards_of(spec: dict[str, Any]) -> list[str]:
    """Return the UUIDs of the cards to sample by a run's spec; none where it does not say."""
    listed = spec.get("sampled_gpus")
    return [uuid for uuid in listed if isinstance(uuid, str)][:MOST_CARDS] if isinstance(listed, list) else []


def main(arguments: list[str]) -> int:
    """Sample the run in a folder until its supervisor is gone."""
    folder, (supervisor, alive, done, file) = Path(arguments[0]), map(int, arguments[1:])
    try:
        os.write(done, BEGUN)
    except BrokenPipeError:
        return 0
    uuids: list[str] = []
    with contextlib.suppress(HopscopeError):
        uuids = cards_of(read_object(folder / "spec.json"))
    recorder = Recorder(supervisor, alive, file, uuids, sampler_command(uuids))
    try:
        recorder.run()
    finally:
        with contextlib.suppress(OSError):
            os.write(done, f"{recorder.rows.lost}\n".encode())
        os.close(done)
        recorder.end()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
