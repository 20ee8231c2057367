"""An op in no scope, in a thread beside one that has a scope open: TensorFlow's are of one thread."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from tests.unit.diagnosis.test_tensor_paths import STEPS, hop, tables


@pytest.mark.parametrize("apart", [{"scope_apart_loc": 2}, {"producer_scope_apart_loc": 2}, {}])
def test_a_scope_that_another_thread_has_open_is_evidence(apart: dict[str, Any]) -> None:
    """GIVEN an op that took its input from a scope's device THEN the scope is evidence."""
    facts: dict[str, Any] = {"producer_op": "MatMul", "producer_loc": 2, "op": "AddV2", "loc": 1}
    facts |= {"producer_requested": "cpu:1", "requested": "", "assigned": "cpu:0"}
    run = tables(hop(1, "cpu:1", "cpu:0", bytes=1 << 20, **facts, **apart), STEPS)
    (found,) = run_findings(run, hop_table(run), [])
    assert found.code == "default-device"
    # Not of the producer, which is in the scope.
    assert ("scope_apart" in found.evidence.row()) == ("scope_apart_loc" in apart)
