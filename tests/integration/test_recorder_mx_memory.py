"""Memory of MXNet's contexts: the estimate from the arrays that live, held against arithmetic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.store.run import open_run
from tests.integration.recording import SCRIPTS, Recorded, record

FLOAT = 4


@pytest.fixture(scope="module")
def memory(mx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        return record(mx_python, SCRIPTS / "mx_memory.py", framework="mxnet")


def at_end(run: Recorded, device: str) -> dict[str, Any]:
    """What was last told of a device."""
    store = open_run(run.run.path)
    try:
        found = [key for key in store.keys("memory") if key.fields["device"] == device]
        last = "SELECT value FROM events WHERE kind = 'memory' AND key = ? ORDER BY ts_ns DESC LIMIT 1"
        return {key.fields["what"]: store.query(last, (key.id,))[0][0] for key in found}
    finally:
        store.close()


def test_an_array_its_gradient_and_no_view_are_in_use(memory: Recorded) -> None:
    assert memory.run.state == "finished", memory.log[-2000:]
    assert at_end(memory, "cpu:1")["in_use"] == 2 * 256 * 1024 * FLOAT


def test_what_was_freed_counts_for_the_peak(memory: Recorded) -> None:
    assert at_end(memory, "cpu:1")["peak"] == (2 * 256 + 1024) * 1024 * FLOAT


def test_new_values_in_an_array_and_a_replaced_gradient_count_once(memory: Recorded) -> None:
    assert at_end(memory, "cpu:2")["in_use"] == (64 * 64 + 2 * 1000) * FLOAT


def test_the_report_says_that_it_is_an_estimate(memory: Recorded) -> None:
    rows = {row["device"]: (row["peak_bytes"], row["basis"]) for row in memory.report["memory"]}
    assert rows["cpu:1"] == ((2 * 256 + 1024) * 1024 * FLOAT, "estimated")
