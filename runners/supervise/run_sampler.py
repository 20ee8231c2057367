"""A run's companion: a process beside its supervisor, which keeps a sampler and writes what that says.

    python -m runners.supervise.run_sampler RUN_DIR SUPERVISOR_PID TIE DONE FILE [LEASE ..]

It is no descendant of the supervisor, so nothing that it does is counted among the run's processes, and none
that hangs in a driver keeps the run from ending. TIE is a socket to the supervisor, which sends the pipe of
each member's output over it, and OVER at the end. Where it closes without that, the supervisor was killed:
then this keeps the output, the samples and the run's leases until nothing holds the output any more. DONE is
a pipe to the supervisor: "begun" at first, and at the end how many samples found no room. FILE is the
descriptor of samples.jsonl, whose rows runners/supervise/sample_rows.py describes. Nothing that goes wrong
here reaches the run. Only the standard library is used.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probes import private_files
from runners.errors import HopscopeError
from runners.runs.run import LOG_NAME, UNWATCHED
from runners.runs.status import STATUS_NAME, StatusFile, read_object
from runners.supervise.run_log import OUTPUT_LOST, RunLog
from runners.supervise.run_usage import RunUsage
from runners.supervise.sample_rows import HZ, SAMPLES_NAME, Rows
from runners.supervise.sampler_child import SamplerChild

MODULE = "runners.supervise.run_sampler"
SAMPLER_MODULE = "probes.nvml.sampler"
BEGUN = b"begun\n"
LATE = 1.5
"""So many ticks after the last sample the next one is missing, and a row says so."""
LONGEST_WAY_S = 60.0
"""A message that seems to be older than this is not: the clock was set meanwhile."""
MOST_CARDS = 16
END_WAIT_S = 0.2
"""How long the supervisor waits at most for the last samples."""
SAMPLES_LOST = "samples_lost"
"""In status.json: how many samples found no room."""
SAMPLES_CUT = "samples_cut"
"""In status.json: why the samples end before the run."""
OVER = b"over"
LONGEST_PREFIX = 4096
END_OF_PREFIX = "\0"
"""A message must not be empty."""


class Heir:
    """A run's output in the hands of its companion: kept from when the supervisor is killed."""

    def __init__(self, folder: Path, tie: int) -> None:
        """`tie` is the descriptor of the socket to the supervisor."""
        self._folder = folder
        self._tie = socket.socket(fileno=tie)
        self._prefixes: dict[int, str] = {}
        self.log: RunLog | None = None
        """The run's log once this process keeps it."""
        self.over = False
        """Whether nothing is left to be kept."""

    @property
    def descriptors(self) -> Sequence[int]:
        """What to wait on."""
        return [self._tie.fileno()] if self.log is None else list(self.log.descriptors)

    def hear(self, descriptor: int) -> None:
        """Read what has come over one of the `descriptors`."""
        if self.log is not None:
            self.log.read(descriptor)
            self.over = not self.log.reads
            return
        try:
            message, given, _, _ = socket.recv_fds(self._tie, LONGEST_PREFIX, 1)
        except OSError:
            message, given = b"", []
        if given:
            self._prefixes[given[0]] = message.decode().removesuffix(END_OF_PREFIX)
        elif message == OVER:
            self.over = True
        else:
            self._inherit()

    def _inherit(self) -> None:
        try:
            self.log = RunLog(self._folder / LOG_NAME)
        except OSError:
            # Whatever became of the folder, the program must be able to print.
            self.log = RunLog(Path(os.devnull))
        for descriptor, prefix in self._prefixes.items():
            self.log.follow(descriptor, prefix)
        if any(self._prefixes.values()):
            self.log.say(f"{UNWATCHED}; lines that it had not finished are not here")
        self.over = not self.log.reads

    def end(self) -> None:
        """Keep the rest of the output, whatever became of the sampling, and write down what found no room."""
        while not self.over:
            waiting = select.poll()
            for descriptor in self.descriptors:
                waiting.register(descriptor, select.POLLIN)
            for descriptor, _ in waiting.poll():
                self.hear(descriptor)
        if self.log is None:
            return
        with contextlib.suppress(HopscopeError, FileNotFoundError):
            status = read_object(self._folder / STATUS_NAME)
            if lost := self.log.as_json():
                lost[OUTPUT_LOST] += status.get(OUTPUT_LOST, 0)
                StatusFile(self._folder).write(status | lost, last=True)


class Recorder:
    """Samples one run until its supervisor is gone, and what it left to this process is over."""

    def __init__(
        self, supervisor: int, heir: Heir, file: int, uuids: Sequence[str], command: Sequence[str]
    ) -> None:
        """`file` is a descriptor; `uuids` are the cards to keep; `command` samples."""
        self._heir = heir
        self.rows = Rows(file, uuids)
        self._usage = RunUsage(supervisor)
        self._child = SamplerChild(command)
        self._silent_at = time.monotonic() + LATE / HZ
        """When a row has to say that the sampler says nothing."""

    def run(self) -> None:
        """Return once there is nothing more to keep."""
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
        kept = self._heir.descriptors
        for descriptor in kept:
            waiting.register(descriptor, select.POLLIN)
        if (output := self._child.output) is not None:
            waiting.register(output, select.POLLIN)
        left = min(self._child.due, self._silent_at) - time.monotonic()
        for descriptor, _ in waiting.poll(max(0.0, left) * 1000 + 1):
            if descriptor in kept:
                self._heir.hear(descriptor)
        return self._heir.over

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
    """The process beside a run's supervisor, as the supervisor has it."""

    def __init__(self, folder: Path, leases: Sequence[int] = ()) -> None:
        """Make what ties the two together; without room for the file there will be no samples."""
        self._folder = folder
        self._leases = leases
        self._open: dict[str, int] = {}
        self._tie: socket.socket | None = None
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            self._open["file"] = private_files.open_file(str(folder / SAMPLES_NAME), flags)
            self._tie, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._open["tie"] = other.detach()
            self._open["done"], self._open["doing"] = os.pipe()

    def start(self, supervisor: int) -> int | None:
        """Start it beside the supervisor with this pid; its own pid, None where that cannot be."""
        if "doing" not in self._open:
            return None
        given = [self._open[name] for name in ("tie", "doing", "file")]
        given += self._leases
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
        self._close("file", "tie", "doing")
        if "done" in self._open:
            os.set_blocking(self._open["done"], False)
        if self._tie is not None:
            self._tie.setblocking(False)

    def share(self, descriptor: int, prefix: str) -> None:
        """Let it read a member's output, each line behind `prefix`, where the supervisor is killed."""
        if self._tie is not None:
            # One that is not there, or hangs, is no reason for the supervisor to fail.
            with contextlib.suppress(OSError):
                socket.send_fds(self._tie, [f"{prefix}{END_OF_PREFIX}".encode()], [descriptor])

    def end(self) -> dict[str, Any]:
        """End it, wait a moment for its last row, and return what was not sampled, for status.json."""
        if "done" not in self._open:
            return {}
        said = self._said() or b""
        if self._tie is not None:
            with contextlib.suppress(OSError):
                self._tie.send(OVER)
            self._tie.close()
        killed = False
        # One that has not begun will write nothing.
        if said.startswith(BEGUN):
            more, killed = self._said_at_its_end()
            said += more
        self._close("done")
        last = said.splitlines()[-1:]
        if last and last[0].isdigit():
            return {SAMPLES_LOST: lost} if (lost := int(last[0])) else {}
        return {SAMPLES_CUT: "the process that sampled the run was killed"} if killed else {}

    def _said_at_its_end(self) -> tuple[bytes, bool]:
        """Return what it says at its end, and whether that is all because it is gone."""
        said, deadline = b"", time.monotonic() + END_WAIT_S
        waiting = select.poll()
        waiting.register(self._open["done"], select.POLLIN)
        while (left := deadline - time.monotonic()) > 0:
            if waiting.poll(left * 1000):
                piece = self._said()
                if not piece:
                    return said, piece is not None
                said += piece
        return said, False

    def _said(self) -> bytes | None:
        """Return what it has said; None for nothing yet, b"" once it is gone."""
        try:
            return os.read(self._open["done"], 1024)
        except OSError:
            return None

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
    """Sample the run in a folder until it is over."""
    # The leases are only to be held.
    folder, (supervisor, tie, done, file, *_) = Path(arguments[0]), map(int, arguments[1:])
    # Where the supervisor has gone already, the socket says how.
    with contextlib.suppress(BrokenPipeError):
        os.write(done, BEGUN)
    uuids: list[str] = []
    with contextlib.suppress(HopscopeError):
        uuids = cards_of(read_object(folder / "spec.json"))
    heir = Heir(folder, tie)
    recorder = Recorder(supervisor, heir, file, uuids, sampler_command(uuids))
    try:
        recorder.run()
    finally:
        heir.end()
        with contextlib.suppress(OSError):
            os.write(done, f"{recorder.rows.lost}\n".encode())
        os.close(done)
        recorder.end()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
