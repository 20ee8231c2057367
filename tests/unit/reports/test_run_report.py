"""The report: its figures, its findings, and how it is written out."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from app.diagnosis.findings import findings, run_findings
from app.diagnosis.judge import hop_table
from app.diagnosis.wording.transfer_costs import Telling, standstill
from app.facts.collectives import collective_table
from app.facts.memory import memory_table
from app.facts.placement import placement
from app.facts.syncs import sync_table
from app.facts.tables import Tables
from app.reports.html import render_html
from app.reports.report_tables import report_tables
from app.reports.report_words import found_told
from app.reports.run_report import build_report, run_report
from app.reports.text import render_text
from app.store.totals import KeyTotals
from probes.trace.rows import Graph, Key, Location, Node, Process, Unseen
from tests.unit.traces import SECOND, Trace, hop_fields, write_status

SITES = {n: Location(n, f"train.py:{n}", None, "/src/train.py", n, "main") for n in range(1, 40)}


def texts(title: str, report: dict[str, Any]) -> list[list[str]]:
    """A table of a report that holds no other."""
    empty: dict[str, Any] = {key: [] for key in ("placement", "hops", "collectives", "syncs", "memory")}
    (table,) = report_tables(empty | report)
    assert table.title == title
    return table.texts


def process(index: int = 0, devices: tuple[str, ...] = ("cpu:0", "cpu:1"), **fields: Any) -> Process:
    facts: dict[str, Any] = {
        "index": index,
        "pid": 1,
        "name": "main",
        "framework": "tensorflow",
        "framework_version": "2.21",
        "role": None,
        "rank": None,
        "wall_ns": 0,
        "mono_ns": 0,
        "devices": list(devices),
        "device_map": {},
        "ended": True,
        "header": {},
    }
    return Process(**(facts | fields))


def tables(*keys: Key, **parts: Any) -> Tables:
    facts: dict[str, Any] = {"processes": [process()], "locations": SITES, "graphs": [], "unseen": []}
    return Tables(keys=list(keys), **(facts | parts))


def hop(number: int, src: str, dst: str, count: int | None, **fields: Any) -> Key:
    return Key(number, "hop", hop_fields(src, dst, **fields), count)


def read(
    number: int, line: int, made: int, call: int, dst: str = "cpu:1", size: int = 1024, alone: int = 0
) -> Key:
    """A variable, made at a line when another makes the object it is of, is read at a third each step."""
    fields = {"facts": {"variable": "Variable"}, "producer_op": "ReadVariableOp", "graph": 1, "per_call": 1}
    fields |= {"loc": line, "bytes": size, "requested": dst, "tensor": f"read_{number}:0"}
    return hop(
        number, "cpu:0", dst, 30, **fields, variable_loc=made, variable_call_loc=call, variable_alone=alone
    )


def test_variables_of_one_object_that_one_device_reads_are_one_finding_at_the_line_that_reads_most() -> None:
    functions = {108: "__init__", 109: "<listcomp>", 110: "__init__"}
    inside = {n: Location(n, f"stats.py:{n}", None, "/src/stats.py", n, functions[n]) for n in functions}
    run = tables(
        read(1, 16, 108, 13),
        read(2, 23, 109, 13),
        read(3, 23, 108, 13),
        read(4, 16, 110, 14),
        read(5, 23, 109, 13, dst="cpu:2"),
        Key(9, "mark", {"name": "step"}, 30),
        processes=[process(devices=("cpu:0", "cpu:1", "cpu:2"))],
        locations=SITES | inside,
    )
    by_object = [found for found in run_findings(run, hop_table(run), []) if found.code == "variable-home"]
    told = {
        (found.site, found.evidence.row()["object_made_at"], found.evidence.row()["dst"])
        for found in by_object
    }
    assert told == {
        ("train.py:23", "train.py:13", "cpu:1"),
        ("train.py:16", "train.py:14", "cpu:1"),
        ("train.py:23", "train.py:13", "cpu:2"),
    }
    (most,) = [found for found in by_object if found.site == "train.py:23" and len(found.hops) == 3]
    assert most.evidence.row()["also_at"] == ["train.py:16"]
    assert most.evidence.row()["created_at"] == ["stats.py:109", "stats.py:108"]
    assert most.summary.startswith(
        "Variable of stats.py:109 and Variable of stats.py:108 live on cpu:0 and are read on cpu:1 at"
        " train.py:23, and at train.py:16: 3 KiB each step"
    )


def test_a_variable_that_two_lines_read_on_one_device_is_one_finding() -> None:
    run = tables(
        read(1, 16, 8, 0, alone=1),
        read(2, 23, 8, 0, alone=1),
        read(3, 23, 8, 0, dst="cpu:2", alone=1),
        read(4, 16, 9, 0),
        read(5, 23, 9, 0),
        Key(9, "mark", {"name": "step"}, 30),
        processes=[process(devices=("cpu:0", "cpu:1", "cpu:2"))],
    )
    found = [one for one in run_findings(run, hop_table(run), []) if one.code == "variable-home"]
    assert {
        (one.site, one.evidence.row()["dst"], tuple(one.evidence.row().get("also_at", ()))) for one in found
    } == {
        ("train.py:16", "cpu:1", ("train.py:23",)),
        ("train.py:23", "cpu:2", ()),
        ("train.py:16", "cpu:1", ()),  # of several that line 9 made, which lines read which is not known
        ("train.py:23", "cpu:1", ()),
    }
    (both,) = [one for one in found if "also_at" in one.evidence.row()]
    assert (both.evidence.row()["created_at"], both.evidence.row()["bytes"]) == ("train.py:8", 2 * 30 * 1024)


def test_variables_that_no_constructor_made_are_told_by_the_lines_that_read_them() -> None:
    run = tables(read(1, 16, 8, 13), read(2, 23, 9, 13), Key(9, "mark", {"name": "step"}, 30))
    found = [one for one in run_findings(run, hop_table(run), []) if one.code == "variable-home"]
    assert {(one.site, one.evidence.row()["created_at"]) for one in found} == {
        ("train.py:16", "train.py:8"),
        ("train.py:23", "train.py:9"),
    }
    assert all("object_made_at" not in one.evidence.row() for one in found)


def test_a_captured_tensor_that_each_call_sends_is_a_redundant_copy() -> None:
    fields = hop_fields("cpu:1", "cpu:2", kind="arg", graph=1, per_call=1, bytes=4096, loc=3)
    fields |= {"requested": "cpu:2", "producer_requested": "cpu:1", "tensor": "table:0"}
    again = {"graph": 1, "tensor": "table:0", "src": "cpu:1", "dst": "cpu:2"}
    graph = Graph(1, "best", "__inference_best_1", 1, 0, None, 8)
    for times, code in ((7, "redundant-copy"), (1, "explicit")):
        run = tables(Key(1, "hop", fields, 8), Key(2, "again", again, times), graphs=[graph])
        (finding,) = run_findings(run, hop_table(run), [])
        assert (finding.code, finding.site) == (code, "train.py:3")
    tiny = tables(Key(1, "hop", fields | {"bytes": 4}, 8), Key(2, "again", again, 7), graphs=[graph])
    assert [finding.code for finding in run_findings(tiny, hop_table(tiny), [])] == ["explicit"]


def test_what_a_devices_kernel_reads_from_host_memory_is_a_row_but_no_finding() -> None:
    axes = hop(1, "cpu:0", "cpu:1", 30, kind="upload", dst_memory="host", loc=6, bytes=8)
    rows = hop(2, "cpu:0", "cpu:1", 30, kind="upload", loc=6, bytes=4096)
    run = tables(axes, rows)
    (finding,) = run_findings(run, hop_table(run), [])
    assert [hop_table(run)[row].bytes for row in finding.hops] == [4096]
    assert run_findings(tables(axes), hop_table(tables(axes)), []) == []


def test_steps_are_the_optimizers_or_nothing() -> None:
    base = 1 << 32
    assert tables().steps is None
    assert tables(Key(1, "mark", {"name": "step"}, 0)).steps is None
    assert tables(Key(1, "mark", {"name": "epoch"}, 3)).steps is None
    marks = [Key(1, "mark", {"name": "step"}, 40), Key(base + 1, "mark", {"name": "step"}, 38)]
    assert tables(*marks).steps == 40
    assert tables(graphs=[Graph(1, "f", "f", 0, 0, None, 12)]).rounds == 12


def test_ops_are_counted_once_however_often_a_function_is_traced() -> None:
    nodes = {
        1: [
            Node(1, 1, "x", "_Arg", "", "cpu:0", 0, 0),
            Node(1, 2, "a/MatMul", "MatMul", "cpu:1", "cpu:1", 1, 0),
            Node(1, 3, "c", "Const", "cpu:1", "cpu:1", 1, 0),
            Node(1, 4, "r", "_Retval", "", "cpu:0", 0, 0),
        ],
        2: [
            Node(2, 2, "a/MatMul", "MatMul", "cpu:1", "cpu:1", 1, 0),
            Node(2, 3, "b/Relu", "Relu", "", "cpu:0", 1, 0),
        ],
    }
    graphs = [Graph(1, "step", "f1", 0, 0, None, 5), Graph(2, "step", "f2", 0, 0, None, 5)]
    eager = [
        Key(1, "op", {"op": "Add", "device": "cpu:0", "requested": "", "loc": 3}, 7),
        Key(2, "op", {"op": "Add", "device": "cpu:0", "requested": "", "loc": 4}, 7),
    ]
    found = placement(tables(*eager, graphs=graphs, nodes_of=nodes.__getitem__))
    assert found == [{"device": "cpu:0", "ops": 3}, {"device": "cpu:1", "ops": 2}]


def test_syncs_add_up_by_line_and_the_untimed_are_estimated() -> None:
    """GIVEN 400 syncs of which 200 were timed THEN the wait is twice theirs, and an estimate."""
    keys = [
        Key(1, "sync", {"device": "cpu:1", "kind": "numpy", "loc": 3, "basis": "measured"}, 10),
        Key(2, "sync", {"device": "cpu:1", "kind": "numpy", "loc": 3, "basis": "measured"}, 5),
        Key(3, "sync", {"device": "cpu:1", "kind": "float", "loc": 3, "basis": "measured"}, 400),
        Key(4, "sync", {"device": "cpu:0", "kind": "bool", "loc": 4, "basis": "measured"}, 2),
    ]
    totals = {1: KeyTotals(10, 10, 100, 10), 2: KeyTotals(5, 5, 50, 5), 3: KeyTotals(201, 400, 1000, 200)}
    rows = [row.row() for row in sync_table(tables(*keys, totals=totals))]
    untold: dict[str, Any] = {"copy_ns": None, "split_basis": "", "step_ns": None, "idle": []}
    untold |= {"brought_at": [], "waits_for": "", "waits_for_too": [], "timed": None}
    common = untold | {"device": "cpu:1", "site": "train.py:3"}
    assert rows == [
        common | {"kind": "float", "count": 400, "wait_ns": 2000, "basis": "estimated", "timed": 200},
        common | {"kind": "numpy", "count": 15, "wait_ns": 150, "basis": "measured"},
        untold
        | {"device": "cpu:0", "kind": "bool", "site": "train.py:4"}
        | {"count": 2, "wait_ns": None, "basis": "unknown"},
    ]
    waits = sync_table(tables(*keys, totals=totals))
    assert standstill(waits[:2]) == ", 2.15 µs waited (estimated)"
    assert standstill(waits[:1]) == ", 2 µs waited (estimated)"
    assert standstill(waits[1:]) == ", 150 ns waited (measured)"
    assert [row[-1] for row in texts("Syncs", {"syncs": rows})] == [
        "estimated (200 timed)",
        "measured",
        "unknown",
    ]


def test_a_standstill_is_split_where_the_recorder_did() -> None:
    """GIVEN the copying part of each timed sync THEN the rest of it is waiting, and both are extrapolated."""

    def sync(number: int, loc: int, count: int, **fields: Any) -> Key:
        facts = {"device": "cpu:1", "kind": "asnumpy", "loc": loc, "basis": "measured", "split": True}
        return Key(number, "sync", facts | fields, count)

    keys = [
        sync(1, 3, 10),
        sync(2, 4, 400),
        sync(3, 5, 10),
        sync(4, 5, 10, split=False),
        sync(5, 6, 2, kind="waitall", device="", bytes=0),
    ]
    totals = {
        1: KeyTotals(10, 10, 1000, 10, value_sum=300),
        2: KeyTotals(201, 400, 1000, 200, value_sum=150),
        3: KeyTotals(10, 10, 500, 10, value_sum=100),
        4: KeyTotals(10, 10, 400, 10),
        5: KeyTotals(2, 2, 80, 2, value_sum=0),
    }
    rows = {row.site: row for row in sync_table(tables(*keys, totals=totals))}
    figures = {site: (row.wait_ns, row.copy_ns, row.basis) for site, row in rows.items()}
    assert figures == {
        "train.py:3": (700, 300, "measured"),
        "train.py:4": (1700, 300, "estimated"),
        # Where one of them was not split, the wait is all of it.
        "train.py:5": (900, None, "measured"),
        "train.py:6": (80, 0, "measured"),
    }
    assert rows["train.py:4"].stood_ns == 2000
    assert rows["train.py:6"].source == "all devices" and not rows["train.py:6"].takes


def test_a_wait_that_takes_nothing_is_told_as_one() -> None:
    waits = [
        Key(1, "sync", {"device": "", "kind": "waitall", "loc": 3, "bytes": 0, "split": True}, 30),
        Key(2, "sync", {"device": "cpu:1", "kind": "wait_to_read", "loc": 4, "bytes": 0, "split": True}, 2),
        Key(3, "mark", {"name": "step"}, 30),
    ]
    totals = {1: KeyTotals(30, 30, 3_000_000, 30, value_sum=0), 2: KeyTotals(2, 2, 8000, 2, value_sum=0)}
    run = tables(*waits, totals=totals)
    often, seldom = run_findings(run, [], sync_table(run))
    assert often.summary == (
        "Python waits for all devices by waitall at train.py:3: 30\u00d7, 3 ms waited (measured)."
    )
    assert often.fix and often.fix.startswith("Drop the wait")
    assert (seldom.severity, seldom.fix) == ("info", None)


def test_what_python_took_is_told_with_both_parts_of_its_standstill() -> None:
    run = tables(
        hop(1, "cpu:1", "cpu:0", 30, kind="pull", op="Python", loc=3, facts={"sync": "asnumpy"}, bytes=4),
        Key(2, "sync", {"device": "cpu:1", "kind": "asnumpy", "loc": 3, "bytes": 4, "split": True}, 30),
        Key(3, "mark", {"name": "step"}, 30),
        totals={2: KeyTotals(30, 30, 5_000_000, 30, value_sum=2_000_000)},
    )
    (found,) = run_findings(run, hop_table(run), sync_table(run))
    assert found.summary == (
        "Python takes a value from cpu:1 by asnumpy at train.py:3: 4 B each step,"
        " 5 ms waited, of it 2 ms copying (measured)."
    )
    assert (found.evidence.row()["wait_ns"], found.evidence.row()["copy_ns"]) == (3_000_000, 2_000_000)
    text = render_text(build_report({"run": "r", "status": "finished", "exit_code": 0}, run))
    (row,) = [line for line in text.splitlines() if line.startswith("cpu:1   asnumpy")]
    assert row.split() == ["cpu:1", "asnumpy", "train.py:3", "30\u00d7", "5", "ms", "2", "ms", "measured"]
    assert "count  waited  of it copying  basis" in text


def test_one_line_is_one_finding_however_many_devices_it_is_about() -> None:
    """GIVEN a pull, a wait, an upload and a called copy on each of six devices THEN there are four."""
    numbers = range(1, 7)
    pulls = [
        hop(n, f"cpu:{n}", "cpu:0", 30, kind="pull", op="Python", loc=3, facts={"sync": "asscalar"}, bytes=4)
        for n in numbers
    ]
    copies = [
        hop(10 + n, "cpu:0", f"cpu:{n}", 30, loc=4, facts={"copy_call": "split_and_load"}) for n in numbers
    ]
    uploads = [hop(30 + n, "cpu:0", f"cpu:{n}", 30, kind="upload", op="Python", loc=6) for n in numbers]
    waits = [
        Key(20 + n, "sync", {"device": f"cpu:{n}", "kind": "wait_to_read", "loc": 5, "bytes": 0}, 30)
        for n in numbers
    ]
    totals = {20 + n: KeyTotals(30, 30, 1_000_000, 30) for n in numbers}
    run = tables(*pulls, *copies, *waits, *uploads, Key(99, "mark", {"name": "step"}, 30), totals=totals)
    found = {row.site: row for row in run_findings(run, hop_table(run), sync_table(run))}
    assert {site: (row.code, len(row.hops)) for site, row in found.items()} == {
        "train.py:3": ("host-sync", 6),
        "train.py:4": ("explicit", 6),
        "train.py:5": ("host-sync", 0),
        "train.py:6": ("host-upload", 6),
    }
    assert found["train.py:3"].summary.startswith(
        "Python takes a value from cpu:1, cpu:2, cpu:3 and 3 other devices by asscalar at train.py:3: 24 B"
    )
    assert found["train.py:4"].summary.startswith(
        "The code copies a tensor at train.py:4 by split_and_load, cpu:0 to cpu:1, cpu:0 to cpu:2, cpu:0 to"
        " cpu:3 and 3 other ways: 600 B each step"
    )
    assert found["train.py:5"].summary == (
        "Python waits for cpu:1, cpu:2, cpu:3 and 3 other devices by wait_to_read at train.py:5: 180\u00d7,"
        " 6 ms waited (measured)."
    )


def test_variables_that_a_line_reads_from_afar_are_one_finding() -> None:
    def read(number: int, dst: str, variable: str) -> Key:
        facts = {"variable": variable}
        return hop(number, "cpu:0", dst, 30, loc=1, requested=dst, tensor=variable, facts=facts)

    one = findings(hop_table(tables(read(1, "cpu:1", "kernel"))), [], [])
    assert one[0].summary.startswith("kernel lives on cpu:0 and is read on cpu:1 at ")
    both = tables(read(1, "cpu:1", "kernel"), read(2, "cpu:2", "kernel"), read(3, "cpu:1", "bias"))
    [found] = findings(hop_table(both), [], [])
    assert found.summary.startswith("kernel and bias live on cpu:0 and are read on cpu:1 and cpu:2 at ")


def test_rows_of_a_table_are_told_apart_from_variables_that_are_read_whole() -> None:
    """GIVEN one line that looks rows up and reads a variable THEN neither has the other's bytes or fix."""
    parts = {"loc": 1, "requested": "cpu:1"}
    rows = hop(1, "cpu:0", "cpu:1", 30, producer_op="ResourceGather", facts={"variable": "table"}, **parts)
    whole = hop(2, "cpu:0", "cpu:1", 30, bytes=8, facts={"variable": "w"}, **parts)
    large, small = findings(hop_table(tables(rows, whole)), [], [])
    assert large.summary.startswith("Rows of table on cpu:0 are looked up there and used on cpu:1 at ")
    assert small.summary.startswith("w lives on cpu:0 and is read on cpu:1 at ")


def test_a_copy_to_where_the_array_is_says_what_to_call_instead() -> None:
    run = tables(
        hop(1, "cpu:1", "cpu:1", 30, loc=3, op="_copyto", facts={"copy_call": "copyto"}),
        Key(3, "mark", {"name": "step"}, 30),
    )
    (found,) = run_findings(run, hop_table(run), [])
    assert (found.code, found.severity) == ("redundant-copy", "warning")
    assert found.summary == (
        "The code copies a tensor at train.py:3 by copyto to where it is already, cpu:1 to cpu:1: 100 B each"
        " step."
    )
    assert found.fix and "as_in_context, which returns the same array" in found.fix


def test_gradients_that_a_store_sums_on_the_host_are_one_finding_of_a_line() -> None:
    summed = {"loc": 3, "facts": {"collective": "kvstore local", "summed_on": "cpu:0"}, "basis": "inferred"}
    run = tables(
        Key(1, "collective", {"op": "kvstore push", "devices": ["cpu:1", "cpu:2"], "loc": 3, "graph": 0}, 30),
        hop(2, "cpu:1", "cpu:0", 30, **summed),
        hop(3, "cpu:2", "cpu:0", 30, **summed),
        hop(4, "cpu:0", "cpu:2", 30, **summed),
    )
    (found,) = run_findings(run, hop_table(run), [])
    assert (found.code, found.severity, found.hops) == ("reduce-on-host", "warning", (0, 1, 2))
    assert found.summary.startswith(
        "Gradients are summed in host memory at train.py:3 by kvstore local, cpu:1"
    )
    assert found.fix and found.fix.startswith("Choose the kvstore 'device'")


def test_where_each_gradient_is_summed_is_told_in_one_breath() -> None:
    def exchanged(number: int, src: str, dst: str, op: str, summed_on: str | None) -> Key:
        named = "kvstore device" + (f", summed on {summed_on}" if summed_on else "")
        facts = {"collective": named, "summed_on": summed_on, "exchange_devices": ["cpu:1", "cpu:2"]}
        return hop(number, src, dst, 30, op=op, loc=3, basis="inferred", facts=facts)

    run = tables(
        exchanged(1, "cpu:2", "cpu:1", "kvstore push", "cpu:1"),
        exchanged(2, "cpu:1", "cpu:2", "kvstore push", "cpu:2"),
    )
    (found,) = run_findings(run, hop_table(run), [])
    assert found.summary.startswith(
        "Devices reduce their tensors at train.py:3 by kvstore device (summed on cpu:1 and cpu:2), cpu:2 to"
    )
    # A line that also hands out is still one that sums.
    handed_out = exchanged(1, "cpu:0", "cpu:1", "kvstore pull", None)
    both = tables(handed_out, exchanged(2, "cpu:1", "server:0/cpu:0", "kvstore push", None))
    (found,) = run_findings(both, hop_table(both), [])
    assert found.summary.startswith("Devices reduce their tensors at train.py:3 by kvstore device, cpu:0 to")
    run = tables(handed_out)
    (found,) = run_findings(run, hop_table(run), [])
    assert found.summary.startswith(
        "At train.py:3 kvstore device copies what they exchange to the devices, cpu:0 to cpu:1: "
    )
    handed_out.fields["facts"]["exchanged"] = "weights"
    (found,) = run_findings(run, hop_table(run), [])
    assert found.summary.startswith("At train.py:3 kvstore device copies weights to the devices, cpu:0 to")


def test_what_one_must_know_of_the_whole_run_is_a_note() -> None:
    """GIVEN two processes that say the same THEN it is told once, in the text and in HTML."""
    header = {"serialised": "the engine runs <one> op at a time"}
    run = tables(processes=[process(0, header=header), process(1, header=header), process(2)])
    info = {"run": "r", "status": "finished", "exit_code": 0}
    verdict = {"verdict": "does not hold", "text": "1.0 times (0.9..1.1) <faster>"}
    report = build_report(info | {"verdicts": [verdict]}, run)
    assert report["notes"] == ["the engine runs <one> op at a time"]
    assert report["verdicts"] == [verdict]
    lines = render_text(report).splitlines()
    assert "note: the engine runs <one> op at a time" in lines
    assert lines[lines.index("Claim") + 1] == "   does not hold: 1.0 times (0.9..1.1) <faster>"
    page = render_html(report)
    assert "Note: the engine runs &lt;one&gt; op" in page and "(0.9..1.1) &lt;faster&gt;" in page


def test_notes_are_folded_away_for_a_terminal_but_for_what_was_not_seen() -> None:
    """GIVEN a command that tells them THEN it stands in place of the notes, below what needs attention."""
    known: dict[str, Any] = {"site": "train.py:3", "evidence": {}, "fix": None, "because": ""}
    warning = known | {"code": "bounce", "severity": "warning", "summary": "There and back."}
    note = known | {"code": "explicit", "severity": "info", "summary": "As was asked for."}
    advising = note | {"fix": "Prefetch."}
    unseen = note | {
        "summary": "Not seen: a sparse row.",
        "evidence": {"what": "a row", "count": 1, "why": "x"},
    }
    empty = build_report({"run": "r", "status": "finished", "exit_code": 0}, tables())
    report = empty | {"findings": [unseen, warning, note, advising]}
    text = render_text(report, folded="app report r --notes")
    assert "Not seen: a sparse row." in text and "There and back." in text
    assert "As was asked for." not in text
    assert "   and 2 notes, 1 with advice: app report r --notes" in text.splitlines()
    assert render_text(report).count("As was asked for.") == 2
    quiet = render_text(report | {"findings": [note]}, folded="app report r --notes").splitlines()
    at = quiet.index("Findings: nothing needs attention")
    assert quiet[at + 1] == "   1 note: app report r --notes"
    assert (found_told(report), found_told(empty)) == ("1 warning, 3 notes", "no findings")
    assert found_told(report | {"devices": [], "placement": []}) == ""  # nothing was recorded


@pytest.mark.parametrize(
    ("applied", "own", "told"),
    [
        (None, None, "no optimizer steps"),
        (3, None, "3 steps"),
        (3, {"step": 3, "total": 3}, "3 steps"),
        # A resumed run, or one that counts what no optimizer does.
        (4, {"step": 8, "total": 8}, "8 of 8 steps by its own count, 4 optimizer steps"),
        (None, {"step": 9, "total": 9}, "9 of 9 steps by its own count, no optimizer step recorded"),
        (None, {"step": 9, "total": None}, "step 9 by its own count, no optimizer step recorded"),
    ],
)
def test_steps_are_told_with_whose_count_they_are(
    applied: int | None, own: dict[str, int | None] | None, told: str
) -> None:
    report = build_report({"run": "r", "status": "finished", "progress": own}, pinned_outside())
    report["steps"] = applied
    assert render_text(report).splitlines()[0].endswith(f"finished  {told}")
    assert f"finished · {told}</p>" in render_html(report)


NOTHING_TOLD = "nothing told this device's memory"


def test_memory_is_the_peak_and_never_a_guessed_zero() -> None:
    def memory(number: int, device: str, what: str, basis: str) -> Key:
        return Key(number, "memory", {"device": device, "what": what, "basis": basis, "why": "w"}, 1)

    keys = [
        memory(1, "cpu:1", "in_use", "estimated"),
        memory(2, "cpu:1", "peak", "estimated"),
        memory(3, "gpu:0", "in_use", "estimated"),
        memory(4, "gpu:0", "peak", "measured"),
        memory(5, "gpu:1", "peak", "unsupported"),
    ]
    totals = {
        number: KeyTotals(1, 1, max_value=value) for number, value in ((1, 500), (2, 900), (3, 700), (4, 600))
    }
    rows = [row.row() for row in memory_table(tables(*keys, totals=totals))]
    assert rows == [
        {"device": "cpu:0", "peak_bytes": None, "basis": "unsupported", "why": NOTHING_TOLD},
        {"device": "cpu:1", "peak_bytes": 900, "basis": "estimated", "why": "w"},
        {"device": "gpu:0", "peak_bytes": 600, "basis": "measured", "why": "w"},
        {"device": "gpu:1", "peak_bytes": None, "basis": "unsupported", "why": "w"},
    ]
    ran = Key(6, "op", {"op": "MatMul", "device": "gpu:0"}, 1)
    assert [row.why for row in memory_table(tables(*keys, ran, totals=totals))][3] == "nothing ran there"
    copied = Key(7, "hop", {"src": "gpu:0", "dst": "gpu:1"}, None)
    assert [row.why for row in memory_table(tables(*keys, ran, copied, totals=totals))][3] == "w"
    told = texts("Memory", {"memory": rows})
    assert told[0] == ["cpu:0", "?", f"unsupported: {NOTHING_TOLD}"]
    assert told[1] == ["cpu:1", "900 B", "estimated"]


def test_collectives_of_several_graphs_are_one_row() -> None:
    fields = {"op": "AllReduce", "devices": ["cpu:2", "cpu:1"], "tensors": 6, "payload_bytes": 100}
    fields |= {"wire_bytes": 200, "algorithm": "ring", "loc": 3, "basis": "estimated"}
    keys = [Key(n, "collective", {**fields, "graph": n, "per_call": 1}, 10 * n) for n in (1, 2)]
    assert [row.row() for row in collective_table(tables(*keys))] == [
        {
            "op": "AllReduce",
            "devices": ["cpu:1", "cpu:2"],
            "tensors": 6,
            "payload_bytes": 100,
            "wire_bytes": 200,
            "algorithm": "ring",
            "count": 30,
            "site": "train.py:3",
            "basis": "estimated",
        }
    ]


def pinned_outside() -> Tables:
    """A model on cpu:1 whose gradients are computed outside its scope, as tf-pin-gradients makes it."""
    gradient = {"forward_loc": 10, "graph": 1, "per_call": 1}
    there = {"loc": 20, "facts": {"forward_requested": "cpu:1"}, **gradient}
    back = {"loc": 30, "producer_loc": 20, "requested": "cpu:1"}
    back |= {"facts": {"producer_forward_requested": "cpu:1"}, **gradient}
    return tables(
        Key(1, "call", {"graph": 1, "function": "step", "loc": 5}, 30),
        Key(2, "mark", {"name": "step"}, 30),
        hop(3, "cpu:1", "cpu:0", 30, tensor="a", op="ReluGrad", bytes=1024, **there),
        hop(4, "cpu:1", "cpu:0", 30, tensor="b", op="MatMul", bytes=1024, **there),
        hop(5, "cpu:0", "cpu:1", 30, tensor="g", op="Mul", bytes=2048, **back),
        hop(6, "cpu:0", "cpu:1", 1, tensor="w", kind="upload", loc=6, bytes=10),
        hop(
            7,
            "cpu:1",
            "cpu:0",
            30,
            tensor="l",
            kind="pull",
            op="Python",
            loc=8,
            facts={"sync": "float"},
            bytes=4,
        ),
        Key(8, "sync", {"device": "cpu:1", "kind": "float", "loc": 8, "basis": "measured"}, 30),
        Key(9, "sync", {"device": "cpu:1", "kind": "bool", "loc": 9, "basis": "measured"}, 30),
        Key(10, "sync", {"device": "cpu:0", "kind": "bool", "loc": 9, "basis": "measured"}, 30),
        hop(11, "cpu:1", "cpu:0", 0, tensor="never", loc=11),
        graphs=[Graph(1, "step", "f", 5, 1, None, 30)],
        unseen=[
            Unseen("ops inside f", 3, "compiled by XLA (jit_compile)"),
            Unseen("trace lines", 1, "garbage"),
        ],
        totals={8: KeyTotals(30, 30, 5000, 30), 9: KeyTotals(30, 30, 3000, 30)},
    )


def test_one_mistake_is_one_finding_and_the_unseen_comes_first() -> None:
    run = pinned_outside()
    found = findings(
        hop_table(run), sync_table(run), run.unseen, Telling(run.rounds, "step" if run.steps else "call")
    )
    assert [(row.code, row.severity, row.site, row.hops) for row in found] == [
        ("xla-opaque", "warning", None, ()),
        ("unknown", "info", None, ()),
        ("gradient-outside-scope", "warning", "train.py:20", (0, 1, 2)),
        ("host-sync", "warning", "train.py:8", (4,)),
        ("host-sync", "warning", "train.py:9", ()),
        ("host-upload", "info", "train.py:6", (3,)),
    ]
    mistake = found[2]
    assert mistake.summary == (
        "The gradients at train.py:20 are computed outside their forward ops' device scope, on cpu:0, "
        "so tensors cross cpu:1 to cpu:0, cpu:0 to cpu:1: 4 KiB each step."
    )
    assert mistake.fix == "Compute the gradients in the device scope of cpu:1, like the forward ops."
    assert (mistake.evidence.row()["transfers"], mistake.evidence.row()["bytes"]) == (90, 122880)
    assert found[3].evidence.row()["wait_ns"] == 5000
    # What happened once at the start needs no change.
    assert found[5].fix is None


def test_waits_that_are_a_good_part_of_the_run_are_a_warning_without_steps_too() -> None:
    def found(count: int, waited: int) -> tuple[str, str]:
        run = tables(
            hop(1, "cpu:1", "cpu:0", count, kind="pull", op="Python", loc=3, facts={"sync": "asscalar"}),
            Key(2, "sync", {"device": "cpu:1", "kind": "asscalar", "loc": 3, "bytes": 4}, count),
            Key(3, "op", {"op": "dot", "device": "cpu:1", "loc": 3}, 9),
            totals={
                2: KeyTotals(count, count, waited, count, first_ns=5, end_ns=900),
                3: KeyTotals(9, 9, 0, 0, first_ns=0, end_ns=1000),
            },
        )
        (row,) = run_findings(run, hop_table(run), sync_table(run))
        return row.severity, row.summary

    severity, summary = found(50, 400)
    assert severity == "warning"
    assert summary.endswith("400 ns waited (measured), 40 % of the run.")
    assert found(49, 400)[0] == found(50, 99)[0] == "info"


def test_what_an_evaluation_adds_is_told_beside_the_cost_of_a_step() -> None:
    run = tables(hop(1, "cpu:1", "cpu:0", 15, loc=3), Key(2, "mark", {"name": "step"}, 10))
    (found,) = findings(hop_table(run), [], [], Telling(run.rounds, "step" if run.steps else "call"))
    assert found.summary.endswith("100 B each step, 500 B more in the whole run.")


def test_a_process_that_was_ended_a_step_earlier_took_part_in_every_step() -> None:
    run = tables(
        hop(1, "cpu:1", "cpu:0", 1000, loc=3),
        hop(2, "cpu:2", "cpu:0", 999, loc=3),
        Key(3, "mark", {"name": "step"}, 1000),
    )
    (found,) = findings(hop_table(run), [], [], Telling(run.rounds, "step" if run.steps else "call"))
    assert found.summary.endswith("200 B each step.")


def test_steps_are_those_of_the_line_with_most() -> None:
    marks = [
        Key(number, "mark", {"name": "step", "loc": number}, count) for number, count in ((1, 5), (2, 7))
    ]
    assert tables(*marks).steps == 7


def test_a_cost_that_is_not_known_is_not_told_as_one() -> None:
    run = tables(hop(1, "cpu:1", "cpu:0", None, loc=3), hop(2, "cpu:1", "cpu:0", 3, loc=3, tensor="u"))
    (found,) = findings(hop_table(run), [], [])
    assert found.summary.endswith("at least 300 B, how often is not known.")
    assert found.evidence.row()["transfers"] is None
    run = tables(hop(1, "cpu:1", "cpu:0", 2, loc=3, bytes=None))
    (found,) = findings(hop_table(run), [], [])
    assert found.summary.endswith("bytes not known, 2 transfers in all.")


def test_an_op_on_the_wrong_device_is_one_mistake_wherever_its_inputs_are() -> None:
    run = tables(
        hop(1, "cpu:1", "cpu:0", 3, loc=3, op="Pack"),
        hop(2, "cpu:2", "cpu:0", 3, loc=3, op="Pack"),
        hop(3, "cpu:2", "cpu:0", 3, loc=4, op="Pack"),
    )
    assert [row.summary for row in findings(hop_table(run), [], [])] == [
        "Pack at train.py:3 has no device scope and runs on cpu:0, away from its inputs on cpu:1 and cpu:2: "
        "600 B in the whole run, 6 transfers.",
        "Pack at train.py:4 has no device scope and runs on cpu:0, away from its input on cpu:2: "
        "300 B in the whole run, 3 transfers.",
    ]


def test_the_report_has_exactly_the_parts_that_are_agreed() -> None:
    spec = {"device_map": {"cpu:1": {"uuid": "u", "x": 1}}}
    info = {"run": "r1", "status": "finished", "exit_code": 0, "spec": spec}
    run = pinned_outside()
    run.processes[0].device_map["cpu:1"] = {"stand_in": True, "x": 2}
    report = build_report(info, run)
    assert list(report) == [
        "version",
        "run",
        "framework",
        "status",
        "exit_code",
        "steps",
        "progress",
        "devices",
        "device_map",
        "notes",
        "verdicts",
        "unseen",
        "hidden",
        "placement",
        "hops",
        "collectives",
        "syncs",
        "memory",
        "samples",
        "findings",
    ]
    assert (report["version"], report["framework"], report["steps"]) == (1, "tensorflow", 30)
    assert report["samples"] is None
    assert report["devices"] == ["cpu:0", "cpu:1"]
    assert report["device_map"] == {"cpu:1": {"uuid": "u", "x": 2, "stand_in": True}}
    assert report["unseen"][0] == {"what": "ops inside f", "count": 3, "why": "compiled by XLA (jit_compile)"}
    agreed = {"code", "severity", "site", "summary", "evidence", "fix", "hops"}
    assert set(report["findings"][0]) == agreed | {"because", "proof", "source", "repair"}
    assert json.loads(json.dumps(report)) == report
    assert build_report(info, run, ops=True)["ops"] == []


def test_a_runs_folder_gives_its_report_live_and_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    tmp_path = tmp_path / "runs" / "one"
    trace = Trace(tmp_path)
    loc = trace.location("train.py:7")
    graph = trace.graph("step")
    trace.node(graph, 1, "a", "MatMul", "cpu:1", "cpu:1", loc)
    call = trace.key("call", 4, graph=graph, function="step", loc=loc)
    trace.key("hop", **hop_fields("cpu:0", "cpu:1", graph=graph, per_call=3, loc=loc, requested="cpu:1"))
    trace.event("call", 0, call, SECOND)
    trace.facts(devices=["cpu:0", "cpu:1"])
    trace.close()
    write_status(tmp_path, exit_code=3, state="failed")
    (tmp_path / "out.log").write_text("step 1/1\nverdict holds: all of it\n")

    first = run_report(tmp_path, ops=True)
    again = run_report(tmp_path, ops=True)

    assert (tmp_path / "tables").is_dir()
    assert first == again
    assert (first["run"], first["status"], first["exit_code"]) == (tmp_path.name, "failed", 3)
    assert first["verdicts"] == [{"verdict": "holds", "text": "all of it"}]
    assert [(row["src"], row["dst"], row["count"], row["bytes"]) for row in first["hops"]] == [
        ("cpu:0", "cpu:1", 12, 100)
    ]
    assert first["placement"] == [{"device": "cpu:0", "ops": 0}, {"device": "cpu:1", "ops": 1}]
    assert first["ops"] == [
        {
            "name": "a",
            "type": "MatMul",
            "requested": "cpu:1",
            "assigned": "cpu:1",
            "site": "train.py:7",
            "function": "step",
        }
    ]


def test_an_empty_run_has_a_report(tmp_path: Path) -> None:
    report = run_report(tmp_path)
    assert (report["status"], report["steps"], report["hops"], report["findings"]) == ("lost", None, [], [])
    reason = "nothing was recorded: no process of the run got to use TensorFlow or MXNet."
    assert f"Findings: {reason}" in render_text(report)
    assert "N" + reason[1:] in render_html(report)
    assert "Findings: nothing is recorded yet." in render_text(report | {"status": "running"})
    assert "Findings: none." in render_text(report | {"devices": ["cpu:0"]})
    host, other = {"device": "cpu:0", "ops": 3}, {"device": "cpu:1", "ops": 1}
    ran = {"devices": ["cpu:0", "cpu:1"], "placement": [host]}
    alone = "Findings: none; all ops ran on cpu:0, where nothing can cross."
    assert alone in render_text(report | ran)
    assert "Findings: none." in render_text(report | ran | {"placement": [host, other]})
    assert "<h2>Findings</h2>" in render_html(report)


def test_the_text_tells_what_was_not_seen_and_the_findings_first() -> None:
    text = render_text(build_report({"run": "r1", "status": "finished", "exit_code": 0}, pinned_outside()))
    lines = text.splitlines()
    assert lines[0] == "r1  tensorflow  finished (exit status 0)  30 steps"
    assert lines[3] == "Findings"
    assert lines[4] == (
        "!  xla-opaque: Not seen: ops inside f (3 executions of ops): compiled by XLA (jit_compile)."
    )
    assert text.index("Findings") < text.index("Placement") < text.index("Hops") < text.index("Syncs")
    (row,) = [line.split() for line in lines if line.split()[3:4] == ["g"]]
    assert row == [
        "2",
        "cpu:0",
        "cpu:1",
        "g",
        "Mul",
        "2",
        "KiB",
        "30\u00d7",
        "train.py:30",
        "gradient-outside-scope",
        "estimated",
    ]


def test_a_terminal_is_not_steered_by_names() -> None:
    run = tables(hop(1, "cpu:1", "cpu:0", 1, tensor="\x1b[31mred\n", op="\x07"))
    text = render_text(build_report({"run": "r", "status": "finished", "exit_code": 0}, run))
    assert "\x1b" not in text
    assert "\x07" not in text


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [name for name, _ in attrs if name in ("src", "href")]


def test_names_are_data_in_the_page() -> None:
    evil = '<script>alert(1)</script><img src=x onerror="alert(2)">'
    run = tables(
        hop(1, "cpu:1", "cpu:0", 1, tensor=evil, op=evil, loc=1),
        unseen=[Unseen(evil, 1, evil)],
        locations={1: Location(1, evil, None, evil, 1, evil)},
    )
    report = build_report({"run": evil, "status": evil, "exit_code": None, "framework": evil}, run, ops=True)
    source = {"first": 1, "line": 1, "lines": [evil]}
    finding: dict[str, Any] = dict.fromkeys(("code", "severity", "summary", "because", "fix"), evil)
    finding |= {"proof": [evil], "evidence": {evil: evil}, "hops": [evil], "source": source}
    finding |= {"repair": {"words": evil, "diff": f"@@ {evil} @@\n-{evil}\n+{evil}"}}
    report |= {"findings": [finding, finding | {"severity": "info"}], "notes": [evil], "hidden": evil}
    report |= {"verdicts": [{"verdict": evil, "text": evil}], "devices": [evil], "device_map": {evil: {}}}
    report |= {"placement": [{"device": evil, "ops": 1}], "not_foreseen": evil, "foreseen": None}
    page = render_html(report)
    parser = _Tags()
    parser.feed(page)
    assert not {"script", "img"} & parser.tags
    assert parser.links == []
    assert page.count("&lt;script&gt;") > 30 and page.startswith("<!doctype html>")


def test_a_page_of_its_own_says_what_is_a_fix() -> None:
    advised = {"code": "bounce", "severity": "warning", "summary": "x", "evidence": {}, "fix": "Prefetch."}
    report = build_report({"run": "r", "status": "finished"}, tables())
    page = render_html(report | {"findings": [advised | {"site": "a.py:1", "hops": []}]})
    assert "<p><strong>Fix</strong> Prefetch.</p>" in page


def test_an_op_that_nobody_placed_is_away_from_inputs_on_other_devices_only() -> None:
    """GIVEN one that takes from a card and one that a card takes from THEN their own device is no input's."""
    taken = hop(1, "cpu:1", "cpu:0", 30, loc=1, op="Pack", producer_requested="cpu:1")
    given = hop(2, "cpu:0", "cpu:1", 30, op="Assign", requested="cpu:1", producer_op="Mul", producer_loc=1)
    for rows in ([taken, given], [given, taken]):
        [found] = findings(hop_table(tables(*rows)), [], [])
        assert (found.code, found.site) == ("default-device", "train.py:1")
        assert re.match(
            r"(Pack, Mul|Mul, Pack) at train.py:1 have no device scope and run on cpu:0, away from their"
            r" inputs on cpu:1, and used on cpu:1: ",
            found.summary,
        )


def test_no_name_of_a_device_drives_the_terminal() -> None:
    report = build_report({"run": "r", "status": "finished", "exit_code": 0}, tables())
    name = "\x9b31mcpu:1\u202e"
    text = render_text(report | {"device_map": {name: {"stand_in": True}}, "devices": [name]})
    assert "stand-ins (they only play GPUs" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
