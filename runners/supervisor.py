"""The process that owns one run: `python -m runners.supervisor RUN_DIR`, started by the launcher.

It leaves the launcher's process tree (double fork, own session), starts the program in a process group
of its own, and is the subreaper of everything the program forks, so that nothing of a run outlives its
stop. It takes SIGTERM as the request to stop: TERM to the program, KILL after the grace. Only the
standard library is used.

The run folder is all that it shares with the rest: it reads spec.json and stop.json, writes status.json, and
gives out.log to the program as its output.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from probes.trace.stderr_rest import take_rest
from runners.errors import HopscopeError
from runners.outcome import judge_end
from runners.processes import Stat, descendants, identify, send
from runners.status import StatusFile, read_object

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

SUPERVISOR_MODULE = "runners.supervisor"
STOP_NAME = "stop.json"
LOG_NAME = "supervisor.log"
"""Where its own complaints go, seldom any; removed at the end when there were none."""
READY = b"ready\n"
DEFAULT_GRACE_S = 10.0
LINGER_S = 3.0
"""How long what the program left behind may go on by itself before it is asked to end."""
LEFTOVER_GRACE_S = 2.0
KILL_AGAIN_S = 0.1
HUNG_AFTER_S = 10.0
RETRY_S = (0.2, 0.5, 1.0, 2.0, 5.0)
GIVE_UP_WRITING_S = 24 * 3600.0

STOP_SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT})
WATCHED = STOP_SIGNALS | {signal.SIGCHLD, signal.SIGHUP}
RESET_IN_CHILD = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGCHLD,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


class Supervisor:
    """One run from the start of its program to the end of the last process of it."""

    def __init__(self, folder: Path, libc: ctypes.CDLL, leases: list[int]) -> None:
        self.folder = folder
        self.libc = libc
        self.leases = leases
        self.status_file = StatusFile(folder)
        self.pid = 0
        self.wait_status: int | None = None
        self.ended: float | None = None
        self.stop_asked: float | None = None
        """Monotonic time of the first request to stop that came while the program ran."""
        self.grace_s = DEFAULT_GRACE_S
        self.kill_at: float | None = None
        self.killed_at: float | None = None
        self.linger_until: float | None = None
        self.leftovers_ended = 0
        self.unpublished = False
        me = identify(os.getpid())
        self.status: dict[str, Any] = {
            "state": "starting",
            "exit_code": None,
            "signal": None,
            "reason": None,
            "pid": None,
            "supervisor_pid": os.getpid(),
            "supervisor_start": me.start if me else None,
            "boot_id": me.boot if me else None,
            "started": None,
            "ended": None,
        }

    def run(self, ready: int | None) -> None:
        """Start the program, tell the launcher through the descriptor `ready`, and stay to the end."""
        started = self._start_program()
        if ready is not None:
            with contextlib.suppress(OSError):
                os.write(ready, READY)
            os.close(ready)
        if started:
            try:
                self._watch()
            except BaseException as error:  # noqa: BLE001 - the end must be written down
                traceback.print_exc()
                self.status["reason"] = f"its supervisor failed: {type(error).__name__}: {error}"
                self._kill_all()
                self._reap()
            self._conclude()

    # -- start

    def _start_program(self) -> bool:
        try:
            spec = read_object(self.folder / "spec.json")
            environment = _merged(dict(os.environ), spec.get("env") or {})
            self.status["started"] = time.time()
            with (self.folder / "out.log").open("ab", buffering=0) as log:
                process = subprocess.Popen(
                    [str(word) for word in spec["command"]],
                    cwd=spec.get("cwd"),
                    env=environment,
                    stdin=None,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    process_group=0,
                    # This process has one thread, so Python code between fork and exec is safe.
                    preexec_fn=self._prepare_child,  # noqa: PLW1509
                )
        except (OSError, ValueError, KeyError, subprocess.SubprocessError, HopscopeError) as error:
            words = str(error)
            if isinstance(error, OSError) and error.strerror:
                words = f"{error.strerror}: {error.filename}"
            self.status |= {
                "state": "failed",
                "reason": f"could not be started: {words}",
                "ended": time.time(),
            }
            self._write_last()
            return False
        self.pid = process.pid
        # Children are reaped by wait(-1) here, so Popen must not wait for this one itself.
        process.returncode = 0
        # Only the program may hold the reading end of its input, or its writer would never see it close.
        _null_input()
        self.status |= {"state": "running", "pid": self.pid}
        self._publish()
        return True

    def _prepare_child(self) -> None:
        # Dies with the supervisor's main thread, the only one it has.
        self.libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != self.status["supervisor_pid"]:
            os._exit(1)
        for signum in RESET_IN_CHILD:
            signal.signal(signum, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    # -- watch

    def _watch(self) -> None:
        while True:
            childless = self._reap()
            now = time.monotonic()
            if self.wait_status is not None:
                # The kernel's own word: every orphan of the run is a child of this process.
                if childless:
                    return
                self._settle_leftovers(now)
            if self.unpublished:
                self._publish()
            if self.kill_at is not None and now >= self.kill_at:
                self._kill_all()
                self.killed_at = self.killed_at or now
                self.kill_at = now + KILL_AGAIN_S
                if now - self.killed_at > HUNG_AFTER_S:
                    self.kill_at = now + RETRY_S[-1]
                    self._note("killed, but a process of it does not end (it may hang in a driver)")
            received = signal.sigtimedwait(WATCHED, self._pause(now))
            if received is not None and received.si_signo in STOP_SIGNALS:
                self._ask_to_stop()

    def _pause(self, now: float) -> float:
        """Return for how many seconds nothing needs doing, unless a signal comes."""
        if self.wait_status is not None:
            return 0.05
        longest = RETRY_S[2] if self.unpublished else 3600.0
        return longest if self.kill_at is None else max(0.0, min(longest, self.kill_at - now))

    def _reap(self) -> bool:
        """Take the exit statuses that are there; return whether no process of the run is left."""
        while True:
            try:
                pid, wait_status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if pid == self.pid and self.wait_status is None:
                self.wait_status = wait_status
                self.ended = time.time()

    def _settle_leftovers(self, now: float) -> None:
        """Once the program has ended, see to what it left running."""
        if self.stop_asked is not None:
            # They were asked to end together with the program, and have the same grace.
            return
        if self.linger_until is None:
            self.linger_until = now + LINGER_S
            self._note("ended; waiting for processes that it left behind")
        elif now >= self.linger_until and not self.leftovers_ended:
            alive = descendants(os.getpid())
            self.leftovers_ended = len(alive)
            self._signal(alive, signal.SIGTERM)
            self.kill_at = min(self.kill_at or float("inf"), now + LEFTOVER_GRACE_S)

    def _ask_to_stop(self) -> None:
        now = time.monotonic()
        grace_s = self._wanted_grace()
        if self.stop_asked is None and self.wait_status is None:
            self.stop_asked = now
            self.grace_s = grace_s
            self._note("asked to stop")
            self._signal(descendants(os.getpid()), signal.SIGTERM)
        elif self.wait_status is not None:
            self.linger_until = now
        # Asked again, it may end sooner but never later.
        self.kill_at = min(self.kill_at or float("inf"), now + grace_s)
        self.grace_s = min(self.grace_s, grace_s)

    def _wanted_grace(self) -> float:
        try:
            return max(0.0, float(read_object(self.folder / STOP_NAME)["grace_s"]))
        except (HopscopeError, KeyError, TypeError, ValueError):
            return DEFAULT_GRACE_S

    def _signal(self, targets: list[Stat], signum: signal.Signals) -> None:
        """Signal the program's group at once, then whatever left the group."""
        if self.wait_status is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signum)
        for stat in targets:
            if self.wait_status is not None or stat.group != self.pid:
                with contextlib.suppress(PermissionError):
                    send(stat.identity, signum)

    def _kill_all(self) -> None:
        self._signal(descendants(os.getpid()), signal.SIGKILL)

    # -- status

    def _note(self, reason: str) -> None:
        if self.status["reason"] != reason:
            self.status["reason"] = reason
            self._publish()

    def _publish(self) -> None:
        """Write the status as it is now; what finds no room is tried again while watching."""
        with contextlib.suppress(FileNotFoundError):
            self.unpublished = not self.status_file.write(self.status)

    def _conclude(self) -> None:
        killed_after = self.grace_s if self.killed_at is not None else None
        stopped = self.stop_asked is not None
        end = judge_end(self.wait_status, stopped, killed_after, self.leftovers_ended)
        if self.wait_status is None and self.status["reason"]:
            end["reason"] = self.status["reason"]
        self.status |= end | {"ended": self.ended or time.time()}
        self._keep_last_words()
        self._write_last()

    def _keep_last_words(self) -> None:
        """A killed process may have left standard error beside its trace (probes/trace/stderr_rest)."""
        with contextlib.suppress(OSError):
            rest = take_rest(str(self.folder / "trace"))
            if rest:
                with (self.folder / "out.log").open("ab") as log:
                    log.write(rest)

    def _write_last(self) -> None:
        """Write the final status; wait for room where there is none, unless the folder is gone."""
        # Who reads that it has ended may use its GPUs at once.
        for descriptor in self.leases:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        deadline = time.monotonic() + GIVE_UP_WRITING_S
        attempt = 0
        with contextlib.suppress(FileNotFoundError):
            while not self.status_file.write(self.status, last=True) and time.monotonic() < deadline:
                time.sleep(RETRY_S[min(attempt, len(RETRY_S) - 1)])
                attempt += 1
        self.status_file.clear()
        log = self.folder / LOG_NAME
        with contextlib.suppress(OSError):
            if log.stat().st_size == 0:
                log.unlink()


def _merged(environment: dict[str, str], changes: dict[str, str | None]) -> dict[str, str]:
    for name, value in changes.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    return environment


def _null_input() -> None:
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.dup2(descriptor, 0)
    os.close(descriptor)


def _leave_launcher() -> None:
    """Become a process of its own: the first process ends, so the launcher has nothing left to reap."""
    if os.fork():
        os._exit(0)
    os.setsid()


def main(arguments: list[str]) -> int:
    """Supervise the run in the folder `arguments[0]` until nothing of it runs any more.

    `arguments[1]` may name an open descriptor, to which "ready" is written once the program runs; the rest
    name the descriptors of its leases.
    """
    folder = Path(arguments[0]).absolute()
    ready = int(arguments[1]) if len(arguments) > 1 else None
    leases = [int(descriptor) for descriptor in arguments[2:]]
    _leave_launcher()
    # An inherited SIG_IGN for SIGCHLD would throw away exit statuses.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # Blocked first and fetched one by one later: a request to stop is never lost, not even an early one.
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        print("PR_SET_CHILD_SUBREAPER failed; orphans of this run are not tracked", file=sys.stderr)
    Supervisor(folder, libc, leases).run(ready)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
