"""Uploads by another thread than the one that makes the steps: it sends ahead already."""

from __future__ import annotations

import pytest

from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from app.diagnosis.registry import because
from app.judgments.finding import Finding
from app.store.paces import Pace, Paces
from app.store.totals import KeyTotals
from probes.trace.rows import Key
from tests.unit.facts.test_hops import tables
from tests.unit.traces import hop_fields

AHEAD = Pace(early=3, within=97, mask=(1 << 99) - 1, seen=99, elsewhere=True)
BETWEEN = Pace(early=1, within=99, mask=(1 << 99) - 1, seen=99)
AFTER_ALL = Pace(seen=99, elsewhere=True)


def upload(number: int, size: int = 1 << 18) -> Key:
    fields = hop_fields("cpu:0", "cpu:1", kind="upload", producer_op="Python", loc=1) | {"bytes": size}
    return Key(number, "hop", fields, 100)


def found(*paces: Pace) -> Finding:
    """The finding of uploads at one line that take half of the run, each of this pace."""
    keys = [upload(number, number << 18) for number, _ in enumerate(paces, 1)]
    totals = {key.id: KeyTotals(100, 100, 500_000 // len(keys), 100, None, 0, 1_000_000) for key in keys}
    steps = Key(9, "mark", {"name": "step"}, 100)
    by_key = dict(enumerate(paces, 1))
    run = tables(*keys, steps, totals=totals, paces=Paces(by_key, {0: Pace(seen=99)}))
    (finding,) = run_findings(run, hop_table(run), [])
    return finding


def test_what_another_thread_sends_is_sent_ahead_and_holds_nothing_up() -> None:
    finding = found(AHEAD)
    assert (finding.code, finding.severity, finding.fix) == ("host-upload", "info", None)
    assert "of the run" not in finding.summary
    assert "Another thread sends it" in because(finding)


@pytest.mark.parametrize("paces", [(BETWEEN,), (AHEAD, BETWEEN), (AFTER_ALL,)])
def test_what_the_thread_of_the_steps_sends_too_may_be_sent_ahead(paces: tuple[Pace, ...]) -> None:
    finding = found(*paces)
    assert "prefetching" in (finding.fix or "")
    assert "Another thread" not in because(finding)
    assert "50 % of the run (measured)" in finding.summary
