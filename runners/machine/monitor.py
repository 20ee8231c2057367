"""Watches this machine: keeps a sampler process going, and what it said last and of late.

A sampler that dies, or says nothing for long because a call into the driver hangs, is replaced. The driver's
library is loaded in that process alone: it cannot be unloaded, and after the driver was reloaded only a new
process can use the next one.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from probes.nvml.host import Host
from probes.nvml.missing import absent
from probes.nvml.sampler import MODULE, bounded
from probes.nvml.snapshot import Message, Snapshot, merge
from runners.machine.continuity import Continuity
from runners.machine.sample_history import History

ROOT = Path(__file__).resolve().parents[2]
SILENT_S = 5.0
SILENT_TICKS = 5
FIRST_WORD_S = 30.0
"""How long a sampler may take to its first message: on a busy machine its start alone takes seconds."""
AGAIN_AFTER_S = (0.2, 1.0, 3.0, 10.0)
"""How long to wait before the next sampler, after the first, second, .. that failed in a row."""
_LONGEST_LINE = 1 << 24
_KILLED_S = 2.0
_STEP_S = 0.25

State = Literal["starting", "live", "stale", "stopped"]
Callback = Callable[[Message, Snapshot], None]


class Monitor:
    """One machine's monitor. `snapshot`, `state` and `problem` may be read from any thread."""

    def __init__(self, hz: float = 1.0) -> None:
        self.snapshot: Snapshot | None = None
        """The machine as it was told last, as `devices --json` has it; None before the first sample."""
        self.problem: str | None = None
        """Why there is no news, where there is none."""
        self.restarts = 0
        """How many samplers had to be replaced."""
        self._hz = bounded(hz)
        self._history = History()
        self._continuity = Continuity()
        self._guard = threading.Lock()
        self._callbacks: list[Callback] = []
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._heard = 0.0
        self._spoke = False
        """Whether the present sampler has said anything."""

    # -- what there is to know

    @property
    def state(self) -> State:
        """Whether samples come: stale where none came for longer than a sampler may be silent."""
        if self._thread is None:
            return "stopped"
        if self.snapshot is None:
            return "starting"
        heard = self._spoke and time.monotonic() - self._heard <= self._patience
        return "live" if heard else "stale"

    @property
    def hz(self) -> float:
        """Samples a second."""
        return self._hz

    def history(self, since: float = 0.0) -> dict[str, Any]:
        """Return the curves since then, epoch seconds; see `History.since`."""
        with self._guard:
            return self._history.since(since)

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call `callback(message, snapshot)` at each sample, in the monitor's thread; return its end."""
        with self._guard:
            self._callbacks.append(callback)

        def unsubscribe() -> None:
            with self._guard, contextlib.suppress(ValueError):
                self._callbacks.remove(callback)

        return unsubscribe

    # -- what can be done

    def start(self) -> None:
        """Start watching, where that has not begun."""
        with self._guard:
            if self._thread is None:
                self._stop.clear()
                self._thread = threading.Thread(target=self._run, name="monitor", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the sampler and the watching; what was seen stays."""
        thread = self._thread
        self._stop.set()
        if thread is not None:
            thread.join()
        self._thread = None

    def set_rate(self, hz: float) -> float:
        """Sample at this rate from now on, 0.1 to 10 a second; returns the rate that it became."""
        self._hz = bounded(hz)
        self._tell_rate()
        return self._hz

    # -- the thread

    @property
    def _patience(self) -> float:
        return self._usual_patience if self._spoke else max(FIRST_WORD_S, self._usual_patience)

    @property
    def _usual_patience(self) -> float:
        return max(SILENT_S, SILENT_TICKS / self._hz)

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            before = self.snapshot
            why = self._follow_one()
            if self._stop.is_set():
                break
            # One that lived long enough to say something did not fail in a row.
            failures = 0 if self.snapshot is not before else failures + 1
            self.restarts += 1
            self._say_problem(f"{why}; a new one is started")
            self._stop.wait(AGAIN_AFTER_S[min(failures, len(AGAIN_AFTER_S) - 1)])

    def _follow_one(self) -> str:
        """Start a sampler and take its messages until it ends, or has to be ended; returns why."""
        seq = str(self.snapshot["seq"]) if self.snapshot else "0"
        try:
            child = subprocess.Popen(
                [*sampler_command(), "--hz", str(self._hz), "--seq", seq],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            return f"the sampler could not be started: {error.strerror or error}"
        with self._guard:
            self._child = child
        self._heard, self._spoke = time.monotonic(), False
        try:
            return self._read(child)
        finally:
            with self._guard:
                self._child = None
            self._end(child)

    def _read(self, child: subprocess.Popen[bytes]) -> str:
        assert child.stdout is not None and child.stderr is not None
        said, rest = b"", b""
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            selector.register(child.stderr, selectors.EVENT_READ)
            while not self._stop.is_set():
                for key, _ in selector.select(_STEP_S):
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is child.stderr:
                        said = (said + data)[-4096:]
                    else:
                        *lines, rest = (rest + data).split(b"\n")
                        for line in lines:
                            self._take(line)
                if child.stdout.fileno() not in selector.get_map() or len(rest) > _LONGEST_LINE:
                    return _how_ended(child, said)
                silent_s = time.monotonic() - self._heard
                if not self._spoke and self.problem is None and silent_s > self._usual_patience:
                    self._say_problem(
                        f"the sampler was started {self._usual_patience:g} s ago and has said nothing"
                    )
                if silent_s > self._patience:
                    return (
                        f"the sampler said nothing for {self._patience:g} s: a call into the driver may hang"
                    )
        return "stopped"

    def _take(self, line: bytes) -> None:
        try:
            message = self._continuity.complete(self.snapshot, dict(json.loads(line)))
            snapshot = merge(self.snapshot, message)
            with self._guard:
                self._history.add(snapshot)
        except (ValueError, KeyError, TypeError, AttributeError):
            # Not a whole message: the next one that is full sets all right.
            return
        self._heard, self._spoke = time.monotonic(), True
        if self.problem is not None:
            self.problem = None
            message["sampler"] = snapshot["sampler"] = {"state": "live", "text": ""}
        self._publish(message, snapshot)

    def _say_problem(self, text: str) -> None:
        self.problem = text
        if self.snapshot is not None:
            note = {"sampler": {"state": "stale", "text": text}}
            message = {"seq": self.snapshot["seq"], "t": self.snapshot["t"], "full": False, **note}
            self._publish(message, merge(self.snapshot, message))

    def _publish(self, message: Message, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        with self._guard:
            callbacks = list(self._callbacks)
        for callback in callbacks:
            try:
                callback(message, snapshot)
            except Exception as error:  # noqa: BLE001 - one listener must not take the others' news
                print(f"hopscope: a listener to samples failed: {error!r}", file=sys.stderr, flush=True)

    def _tell_rate(self) -> None:
        with self._guard:
            child = self._child
            if child is not None and child.stdin is not None:
                with contextlib.suppress(OSError, ValueError):
                    child.stdin.write(json.dumps({"hz": self._hz}).encode() + b"\n")
                    child.stdin.flush()

    def _end(self, child: subprocess.Popen[bytes]) -> None:
        """End a sampler; one that hangs in the driver is waited for, so that they do not pile up."""
        child.kill()
        while True:
            try:
                child.wait(_KILLED_S)
                break
            except subprocess.TimeoutExpired:
                if self._stop.is_set():
                    break
                self._say_problem("the sampler hangs in the driver and cannot be ended; it is waited for")
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def sampler_command() -> list[str]:
    """Return the command that starts a sampler, to be run in ROOT."""
    return [sys.executable, "-m", MODULE]


def _how_ended(child: subprocess.Popen[bytes], said: bytes) -> str:
    try:
        status = child.wait(_KILLED_S)
    except subprocess.TimeoutExpired:
        return "the sampler closed its output"
    last = said.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    return f"the sampler {how}" + (f" ({last})" if last else "")


def read_once(timeout_s: float = 20.0, between_s: float = 0.1) -> Snapshot:
    """Return this machine's snapshot, taken by a process of its own; never raises.

    `between_s` lies between two reads, for rates and shares of time. A driver that does not answer within
    `timeout_s` is told as NVML's state, with the host all the same.
    """
    try:
        done = subprocess.run(
            [*sampler_command(), "--once", "--between", str(between_s)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _without("timeout", f"the NVIDIA driver does not answer: no sample within {timeout_s:g} s")
    except OSError as error:
        return _without("OSError", f"the sampler could not be started: {error.strerror or error}")
    try:
        return merge(None, json.loads(done.stdout))
    except ValueError:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
        return _without("ValueError", f"the sampler failed: {last or f'status {done.returncode}'}")


def _without(reason: str, text: str) -> Snapshot:
    unread = absent(reason, "error")
    return {
        "seq": 0,
        "t": round(time.time(), 3),
        "hz": 1.0,
        "driver": unread,
        "cuda_driver": unread,
        "nvml": {"state": "error", "reason": reason, "text": text},
        "gpus": [],
        "topology": [],
        "p2p": [],
        "host": {**Host().read(), "pid_namespace": "initial"},
    }


_shared = Monitor()


def shared() -> Monitor:
    """Return the server's monitor; whoever serves starts and stops it."""
    return _shared
