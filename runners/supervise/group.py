"""The processes of one stage: started, reaped and signalled together with all that they forked."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any

from runners.runs.processes import Stat, descendants, send
from runners.supervise.members import Member
from runners.supervise.outcome import describe_end
from runners.supervise.run_log import RunLog

RESET_IN_CHILD = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGCHLD,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


@dataclasses.dataclass(eq=False)
class Process:
    """A member that was started, the leader of a process group."""

    member: Member
    pid: int
    wait_status: int | None = None
    """As os.waitpid gives it; None while it runs."""

    @property
    def succeeded(self) -> bool:
        """Whether it has ended with status 0."""
        return self.wait_status == 0

    def told_end(self) -> str:
        """Return how it ended, in words: 'server-0 was killed by signal 9 (SIGKILL)'."""
        return describe_end(self.wait_status, self.member.name)

    def as_json(self) -> dict[str, Any]:
        """Return it as it stands in status.json."""
        ended = self.wait_status
        code = os.WEXITSTATUS(ended) if ended is not None and os.WIFEXITED(ended) else None
        number = os.WTERMSIG(ended) if ended is not None and os.WIFSIGNALED(ended) else None
        return {"name": self.member.name, "pid": self.pid, "exit_code": code, "signal": number}


class Group:
    """The members of one stage. Their parent is this process, the subreaper of all that they fork."""

    def __init__(self) -> None:
        self.processes: list[Process] = []
        self.ended_at: float | None = None
        """When the last member ended, epoch seconds."""
        self._parent = os.getpid()

    @property
    def several(self) -> bool:
        """Whether it has more than one member, so that each must be named."""
        return len(self.processes) > 1

    @property
    def running(self) -> int:
        """How many members have not ended."""
        return sum(process.wait_status is None for process in self.processes)

    @property
    def over(self) -> bool:
        """Whether all members have ended."""
        return self.running == 0

    @property
    def served_out(self) -> bool:
        """Whether only members that serve are left, and nobody to serve: all others ended with 0."""
        others = [process for process in self.processes if not process.member.serves]
        return bool(others) and all(process.succeeded for process in others)

    @property
    def endless(self) -> bool:
        """Whether none of the members that still run would ever end by itself."""
        return all(process.member.endless for process in self.processes if process.wait_status is None)

    def as_json(self) -> list[dict[str, Any]]:
        """Return the members as they stand in status.json."""
        return [process.as_json() for process in self.processes]

    def start(
        self, members: Sequence[Member], environment: Mapping[str, str], cwd: str | None, log: RunLog
    ) -> None:
        """Start the members in their order. What cannot be started passes as OSError and the like."""
        width = max(len(member.name) for member in members)
        for member in members:
            output = log.pipe(f"{member.name:<{width}} | " if len(members) > 1 else "")
            try:
                process = subprocess.Popen(
                    member.command,
                    cwd=cwd,
                    env=merged(environment, member.variables()),
                    stdin=None,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    process_group=0,
                    # This process has one thread, so Python code between fork and exec is safe.
                    preexec_fn=self._prepare_child,  # noqa: PLW1509
                )
            finally:
                os.close(output)
            # Children are reaped by wait(-1) here, so Popen must not wait for this one itself.
            process.returncode = 0
            self.processes.append(Process(member, process.pid))

    @staticmethod
    def _prepare_child() -> None:
        for signum in RESET_IN_CHILD:
            signal.signal(signum, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    def reap(self) -> tuple[bool, list[Process]]:
        """Take the exit statuses that are there.

        Returns whether no process at all is left of the run, and which members ended since the last time,
        in the order of their start.
        """
        running = {process.pid: process for process in self.processes if process.wait_status is None}
        ended: set[int] = set()
        childless = False
        while not childless:
            try:
                pid, wait_status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                childless = True
                break
            if pid == 0:
                break
            if pid in running and pid not in ended:
                running[pid].wait_status = wait_status
                self.ended_at = time.time()
                ended.add(pid)
        return childless, [process for process in self.processes if process.pid in ended]

    def signal(self, signum: signal.Signals, targets: Sequence[Stat] | None = None) -> None:
        """Signal each member's process group at once, then what left it: all descendants, or `targets`."""
        targets = descendants(self._parent) if targets is None else targets
        groups = {process.pid for process in self.processes if process.wait_status is None}
        for group in groups:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signum)
        for stat in targets:
            if stat.group not in groups:
                with contextlib.suppress(PermissionError):
                    send(stat.identity, signum)


def merged(environment: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return an environment with the changes made to it; None removes a variable."""
    result = dict(environment)
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = value
    return result
