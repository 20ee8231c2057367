"""Running lessons from their page: how far the batch is, the buttons that start, stop and go on with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from app.lessons import batch, detached
from app.lessons.batch import Batch
from app.lessons.judged import Judged
from app.views import units
from app.views.text import escape_markdown
from app.web.lessons.lessons_rows import missing_runs
from app.web.shared import places
from runners.errors import HopscopeError

_MESSAGE = "lessons-message"


def batch_buttons(lessons: Sequence[Judged], now: Batch | None) -> None:
    """All lessons at once: run, stop, go on. For operators only."""
    if now is not None and now.going_on:
        again = now.state == batch.STOPPING
        label = "Kill the current run" if again else "Stop"
        if st.button(label, icon=":material/stop_circle:", key="stop-lessons"):
            _do(detached.stop)
        return
    missing = missing_runs(lessons)
    if not missing:
        with st.popover("Run all again", icon=":material/replay:"):
            st.caption("All runs are made anew; the verdicts there are stay until then.")
            if st.button("Run all lessons again", type="primary", key="run-lessons-again"):
                start((), again=True)
        return
    some = any(row.run for lesson in lessons for row in lesson.runs)
    label = f"Go on: {units.plural(missing, 'run')} left" if some else "Run all lessons"
    if st.button(label, type="primary", icon=":material/play_arrow:", key="run-lessons"):
        start(())


def lesson_button(lesson: Judged, now: Batch | None) -> None:
    """One lesson: run what it lacks, or all of it again. For operators only."""
    missing = missing_runs([lesson])
    going_on = now is not None and now.going_on
    label = (
        "Run this lesson"
        if missing == len(lesson.runs)
        else "Run what is missing"
        if missing
        else "Run again"
    )
    if st.button(
        label,
        icon=":material/play_arrow:" if missing else ":material/replay:",
        key="run-lesson",
        disabled=going_on,
        help="Lessons are being run already, one after the other." if going_on else None,
    ):
        start((lesson.program,), again=not missing)


def batch_progress(now: Batch | None) -> None:
    """How far the batch is, or how the last one ended where that was not the whole way."""
    if message := st.session_state.pop(_MESSAGE, None):
        st.error(escape_markdown(message), icon=":material/block:")
    if now is None:
        return
    if now.going_on:
        with st.container(horizontal=True, vertical_alignment="center"):
            share = now.over / len(now.items) if now.items else 1.0
            st.progress(share, escape_markdown(progress_text(now)))
            current = now.current
            if current is not None and current.run:
                st.page_link(
                    places.RUN,
                    label="Watch it",
                    icon=":material/account_tree:",
                    query_params={"run": current.run},
                )
    elif now.state in (batch.STOPPED, batch.INTERRUPTED) and now.reason:
        st.info(escape_markdown(now.reason[:1].upper() + now.reason[1:]), icon=":material/stop_circle:")
    elif failed := now.count(batch.FAILED):
        st.warning(
            f"{units.plural(failed, 'run')} of the last batch failed: choose the lesson to see why.",
            icon=":material/error:",
        )


def progress_text(now: Batch) -> str:
    """``3 of 24 runs · tf-mirrored, reduction``, or what it waits for."""
    done = f"{now.over} of {units.plural(len(now.items), 'run')}"
    if now.state == batch.STOPPING:
        return f"{done} · stopping"
    if now.reason:
        return f"{done} · {now.reason}"
    current = now.current
    return f"{done} · {current.program}, {current.variant}" if current else done


def start(programs: Sequence[str], again: bool = False) -> None:
    """Start a batch and draw the page anew; what goes wrong is said on it."""
    _do(lambda: detached.start(programs, again))


def _do(what: Callable[[], object]) -> None:
    try:
        what()
    except HopscopeError as error:
        st.session_state[_MESSAGE] = str(error)
    st.rerun(scope="fragment")
