"""An op in no scope, in a thread beside one that has a scope open: TensorFlow's are of one thread."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.findings import run_findings
from app.diagnosis.judged_hops import hop_table
from app.diagnosis.registry import because
from tests.unit.diagnosis.test_tensor_paths import STEPS, hop, tables

INSIDE = (
    "Open the device scope inside the function that the thread runs: no scope of another thread holds there."
)
THREAD = (
    " The op ran in a thread of its own: a device scope, as the one opened at train.py:12, holds only in"
    " the thread that opens it."
)


@pytest.mark.parametrize("apart", [{"scope_apart_loc": 2}, {"producer_scope_apart_loc": 2}, {}])
def test_a_scope_that_another_thread_has_open_is_told_with_what_to_do(apart: dict[str, Any]) -> None:
    """GIVEN an op that took its input from a scope's device THEN its thread is told, and what to do there."""
    facts: dict[str, Any] = {"producer_op": "MatMul", "producer_loc": 2, "op": "AddV2", "loc": 1}
    facts |= {"producer_requested": "cpu:1", "requested": "", "assigned": "cpu:0"}
    run = tables(hop(1, "cpu:1", "cpu:0", bytes=1 << 20, **facts, **apart), STEPS)
    (found,) = run_findings(run, hop_table(run), [])
    assert found.code == "default-device"
    told = because(found)
    if "scope_apart_loc" in apart:
        assert found.fix == INSIDE and told.endswith(THREAD)
    else:  # of the producer, whom nothing is told of
        assert found.fix == "Put the op into the device scope of its inputs." and "thread" not in told
