"""A few rounds of each fault; `python -m tests.faults` tries hundreds, and a soak of an hour."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.faults.catalogue import faults
from tests.faults.playing import play, table

SEED = "ci"
SOAK_S = 15.0
ROUNDS = {
    "kill-program": 3,
    "kill-supervisor": 3,
    "kill-companion": 1,
    "kill-sampler": 1,
    "kill-watchers": 1,
    "kill-member": 2,
    "kill-cluster-supervisor": 1,
    "kill-server": 1,
    "disk-recording": 5,
    "disk-sealing": 5,
    "read-only-home": 1,
    "damaged-files": 20,
    "two-servers": 1,
    "clock": 2,
    "soak": 1,
}


@pytest.mark.timeout(480)
@pytest.mark.parametrize("name", ROUNDS)
def test_a_fault_loses_nothing_and_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    with faults(SOAK_S, lambda text: print(text, file=sys.stderr)) as known:
        assert {fault.name for fault in known} == set(ROUNDS)
        (fault,) = [fault for fault in known if fault.name == name]
        tally = play(fault, range(ROUNDS[name]), SEED, tmp_path, sys.stderr)
    if tally.skipped:
        pytest.skip(tally.skipped)
    assert not tally.failures, table([tally])
