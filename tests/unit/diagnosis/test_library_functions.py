"""Libraries' functions that take values or wait: named, with the kinds of waits apart that they make."""

from __future__ import annotations

import pytest

from app.diagnosis.causes.host_sync import library_functions
from app.diagnosis.causes.host_sync.cause import of_syncs
from app.diagnosis.detectors.transfer_findings import of_hops
from app.diagnosis.wording.transfer_costs import Telling, standstill
from app.facts.syncs import Sync
from app.facts.transfers.hops import Hop
from probes.trace.hop import LOGS
from tests.unit.fixes.fix_cases import hop

LOOP, TOC, TIC = "mxnet/ndarray/contrib.py:while_loop", "mxnet/monitor.py:toc", "mxnet/monitor.py:tic"
TELLING = Telling(16, "step", 100_000_000)


@pytest.mark.parametrize(
    ("vias", "told"),
    [
        ([LOOP, LOOP], ["while_loop (mxnet/ndarray/contrib.py)"]),
        (["numpy/_core/fromnumeric.py:mean"], ["mean (numpy/_core/fromnumeric.py)"]),
        ([TOC, "mxnet/ndarray/ndarray.py:asscalar"], []),
        (["tensorflow/python/framework/ops.py:__float__"], []),
        (["tensorflow/python/util/traceback_utils.py:error_handler"], []),
        (["mxnet/gluon/data/dataloader.py:__init__"], ["__init__ (mxnet/gluon/data/dataloader.py)"]),
        (["__init__.py:info"], ["info"]),
        (["keras/src/layers/layer.py:get_weights"], []),
        ([None], []),
        ([], []),
    ],
)
def test_a_library_s_function_is_named_where_only_it_takes_values(
    vias: list[str | None], told: list[str]
) -> None:
    assert library_functions.functions(vias) == told


def pulled(via: str, **facts: str) -> Hop:
    site = "t.py:3"
    return hop("host-sync", "cpu:1", via=via, site=site, count=240, each=15.0, evidence=facts)


def test_waits_beside_takes_add_up() -> None:
    takes = Sync(
        "cpu:1", "asscalar", "t.py:3", 240, 500_000, 200_000, "estimated", True, "estimated", timed=200
    )
    waits = Sync("cpu:1", "wait_to_read", "t.py:3", 96, 81_300_000, 0, "measured", False, "measured")
    told = of_hops([0], [row := pulled(TOC, taken_by="asscalar")], [row], [takes, waits], TELLING)
    assert told.summary == (
        "Python takes a value from cpu:1 by asscalar, and waits by wait_to_read, inside toc"
        " (mxnet/monitor.py) at t.py:3: 60 B each step, 82 ms waited (estimated), 82 % of"
        " the run."
    )
    assert told.evidence.row()["inside"] == ["toc (mxnet/monitor.py)"]


def test_kinds_that_are_timed_alike_are_one_sum() -> None:
    kinds = [Sync("cpu:1", kind, "t.py:3", 4, 1_000_000, None, "measured") for kind in ("float", "numpy")]
    assert standstill(kinds) == ", 2 ms waited (measured)"


def test_what_is_waited_is_of_all_kinds_that_the_finding_names() -> None:
    """Bug: the time that Keras' own logs waited was left out, and their bytes were counted."""
    rows = [pulled(TOC, taken_by="bool"), pulled(TOC, taken_by=LOGS)]
    kinds = [
        Sync("cpu:1", kind, "t.py:3", 27, waited, 0, "measured", split_basis="estimated")
        for kind, waited in (("bool", 209_000), (LOGS, 302_000))
    ]
    told = of_hops([0, 1], rows, rows, kinds, TELLING)
    assert told.summary.endswith(" each step, 511 µs waited (measured).") and LOGS in told.summary
    # Only what the code itself takes tells how much it is worth.
    assert told.cost_ns == of_hops([0, 1], rows, rows, kinds[:1], TELLING).cost_ns


def test_what_a_library_takes_for_itself_already_told_is_not_named_again() -> None:
    row = pulled("mxnet/ndarray/contrib.py:cond", taken_by="library's own thread")
    assert "inside" not in of_hops([0], [row], [row], [], TELLING).evidence.row()


def test_a_wait_inside_a_library_is_not_the_code_s_to_drop() -> None:
    wait = Sync("cpu:1", "wait_to_read", "t.py:3", 96, 40_000, 0, "measured", False, "measured", via=(TIC,))
    found = of_syncs([wait], TELLING)
    assert found.summary.startswith(
        "Python waits for cpu:1 by wait_to_read inside tic (mxnet/monitor.py) at t"
    )
    assert found.fix is not None and "Drop the wait" not in found.fix and "tic (mxnet" in found.fix
    plain = Sync("cpu:1", "wait_to_read", "t.py:3", 96, 40_000, 0, "measured", False, "measured", via=(None,))
    assert (of_syncs([plain], TELLING).fix or "").startswith("Drop the wait")
