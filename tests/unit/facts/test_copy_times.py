"""Bytes become estimated times, wherever hops are shown and only where both ends were measured."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from app.diagnosis.judge import hop_table
from app.facts.tables import Tables
from app.facts.transfers.copy_times import with_times
from app.facts.transfers.device_matrix import device_matrix
from app.reports.html import render_html
from app.reports.run_report import build_report, run_report
from app.reports.text import render_text
from app.views.matrix import matrix_figure
from app.web.shared.rows import HOP_COLUMNS, RunRows, hop_columns
from probes.trace.rows import Graph, Key, Process
from runners.machine.copy_costs import Costs, Pair, costs_of_run, keep_with_run, save
from tests.unit.traces import Trace, hop_fields, write_status

A, B = "GPU-aaaa", "GPU-bbbb"
COSTS = Costs(
    43_200.0,
    "570.86.15",
    "ws1",
    64 << 20,
    (
        Pair("host", A, 1e9, 1e-3, "pageable"),
        Pair(A, "host", 1e9, 1e-3, "pageable"),
        Pair(A, B, 10e9, 1e-3, None, True),
    ),
)
MAP: dict[str, dict[str, Any]] = {
    "cpu:0": {"stand_in": False},
    "cpu:1": {"stand_in": True},
    "gpu:0": {"uuid": A},
    "gpu:1": {"uuid": B},
}
MILLION = 1_000_000


def costs_of(_: list[str]) -> Costs:
    return COSTS


def run(*keys: Key, rounds: int = 10) -> Tables:
    process = Process(
        0, 1, "main", "tensorflow", "2.21", None, None, 0, 0, list(MAP), MAP, True, {"devices_complete": True}
    )
    graphs = [Graph(1, "step", "step", 0, 0, None, rounds)]
    return Tables(processes=[process], locations={}, graphs=graphs, keys=list(keys), unseen=[])


def hop(
    number: int, src: str, dst: str, size: int | None = MILLION, count: int | None = 10, **more: Any
) -> Key:
    return Key(number, "hop", hop_fields(src, dst, bytes=size, **more), count)


def times(*keys: Key) -> list[float | None]:
    return [one.seconds for one in with_times(hop_table(run(*keys)), COSTS, MAP)]


def test_only_between_cards_and_the_host() -> None:
    assert times(
        hop(1, "cpu:0", "gpu:0"),
        hop(2, "gpu:0", "gpu:1"),
        hop(3, "gpu:1", "gpu:0"),
        hop(4, "cpu:0", "cpu:1"),
        hop(5, "cpu:1", "gpu:0"),
        hop(6, "cpu:0", "gpu:0", None),
        hop(7, "gpu:0", "gpu:0", dst_memory="host"),
    ) == [pytest.approx(2e-3), pytest.approx(1.1e-3), None, None, None, None, pytest.approx(2e-3)]


def test_without_a_measurement_there_is_no_time() -> None:
    assert with_times(hop_table(run(hop(1, "cpu:0", "gpu:0"))), None, MAP)[0].seconds is None


def test_the_report_has_milliseconds_with_their_basis() -> None:
    tables = run(hop(1, "cpu:0", "gpu:0", kind="upload"), hop(2, "cpu:0", "cpu:1"))
    report = build_report({"run": "r", "status": "finished"}, tables, costs_of=costs_of)
    assert [(row["estimated_ms"], row["estimated_ms_basis"]) for row in report["hops"]] == [
        (2.0, "estimated"),
        (None, None),
    ]
    (note,) = report["notes"]
    assert note == (
        "times of copies are estimated from copies of up to 64 MiB that were measured on ws1 on 1970-01-01"
        " with driver 570.86.15, the host's memory being pageable"
    )
    assert json.loads(json.dumps(report)) == report
    text = render_text(report)
    assert "2 ms" in text and "estimated  count" in text
    html = render_html(report)
    assert ">estimated</th>" in html and ">2 ms</td>" in html


def test_a_report_without_times_has_no_column_for_them() -> None:
    report = build_report(
        {"run": "r", "status": "finished"}, run(hop(2, "cpu:0", "cpu:1")), costs_of=costs_of
    )
    assert report["notes"] == []
    assert ">estimated</th>" not in render_html(report)
    assert "estimated  count" not in render_text(report)


def test_findings_tell_the_time_of_a_step_or_of_all() -> None:
    def summaries(*keys: Key, rounds: int = 10) -> list[str]:
        report = build_report({"run": "r"}, run(*keys, rounds=rounds), costs_of=costs_of)
        return [finding["summary"] for finding in report["findings"]]

    (each,) = summaries(hop(1, "cpu:0", "gpu:0", kind="upload"))
    assert "10 transfers, about 20 ms of copying (estimated)" in each
    (all_of_it,) = summaries(hop(1, "cpu:0", "gpu:0", kind="upload", count=3), rounds=10)
    assert ", about 6 ms of copying (estimated)" in all_of_it
    (unknown,) = summaries(hop(1, "cpu:0", "cpu:1", kind="upload"))
    assert "copying" not in unknown


def test_a_findings_evidence_has_the_time() -> None:
    report = build_report({"run": "r"}, run(hop(1, "cpu:0", "gpu:0", kind="upload")), costs_of=costs_of)
    assert report["findings"][0]["evidence"]["estimated_copying_ns"] == 20_000_000


def test_the_matrix_has_it_under_the_pointer() -> None:
    hops = with_times(hop_table(run(hop(1, "cpu:0", "gpu:0"), hop(2, "gpu:1", "gpu:0"))), COSTS, MAP)
    matrix = device_matrix(hops, ["cpu:0", "gpu:0", "gpu:1"])
    assert {(cell.src, cell.dst): cell.seconds for cell in matrix.cells} == {
        ("cpu:0", "gpu:0"): pytest.approx(20e-3),
        ("gpu:1", "gpu:0"): None,
    }
    hovers = [text for row in matrix_figure(matrix)["data"][0]["hovertext"] for text in row]
    assert sum("about 20 ms of copying (estimated)" in text for text in hovers) == 1


def test_the_hop_table_has_a_column_where_a_time_is_known() -> None:
    hops = with_times(hop_table(run(hop(1, "cpu:0", "gpu:0"), hop(2, "gpu:1", "gpu:0"))), COSTS, MAP)
    assert [column.name for column in hop_columns(hops)].count("time") == 1
    assert hop_columns(hop_table(run(hop(2, "cpu:0", "cpu:1")))) == HOP_COLUMNS
    cells = {row["id"]: row["cells"]["time"] for row in RunRows(list(MAP)).hops(hops, None)}
    assert cells["0"] == {"text": "20 ms", "sort": pytest.approx(20e-3), "remark": "estimated"}
    assert cells["1"] == {"text": "", "sort": -1, "remark": ""}


class TestTheRunsFolder:
    """Where the costs of a run come from."""

    def test_the_newer_of_the_machines_and_the_runs_own(self, hopscope_home: Path, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        folder.mkdir()
        assert costs_of_run(folder, [A]) is None
        save(COSTS)
        keep_with_run(folder, [A])
        assert costs_of_run(folder, [A]) == COSTS
        newer = dataclasses.replace(COSTS, made=50_000.0)
        save(newer)
        assert costs_of_run(folder, [A]) == newer
        # Copied to a machine that knows nothing of these cards.
        (hopscope_home / "machine" / "copy_costs.json").unlink()
        elsewhere = costs_of_run(folder, [A])
        assert elsewhere is not None and elsewhere.uuids == {A}
        # One of the cards was full when it was measured.
        assert costs_of_run(folder, [A, "GPU-cccc"]) == elsewhere
        assert costs_of_run(folder, ["GPU-cccc"]) is None
        assert costs_of_run(folder, []) is None

    def test_nothing_is_kept_of_cards_that_were_not_measured(
        self, hopscope_home: Path, tmp_path: Path
    ) -> None:
        keep_with_run(tmp_path, [A])
        keep_with_run(tmp_path, [])
        assert not (tmp_path / "copy_costs.json").exists()
        (tmp_path / "copy_costs.json").write_text("{")
        assert costs_of_run(tmp_path, [A]) is None

    def test_the_report_of_a_folder_has_times(self, hopscope_home: Path, tmp_path: Path) -> None:
        save(COSTS)
        folder = tmp_path / "run"
        trace = Trace(folder)
        trace.facts(devices=["cpu:0", "gpu:0"], device_map={"gpu:0": {"uuid": A, "stand_in": False}})
        trace.key("hop", 3, **hop_fields("cpu:0", "gpu:0", bytes=MILLION, kind="upload"))
        trace.close()
        write_status(folder)
        assert [row["estimated_ms"] for row in run_report(folder)["hops"]] == [2.0]
