"""The sampler: a process of its own that prints what NVML and the host say, a message a line.

    python -m probes.nvml.sampler [--hz 1] [--once] [--only UUID,UUID | --no-gpus] [--no-host]

Messages are those of `snapshot`. On standard input it takes lines such as ``{"hz": 5}``, and ends where that
ends. nvidia-ml-py never unloads the driver's library, so after the driver was reloaded only a new process can
ask it: this one then starts itself anew in its own place, pipes and process id kept.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import select
import signal
import sys
import time
from typing import Optional

from .machine import Machine
from .snapshot import Snapshot, change

SLOWEST_HZ, FASTEST_HZ = 0.1, 10.0
MODULE = "probes.nvml.sampler"
_ANEW_AFTER_S = (1.0, 2.0, 5.0, 10.0)
"""How long to wait before starting anew, the first time and from then on: a reload takes a while."""
_SETTLED_S = 1.0
_LONGEST_COMMAND = 4096
_PR_SET_PDEATHSIG = 1


class Sampler:
    """One sampler from its start to the end of its input."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._hz = bounded(options.hz)
        self._seq = options.seq
        only = [] if options.no_gpus else options.only.split(",") if options.only else None
        self._machine = Machine(only, not options.no_host)
        self._before: Optional[Snapshot] = None
        self._input = b""
        self._gone_at: Optional[float] = None

    def run(self) -> None:
        """Print a message at each tick until standard input ends."""
        due = time.monotonic()
        while True:
            self._say()
            now = time.monotonic()
            self._start_anew_where_needed(now)
            # A tick that comes late moves those after it: two samples at once would tell no more than one.
            due = max(due + 1 / self._hz, now)
            while (left := due - time.monotonic()) > 0:
                was = self._hz
                if not self._listen(left):
                    return
                if self._hz != was:
                    due = min(due, time.monotonic() + 1 / self._hz)

    def once(self) -> None:
        """Print one whole snapshot, with the rates and shares that need two samples, a moment apart."""
        self._machine.read(0, self._hz)
        time.sleep(self._options.between)
        self._machine.settle(_SETTLED_S)
        self._say()

    def _say(self) -> None:
        self._seq += 1
        snapshot = self._machine.read(self._seq, self._hz)
        message = change(self._before, snapshot)
        self._before = snapshot
        sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
        sys.stdout.flush()

    def _listen(self, seconds: float) -> bool:
        """Wait, and take what is asked for meanwhile; False where nobody will ask any more."""
        readable, _, _ = select.select([0], [], [], seconds)
        if not readable:
            return True
        data = os.read(0, _LONGEST_COMMAND)
        if not data:
            return False
        *lines, self._input = (self._input + data).split(b"\n")
        self._input = self._input[-_LONGEST_COMMAND:]
        for line in lines:
            try:
                self._hz = bounded(float(json.loads(line)["hz"]))
            except (ValueError, KeyError, TypeError):
                print(f"sampler: not understood: {line[:80]!r}", file=sys.stderr)
        return True

    def _start_anew_where_needed(self, now: float) -> None:
        if not self._machine.driver_gone:
            return
        times = self._options.anew
        wait = _ANEW_AFTER_S[min(times, len(_ANEW_AFTER_S) - 1)]
        if self._gone_at is None:
            self._gone_at = now
        elif now - self._gone_at >= wait:
            options = ["--hz", str(self._hz), "--seq", str(self._seq), "--anew", str(times + 1)]
            options += ["--only", self._options.only] if self._options.only else []
            options += ["--no-host"] if self._options.no_host else []
            flags = ["-E"] if sys.flags.ignore_environment else []
            os.execv(sys.executable, [sys.executable, *flags, "-m", MODULE, *options])


def _die_with_parent() -> None:
    """End when the parent does, even in the middle of a call that hangs (Linux's PR_SET_PDEATHSIG)."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(0)


def bounded(hz: float) -> float:
    """Return a rate that the sampler takes, in samples a second: 0.1 to 10."""
    return 1.0 if math.isnan(hz) else min(max(hz, SLOWEST_HZ), FASTEST_HZ)


def main(arguments: list[str]) -> int:
    """Sample until standard input ends, or once."""
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}")
    parser.add_argument("--hz", type=float, default=1.0)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--between", type=float, default=0.1, help="seconds between the two reads of --once")
    parser.add_argument("--only", default="", help="UUIDs of the cards to read")
    parser.add_argument("--no-gpus", action="store_true", help="leave the driver alone")
    parser.add_argument("--no-host", action="store_true")
    parser.add_argument("--seq", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--anew", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        sampler = Sampler(options)
        if options.once:
            sampler.once()
        else:
            _die_with_parent()
            sampler.run()
    except (BrokenPipeError, KeyboardInterrupt):
        # Nobody listens any more; Python would complain again when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
