"""A run's source, one file at a time, with what each line made the devices do; on any page."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import streamlit as st

from app.components.source.source import Marks, SourceText, source_lines
from app.components.table.table import Look, table
from app.facts.lines import Line, SourceFile, split_site
from app.store.sources import has_sources, read_source
from app.views import units
from app.views.python_words import python_words
from app.views.text import escape_markdown
from app.web.shared import rows
from app.web.shared.open_runs import Snapshot
from app.web.shared.rows import RunRows
from app.web.shared.source_rows import OPS_COLUMNS, byte_bases, line_facts, ops_rows
from runners.runs.run import Run

_FEW_FILES = 5
_SOURCE_PX = 560
_TABLE_PX = 300
OLD_RUN = (
    "This run was recorded before the source was kept with a run: only the lines are known, not their text. "
    "Run it again to see them."
)


@dataclasses.dataclass(frozen=True)
class Place:
    """What of the source the reader looks at."""

    file: str = ""
    """'' for that of the line, else the first that there is something to see in."""
    line: str = ""
    """The line that is picked, ``train.py:31``; '' for none."""


def source_section(
    run: Run,
    snapshot: Snapshot,
    row_maker: RunRows,
    place: Place,
    *,
    lit: Mapping[str, Sequence[int]] | None = None,
    pick: str = "Pick a line to see what it ran and moved.",
) -> Place | None:
    """Draws it; gives the place that the reader went to, None where he stayed.

    `lit` are lines to be marked, by file; `pick` invites to pick a line. There must be a file to show.
    """
    files = snapshot.files
    marked = {} if lit is None or place.line else lit
    with st.container(horizontal=True, vertical_alignment="center"):
        file, picked = _choose(files, place, marked)
        told = f"Ops are counted once each, bytes and waits over the whole run{_basis(file)}"
        st.caption(told, width="content")
    if picked != file.path:
        return Place(picked)
    at = split_site(place.line)
    chosen = at[1] if at and at[0] == file.path and at[1] in file.lines else 0
    with st.container():
        lines = _kept_lines(run, file)
    words = python_words(lines) if file.path.endswith(".py") else ()
    event = source_lines(
        SourceText(f"{run.id}/{file.path}", lines, words),
        line_facts(file, row_maker),
        "source",
        marks=Marks(chosen, marked.get(file.path, ()), file.heaviest),
        height=_SOURCE_PX,
        label=f"Source of {file.path}",
    )
    if event:
        line = event.number("line")
        return Place("", f"{file.path}:{line}") if line else Place(file.path)
    with st.container():
        if chosen:
            _draw_line(file.lines[chosen], snapshot, row_maker)
        else:
            st.caption(pick)
    return None


def _choose(
    files: Sequence[SourceFile], place: Place, marked: Mapping[str, Sequence[int]]
) -> tuple[SourceFile, str]:
    """The file to show, and the one that the reader asks for now."""
    by_path = {file.path: file for file in files}
    at = split_site(place.line)
    first = next((path for path in by_path if marked.get(path)), files[0].path)
    wanted = place.file or (at[0] if at else first)
    shown = wanted if wanted in by_path else files[0].path
    if len(files) == 1:
        st.markdown(f"**{escape_markdown(shown)}**", width="content")
        return by_path[shown], shown
    paths = list(by_path)
    # The key holds what the address says, so that the widget never disagrees with it.
    key = f"file-{shown}"
    if len(files) <= _FEW_FILES:
        picked = st.segmented_control(
            "File",
            paths,
            default=shown,
            format_func=escape_markdown,
            key=key,
            required=True,
            label_visibility="collapsed",
        )
    else:
        at_index = paths.index(shown)
        picked = st.selectbox("File", paths, index=at_index, key=key, label_visibility="collapsed")
    return by_path[shown], picked or shown


def _kept_lines(run: Run, file: SourceFile) -> list[str]:
    """The text of a file; where there is none, [], after saying why."""
    lines = read_source(run.path, file.files)
    notes = [f"{file.path} {note}" for note in file.notes]
    if lines is None and not notes:
        notes = [f"The text of {file.path} was not kept." if has_sources(run.path) else OLD_RUN]
    for note in notes:
        st.info(escape_markdown(note), icon=":material/info:")
    return lines or []


def _basis(file: SourceFile) -> str:
    """``; bytes are estimated, some unknown``."""
    found = byte_bases(file)
    firm = " or ".join(basis for basis in found if basis != "unknown")
    unknown = "unknown" if not firm else "some unknown" if "unknown" in found else ""
    return f"; bytes are {', '.join(filter(None, (firm, unknown)))}" if found else ""


def _draw_line(line: Line, snapshot: Snapshot, row_maker: RunRows) -> None:
    st.markdown(f"**Ops of line {line.number}**")
    made = ops_rows(line, row_maker)
    empty = "It ran no op itself."
    table(OPS_COLUMNS, made, "line-ops", label="Ops of the line", look=Look(empty=empty, height=_TABLE_PX))
    made = row_maker.hops(snapshot.hops, line.hops)
    st.markdown(f"**What crossed for it, or came from it** :gray[{units.count(len(made))}]")
    columns = rows.hop_columns(snapshot.hops)
    empty = "Nothing crossed between devices because of it."
    table(columns, made, "line-hops", label="Transfers of the line", look=Look(empty=empty, height=_TABLE_PX))
    if line.syncs:
        st.markdown("**Where Python waited**")
        table(
            rows.sync_columns(line.syncs),
            row_maker.syncs(line.syncs),
            "line-syncs",
            label="Waits of the line",
        )
