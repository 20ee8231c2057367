"""Launching a planned run: leases, the run folder, and the supervisor that then owns it."""

from __future__ import annotations

import contextlib
import datetime
import errno
import json
import os
import secrets
import select
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from probes import private_files
from probes.trace.refusals import reserve
from runners.environments.installed_versions import package_versions
from runners.errors import HopscopeError, UsageError
from runners.machine.copy_costs import keep_with_run
from runners.machine.gpus import known_gpus
from runners.machine.machine_map import machine_map
from runners.plan.plan import ROOT, RUN_PLACEHOLDER, Plan, held_message
from runners.plan.program_plan import plan_program
from runners.plan.resuming import copy_checkpoints
from runners.plan.script_plan import plan_script
from runners.plan.trials import write_edits
from runners.runs import leases, ownership
from runners.runs.leftovers import end_left_running
from runners.runs.processes import Identity, identify, is_alive, require_proc
from runners.runs.registry import home, runs_folder
from runners.runs.run import ID_TIME_FORMAT, LOG_NAME, SPEC_NAME, Run, read_run
from runners.runs.run_files import read_file
from runners.runs.status import StatusFile
from runners.runs.supervision import SUPERVISOR_MODULE
from runners.supervise.ports import fill_ports
from runners.supervise.supervisor import BESIDE, READY
from runners.supervise.supervisor import LOG_NAME as SUPERVISOR_LOG_NAME
from runners.version import VERSION

__all__ = ["Plan", "launch", "plan_program", "plan_script"]

SUPERVISOR_START_S = 60.0

_orphans: list[Identity] = []
"""Supervisors of former runs and the processes that sample them, which have left this process's tree."""


def launch(plan: Plan, stdin: int | None = None) -> Run:
    """Start what was planned and return its run, whose program has been started by then.

    `stdin` is a descriptor that becomes the program's input; without one its input is empty. The run goes
    on whatever becomes of this process. UsageError where the plan has problems or a GPU was taken since.
    """
    if plan.problems:
        raise UsageError("; ".join(plan.problems))
    require_proc()
    versions = package_versions(plan.python)
    # One that is named like an interpreter may only be slow to answer.
    if not versions and "python" not in plan.python.name:
        raise UsageError(
            f"{plan.python} does not answer as a Python interpreter does; name one, such as .venv/bin/python"
        )
    with _told_of_disk():
        run_id = _new_id(plan.name)
        held = _take_leases(plan, run_id)
        try:
            path = _make_folder(plan, run_id, versions)
            try:
                beside = _start_supervisor(path, stdin, held)
            except (OSError, HopscopeError) as error:
                # The supervisor may have been killed when its program had begun.
                end_left_running(path, 0.0)
                _write_failure(path, error)
                raise
        finally:
            leases.release(held)
    run = read_run(path)
    _reap_former([run.supervisor, beside])
    return run


def _reap_former(started: Iterable[Identity | None]) -> None:
    """Reap former runs' processes that have ended, which a container's process 1 has to do itself."""
    # Looking whether it is alive reaps one that has ended and is this process's to reap.
    _orphans[:] = [orphan for orphan in _orphans if is_alive(orphan)]
    _orphans.extend(orphan for orphan in started if orphan is not None)


def _new_id(name: str) -> str:
    now = datetime.datetime.now(datetime.UTC).strftime(ID_TIME_FORMAT)
    while True:
        run_id = f"{now}-{name}-{secrets.token_hex(2)}"
        if not (runs_folder() / run_id).exists():
            return run_id


def _take_leases(plan: Plan, run_id: str) -> list[int]:
    if not plan.cards:
        return []
    try:
        return leases.take(home(), [card.uuid for card in plan.cards], run_id, plan.share)
    except leases.Held as held:
        card = next(card for card in plan.cards if card.uuid == held.card)
        raise UsageError(held_message(card, held.runs)) from None


def _make_folder(plan: Plan, run_id: str, versions: dict[str, str]) -> Path:
    """Make the run's folder under a hidden name, and show it when it is whole."""
    path = runs_folder().resolve() / run_id
    hidden = path.with_name(f".new-{run_id}")
    try:
        private_files.make_folder(str(hidden / "trace"))
        reserve(str(hidden / "trace"))
        private_files.write_file(str(hidden / LOG_NAME), b"")
        if plan.resumes is not None:
            copy_checkpoints(plan.resumes, hidden)
        if plan.trial is not None:
            write_edits(hidden, path, plan.trial)
        spec = json.dumps(_spec(plan, run_id, path, versions), indent=1)
        private_files.write_file(str(hidden / SPEC_NAME), f"{spec}\n".encode())
        ownership.sign(hidden)
        keep_with_run(hidden, [card.uuid for card in plan.cards])
        me = identify(os.getpid())
        if not StatusFile(hidden).write(
            {
                "state": "starting",
                "exit_code": None,
                "signal": None,
                "reason": None,
                "pid": None,
                "launcher_pid": os.getpid(),
                "launcher_start": me.start if me else None,
                "boot_id": me.boot if me else None,
                "started": None,
                "ended": None,
            }
        ):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(hidden))
        hidden.rename(path)
    except BaseException:
        shutil.rmtree(hidden, ignore_errors=True)
        raise
    return path


def _spec(plan: Plan, run_id: str, path: Path, versions: dict[str, str]) -> dict[str, Any]:
    def with_id(text: str) -> str:
        return text.replace(RUN_PLACEHOLDER, run_id)

    stages = fill_ports(stage.filled(with_id) for stage in plan.stages)
    several = {"stages": [stage.as_json() for stage in stages]} if stages else {}
    limit = {} if plan.time_limit_s is None else {"time_limit_s": plan.time_limit_s}
    resumed = {} if plan.resumes is None else {"resumed_from": plan.resumes.id}
    lesson = {} if plan.lesson is None else {"lesson": dict(plan.lesson)}
    preflight = {} if plan.preflight is None else {"preflight": dict(plan.preflight)}
    trial = {} if plan.trial is None else {"trial": plan.trial.as_json()}
    return {
        "run": run_id,
        "kind": plan.kind,
        "name": plan.name,
        "framework": plan.framework,
        "command": [with_id(word) for word in plan.command],
        "cwd": str(plan.cwd),
        "env": {name: value if value is None else with_id(value) for name, value in plan.env.items()},
        **several,
        **limit,
        **resumed,
        **lesson,
        **trial,
        **preflight,
        "python": str(plan.python),
        "devices": plan.devices,
        "stand_ins": plan.stand_ins,
        "device_map": plan.device_map,
        "machine": machine_map(known_gpus(), os.environ),
        "sampled_gpus": [card.uuid for card in plan.cards],
        "steps": plan.steps,
        "options": plan.options,
        "versions": versions,
        "host": {"name": socket.gethostname()},
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        "origin": plan.origin,
        "hopscope": VERSION,
    }


def _start_supervisor(path: Path, stdin: int | None, held: list[int]) -> Identity | None:
    """Start the run's supervisor and return when its program runs, or could not be started.

    Returns the process that samples the run, None where there is none.
    """
    readable, writable = os.pipe()
    try:
        errors_file = private_files.open_file(str(path / SUPERVISOR_LOG_NAME), os.O_WRONLY | os.O_CREAT)
        with os.fdopen(errors_file, "wb") as errors:
            # -E: the user's PYTHON* variables are for the program, which gets them from the environment.
            process = subprocess.Popen(
                [sys.executable, "-E", "-m", SUPERVISOR_MODULE, str(path), *map(str, (writable, *held))],
                cwd=ROOT,
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=(writable, *held),
            )
        os.close(writable)
        writable = -1
        # What was started forks and ends at once, so nothing is left to reap; its child is the supervisor.
        process.wait()
        answer = _read_answer(readable)
    finally:
        os.close(readable)
        if writable >= 0:
            os.close(writable)
    if READY not in answer:
        log = read_file(path, SUPERVISOR_LOG_NAME).decode(errors="replace").strip().splitlines()
        raise HopscopeError(f"the run's supervisor did not start: {log[-1] if log else 'it said nothing'}")
    beside = next((line for line in answer if line.startswith(BESIDE)), None)
    return identify(int(beside.removeprefix(BESIDE))) if beside else None


def _read_answer(descriptor: int) -> list[bytes]:
    """Return the lines that the supervisor writes; none when nothing comes for long."""
    answer = b""
    deadline = time.monotonic() + SUPERVISOR_START_S
    # Not select, which a server with a thousand open files cannot use.
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    while READY not in answer:
        ready = waiting.poll(max(0.0, deadline - time.monotonic()) * 1000)
        piece = os.read(descriptor, 1024) if ready else b""
        if not piece:
            break
        answer += piece
    return answer.splitlines(keepends=True)


def _write_failure(path: Path, error: Exception) -> None:
    """Write down that a run never began, so that it does not look as if it still were to."""
    status = {"state": "failed", "exit_code": None, "signal": None, "reason": str(error), "pid": None}
    writer = StatusFile(path)
    with contextlib.suppress(FileNotFoundError):
        writer.write(status | {"started": None, "ended": time.time()}, last=True)
    writer.clear()


@contextlib.contextmanager
def _told_of_disk() -> Iterator[None]:
    """Turn the operating system's refusals into one line for people."""
    try:
        yield
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        todo = (
            "free some space, or set HOPSCOPE_HOME to a folder on another disk"
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            else "HOPSCOPE_HOME may name another folder for the runs"
        )
        raise HopscopeError(
            f"the run could not be started: {error.strerror or error}{where}; {todo}"
        ) from None
