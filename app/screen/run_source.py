"""The source that ran, with what each line made the devices do beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import streamlit as st

from app.analysis.lines import SourceFile, split_site
from app.live.source import source_lines
from app.live.table import table
from app.screen import rows
from app.screen.run_page import Page
from app.screen.source_rows import OPS_COLUMNS, byte_bases, line_facts, ops_rows
from app.store.sources import has_sources, read_source
from app.views import units
from app.views.python_words import python_words
from app.views.text import escape_markdown

_FEW_FILES = 5
_SOURCE_PX = 560
OLD_RUN = (
    "This run was recorded before the source was kept with a run: only the lines are known, not their text. "
    "Run it again to see them."
)


def source_view(page: Page) -> None:
    """One file at a time, and what the picked line did."""
    files = page.snapshot.files
    if not files:
        st.caption(page.stage.empty or "No line of your code ran anything on a device.")
        return
    lit = _lit(page, files)
    with st.container(horizontal=True, vertical_alignment="center"):
        file = _choose(page, files, lit)
        st.caption(
            f"Ops are counted once each, bytes and waits over the whole run{_basis(file)}", width="content"
        )
    place = split_site(page.address.line)
    chosen = place[1] if place and place[0] == file.path and place[1] in file.lines else 0
    with st.container():
        lines = kept_lines(page, file)
    event = source_lines(
        lines,
        line_facts(file, page.row_maker),
        "source",
        words=python_words(lines) if file.path.endswith(".py") else (),
        selected=chosen,
        lit=() if place else lit.get(file.path, ()),
        height=_SOURCE_PX,
        label=f"Source of {file.path}",
        name=f"{page.run.id}/{file.path}",
    )
    if event:
        line = f"{file.path}:{event['line']}" if event["line"] else ""
        page.go(dataclasses.replace(page.address.with_filter(line=line), file=""))
    with st.container():
        _line(page, file, chosen)


def kept_lines(page: Page, file: SourceFile) -> list[str]:
    """The text of a file; where there is none, [], after saying why."""
    lines = read_source(page.run.path, file.files)
    notes = [f"{file.path} {note}" for note in file.notes]
    if lines is None and not notes:
        kept = has_sources(page.run.path)
        notes = [f"The text of {file.path} was not kept." if kept else OLD_RUN]
    for note in notes:
        st.info(escape_markdown(note), icon=":material/info:")
    return lines or []


def _basis(file: SourceFile) -> str:
    """``; bytes are estimated, some unknown``."""
    found = byte_bases(file)
    firm = " or ".join(basis for basis in found if basis != "unknown")
    unknown = "unknown" if not firm else "some unknown" if "unknown" in found else ""
    return f"; bytes are {', '.join(filter(None, (firm, unknown)))}" if found else ""


def _lit(page: Page, files: Sequence[SourceFile]) -> dict[str, list[int]]:
    """The lines of each file whose transfers belong to what is picked in another view."""
    shown = page.focus.rows
    if shown is None:
        return {}
    return {
        file.path: [number for number, line in sorted(file.lines.items()) if line.hops & shown]
        for file in files
    }


def _choose(page: Page, files: Sequence[SourceFile], lit: dict[str, list[int]]) -> SourceFile:
    by_path = {file.path: file for file in files}
    place = split_site(page.address.line)
    first = next((path for path in by_path if lit.get(path)), files[0].path)
    wanted = page.address.file or (place[0] if place else first)
    shown = wanted if wanted in by_path else files[0].path
    if len(files) > 1:
        paths = list(by_path)
        # The key holds what the address says, so that the widget never disagrees with it.
        key = f"file-{shown}"
        if len(files) <= _FEW_FILES:
            picked = st.segmented_control(
                "File", paths, default=shown, key=key, required=True, label_visibility="collapsed"
            )
        else:
            at = paths.index(shown)
            picked = st.selectbox("File", paths, index=at, key=key, label_visibility="collapsed")
        if picked and picked != shown:
            page.go(dataclasses.replace(page.address, file=picked))
    else:
        st.markdown(f"**{escape_markdown(shown)}**", width="content")
    return by_path[shown]


def _line(page: Page, file: SourceFile, chosen: int) -> None:
    if not chosen:
        st.caption("Pick a line to see what it ran and moved, and to narrow the other tabs down to it.")
        return
    line = file.lines[chosen]
    st.markdown(f"**Ops of line {chosen}**")
    made = ops_rows(line, page.row_maker)
    table(OPS_COLUMNS, made, "line-ops", label="Ops of the line", empty="It ran no op itself.", height=300)
    made = page.row_maker.hops(page.snapshot.hops, line.hops)
    st.markdown(f"**What crossed for it, or came from it** :gray[{units.count(len(made))}]")
    columns = rows.hop_columns(page.snapshot.hops)
    empty = "Nothing crossed between devices because of it."
    table(columns, made, "line-hops", label="Transfers of the line", empty=empty, height=300)
    if line.syncs:
        st.markdown("**Where Python waited**")
        table(rows.SYNC_COLUMNS, page.row_maker.syncs(line.syncs), "line-syncs", label="Waits of the line")
