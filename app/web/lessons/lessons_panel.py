"""The Lessons page: all lessons with their verdicts, beside the one that is chosen; kept up to date."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import access
from app.components.table.table import Look, table
from app.lessons import batch
from app.lessons.judged import Judged, lessons
from app.views import units
from app.views.text import escape_markdown
from app.web.lessons.lessons_batch import batch_buttons, batch_progress
from app.web.lessons.lessons_detail import draw_lesson, draw_lesson_source
from app.web.lessons.lessons_rows import COLUMNS, FILTERS, is_shown, kind, lesson_rows
from app.web.shared.launch_words import title_of
from runners.errors import HopscopeError

_POLL_S = 2.0
_LIST_PX = 640
_JUDGED_BY = "judged by runs that are made for them; runs that you launch otherwise do not count."
_LOADED = "lessons-loaded"


@st.fragment(run_every=_POLL_S)
def lessons_panel() -> None:
    """Draws all lessons; looks again every two seconds."""
    try:
        found = _lessons()
    except HopscopeError as error:
        st.title("Lessons")
        st.error(escape_markdown(error), icon=":material/block:")
        return
    now = batch.state()
    operator = access.role() == "operator"
    with st.container(horizontal=True, vertical_alignment="center", key="head"):
        st.title("Lessons", width="content")
        st.caption(f"{units.plural(len(found), 'claim')}, {_JUDGED_BY}", width="stretch")
        if operator:
            batch_buttons(found, now)
    with st.container():
        batch_progress(now)
    framework, verdict = _filters(found)
    shown = [lesson for lesson in found if is_shown(lesson, framework, verdict)]
    wanted = st.query_params.get("lesson", "")
    chosen = next((lesson for lesson in found if lesson.program == wanted), next(iter(shown), None))
    left, right = st.columns([5, 9], gap="large")
    with left:
        others = {name: st.query_params[name] for name in ("framework", "verdict") if name in st.query_params}
        event = table(
            COLUMNS,
            lesson_rows(shown, now, others),
            "lessons",
            selected=[chosen.program] if chosen else [],
            pickable=True,
            look=Look(height=_LIST_PX, empty="No lesson has that verdict.", searchable=100),
            label="Lessons",
        )
    if event and event["type"] in ("row", "open") and event["row"]:
        choose(str(event["row"]))
    if chosen is None:
        return
    with right:
        if wanted and chosen.program != wanted:
            st.error(f"There is no lesson {escape_markdown(wanted)}.", icon=":material/search_off:")
        draw_lesson(chosen, now, operator)
    with st.container():
        draw_lesson_source(chosen)


def _lessons() -> list[Judged]:
    """All lessons; the first look, which may judge many anew, says so meanwhile."""
    if st.session_state.get(_LOADED):
        return lessons()
    with st.spinner("Loading the lessons: verdicts that are not kept are judged anew"):
        found = lessons()
    st.session_state[_LOADED] = True
    return found


def choose(program: str) -> None:
    """Show another lesson."""
    for name in ("variant", "file", "line"):
        st.query_params.pop(name, None)
    st.query_params["lesson"] = program
    st.rerun(scope="fragment")


def _filters(found: Sequence[Judged]) -> tuple[str, str]:
    """The framework and the verdict that are asked for, which stand in the address."""
    frameworks = [FILTERS[0], *dict.fromkeys(lesson.framework for lesson in found)]
    numbers = {word: sum(word == kind(lesson) for lesson in found) for word in FILTERS}
    with st.container(horizontal=True, vertical_alignment="center", key="lesson-filters"):
        framework = _one_of(
            "framework", frameworks, {name: title_of(name) for name in frameworks} | {FILTERS[0]: "All"}
        )
        verdict = _one_of(
            "verdict",
            FILTERS,
            {word: f"{word} {numbers[word]}" for word in FILTERS} | {FILTERS[0]: "Any verdict"},
        )
    return framework, verdict


def _one_of(name: str, options: Sequence[str], titles: dict[str, str]) -> str:
    wanted = st.query_params.get(name, "")
    picked: str = st.segmented_control(
        name.capitalize(),
        options,
        format_func=lambda option: titles[option],
        default=wanted if wanted in options else options[0],
        required=True,
        key=f"lesson-{name}",
        label_visibility="collapsed",
    )
    if picked == options[0]:
        st.query_params.pop(name, None)
    elif picked != wanted:
        st.query_params[name] = picked
    return picked
