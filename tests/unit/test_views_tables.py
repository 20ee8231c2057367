"""Rows for tables, finding cards, and texts that Markdown shows as they are."""

from __future__ import annotations

from typing import Any

import pytest

from app.views import tables
from app.views.findings import FindingCard, finding_cards, headline
from app.views.placement_data import Group, Member
from app.views.text import code_span, escape_markdown


def test_hop_rows() -> None:
    hops: list[dict[str, Any]] = [
        {
            "src": "gpu:0",
            "dst": "gpu:1",
            "src_memory": "device",
            "dst_memory": "host",
            "tensor": "dense/Relu:0",
            "op": "MatMul",
            "bytes": 65536,
            "count": 300,
            "site": "model.py:31",
            "cause": "explicit",
            "basis": "estimated",
        },
        {"src": "cpu:0", "dst": "gpu:0", "src_memory": "host", "bytes": None, "count": 3, "site": None},
    ]
    rows = tables.hop_rows(hops)
    assert rows == [
        {
            "from": "gpu:0",
            "to": "gpu:1 (host memory)",
            "tensor": "dense/Relu:0",
            "op": "MatMul",
            "bytes": 65536,
            "count": 300,
            "total": 19_660_800,
            "site": "model.py:31",
            "cause": "explicit",
            "basis": "estimated",
        },
        {
            "from": "cpu:0",
            "to": "gpu:0",
            "tensor": "",
            "op": "",
            "bytes": None,
            "count": 3,
            "total": None,
            "site": "",
            "cause": "unknown",
            "basis": "unknown",
        },
    ]
    shown = tables.formatted(rows, tables.HOP_FORMATS)
    assert [(row["bytes"], row["count"], row["total"]) for row in shown] == [
        ("64 KiB", "300", "18.8 MiB"),
        ("?", "3", "?"),
    ]


def test_sync_rows() -> None:
    sync = {
        "device": "gpu:0",
        "kind": "numpy",
        "site": "train.py:60",
        "count": 30,
        "wait_ns": 6_000_000,
        "copy_ns": None,
        "basis": "measured",
    }
    rows = tables.sync_rows([sync])
    assert rows == [
        {
            "device": "gpu:0",
            "kind": "numpy",
            "count": 30,
            "wait": 0.006,
            "copy": None,
            "wait each": pytest.approx(0.0002),
            "site": "train.py:60",
            "basis": "measured",
        }
    ]
    (shown,) = tables.formatted(rows, tables.SYNC_FORMATS)
    assert (shown["wait"], shown["copy"], shown["wait each"]) == ("6 ms", "?", "200 µs")


def test_collective_device_and_unseen_rows() -> None:
    assert tables.collective_rows(
        [
            {
                "op": "AllReduce",
                "devices": ["gpu:0", "gpu:1"],
                "tensors": ["a", "b"],
                "payload_bytes": 10,
                "count": 2,
            }
        ]
    ) == [
        {
            "op": "AllReduce",
            "devices": "gpu:0, gpu:1",
            "tensors": 2,
            "payload": 10,
            "on the wire": None,
            "algorithm": "unknown",
            "count": 2,
            "site": "",
            "basis": "unknown",
        }
    ]
    assert tables.device_rows(
        [{"device": "gpu:0", "ops": 5}, {"device": "cpu:0", "ops": 1}],
        [{"device": "gpu:0", "peak_bytes": 7, "basis": "measured"}],
    ) == [
        {"device": "gpu:0", "ops": 5, "peak": 7, "basis": "measured"},
        {"device": "cpu:0", "ops": 1, "peak": None, "basis": "unknown"},
    ]
    assert tables.unseen_rows([{"what": "xla", "count": 2, "why": "compiled"}]) == [
        {"what": "xla", "count": 2, "why": "compiled"}
    ]


def test_placement_and_member_rows() -> None:
    op = {
        "name": "dense/MatMul",
        "type": "MatMul",
        "requested": "gpu:1",
        "assigned": "cpu:0",
        "site": "a.py:1",
    }
    assert tables.placement_rows([op]) == [op]
    members = (Member(1, "dense/MatMul", "MatMul", "", "cpu:1", None, "model.py:3"),)
    group = Group("g", "dense", "dense", "cpu:1", 1, (), 0, 0, False, False, "scope", None, members)
    assert tables.member_rows(group) == [
        {
            "name": "dense/MatMul",
            "type": "MatMul",
            "requested": "not requested",
            "assigned": "cpu:1",
            "site": "",
            "forward site": "model.py:3",
        }
    ]


def test_finding_cards_put_errors_first_and_escape() -> None:
    findings: list[dict[str, Any]] = [
        {
            "code": "host-sync",
            "severity": "warning",
            "site": "train.py:60",
            "summary": "`loss` is read *every* step",
            "evidence": {"calls": 300, "op_name": "a`b"},
            "fix": "read it every 100th step",
            "hops": [3],
        },
        {"code": "mixed-context", "severity": "error", "summary": "", "evidence": ["x", "y"], "fix": ""},
    ]
    cards = finding_cards(findings)
    assert [card.code for card in cards] == ["mixed-context", "host-sync"]
    assert cards[0].evidence == (("", "`x`"), ("", "`y`"))
    assert cards[1] == FindingCard(
        code="host-sync",
        severity="warning",
        icon=":material/warning:",
        color="orange",
        summary=r"\`loss\` is read \*every\* step",
        site="`train.py:60`",
        evidence=(("calls", "`300`"), (r"op\_name", "``a`b``")),
        fix="read it every 100th step",
        hops=(3,),
    )
    assert headline(findings) == "1 error, 1 warning"
    assert headline([{"severity": "info"}]) == ""


def test_markdown_sees_only_text() -> None:
    assert escape_markdown("<b>*x*</b> :red[y] $z$\n[a](b)") == (
        r"\<b\>\*x\*\</b\> \:red\[y\] \$z\$ \[a\]\(b\)"
    )
    assert code_span("plain") == "`plain`"
    assert code_span("a``b`") == "``` a``b` ```"
    assert code_span("two\nlines") == "`two lines`"
    assert code_span("") == ""
