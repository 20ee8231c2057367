"""What came of a change: the run before and this one side by side, on the page of the run that tries it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from app.components.changes.changes import changes
from app.components.facts.facts import Fact, facts
from app.components.table.table import Look, table
from app.diagnosis.causes.xla_opaque.cause import CODE as OPAQUE
from app.diagnosis.verification import Judged, changed_sites, line_map, verify
from app.preflight.comparison import compare, to_mend
from app.store.failure import last_exception
from app.views.text import escape_markdown
from app.web.run import flown_words, verify_words
from app.web.run.preflight_report import foreseen
from app.web.shared import places
from app.web.shared.address import RunAddress
from app.web.shared.open_runs import Snapshot, opened
from app.web.shared.rows import RunRows
from runners.errors import HopscopeError
from runners.plan.trials import edited_texts
from runners.runs import registry
from runners.runs.purpose import is_preflight, tried
from runners.runs.run import Run

_TONES: Mapping[str, Callable[..., object]] = {
    "gone": st.success,
    "eased": st.info,
    "still there": st.warning,
}
_HEIGHT = 260
_ICONS = {"gone": ":material/check_circle:", "eased": ":material/trending_down:"}


def verify_result(run: Run, snapshot: Snapshot) -> None:
    """Draws it for a run that tries a change; nothing for any other."""
    trial = tried(run)
    if trial is None:
        return
    code, _, site = trial.finding.partition("@")
    of, flown = trial.of, is_preflight(run)
    with st.container(border=True, key="verified"):
        if not run.ended:
            _head("looked for again when this run has ended", of, code, site, flown)
            return
        try:
            earlier = registry.named(of)
            before = opened(earlier).look(True)
            report = foreseen(earlier) if is_preflight(earlier) and flown else None
        except HopscopeError as error:
            st.markdown(f"**Fix and verify** :gray[nothing to hold it against: {escape_markdown(error)}]")
            return
        if report is not None and trial.finding in to_mend(report):
            _head("what both pre-flights foresee, side by side", of, code, site, flown)
            _flown((earlier, run), snapshot, before, report, code, site)
            return
        _head("both runs side by side", of, code, site, flown)
        _compared((earlier, run), snapshot, before, code, site)


def _head(words: str, of: str, code: str, site: str, flown: bool) -> None:
    """What this is, and the way to the finding in the run before."""
    st.markdown(f"**Fix and verify** :gray[{words}]")
    before = RunAddress(run=of, finding=f"{code}@{site}")
    values = [
        Fact("finding", "Finding", "text", {"text": f"{code} at {site}" if site else code}),
        Fact(
            "before",
            f"In the {'pre-flight' if flown else 'run'} before",
            "link",
            {"text": of, "href": before.link()},
        ),
    ]
    if facts(values, "verified-head"):
        st.switch_page(places.RUN, query_params=before.query())


def _compared(runs: tuple[Run, Run], after: Snapshot, before: Snapshot, code: str, site: str) -> None:
    earlier, run = runs
    texts = _texts(run, before)
    found = verify(code, site, _judged(before), _judged(after), line_map(texts))
    whole = _whole(run, earlier, texts)
    if whole:
        # Only to see more is no improvement.
        unhidden = found.code == OPAQUE and found.state == "gone" and found.uncovered
        cost = verify_words.cost(found)
        icon = ":material/visibility:" if unhidden else ":material/visibility_off:" if found.unseen else ""
        mixed = bool(unhidden or cost or found.unseen)
        _tell(found.state, verify_words.headline(found) + cost, mixed=mixed, icon=icon)
    _tell_new(verify_words.new_told(found))
    if words := verify_words.shown_now(found):
        st.markdown(words)
    if found.shown:
        shown = RunRows.of(after.tables).hops(after.hops, found.shown)
        table(
            verify_words.SHOWN_COLUMNS,
            shown,
            "shown-now",
            look=Look(height=_HEIGHT),
            label="What shows only now",
        )
    _sides(verify_words.rows(found, whole), run, before, texts, verify_words.of_times(found))


def _flown(
    runs: tuple[Run, Run],
    after: Snapshot,
    before: Snapshot,
    told: Mapping[str, Any],
    code: str,
    site: str,
) -> None:
    """As `_compared`, of pre-flights: what both foresee; `told` is the report of the one before."""
    earlier, run = runs
    texts = _texts(run, before)
    try:
        report = foreseen(run)
    except HopscopeError:  # why not stands below, where it would be foreseen
        st.warning(
            "Nothing is foreseen of this copy, so nothing can be held against the one before.",
            icon=":material/warning:",
        )
        _changes(run, before, texts)
        return
    found = compare(code, site, told, report, line_map(texts))
    whole = _whole(run, earlier, texts)
    if whole:
        state = found.verified.state
        mixed = state != "still there" and bool(flown_words.elsewhere(found) or found.unforeseen)
        _tell(state, flown_words.verdict(found), mixed=mixed)
    _tell_new([*verify_words.new_told(found.verified), *flown_words.libraries_told(found)])
    remarks = (
        flown_words.other_machine(found),
        flown_words.less_foreseen(found),
        flown_words.not_reached(process.header for process in after.tables.processes),
    )
    for words in filter(None, remarks):
        st.caption(escape_markdown(words))
    _sides(flown_words.flown_rows(found, whole), run, before, texts, flown_words.NO_TIMES)


def _whole(run: Run, before: Run, texts: Mapping[str, tuple[str, str]]) -> bool:
    """Whether the run went to its end; tells it where it did not, and that the change is why where it is."""
    whole = _to_its_end(run)
    if not whole:
        failed = run.state == "failed" and _to_its_end(before)
        raised = last_exception(run.path, run.spec) if failed else None
        if raised is not None and not raised.recorders:
            told = verify_words.broken(raised, changed_sites(texts))
            st.error(escape_markdown(told), icon=":material/error:")
        st.warning(
            f"This run {escape_markdown(run.state)}, so what follows is of what it did until then.",
            icon=":material/warning:",
        )
    return whole


def _to_its_end(run: Run) -> bool:
    return run.exit_code in (0, None) and run.state == "finished"


def _tell(state: str, words: str, *, mixed: bool, icon: str = "") -> None:
    """What became of the finding; `mixed`: that is not all of it."""
    tell = st.info if mixed else _TONES[state]
    tell(escape_markdown(words), icon=icon or _ICONS.get(state, ":material/error:"))


def _tell_new(told: Sequence[str]) -> None:
    for words in told:
        st.warning(escape_markdown(words), icon=":material/new_releases:")


def _sides(
    rows: list[dict[str, Any]],
    run: Run,
    before: Snapshot,
    texts: Mapping[str, tuple[str, str]],
    remark: str = "",
) -> None:
    """The figures of both runs, and what was changed beside them."""
    left, right = st.columns([5, 4], gap="large")
    with left:
        table(verify_words.COLUMNS, rows, "sides", label="Before and after")
        if remark:
            st.caption(remark)
    with right:
        _changes(run, before, texts)


def _judged(snapshot: Snapshot) -> Judged:
    return Judged(snapshot.tables, snapshot.hops, snapshot.syncs, snapshot.findings)


def _texts(run: Run, before: Snapshot) -> dict[str, tuple[str, str]]:
    """(before, after) of the edited files, by path as sites have it."""
    edited = edited_texts(run)
    found = {}
    for location in before.tables.locations.values():
        path = location.site.rpartition(":")[0]
        text = before.tables.text_of(path) if location.file in edited and path not in found else None
        if text is not None and text != edited[location.file]:
            found[path] = text, edited[location.file]
    return found


def _changes(run: Run, before: Snapshot, texts: Mapping[str, tuple[str, str]]) -> None:
    """What was changed: lines of files, options of a program."""
    if texts:
        files = {path: verify_words.changed_lines(was, now) for path, (was, now) in texts.items()}
        changes({f"What changed in {path}": lines for path, lines in files.items()}, "changes")
    options = before.spec.get("options") or {}
    changed = [
        f"{name}: {options.get(name)} → {value}"
        for name, value in (run.spec.get("options") or {}).items()
        if options.get(name) != value
    ]
    if changed:
        st.code("\n".join(changed), language=None)
