"""One lesson: its claim, the verdicts, the runs behind them, what to do in one's own code, and its source."""

from __future__ import annotations

import ast
import functools
import textwrap

import streamlit as st

from app.components.claim.claim import claim_box
from app.components.source.source import SourceText, source_lines
from app.components.table.table import table
from app.lessons.batch import Batch
from app.lessons.judged import Judged, LessonRun
from app.views.python_words import python_words
from app.views.text import escape_markdown
from app.web.lessons.lessons_batch import lesson_button
from app.web.lessons.lessons_rows import RUN_COLUMNS, run_rows, verdict_rows
from app.web.shared import places
from app.web.shared.launch_words import title_of
from app.web.shared.open_runs import Snapshot, opened
from app.web.shared.rows import RunRows
from app.web.shared.source_section import Place, source_section
from runners.catalogue import PROGRAMS
from runners.errors import HopscopeError
from runners.export.one_file import packed
from runners.python_source import parse
from runners.runs import registry
from runners.runs.run import Run

_SOURCE_PX = 560
_LOADED = "lesson-run-loaded"


def draw_lesson(lesson: Judged, now: Batch | None, operator: bool) -> None:
    """What it is about, and what came of it; only operators get the button that runs it."""
    name = f"{escape_markdown(lesson.program)} · {title_of(lesson.framework)}"
    st.markdown(f"### {escape_markdown(lesson.title)}")
    st.markdown(f"{escape_markdown(lesson.summary)} :small[:gray[{name}]]")
    with st.container():
        claim_box(verdict_rows(lesson), lesson.claim, "lesson-claim")
    with st.container():
        if lesson.note:
            st.warning(escape_markdown(lesson.note[:1].upper() + lesson.note[1:]), icon=":material/timer:")
    if lesson.advice:
        st.markdown(f":material/lightbulb: **In your own code** {escape_markdown(lesson.advice)}")
    event = table(RUN_COLUMNS, run_rows(lesson.runs), "lesson-runs", label="Runs of the lesson")
    if event and event["type"] == "open":
        run = next((row.run for row in lesson.runs if row.variant == event["row"]), None)
        if run:
            st.switch_page(places.RUN, query_params={"run": run})
    with st.container(horizontal=True, vertical_alignment="center"):
        if operator:
            lesson_button(lesson, now)
        _copy(lesson.program)
        st.page_link(
            places.LAUNCH,
            label="Launch with other options",
            icon=":material/rocket_launch:",
            query_params={"program": lesson.program},
        )
    with st.expander("What the program does, and what to expect", icon=":material/menu_book:"):
        for block in blocks(_docstring(lesson.program)):
            if block.startswith(" "):
                st.code(textwrap.dedent(block), language=None, wrap_lines=True)
            else:
                st.markdown(escape_markdown(block))


def blocks(docstring: str) -> list[str]:
    """Its paragraphs, a line each, and its indented parts as they are written."""
    found = []
    for part in docstring.split("\n\n"):
        block = part.strip("\n")
        if block:
            found.append(block if block.startswith(" ") else " ".join(block.split()))
    return found


def _copy(program: str) -> None:
    try:
        name, content = _packed(program)
    except (HopscopeError, OSError, SyntaxError) as error:
        st.caption(f"It cannot be copied as one file: {escape_markdown(error)}")
        return
    st.download_button(
        "Copy as one file",
        content,
        name,
        "application/zip" if name.endswith(".zip") else "text/x-python",
        key=f"copy-{program}",
        icon=":material/download:",
        on_click="ignore",
        help="The program with all that it uses of this project in one file, zipped with the digits where it "
        "trains on them: it runs alone, with the framework and numpy.",
    )


@functools.cache
def _packed(program: str) -> tuple[str, bytes]:
    return packed(program)


@functools.cache
def _docstring(program: str) -> str:
    return ast.get_docstring(parse(PROGRAMS[program].script.read_text())) or ""


def draw_lesson_source(lesson: Judged) -> None:
    """The source with what each line did in the newest run; without one, the source alone."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("#### Source", width="content")
        shown = _choose_run(lesson)
    run = _open(shown.run) if shown and shown.run else None
    if run is not None:
        snapshot = _snapshot(run)
        if snapshot.files:
            place = Place(st.query_params.get("file", ""), st.query_params.get("line", ""))
            gone = source_section(run, snapshot, RunRows.of(snapshot.tables), place)
            if gone is not None:
                _go(gone)
            return
    script = PROGRAMS[lesson.program].script
    try:
        lines = script.read_text().splitlines()
    except OSError as error:
        st.error(escape_markdown(f"{script} cannot be read: {error.strerror}"), icon=":material/block:")
        return
    st.caption(
        "Run the lesson to see beside each line where its ops ran, what crossed and where Python waited."
    )
    source_lines(
        SourceText(lesson.program, lines, python_words(lines)),
        (),
        "script",
        height=_SOURCE_PX,
        label=f"Source of {script.name}",
    )


def _snapshot(run: Run) -> Snapshot:
    """What the run is now; the first look at one, which may take a while, says so meanwhile."""
    if st.session_state.get(_LOADED) == run.id:
        return opened(run).look(run.ended)
    with st.spinner("Loading what its lines did"):
        snapshot = opened(run).look(run.ended)
        _ = snapshot.files  # this is what takes long, and is kept
    st.session_state[_LOADED] = run.id
    return snapshot


def _choose_run(lesson: Judged) -> LessonRun | None:
    """The run whose lines are shown: of the variant that the address names, else the newest."""
    there = {row.variant: row for row in lesson.runs if row.run}
    if not there:
        return None
    newest = max(there.values(), key=lambda row: (row.state == "finished", row.run or ""))
    wanted = there.get(st.query_params.get("variant", ""), newest)
    if len(there) > 1:
        picked = st.segmented_control(
            "As it ran in",
            list(there),
            default=wanted.variant,
            key=f"variant-{lesson.program}-{wanted.variant}",
            required=True,
            label_visibility="collapsed",
        )
        if picked and picked != wanted.variant:
            st.query_params["variant"] = picked
            st.rerun(scope="fragment")
    return wanted


def _open(run: str) -> Run | None:
    try:
        return registry.named(run)
    except HopscopeError:
        return None  # deleted a moment ago: the next look knows of it


def _go(place: Place) -> None:
    for name, value in (("file", place.file), ("line", place.line)):
        if value:
            st.query_params[name] = value
        else:
            st.query_params.pop(name, None)
    st.rerun(scope="fragment")
