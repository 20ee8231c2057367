"""A run's page from head to foot: drawn anew while the run goes on, at rest when it has ended."""

from __future__ import annotations

import dataclasses
import functools
from contextlib import AbstractContextManager
from typing import Any

import streamlit as st

from app import access
from app.components.findings.findings import findings_list
from app.components.shared.event import Event
from app.views.text import escape_markdown
from app.web.run import run_header
from app.web.run.finding_rows import finding_rows, fold_title, headline
from app.web.run.focus import finding_id, finding_name, focus_of, picked_finding
from app.web.run.run_claim import draw_claim
from app.web.run.run_page import Page
from app.web.run.run_preflight import FORESEEN_TOO, draw_preflight, foreseen_names, subject_of
from app.web.run.run_views import SOURCE, VIEWS
from app.web.run.stage import stage_of
from app.web.run.tries import tries_of
from app.web.run.verify_form import Subject, verify_dialog
from app.web.run.verify_result import verify_result
from app.web.shared import places, rows
from app.web.shared.address import RunAddress
from app.web.shared.launching import launch_once
from app.web.shared.open_runs import OpenRun, Snapshot, opened
from runners.errors import HopscopeError, UsageError
from runners.plan.launcher import plan_program
from runners.plan.plan import LaunchOptions
from runners.runs import ownership, registry
from runners.runs.purpose import is_preflight
from runners.runs.run import Run

_POLL_S = 1.5
_TRIES_S = 5.0


def run_panel() -> None:
    """Draws the run that the address names, the newest where it names none."""
    run = _find()
    if run is None:
        return
    st.fragment(_panel, run_every=None if run.ended else _POLL_S)(run, run.ended)


def read_address() -> RunAddress:
    """What this page's address says."""
    query = st.query_params
    return RunAddress.read({name: query.get_all(name) for name in query})


def show(address: RunAddress) -> None:
    """Change the address and draw what it says."""
    wanted = address.query()
    ours = RunAddress.names()
    for name in [name for name in st.query_params if name in ours and name not in wanted]:
        del st.query_params[name]
    for name, values in wanted.items():
        if st.query_params.get_all(name) != values:
            st.query_params[name] = values
    st.rerun()


def _find() -> Run | None:
    wanted = read_address().run
    try:
        if wanted:
            return registry.named(wanted)
        newest = next(iter(registry.runs()), None)
    except HopscopeError as error:
        st.title("No such run")
        st.error(escape_markdown(error), icon=":material/search_off:")
        st.page_link(places.RUNS, label="All runs", icon=":material/list:")
        return None
    if newest is None:
        st.title("No run yet")
        st.page_link(places.LAUNCH, label="Launch the first one", icon=":material/rocket_launch:")
        return None
    st.query_params["run"] = newest.id
    return newest


def _panel(run: Run, ended: bool) -> None:
    try:
        run = run.reload()
        if run.ended and not ended:
            st.rerun()  # nothing more will come: no more looking
        open_run = opened(run)
    except HopscopeError as error:
        st.error(escape_markdown(error), icon=":material/search_off:")
        st.page_link(places.RUNS, label="All runs", icon=":material/list:")
        return
    snapshot = open_run.look(run.ended)
    address = read_address()
    _head(run, open_run, snapshot, address)
    diagram = snapshot.diagram(address.graphs, address.opened)
    focus = focus_of(address, snapshot.hops, diagram, snapshot.findings, snapshot.line)
    _findings(run, snapshot, address)
    # Beside the tabs, where it moves nothing when it comes and goes.
    with st.container(horizontal=True, horizontal_alignment="right", key="filter"):
        if focus.label:
            st.markdown(f":material/filter_alt: **{escape_markdown(focus.label)}**", width="content")
            if st.button("Clear filter", icon=":material/close:", key="clear-filter", type="tertiary"):
                show(address.with_filter())
        else:
            st.caption(
                "Pick a cell, a bar, an arrow, a line or a row to narrow everything down to it",
                width="content",
            )
    page = Page(run, open_run, snapshot, address, focus, diagram, run.ended, show)
    tabs = st.tabs(list(VIEWS), key="tab", bind="query-params")
    for tab, view in zip(tabs, VIEWS.values(), strict=True):
        if tab.open:
            with tab:
                view(page)


def _head(run: Run, open_run: OpenRun, snapshot: Snapshot, address: RunAddress) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="head"):
        st.title(escape_markdown(run_header.title_of(run)), width="content")
        st.caption(escape_markdown(run.id), width="stretch")
        with st.popover("Share", icon=":material/link:"):
            st.caption("This address shows the same view to everybody who may look at this server.")
            st.code(_shared(), language=None, wrap_lines=True)
    operator = access.role() == "operator"
    event = run_header.run_facts(run, open_run.progress(), snapshot.tables, operator, top=not address.finding)
    if event and event["type"] == "open":
        st.switch_page(places.RUN, query_params={"run": str(run.spec.get("resumed_from"))})
    if event and operator:
        _act(run, event["action"])
    with st.container():
        draw_claim(run, open_run.verdicts())
    with st.container():
        verify_result(run, snapshot)
    with st.container():
        event = draw_preflight(
            run,
            snapshot.tables.text_of,
            _verify_label(),
            picked=address.finding,
            link=lambda name: address.with_filter(finding=name).link(),
            tries=tries_by_now(run.id) if is_preflight(run) else None,
        )
        _follow(event, address)
    with st.container():
        if message := st.session_state.pop("run-message", None):
            st.error(escape_markdown(message), icon=":material/block:")
        run_header.ending(run)


def _shared() -> str:
    base = str(st.context.url or "").partition("?")[0]
    return base + "?" + read_address().link(str(st.query_params.get("tab", ""))).partition("?")[2]


def _act(run: Run, action: str) -> None:
    try:
        if action == "stop":
            registry.request_stop(run)
        elif action == "kill":
            registry.request_stop(run, 0.0)
        elif action == "resume":
            resume(run)
        elif action == "delete":
            registry.remove(run)
            st.switch_page(places.RUNS)
    except HopscopeError as error:
        st.session_state["run-message"] = str(error)
    st.rerun()


def _show_line(site: str) -> None:
    """Shows a line in the source: the tabs are drawn later, so they can still be told which is in front."""
    st.session_state["tab"] = SOURCE
    show(dataclasses.replace(read_address().with_filter(line=site), file=""))


def _leave_verify() -> None:
    st.query_params.pop("verify", None)


def resume(run: Run) -> None:
    """Launch a run that goes on from this one's last checkpoint, and show it."""
    if not ownership.is_own(run):
        raise UsageError(
            f"{run.id} was not launched from here, so its checkpoints are not loaded at a click; to do that:"
            f" python3 -m app demo {run.name} --resume {run.id}"
        )
    plan = plan_program(run.name, resume=run.path, launch=LaunchOptions(origin="page"))
    if plan.problems:
        raise UsageError("; ".join(plan.problems))
    st.switch_page(places.RUN, query_params={"run": launch_once(plan, st.session_state)})


def tries_by_now(run_id: str) -> dict[str, list[dict[str, Any]]]:
    """The runs that tried a fix of this one; none is missing that was launched by now."""
    try:
        return _tries_among(run_id, registry.runs_folder().stat().st_mtime_ns)
    except (HopscopeError, OSError):
        return {}


@st.cache_data(ttl=_TRIES_S, show_spinner=False)
def _tries_among(run_id: str, changed_ns: int) -> dict[str, list[dict[str, Any]]]:
    """By when the folder of all runs changed; reading them takes a while where there are many."""
    return tries_of(run_id, registry.runs())


def _findings(run: Run, snapshot: Snapshot, address: RunAddress) -> None:
    found = snapshot.findings
    picked = picked_finding(address.finding, found)
    above = foreseen_names(run)
    stage = stage_of(run, snapshot.tables)
    told = escape_markdown(headline(found, stage, snapshot.hidden))
    cards = finding_rows(
        snapshot.explained,
        _verify_label(),
        badge=functools.partial(rows.RunRows.of(snapshot.tables).badge, remark=False),
        link=lambda name: address.with_filter(finding=name).link(),
        tries=tries_by_now(run.id),
    )
    cards = [
        {**card, **FORESEEN_TOO} if card["name"] in above and not card["quiet"] else card for card in cards
    ]
    selected = finding_id(picked) if picked and address.finding not in above else ""
    with _place_of_findings(told, flown=stage.flown, opened=bool(selected)):
        event = findings_list(
            cards,
            [{"what": one.summary, "why": one.fix or ""} for one in snapshot.unseen],
            "findings",
            selected=selected,
            fold=fold_title(cards),
        )
    if address.verify and access.role() == "operator":
        verify_dialog(run, snapshot, address.verify, _subject(run, snapshot, address.verify), _leave_verify)
    _follow(event, address)


def _place_of_findings(told: str, flown: bool, opened: bool) -> AbstractContextManager[Any]:
    """Where the findings stand, under what is told of them; of a pre-flight they are folded away.

    Beside what is foreseen above, what happened without GPUs is a footnote.
    """
    if flown:
        return st.expander(f"Findings of these steps here, without those GPUs: {told}", expanded=opened)
    st.markdown(f"### Findings :gray[{told}]")
    return st.container()


def _verify_label() -> str:
    """The text of the button at findings, '' for those who may not run anything."""
    return "Fix and verify" if access.role() == "operator" else ""


def _subject(run: Run, snapshot: Snapshot, name: str) -> Subject | None:
    """The finding of this name, foreseen or found; None where there is none."""
    found = (
        Subject(one.finding.code, one.finding.site, one.finding.fix, one.repair)
        for one in snapshot.explained
        if finding_name(one.finding) == name
    )
    return subject_of(run, name) or next(found, None)


def _follow(event: Event | None, address: RunAddress) -> None:
    """Do what was picked in a list of findings."""
    if event and event["type"] == "verify":
        show(dataclasses.replace(address, verify=event["name"]))
    elif event and event["type"] == "open":
        st.switch_page(places.RUN, query_params={"run": event["run"]})
    elif event and event["type"] == "finding":
        show(address.with_filter(finding=event["id"]))
    elif event:
        _show_line(event["site"])
