"""All that the pages draw of a run, made as they make it, without a browser."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from app.store.log import read_tail
from app.store.sources import read_source
from app.views.matrix import matrix_figure
from app.views.memory import memory_figure
from app.views.placement import diagram_data
from app.views.progress import progress_figure
from app.views.python_words import python_words
from app.views.timeline import overview_figure
from app.views.timeline_window import window_figure, within
from app.web.run.finding_rows import finding_rows, headline
from app.web.run.focus import focus_of
from app.web.run.run_samples import run_samples
from app.web.run.stage import stage_of
from app.web.shared import rows
from app.web.shared.address import RunAddress
from app.web.shared.open_runs import OpenRun
from app.web.shared.run_rows import run_row
from app.web.shared.source_rows import line_facts, ops_rows
from runners.runs.run import read_run
from tests.hostile.ground import check_secret

_BINS = 60


def draw_all(folder: Path, address: RunAddress) -> None:
    """Make everything of a run's page, and check that a browser can be sent all of it."""
    run = read_run(folder)
    opened = OpenRun(folder)
    try:
        _send(run_row(run, opened.progress(), True))
        snapshot = opened.look(False)
        opened.verdicts()
        row_maker = rows.RunRows.of(snapshot.tables)
        diagram = snapshot.diagram(address.graphs, address.opened)
        focus = focus_of(address, snapshot.hops, diagram, snapshot.findings, snapshot.line)
        hops = [hop.row() for hop in snapshot.hops]
        _send(
            diagram_data(
                diagram, focus.selection, devices=snapshot.devices, hops=hops, opened=address.opened, empty=""
            )
        )
        _send(row_maker.hops(snapshot.hops, focus.rows))
        _send(row_maker.syncs(snapshot.syncs))
        _send(row_maker.collectives(snapshot.collectives))
        _send(row_maker.devices(snapshot.ops_by_device, snapshot.memory))
        if focus.group:
            _send(row_maker.members(focus.group))
        _send([dataclasses.asdict(column) for column in rows.hop_columns(snapshot.hops)])
        _send(finding_rows(snapshot.explained, "Try", badge=row_maker.badge))
        _send([headline(snapshot.findings, stage_of(run, snapshot.tables), snapshot.hidden)])
        _send(matrix_figure(snapshot.matrix, address.pair, devices=snapshot.devices))
        _send(memory_figure(opened.store.memory_series(), devices=snapshot.devices))
        _send(progress_figure(opened.progress()))
        _timeline(opened, run, address)
        _sources(run, snapshot, row_maker)
        _send(list(read_tail(folder).lines))
    finally:
        opened.store.close()


def _timeline(opened: OpenRun, run: Any, address: RunAddress) -> None:
    store, snapshot = opened.store, opened.look(False)
    overview = store.binned(_BINS)
    window = address.window or (overview.t0_s, overview.t1_s)
    sampled = run_samples(run, store, snapshot)
    curves = sampled.curves() if sampled is not None else None
    _send(overview_figure(overview, window, devices=snapshot.devices, samples=curves))
    part = within(store.window(*window), *window)
    _send(window_figure(part, devices=snapshot.devices, samples=None))
    if sampled is not None:
        _send(sampled.remarks())
        _send([sampled.nearest(window, ())])


def _sources(run: Any, snapshot: Any, row_maker: rows.RunRows) -> None:
    for file in snapshot.files:
        lines = read_source(run.path, file.files)
        _send(lines or [])
        if lines and file.path.endswith(".py"):
            python_words(lines)
        _send(line_facts(file, row_maker))
        for line in file.lines.values():
            _send(ops_rows(line, row_maker))


def _send(data: Any) -> None:
    """As Streamlit sends it: JSON in UTF-8."""
    text = json.dumps(data)
    text.encode()
    check_secret(text)
