"""What came of a change: the run before and this one side by side, on the page of the run that tries it."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app.analysis.opaque import CODE as OPAQUE
from app.analysis.verify import Judged, line_map, verify
from app.live.facts import Fact, facts
from app.live.table import table
from app.screen import places, verify_words
from app.screen.address import RunAddress
from app.screen.open_runs import Snapshot, opened
from app.screen.rows import RunRows
from app.views.text import escape_markdown
from runners import registry
from runners.errors import HopscopeError
from runners.run import Run
from runners.trials import edited_texts

_TONES = {"gone": st.success, "eased": st.info, "still there": st.warning}
_HEIGHT = 260
_ICONS = {"gone": ":material/check_circle:", "eased": ":material/trending_down:"}


def verify_result(run: Run, snapshot: Snapshot) -> None:
    """Draws it for a run that tries a change; nothing for any other."""
    trial = run.spec.get("trial")
    if not isinstance(trial, Mapping):
        return
    code, _, site = str(trial.get("finding", "")).partition("@")
    of = str(trial.get("of", ""))
    with st.container(border=True, key="verified"):
        if not run.ended:
            _head("looked for again when this run has ended", of, code, site)
            return
        try:
            earlier = registry.find(of)
            before = opened(earlier).look(True)
        except HopscopeError as error:
            st.markdown(f"**Fix and verify** :gray[nothing to hold it against: {escape_markdown(error)}]")
            return
        _head("both runs side by side", of, code, site)
        _compared(run, snapshot, before, code, site)


def _head(words: str, of: str, code: str, site: str) -> None:
    """What this is, and the way to the finding in the run before."""
    st.markdown(f"**Fix and verify** :gray[{words}]")
    before = RunAddress(run=of, finding=f"{code}@{site}")
    values = [
        Fact("finding", "Finding", "text", {"text": f"{code} at {site}" if site else code}),
        Fact("before", "In the run before", "link", {"text": of, "href": before.link()}),
    ]
    if facts(values, "verified-head"):
        st.switch_page(places.RUN, query_params=before.query())


def _compared(run: Run, after: Snapshot, before: Snapshot, code: str, site: str) -> None:
    texts = _texts(run, before)
    found = verify(code, site, _judged(before), _judged(after), line_map(texts))
    whole = run.exit_code in (0, None) and run.state == "finished"
    if not whole:
        st.warning(
            f"This run {escape_markdown(run.state)}, so what follows is of what it did until then.",
            icon=":material/warning:",
        )
    else:
        # Only to see more is no improvement.
        unhidden = found.code == OPAQUE and found.state == "gone" and found.uncovered
        dearer = verify_words.dearer(found)
        tell = st.info if unhidden or dearer else _TONES[found.state]
        icon = ":material/visibility:" if unhidden else _ICONS.get(found.state, ":material/error:")
        tell(escape_markdown(verify_words.headline(found) + dearer), icon=icon)
    for words in verify_words.new_told(found):
        st.warning(escape_markdown(words), icon=":material/new_releases:")
    if words := verify_words.shown_now(found):
        st.markdown(words)
    if found.shown:
        shown = RunRows.of(after.tables).hops(after.hops, found.shown)
        table(verify_words.SHOWN_COLUMNS, shown, "shown-now", height=_HEIGHT, label="What shows only now")
    left, right = st.columns([5, 4], gap="large")
    with left:
        table(verify_words.COLUMNS, verify_words.rows(found, whole), "sides", label="Before and after")
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
        if text is not None:
            found[path] = text, edited[location.file]
    return found


def _changes(run: Run, before: Snapshot, texts: Mapping[str, tuple[str, str]]) -> None:
    """What was changed: lines of files, options of a program."""
    for path, (was, now) in texts.items():
        st.code(verify_words.changed_lines(path, was, now), language="diff", wrap_lines=True)
    options = before.spec.get("options") or {}
    changed = [
        f"{name}: {options.get(name)} → {value}"
        for name, value in (run.spec.get("options") or {}).items()
        if options.get(name) != value
    ]
    if changed:
        st.code("\n".join(changed), language=None)
