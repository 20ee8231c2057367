"""The process that owns one run: `python -m runners.supervise.supervisor RUN_DIR`, started by the launcher.

It leaves the launcher's process tree (double fork, own session), starts the program, in stages where it
has some, each member in a process group of its own, and is the subreaper of everything that they fork, so
that nothing of a run outlives its stop. It takes SIGTERM as the request to stop: TERM to the program, KILL
after the grace. Only the standard library is used.

The run folder is all that it shares with the rest: it reads spec.json and stop.json, writes status.json, and
keeps in out.log what the program prints. Where it is killed itself, the program goes on: the companion
(runners/supervise/run_sampler.py) then reads what the program prints.
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

from probes.trace.left_graphs import remove_graphs
from probes.trace.stderr_rest import take_rest
from runners.errors import HopscopeError
from runners.runs import leases
from runners.runs.processes import identify
from runners.runs.status import StatusBoard, read_object
from runners.runs.supervision import DEFAULT_GRACE_S, STOP_NAME
from runners.supervise.group import Group, merged
from runners.supervise.members import Stage, read_stages
from runners.supervise.outcome import End, judge_end
from runners.supervise.run_log import RunLog
from runners.supervise.run_sampler import Companion
from runners.supervise.signals import SignalQueue
from runners.supervise.watch import KILL_AGAIN_S, TimeLimit, Watch

PR_SET_CHILD_SUBREAPER = 36

LOG_NAME = "supervisor.log"
"""Where its own complaints go, seldom any; removed at the end when there were none."""
READY = b"ready\n"
BESIDE = b"beside "
"""Stands before the pid of the process that samples the run, in what the launcher is told."""
WATCH_AGAIN_S = 1.0


class Supervisor:
    """One run from the start of its program to the end of the last process of it."""

    def __init__(
        self,
        folder: Path,
        libc: ctypes.CDLL,
        signals: SignalQueue,
        held: list[int],
        companion: Companion,
    ) -> None:
        self.folder = folder
        self.companion = companion
        self.libc = libc
        self.signals = signals
        self.leases = held
        self.ready: int | None = None
        self.log: RunLog | None = None
        self.spec: dict[str, Any] = {}
        self.stages: list[Stage] = []
        self.stage = 0
        """The index of the stage that is underway."""
        self.limit: TimeLimit | None = None
        me = identify(os.getpid())
        self.board = StatusBoard(
            folder,
            {
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
            },
        )

    def run(self, ready: int | None) -> None:
        """Run the stages in turn, to the end; tell the launcher through the descriptor `ready` once begun."""
        self.ready = ready
        try:
            self._run_stages()
        except (OSError, ValueError, subprocess.SubprocessError, HopscopeError) as error:
            self._not_started(error)
        self._conclude()
        self._tell_launcher()

    def _run_stages(self) -> None:
        self._read_spec()
        log = self.log = RunLog(self.folder / "out.log", self.companion.share)
        leftovers, remarks = 0, list[str]()
        for number, stage in enumerate(self.stages):
            self.stage = number
            group = self._start(stage, log)
            self._tell_launcher()
            last = number + 1 == len(self.stages)
            watch = Watch(group, log, self.board, self._wanted_grace, self.limit, last)
            self._follow(watch)
            log.finish()
            leftovers += watch.leftovers_ended
            remarks += watch.remarks
            if last or not watch.succeeded:
                self._judge(watch, leftovers, remarks)
                break

    # -- start

    def _read_spec(self) -> None:
        self.board.values["started"] = time.time()
        self.spec = read_object(self.folder / "spec.json")
        self.stages = read_stages(self.spec)
        if (seconds := self.spec.get("time_limit_s")) is not None:
            self.limit = TimeLimit(float(seconds), time.monotonic() + float(seconds))
        if len(self.stages) > 1 or len(self.stages[0].members) > 1:
            # Several programs cannot share one input.
            _null_input()

    def _start(self, stage: Stage, log: RunLog) -> Group:
        """Start the members of a stage; where one cannot be, none is left."""
        group = Group()
        if len(self.stages) > 1:
            log.say(f"stage {stage.name}: {stage.note}" if stage.note else f"stage {stage.name}")
        environment = merged(os.environ, self.spec.get("env") or {})
        try:
            group.start(stage.members, environment, self.spec.get("cwd"), log)
        except BaseException:
            group.signal(signal.SIGKILL)
            while not group.reap()[0]:
                time.sleep(KILL_AGAIN_S)
            raise
        # Only the program may hold the reading end of its input, or its writer would never see it close.
        _null_input()
        self.board.values |= {"state": "running", "pid": group.processes[0].pid, "reason": None}
        if "stages" in self.spec:
            place = {"name": stage.name, "number": self.stage + 1, "of": len(self.stages)}
            self.board.values |= {"stage": place, "members": group.as_json() if group.several else []}
        self.board.publish()
        return group

    def _tell_launcher(self) -> None:
        """Tell the launcher that the program runs, or never will."""
        if self.ready is not None:
            with contextlib.suppress(OSError):
                os.write(self.ready, READY)
            os.close(self.ready)
            self.ready = None

    def _not_started(self, error: Exception) -> None:
        words = str(error)
        if isinstance(error, OSError) and error.strerror:
            words = f"{error.strerror}: {error.filename}"
        reason = self._in_stage(f"could not be started: {words}")
        self.board.values |= {"state": "failed", "reason": reason, "ended": time.time()}

    # -- end

    def _follow(self, watch: Watch) -> None:
        """Watch a stage to its end. What goes wrong with the watching itself harms no program."""
        while True:
            try:
                watch.watch(self.signals)
                return
            except Exception:  # noqa: BLE001 - the program goes on, and so must this
                with contextlib.suppress(OSError):
                    traceback.print_exc()
                time.sleep(WATCH_AGAIN_S)

    def _wanted_grace(self) -> float:
        try:
            return max(0.0, float(read_object(self.folder / STOP_NAME)["grace_s"]))
        except (HopscopeError, KeyError, TypeError, ValueError):
            return DEFAULT_GRACE_S

    def _judge(self, watch: Watch, leftovers: int, remarks: list[str]) -> None:
        """Put into the status how the last stage that ran ended, with what there is to say of all."""
        decisive = watch.decisive
        end = judge_end(
            End(
                decisive.wait_status,
                watch.stop_asked,
                watch.grace_s if watch.killed_at is not None else None,
                leftovers,
                member=decisive.member.name if watch.group.several else None,
                deserted=watch.deserted,
                limit_s=self.limit.seconds if self.limit is not None and watch.overdue else None,
                remarks=remarks,
            )
        )
        if end["state"] != "finished":
            end["reason"] = self._in_stage(end["reason"])
        self.board.values |= end | {"ended": watch.group.ended_at or time.time()}

    def _in_stage(self, reason: str) -> str:
        return f"{self.stages[self.stage].name}: {reason}" if len(self.stages) > 1 else reason

    def _conclude(self) -> None:
        """Keep what the program said last, and write the status down for good."""
        self.board.values |= self.companion.end()
        if self.log is not None:
            with contextlib.suppress(OSError):
                # A killed process may have left standard error beside its trace (probes/trace/stderr_rest).
                self.log.write(take_rest(str(self.folder / "trace")))
            self.board.values |= self.log.as_json()
        remove_graphs(str(self.folder / "trace"))
        # Who reads that it has ended may use its GPUs at once.
        leases.give_back(self.leases)
        self.board.publish_last()
        own_log = self.folder / LOG_NAME
        with contextlib.suppress(OSError):
            if own_log.stat().st_size == 0:
                own_log.unlink()


def _null_input() -> None:
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.dup2(descriptor, 0)
    os.close(descriptor)


def _leave_launcher(companion: Companion, ready: int | None) -> None:
    """Become a process of its own: the first process ends, so the launcher has nothing left to reap.

    Before it does, it starts the companion, which thereby is the supervisor's sibling and not its child.
    """
    if supervisor := os.fork():
        pid = companion.start(supervisor)
        if pid is not None and ready is not None:
            with contextlib.suppress(OSError):
                os.write(ready, BESIDE + b"%d\n" % pid)
        os._exit(0)
    os.setsid()
    companion.keep()


def main(arguments: list[str]) -> int:
    """Supervise the run in the folder `arguments[0]` until nothing of it runs any more.

    `arguments[1]` may name an open descriptor, to which "ready" is written once the program runs, and the pid
    of the process that samples it; the rest name the descriptors of its leases.
    """
    folder = Path(arguments[0]).absolute()
    ready = int(arguments[1]) if len(arguments) > 1 else None
    held = [int(descriptor) for descriptor in arguments[2:]]
    companion = Companion(folder, held)
    _leave_launcher(companion, ready)
    libc = ctypes.CDLL(None, use_errno=True)
    # First of all: a request to stop is never lost, not even an early one.
    signals = SignalQueue(libc)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        print("PR_SET_CHILD_SUBREAPER failed; orphans of this run are not tracked", file=sys.stderr)
    Supervisor(folder, libc, signals, held, companion).run(ready)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
