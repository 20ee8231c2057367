"""One run as its folder describes it, and what can be concluded from that."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
from pathlib import Path
from typing import Any

from probes.attach.members import alive, gone_words
from probes.attach.places import host_name
from runners.errors import HopscopeError
from runners.processes import Identity, is_alive
from runners.status import ENDED_STATES, LIVE_STATES, STATUS_NAME, read_object

SPEC_NAME = "spec.json"
LOG_NAME = "out.log"
RUN_DIR_VARIABLE = "HOPSCOPE_RUN_DIR"
ID_TIME_FORMAT = "%Y%m%d-%H%M%S"
"""How an id begins, in UTC, so that ids sort by time whatever the clock's season."""


@dataclasses.dataclass(frozen=True)
class Run:
    """One run as its folder described it when it was read; `reload` reads it again.

    `problem` says what of the folder cannot be read, None when all can; `spec` or `status` is empty then.
    """

    id: str
    path: Path
    spec: dict[str, Any]
    status: dict[str, Any]
    problem: str | None = None

    @property
    def state(self) -> str:
        """starting, running, finished, failed, stopped, or lost: nobody saw how it ended."""
        return self.judge()[0]

    @property
    def reason(self) -> str | None:
        """Why it is in this state, in words; None when there is nothing to add."""
        return self.judge()[1]

    @property
    def ended(self) -> bool:
        """Whether its program is over, however it ended."""
        return self.state in ENDED_STATES

    @property
    def exit_code(self) -> int | None:
        """The program's own exit status; None before its end and when a signal ended it."""
        return _integer(self.status.get("exit_code"))

    @property
    def signal(self) -> int | None:
        """The signal that ended the program, None when none did."""
        return _integer(self.status.get("signal"))

    @property
    def stage(self) -> str | None:
        """Which of several stages is underway: `measure, 1 of 2`; None where there is one, and at the end."""
        stage = self.status.get("stage")
        if not isinstance(stage, dict) or self.state not in LIVE_STATES:
            return None
        number, of = _integer(stage.get("number")), _integer(stage.get("of"))
        return f"{stage.get('name')}, {number} of {of}" if number and of and of > 1 else None

    @property
    def members(self) -> list[dict[str, Any]]:
        """The processes of the stage that ran last, where it has several: name, pid, exit_code, signal."""
        listed = self.status.get("members")
        return [member for member in listed if isinstance(member, dict)] if isinstance(listed, list) else []

    @property
    def attached(self) -> list[dict[str, Any]]:
        """The processes that record themselves into it: pid, start, boot, host, left.

        `left` is when a process took leave, None for one that has not; empty for a run that was launched.
        """
        listed = self.status.get("attached")
        return [member for member in listed if isinstance(member, dict)] if isinstance(listed, list) else []

    @property
    def name(self) -> str:
        """The program's name, or the script's without its ending."""
        return _text(self.spec.get("name")) or self.id

    @property
    def framework(self) -> str | None:
        """`tensorflow` or `mxnet`; None where the folder does not say."""
        return _text(self.spec.get("framework"))

    @property
    def created(self) -> float:
        """When it was launched, epoch seconds; from its id or folder where the spec does not say."""
        with contextlib.suppress(KeyError, TypeError, ValueError):
            return datetime.datetime.fromisoformat(self.spec["created"]).timestamp()
        with contextlib.suppress(ValueError):
            stamp = datetime.datetime.strptime(self.id[:15], ID_TIME_FORMAT)
            return stamp.replace(tzinfo=datetime.UTC).timestamp()
        with contextlib.suppress(OSError):
            return self.path.stat().st_mtime
        return 0.0

    @property
    def started_at(self) -> float | None:
        """When the program was started, epoch seconds."""
        return _number(self.status.get("started"))

    @property
    def ended_at(self) -> float | None:
        """When the program ended, epoch seconds; None while it runs and when nobody saw its end."""
        return _number(self.status.get("ended"))

    @property
    def last_sign_at(self) -> float | None:
        """When it last wrote anything, epoch seconds: all that is known of a lost run's end."""
        written = [self.log, *(self.path / "trace").glob("*")]
        # The status is written again when a lost run is tidied up, so it counts where there is nothing else.
        for paths in (written, [self.path / STATUS_NAME]):
            times = []
            for path in paths:
                with contextlib.suppress(OSError):
                    times.append(path.stat().st_mtime)
            if times:
                return max(times)
        return None

    def took_s(self, now: float) -> float | None:
        """How long it has run by `now`, seconds; of a lost run up to its last sign. None where not known."""
        if self.started_at is None:
            return None
        state = self.state
        end = now if state in LIVE_STATES else self.ended_at
        if end is None and state == "lost":
            end = self.last_sign_at
        return None if end is None else max(0.0, end - self.started_at)

    @property
    def log(self) -> Path:
        """The program's output, standard output and error together."""
        return self.path / LOG_NAME

    @property
    def supervisor(self) -> Identity | None:
        """The process that watches the run, None before there is one."""
        return self._process("supervisor")

    def reload(self) -> Run:
        """Return the run as its folder describes it now."""
        return read_run(self.path)

    def judge(self) -> tuple[str, str | None]:
        """Return state and reason together, from one look at the processes."""
        state = self.status.get("state")
        if state in ENDED_STATES:
            words = [word for word in (_text(self.status.get("reason")), self.problem) if word]
            return str(state), "; ".join(words) or None
        if state in LIVE_STATES and self.attached:
            return self._judge_attached(str(state))
        if state in LIVE_STATES:
            watcher = self.supervisor or self._process("launcher")
            if watcher is not None and is_alive(watcher):
                return str(state), _text(self.status.get("reason")) or self.problem
            # Its watcher writes the end down before it goes: it may have ended since this was read.
            if (later := self._written_since()) is not None:
                return later.judge()
            return "lost", "the process that watched it is gone, so how it ended is not known"
        if self.problem:
            return "lost", self.problem
        return "lost", f"{STATUS_NAME} is damaged: its state is {json.dumps(state)[:40]}"

    def _judge_attached(self, state: str) -> tuple[str, str | None]:
        """The state of a run whose processes record themselves."""
        left = [member for member in self.attached if member.get("left") is None]
        if any(map(alive, left)):
            return state, None
        elsewhere = [str(member.get("host")) for member in left if member.get("host") != host_name()]
        if elsewhere:
            return state, f"it runs on {elsewhere[0]}, whose processes cannot be seen from here"
        if (later := self._written_since()) is not None:
            return later.judge()
        return "lost", gone_words(left)

    def _written_since(self) -> Run | None:
        """The run with its status as it is now, None where that is the same."""
        with contextlib.suppress(HopscopeError):
            now = read_object(self.path / STATUS_NAME)
            if now != self.status:
                return dataclasses.replace(self, status=now)
        return None

    def _process(self, who: str) -> Identity | None:
        pid, start = (_integer(self.status.get(f"{who}_{part}")) for part in ("pid", "start"))
        boot = self.status.get("boot_id")
        if pid is None or pid <= 0 or start is None or not isinstance(boot, str):
            return None
        return Identity(pid, start, boot)


def read_run(path: Path) -> Run:
    """Return the run in a folder, whatever is wrong with it; what cannot be read is its `problem`."""
    parts: dict[str, dict[str, Any]] = {}
    problems = []
    for name in (SPEC_NAME, STATUS_NAME):
        try:
            parts[name] = read_object(path / name)
        except HopscopeError as error:
            parts[name] = {}
            problems.append(str(error))
    return Run(path.name, path, parts[SPEC_NAME], parts[STATUS_NAME], "; ".join(problems) or None)


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
