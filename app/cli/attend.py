"""Launching a run from the command line and staying with it: its output, its input, Ctrl-C, its status."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import BinaryIO

from app.cli.output import drop_output, print_json, tell
from app.cli.relay import program_input
from runners.environments import background_install
from runners.errors import HopscopeError, UsageError
from runners.plan.launcher import Plan, launch
from runners.runs import registry, run_files
from runners.runs.run import LOG_NAME, Run
from runners.supervise.stop_requests import stop_requests

SHORTEST_POLL_S = 0.01
LONGEST_POLL_S = 0.1
PIECE_BYTES = 1 << 20
_READ_AT_ONCE_BYTES = 8 << 20
"""Of what was recorded: up to there a report takes a second or two."""
NOT_STARTED = 127
"""Exit status where the program could not be started, as shells have it."""


def planned(make_plan: Callable[[], Plan]) -> Plan:
    """Return a plan without problems.

    UsageError with the problems in one line; HopscopeError with the command to run where all that lacks is
    the framework, which is not installed unasked.
    """
    plan = make_plan()
    problems = [problem for problem in plan.problems if problem != plan.unready]
    if problems:
        raise UsageError("; ".join(problems))
    if plan.unready is not None:
        raise HopscopeError(f"{plan.unready} ({background_install.room_words(plan.framework)})")
    return plan


def attend_quietly(plan: Plan) -> Run:
    """Launch the run, pass its output on to standard error until it has ended, and return it."""
    return _attend(plan, sys.stderr.buffer)


def _attend(plan: Plan, output: BinaryIO) -> Run:
    for note in [*plan.notes, *([plan.warning] if plan.warning else [])]:
        tell(note)
    with stop_requests() as requests:
        with program_input() as stdin:
            run = launch(plan, stdin)
        tell(f"run {run.id}")
        run = _follow(run, _Sink(output), requests)
    state, reason = run.judge()
    tell(f"{run.id} {state}{f': {reason}' if reason else ''}")
    return run


def attend(plan: Plan, as_json: bool) -> int:
    """Launch the run, pass its output and input on until it has ended, and return its own exit status."""
    run = _attend(plan, sys.stderr.buffer if as_json else sys.stdout.buffer)
    tell_claim(run)
    if as_json:
        from app.reports.run_report import run_report

        try:
            print_json(run_report(run.path))
        except HopscopeError as error:  # the program's own exit status counts
            tell(str(error))
    else:
        _tell_found(run)
    return exit_status(run)


def _tell_found(run: Run) -> None:
    """Tell how much was found, where reading that takes no time worth naming, and the command to see it."""
    command = f"python3 -m app report {run.id}"
    try:
        found = _found(run)
    except Exception:  # noqa: BLE001 - the program's own exit status counts, and the command says what is wrong
        found = ""
    tell(f"{found}: {command}" if found else command)


def _found(run: Run) -> str:
    from app.reports.report_words import found_told
    from app.reports.run_report import run_report
    from app.store.traced_devices import TRACE_FOLDER

    names = run_files.names(run.path, TRACE_FOLDER)
    recorded = sum((run.path / TRACE_FOLDER / name).lstat().st_size for name in names)
    return found_told(run_report(run.path)) if recorded <= _READ_AT_ONCE_BYTES else ""


def tell_claim(run: Run) -> None:
    """Tell what the run says of its program's claim, and what would judge it where that did not.

    The program's own words were there before; but then came the recorded stage, or other processes' lines.
    """
    from app.lessons.of_run import claim_of

    claim = claim_of(run)
    for verdict in claim.verdicts:
        tell(f"claim {verdict.verdict}: {verdict.text}")
    if claim.missing:
        tell(f"{claim.missing}; python3 -m app lessons {run.name} --run does that")


def exit_status(run: Run) -> int:
    """Return the program's own status; 128 + signal where a signal ended it. A failed run's is never 0."""
    if run.exit_code is not None:
        # Past its time limit it may have ended well all the same.
        return 1 if run.exit_code == 0 and run.state == "failed" else run.exit_code
    if run.signal is not None:
        return 128 + run.signal
    return 1 if run.state == "lost" else NOT_STARTED


def _follow(run: Run, sink: _Sink, requests: list[int]) -> Run:
    """Copy the run's output to `sink` until it has ended; pass on requests to stop."""
    passed_on = 0
    pause = SHORTEST_POLL_S
    with run_files.open_file(run.path, LOG_NAME) as log:
        while True:
            ended = (run := run.reload()).ended
            moved = sink.copy(log)
            if ended:
                return run
            if len(requests) > passed_on:
                # Asked a second time, it has no more time to end by itself.
                again = passed_on > 0
                passed_on = len(requests)
                tell(f"{'killing' if again else 'stopping'} {run.id}")
                registry.request_stop(run, *([0.0] if again else []))
            pause = SHORTEST_POLL_S if moved else min(pause * 1.3, LONGEST_POLL_S)
            time.sleep(pause)


class _Sink:
    """Where a program's output goes, until nobody reads it any more."""

    def __init__(self, target: BinaryIO) -> None:
        self.target: BinaryIO | None = target

    def copy(self, log: BinaryIO) -> bool:
        """Pass on what was written to the log since; return whether there was anything."""
        moved = False
        while piece := log.read(PIECE_BYTES):
            moved = True
            if self.target is None:
                continue
            try:
                self.target.write(piece)
                self.target.flush()
            except OSError as error:
                # The program goes on, and its output stays in the run folder.
                self.target = None
                drop_output()
                if not isinstance(error, BrokenPipeError):
                    tell(f"its output cannot be passed on and stays in the run: {error.strerror}")
        return moved
