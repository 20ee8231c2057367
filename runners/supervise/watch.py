"""Watching one stage of a run: when its members end, what that means for the others, and when to end them."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from collections.abc import Callable

from runners.runs.processes import descendants
from runners.runs.status import StatusBoard
from runners.supervise.group import Group, Process
from runners.supervise.outcome import DESERTED
from runners.supervise.run_log import OUTPUT_LOST, RunLog
from runners.supervise.signals import STOP_SIGNALS, SignalQueue

GROUP_GRACE_S = 5.0
"""How long the members have to end by themselves where one of them failed, or the time is over."""
SERVE_ON_S = 3.0
"""How long members that serve have to end by themselves once nobody is left to serve."""
LINGER_S = 3.0
"""How long what the program left behind may go on by itself before it is asked to end."""
LEFTOVER_GRACE_S = 2.0
KILL_AGAIN_S = 0.1
HUNG_AFTER_S = 10.0
HUNG_KILL_AGAIN_S = 5.0
PUBLISH_AGAIN_S = 1.0
NEVER = float("inf")


@dataclasses.dataclass(frozen=True)
class TimeLimit:
    """How long a run may take, and when that is over by the monotonic clock."""

    seconds: float
    at: float


class Watch:
    """One stage from the start of its members to the end of the last process of it."""

    def __init__(
        self,
        group: Group,
        log: RunLog,
        board: StatusBoard,
        wanted_grace: Callable[[], float],
        limit: TimeLimit | None = None,
        last: bool = True,
    ) -> None:
        """`wanted_grace` tells how long a stop may take, seconds; `last`: no stage follows this one."""
        self.group = group
        self.log = log
        self.board = board
        self.wanted_grace = wanted_grace
        self.limit = limit
        self.last = last
        self.stop_asked = False
        """Somebody asked for the end while the program ran."""
        self.failed: Process | None = None
        """The member that failed by itself first, or left while others needed it."""
        self.overdue = False
        """It was ended because its time was over."""
        self.remarks: list[str] = []
        self.grace_s = NEVER
        """The shortest grace that a stop was asked with."""
        self.killed_at: float | None = None
        self.leftovers_ended = 0
        self._ending = False
        """The members were asked to end, for whatever reason: how they end from now on is no news."""
        self._publish_at = 0.0
        self._kill_at = NEVER
        self._serve_until: float | None = None
        self._linger_until: float | None = None

    @property
    def succeeded(self) -> bool:
        """Whether all members that had to have ended with status 0, unasked."""
        return not self.stop_asked and self.failed is None and not self.overdue

    @property
    def deserted(self) -> bool:
        """Whether the member that failed did so by ending, with status 0, while others needed it."""
        return self.failed is not None and self.failed.succeeded

    @property
    def decisive(self) -> Process:
        """The member whose end is told as that of the stage."""
        if self.failed is not None:
            return self.failed
        worked = [process for process in self.group.processes if not process.member.serves]
        others = worked or self.group.processes
        return next((process for process in others if not process.succeeded), others[0])

    def watch(self, signals: SignalQueue) -> None:
        """Return when nothing of the stage runs any more."""
        while True:
            childless = self._reap()
            now = time.monotonic()
            if self.group.over:
                # The kernel's own word: every orphan of the run is a child of this process.
                if childless:
                    return
                self._settle_leftovers(now)
            elif not self._ending:
                self._settle_members(now)
            self._publish(now)
            if now >= self._kill_at:
                self._kill(now)
            if signals.next(self._pause(now), self.log) in STOP_SIGNALS:
                self._ask_to_stop()

    def _publish(self, now: float) -> None:
        """Write the status where it has news, though not each time that output or status find no room."""
        if now < self._publish_at:
            return
        if self.log.lost != self.board.values.get(OUTPUT_LOST, 0):
            self.board.values |= self.log.as_json()
            self.board.unpublished = True
            self._publish_at = now + PUBLISH_AGAIN_S
        if self.board.unpublished:
            self.board.publish()
            if self.board.unpublished:
                self._publish_at = now + PUBLISH_AGAIN_S

    def _pause(self, now: float) -> float:
        """Return for how many seconds nothing needs doing, unless a signal comes."""
        if self.group.over:
            return 0.05
        due = [self._kill_at, now + (PUBLISH_AGAIN_S if self.board.unpublished else 3600.0)]
        if not self._ending:
            due += [self.limit.at] if self.limit is not None else []
            due += [self._serve_until] if self._serve_until is not None else []
        return max(0.0, min(due) - now)

    def _reap(self) -> bool:
        """Take the exit statuses that are there; return whether no process of the run is left."""
        childless, ended = self.group.reap()
        for process in ended:
            # One that is never to end by itself was ended by somebody, and others may wait for it forever.
            deserts = process.member.endless and not self.group.served_out
            if self._ending or (process.succeeded and not deserts):
                continue
            if process.member.serves and self.group.served_out:
                self.remarks.append(f"{process.told_end()} after the others had finished")
            elif self.failed is None:
                self.failed = process
                if self.group.several:
                    self.log.say(self._told_failure(process))
        if ended and self.group.several:
            self.board.values["members"] = self.group.as_json()
            self.board.unpublished = True
        return childless

    def _told_failure(self, process: Process) -> str:
        left = self.group.running
        others = {0: "", 1: "; the other process is ended"}.get(
            left, f"; the {left} other processes are ended"
        )
        return process.told_end() + (DESERTED if process.succeeded else "") + others

    def _settle_members(self, now: float) -> None:
        """See to members that still run where others have ended, or the time is over."""
        if self.failed is not None:
            self._end(now, GROUP_GRACE_S)
        elif self.limit is not None and now >= self.limit.at:
            self.overdue = True
            self.log.say(f"the time limit of {self.limit.seconds:g} s is over, so it is ended")
            self._end(now, GROUP_GRACE_S)
        elif self.group.served_out:
            if self._serve_until is None:
                self._serve_until = now + SERVE_ON_S
            if self.group.endless:
                self._end(now, GROUP_GRACE_S)
            elif now >= self._serve_until:
                self._end(now, LEFTOVER_GRACE_S)

    def _settle_leftovers(self, now: float) -> None:
        """Once the members have ended, see to what they left running."""
        if self._ending:
            # They were asked to end together with the program, and have the same grace.
            return
        if self._linger_until is None:
            self._linger_until = now + LINGER_S
            self.board.note("ended; waiting for processes that it left behind")
        elif now >= self._linger_until and not self.leftovers_ended:
            alive = descendants(os.getpid())
            self.leftovers_ended = len(alive)
            self.group.signal(signal.SIGTERM, alive)
            self._kill_at = min(self._kill_at, now + LEFTOVER_GRACE_S)

    def _ask_to_stop(self) -> None:
        now = time.monotonic()
        grace_s = self.wanted_grace()
        if self.group.over and self.last:
            self._linger_until = now
        elif not self.stop_asked and self.succeeded:
            self.stop_asked = True
            self.board.note("asked to stop")
            self._end(now, grace_s)
        # Asked again, it may end sooner but never later.
        self._kill_at = min(self._kill_at, now + grace_s)
        self.grace_s = min(self.grace_s, grace_s)

    def _end(self, now: float, grace_s: float) -> None:
        self._ending = True
        if grace_s > 0:
            self.group.signal(signal.SIGTERM)
        self._kill_at = min(self._kill_at, now + grace_s)

    def _kill(self, now: float) -> None:
        self.group.signal(signal.SIGKILL)
        self.killed_at = self.killed_at or now
        self._kill_at = now + KILL_AGAIN_S
        if now - self.killed_at > HUNG_AFTER_S:
            self._kill_at = now + HUNG_KILL_AGAIN_S
            self.board.note("killed, but a process of it does not end (it may hang in a driver)")
