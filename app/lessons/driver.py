"""The driver: runs what lessons lack, one run after the other, and writes down how far it is.

One run that fails, hangs or cannot be started here does not keep the others from theirs. It may be ended at
any time: what finished counts, and the next batch goes on with the rest.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from app.lessons import batch
from app.lessons.batch import Batch, Item
from app.lessons.catalogue import LESSONS, chosen
from app.lessons.judged import judged
from app.lessons.lesson import Lesson, plan_variant
from app.lessons.runs import backing, made_for_lessons, runs_of, underway, why
from runners.errors import HopscopeError, UsageError
from runners.plan.launcher import launch
from runners.plan.plan import Plan
from runners.program import Variant
from runners.runs import registry
from runners.runs.registry import Run
from runners.runs.status import LIVE_STATES
from runners.supervise.stop_requests import stop_requests

Tell = Callable[[str], None]
"""Takes one line of progress."""

PATIENCE_S = 600.0
"""Seconds that a program whose times are measured waits for other runs to end."""
POLL_S = 0.1
SLOW_POLL_S = 1.0


def run_lessons(programs: Sequence[str], again: bool, tell: Tell) -> Batch:
    """Run the lessons of these programs that lack a finished run, `again` all of them, to the batch's end.

    Interrupts and TERM stop the current run and end the batch; a second one kills the run. Busy where another
    batch goes on; UsageError for a program without a lesson.
    """
    lessons = chosen(programs)
    with batch.sole_driver(), stop_requests() as requests:
        return _Driver(lessons, again, tell, requests).run()


class _Driver:
    def __init__(self, lessons: Sequence[Lesson], again: bool, tell: Tell, requests: list[int]) -> None:
        self._lessons = lessons
        self._tell = tell
        self._requests = requests
        before = batch.state()
        self._batch = batch.begun(tuple(_lacking(lessons, again, before)))

    def run(self) -> Batch:
        batch.write(self._batch)
        for at, item in enumerate(self._batch.items):
            if self._requests:
                break
            if item.state == batch.WAITING:
                self._one(at)
            else:
                self._tell(f"{self._place(at)}: {item.state}: {item.reason}")
            last = not any(rest.program == item.program for rest in self._batch.items[at + 1 :])
            if last and not self._requests:
                self._judge(LESSONS[item.program])
        rest = sum(not item.over for item in self._batch.items) if self._requests else 0
        state = batch.STOPPED if rest else batch.FINISHED
        reason = f"stopped on request; {rest} of {len(self._batch.items)} runs are left" if rest else None
        self._update(state=state, ended=time.time(), reason=reason)
        return self._batch

    def _place(self, at: int) -> str:
        item = self._batch.items[at]
        return f"[{at + 1}/{len(self._batch.items)}] {item.program}, {item.variant}"

    def _one(self, at: int) -> None:
        """Run one item to its end."""
        item = self._batch.items[at]
        lesson = LESSONS[item.program]
        variant = next(one for one in lesson.variants if one.name == item.variant)
        where = self._place(at)
        # A driver that was killed left its run going on.
        run = underway(runs_of(made_for_lessons(registry.runs()), lesson, variant))
        if run is None:
            if lesson.catalogued.timed and not self._alone(at, where):
                return
            run = self._launch(at, lesson, variant)
            if run is None:
                now = self._batch.items[at]
                self._tell(f"{where}: {now.state}: {now.reason}")
                return
        self._set(at, state=batch.RUNNING, run=run.id)
        self._tell(f"{where}: run {run.id}")
        run = self._wait(run)
        state, told = run.state, why(run)
        if state == "finished":
            self._set(at, state=batch.DONE, reason=told)
        elif state == "stopped":
            self._set(at, state=batch.STOPPED, reason=told)
        else:
            self._set(at, state=batch.FAILED, reason=told or state)
        self._tell(f"{where}: {state}{f': {told}' if told else ''}")

    def _launch(self, at: int, lesson: Lesson, variant: Variant) -> Run | None:
        try:
            plan = plan_variant(lesson, variant, resume=self._resumed(lesson, variant))
            if plan.problems:
                self._set(at, state=batch.REFUSED, reason="; ".join(plan.problems))
                return None
            return launch(plan)
        except UsageError as error:
            self._set(at, state=batch.REFUSED, reason=str(error))
        except HopscopeError as error:
            self._set(at, state=batch.FAILED, reason=str(error))
        return None

    def _resumed(self, lesson: Lesson, variant: Variant) -> Path | None:
        """The folder of the run that a variant goes on with; HopscopeError where there is none."""
        if variant.resumes is None:
            return None
        first = next(one for one in lesson.variants if one.name == variant.resumes)
        run = backing(runs_of(made_for_lessons(registry.runs()), lesson, first))
        if run is None:
            raise HopscopeError(f"it goes on with the run of {first.name}, and that has not finished")
        return run.path

    def _alone(self, at: int, where: str) -> bool:
        """Wait until no other run goes on; whether it came to that."""
        deadline = time.monotonic() + PATIENCE_S
        told = None
        while not self._requests:
            others = ", ".join(run.id for run in registry.runs() if run.state in LIVE_STATES)
            if not others:
                self._update(reason=None)
                return True
            if time.monotonic() > deadline:
                reason = f"it measures times, and {others} went on for too long beside it; run it again later"
                self._update(reason=None)
                self._set(at, state=batch.REFUSED, reason=reason)
                self._tell(f"{where}: refused: {reason}")
                return False
            if others != told:
                told = others
                waiting = f"{where.partition('] ')[2]} measures times, so it waits for {others} to end"
                self._update(reason=waiting)
                self._tell(waiting)
            time.sleep(SLOW_POLL_S)
        return False

    def _wait(self, run: Run) -> Run:
        """Wait for a run's end, and pass requests to stop on to it."""
        passed_on = 0
        while not (run := run.reload()).ended:
            if len(self._requests) > passed_on:
                again = passed_on > 0
                passed_on = len(self._requests)
                self._tell(f"{'killing' if again else 'stopping'} {run.id}")
                self._update(state=batch.STOPPING)
                with contextlib.suppress(HopscopeError):
                    registry.request_stop(run, *([0.0] if again else []))
            time.sleep(POLL_S)
        if run.state == "lost":
            # Nobody watches what is left of it.
            with contextlib.suppress(HopscopeError):
                registry.request_stop(run)
        return run.reload()

    def _judge(self, lesson: Lesson) -> None:
        """Judge a lesson once its runs are over, so that whoever looks finds the verdicts in the cache."""
        try:
            found = judged(lesson, registry.runs())
        except HopscopeError as error:
            self._tell(f"{lesson.program}: {error}")
            return
        for verdict in found.verdicts:
            self._tell(f"{lesson.program} {verdict.verdict}: {verdict.text}")
        if found.reason:
            self._tell(f"{lesson.program} {found.state}: {found.reason}")

    def _set(self, at: int, **changes: str | None) -> None:
        items = list(self._batch.items)
        items[at] = dataclasses.replace(items[at], **changes)  # type: ignore[arg-type]  # fields by name
        self._update(items=tuple(items))

    def _update(self, **changes: object) -> None:
        new = dataclasses.replace(self._batch, **changes)  # type: ignore[arg-type]  # fields by name
        if new == self._batch:
            return
        self._batch = new
        try:
            batch.write(new)
        except HopscopeError as error:
            # The runs are what counts, and they may have room.
            self._tell(str(error))


def _lacking(lessons: Sequence[Lesson], again: bool, before: Batch | None) -> Iterator[Item]:
    """Return the runs to make. Those whose times are measured come last: they may have to wait."""
    made = made_for_lessons(registry.runs())
    for lesson in sorted(lessons, key=lambda lesson: lesson.catalogued.timed):
        for variant in lesson.variants:
            run = backing(runs_of(made, lesson, variant))
            plan = plan_variant(lesson, variant, share=True)
            if plan.problems:
                if run is None and not variant.extra:
                    reason = "; ".join(plan.problems)
                    yield Item(lesson.program, variant.name, batch.REFUSED, reason=reason)
            elif again or run is None or _outdated(run, plan) or _left(before, lesson, variant, run):
                yield Item(lesson.program, variant.name)


def _outdated(run: Run, plan: Plan) -> bool:
    """Whether a run was made on stand-ins and GPUs are here by now, or the other way round."""
    return (run.spec.get("stand_ins") is None) != (plan.stand_ins is None)


def _left(before: Batch | None, lesson: Lesson, variant: Variant, run: Run) -> bool:
    """Whether a batch that was to run it again was ended before it came to that."""
    if before is None or before.state not in (batch.STOPPED, batch.INTERRUPTED):
        return False
    unfinished = {(item.program, item.variant) for item in before.items if not item.over}
    return (lesson.program, variant.name) in unfinished and run.created < before.started


def main(words: Sequence[str]) -> int:
    """Run lessons in a process of their own, which a page started; what becomes of it is on the disk."""
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--again", action="store_true")
    args = parser.parse_args(words)
    try:
        run_lessons(args.programs, args.again, lambda line: print(line, flush=True))
    except HopscopeError as error:
        print(error, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
