"""Trying a finding's fix: an edited copy, or another option of the program, run again from the page."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from app.facts.lines import split_site
from app.fixes.code.edits import Repair, applied
from app.views.text import escape_markdown
from app.web.run.received_run import confirmation
from app.web.run.verify_copy import edited_copy
from app.web.shared import places
from app.web.shared.launch_words import concerning, option_help, option_label
from app.web.shared.launching import launch_once
from app.web.shared.open_runs import Snapshot
from runners.catalogue import PROGRAMS, Option, Value
from runners.errors import HopscopeError, UsageError
from runners.plan.trials import plan_trial, unrepeatable
from runners.runs import ownership
from runners.runs.purpose import is_preflight
from runners.runs.run import Run

COPY, OPTION = "Edit a copy", "Switch an option"
_RUN = (
    "What you change here is run again as a run of its own; your files stay as they are. When it has ended,"
    " its page says whether the finding is gone, and what both runs cost."
)
_FLY = (
    "What you change here is flown as a pre-flight of its own, with the same arguments and for the same"
    " machine; your files stay as they are. When it has ended, its page says whether the finding is still"
    " foreseen, and how the foreseen bytes changed."
)


@dataclasses.dataclass(frozen=True)
class Subject:
    """A finding whose fix can be tried, of a run or of what a pre-flight foresees."""

    code: str
    site: str | None
    fix: str | None
    repair: Repair | None
    """The proposed change; None where there is none."""


def verify_dialog(
    run: Run, snapshot: Snapshot, name: str, subject: Subject | None, close: Callable[[], None]
) -> None:
    """Opens it for the finding of this name, ``code@site``; `close` is called when the reader leaves it.

    `subject` is None where the run has no such finding.
    """
    title = f"Fix and verify: {name.replace('@', ' at ')}"
    dialog = st.dialog(escape_markdown(title), width="large", icon=":material/build:", on_dismiss=close)
    dialog(_form)(run, snapshot, name, subject)


def _form(run: Run, snapshot: Snapshot, name: str, one: Subject | None) -> None:
    if one is None:
        st.caption("This run has no such finding (any more).")
        return
    if reason := unrepeatable(run):
        st.caption(escape_markdown(reason))
        return
    confirmed = ""
    if not ownership.is_own(run) and not (confirmed := confirmation(run)):
        return
    st.caption(_FLY if is_preflight(run) else _RUN)
    program = PROGRAMS.get(run.name) if run.spec.get("kind") == "program" else None
    several = bool(run.spec.get("stages"))
    ways = [OPTION] * bool(program and program.options) + [COPY] * (not several)
    way = ways[0] if ways else ""
    if len(ways) > 1:
        way = st.segmented_control(
            "How",
            ways,
            default=COPY if one.repair else way,
            required=True,
            key="verify-how",
            label_visibility="collapsed",
        )
    edits: dict[str, str] = {}
    options: dict[str, Value] = {}
    if way == COPY:
        edits = _edited(run, snapshot, name, one)
    elif program:
        options = _options(program.options, run.spec.get("options") or {}, one.code)
    _launch(run, name, edits, options, confirmed)


def _edited(run: Run, snapshot: Snapshot, name: str, one: Subject) -> dict[str, str]:
    """New texts of the files that differ from what ran, by absolute path."""
    place = split_site(one.site)
    paths = list(dict.fromkeys([*(edit.file for edit in one.repair.edits)] if one.repair else []))
    if place and place[0] not in paths:
        paths.insert(0, place[0])
    changed = {}
    if one.repair:
        st.markdown(escape_markdown(f"Proposed: {one.repair.words}"))
    else:
        st.markdown(escape_markdown(one.fix or "No change is proposed for this line: make your own."))
    for path in paths:
        text, file = snapshot.tables.text_of(path), _file(snapshot, path)
        if text is None or file is None:
            st.caption(f"The text of {escape_markdown(path)} was not kept with the run.")
            continue
        edits = [edit for edit in one.repair.edits if edit.file == path] if one.repair else []
        line = place[1] if place and place[0] == path else None
        new = edited_copy(path, text, applied(text, edits), line, f"copy-{run.id}-{name}-{path}")
        if new != text:
            changed[file] = new
    return changed


def _file(snapshot: Snapshot, path: str) -> str | None:
    known = snapshot.tables.locations.values()
    return next((one.file for one in known if one.site.rpartition(":")[0] == path), None)


def _options(options: Sequence[Option], given: Mapping[str, Value | None], code: str) -> dict[str, Value]:
    """Those that differ from the run's; first the ones that concern the finding, as far as that is known."""
    own = concerning(options, code)
    if not own:
        st.caption(
            f"The program's catalogue doesn't say which of these decides about {escape_markdown(code)}."
        )
        return _fields(options, given)
    st.markdown(f"Decides about **{escape_markdown(code)}**")
    changed = _fields(own, given)
    st.caption("The program's other options")
    return changed | _fields([option for option in options if option not in own], given)


def _fields(options: Sequence[Option], given: Mapping[str, Value | None]) -> dict[str, Value]:
    changed: dict[str, Value] = {}
    columns = st.columns(4)
    for number, option in enumerate(options):
        was = given.get(option.name, option.default)
        with columns[number % 4]:
            note, label = escape_markdown(option_help(option)), option_label(option)
            if option.type == "choice" and option.values:
                at = option.values.index(str(was)) if str(was) in option.values else 0
                text: str | None = st.selectbox(label, option.values, at, key=f"try-{option.name}", help=note)
            else:
                shown = "" if was is None else str(was)
                text = st.text_input(label, shown, key=f"try-{option.name}", help=note)
            if text and text != str(was):
                with contextlib.suppress(UsageError):
                    changed[option.name] = option.parse(text)
                if option.name not in changed:
                    changed[option.name] = text  # the plan says what is wrong with it
    return changed


def _launch(
    run: Run, name: str, edits: Mapping[str, str], options: Mapping[str, Value], confirmed: str
) -> None:
    again = ("Pre-flight again", "flight_takeoff") if is_preflight(run) else ("Run again", "play_arrow")
    label, icon = again[0], f":material/{again[1]}:"
    if not edits and not options:
        st.button(label, icon=icon, type="primary", key="try", disabled=True)
        st.caption("Change something first.")
        return
    try:
        plan = plan_trial(run, name, edits=edits, options=options, origin="page", confirmed=confirmed)
    except HopscopeError as error:
        st.error(escape_markdown(error), icon=":material/block:")
        return
    for problem in plan.problems:
        st.error(escape_markdown(problem), icon=":material/block:")
    if st.button(label, icon=icon, type="primary", key="try", disabled=bool(plan.problems)):
        try:
            made = launch_once(plan, st.session_state)
        except HopscopeError as error:
            st.error(escape_markdown(error), icon=":material/block:")
            return
        st.switch_page(places.RUN, query_params={"run": made})
