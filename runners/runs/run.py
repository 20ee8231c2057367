"""One run as its folder describes it, and what can be concluded from that."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from probes.attach.members import alive, gone_words
from probes.attach.places import host_name
from runners.errors import HopscopeError
from runners.printable import printable
from runners.runs import run_fields, run_files
from runners.runs.leftovers import lately_left_running
from runners.runs.processes import Identity, boot_id, is_alive
from runners.runs.status import ENDED_STATES, LIVE_STATES, STATUS_NAME, read_object

SPEC_NAME = "spec.json"
LOG_NAME = "out.log"
MOST_PIDS = 8
UNWATCHED = "the process that watched it is gone"
"""Begins the reason of a run whose supervisor was killed."""
ID_TIME_FORMAT = "%Y%m%d-%H%M%S"
"""How an id begins, in UTC, so that ids sort by time whatever the clock's season."""
_LONGEST_TEXT = 1000
_FIELDS = {SPEC_NAME: run_fields.SPEC, STATUS_NAME: run_fields.STATUS}


@dataclasses.dataclass(frozen=True)
class Run:
    """One run as its folder described it when it was read; `reload` reads it again.

    `problem` says what of the folder cannot be read, None when all can; `spec` or `status` lacks that.
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
        return f"{printable(stage.get('name'))}, {number} of {of}" if number and of and of > 1 else None

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
        return next((at for at in self._creations() if at is not None and run_fields.is_moment(at)), 0.0)

    def _creations(self) -> Iterator[float | None]:
        with contextlib.suppress(KeyError, TypeError, ValueError, OverflowError):
            yield datetime.datetime.fromisoformat(self.spec["created"]).timestamp()
        with contextlib.suppress(ValueError, OverflowError):
            stamp = datetime.datetime.strptime(self.id[:15], ID_TIME_FORMAT)
            yield stamp.replace(tzinfo=datetime.UTC).timestamp()
        with contextlib.suppress(OSError):
            yield self.path.lstat().st_mtime

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
        written = [LOG_NAME]
        with contextlib.suppress(OSError):
            written += [f"trace/{name}" for name in run_files.names(self.path, "trace")]
        # The status is written again when a lost run is tidied up, so it counts where there is nothing else.
        for names in (written, [STATUS_NAME]):
            times = []
            for name in names:
                with contextlib.suppress(OSError):
                    times.append(run_files.facts(self.path, name).st_mtime)
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

    def left_running(self) -> list[Identity]:
        """Return what a run whose supervisor is gone left running; at most a second old."""
        supervisor = self.supervisor
        # Nothing runs that was started before this boot.
        if supervisor is not None and supervisor.boot != boot_id():
            return []
        return lately_left_running(self.path)

    def reload(self) -> Run:
        """Return the run as its folder describes it now."""
        return read_run(self.path)

    def judge(self, current: bool = False) -> tuple[str, str | None]:
        """Return state and reason together, from one look at the processes.

        `current`: its status was looked at just now, so it need not be read again.
        """
        state = self.status.get("state")
        if state in ENDED_STATES:
            words = [word for word in (_text(self.status.get("reason")), self.problem) if word]
            return str(state), "; ".join(words) or None
        if state in LIVE_STATES and self.attached:
            return self._judge_attached(str(state), current)
        if state in LIVE_STATES:
            return self._judge_watched(str(state), current)
        return "lost", self.problem or f"{STATUS_NAME} is damaged: its state is {json.dumps(state)[:40]}"

    def _judge_watched(self, state: str, current: bool) -> tuple[str, str | None]:
        """The state of a run that a supervisor watches."""
        watcher = self.supervisor or self._process("launcher")
        if watcher is not None and is_alive(watcher):
            return state, _text(self.status.get("reason")) or self.problem
        # Its watcher writes the end down before it goes: it may have ended since this was read.
        if not current and (later := self._written_since()) is not None:
            return later.judge()
        return "lost", "; ".join(filter(None, [unwatched_words(self.left_running()), self.problem]))

    def _judge_attached(self, state: str, current: bool) -> tuple[str, str | None]:
        """The state of a run whose processes record themselves."""
        left = [member for member in self.attached if member.get("left") is None]
        if any(map(alive, left)):
            return state, None
        elsewhere = [str(member.get("host")) for member in left if member.get("host") != host_name()]
        if elsewhere:
            return state, f"it runs on {elsewhere[0]}, whose processes cannot be seen from here"
        if not current and (later := self._written_since()) is not None:
            return later.judge()
        return "lost", gone_words(left)

    def _written_since(self) -> Run | None:
        """The run with its status as it is now, None where that is the same."""
        with contextlib.suppress(HopscopeError):
            now, _ = read_part(self.path, STATUS_NAME)
            if now != self.status:
                return dataclasses.replace(self, status=now)
        return None

    def _process(self, who: str) -> Identity | None:
        pid, start = (_integer(self.status.get(f"{who}_{part}")) for part in ("pid", "start"))
        boot = self.status.get("boot_id")
        if pid is None or pid <= 0 or start is None or not isinstance(boot, str):
            return None
        return Identity(pid, start, boot)


def unwatched_words(left: Sequence[Identity]) -> str:
    """Return why a run is lost, and what of it still runs."""
    if not left:
        return f"{UNWATCHED}, so how it ended is not known"
    pids = ", ".join(str(process.pid) for process in left[:MOST_PIDS])
    more = f" and {len(left) - MOST_PIDS} more" if len(left) > MOST_PIDS else ""
    subject = "1 process still runs" if len(left) == 1 else f"{len(left)} processes still run"
    return f"{UNWATCHED}; {subject} (pid {pids}{more}); stop ends {'it' if len(left) == 1 else 'them'}"


def read_run(path: Path) -> Run:
    """Return the run in a folder, whatever is wrong with it; what cannot be read is its `problem`."""
    parts: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for name in (SPEC_NAME, STATUS_NAME):
        try:
            parts[name], wrong = read_part(path, name)
            problems += [f"{name} is damaged: {wrong}"] if wrong else []
        except HopscopeError as error:
            parts[name] = {}
            problems.append(str(error))
    return Run(shown_id(path.name), path, parts[SPEC_NAME], parts[STATUS_NAME], "; ".join(problems) or None)


def unread_run(path: Path, problem: str) -> Run:
    """Return what is known of an entry of the registry that is not to be opened."""
    return Run(shown_id(path.name), path, {}, {}, problem)


def shown_id(name: str) -> str:
    """Return a folder's name as an id: one that cannot be shown is spelled out, unlike any other name."""
    return name if name.isprintable() else f"./{printable(name.replace(chr(92), chr(92) * 2))}"


def read_part(folder: Path, name: str) -> tuple[dict[str, Any], str | None]:
    """Return the spec or the status of a folder, every known field of its type, and what was wrong with it.

    HopscopeError where nothing of it can be read.
    """
    try:
        value, odd = run_fields.plain(read_object(folder / name))
    except (ValueError, RecursionError):
        raise HopscopeError(f"{name} is damaged: it is nested too deeply") from None
    value, wrong = run_fields.typed(_FIELDS[name], value)
    if wrong:
        return (
            value,
            f"{', '.join(wrong)} {'has a value' if len(wrong) == 1 else 'have values'} of a wrong type",
        )
    return value, odd


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return printable(value[:_LONGEST_TEXT]) if isinstance(value, str) and value else None
