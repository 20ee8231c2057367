"""Measuring copies on a double of NVIDIA's driver, whose memory is the host's; its copies really copy."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.errors import HopscopeError
from runners.machine import copy_measuring
from runners.machine.copy_costs import load
from runners.machine.copy_measuring import Measuring, measure
from tests.nvml import NvmlDouble

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def machine(
    nvml_makeable: None, tmp_path: Path, hopscope_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[NvmlDouble]:
    """Three cards, and copies that are small enough to be quick."""
    monkeypatch.setattr(copy_measuring, "SIZE_BYTES", 1 << 20)
    with NvmlDouble(tmp_path, gpus=3) as double:
        for name, value in double.environment().items():
            monkeypatch.setenv(name, value)
        yield double


def uuids(double: NvmlDouble) -> list[str]:
    return [str(double.get(index, "uuid")) for index in range(double.gpus)]


def test_every_ordered_pair_of_cards_and_host_is_measured_and_kept(machine: NvmlDouble) -> None:
    told: list[tuple[int, int, str]] = []
    costs = measure(lambda *progress: told.append(progress))
    cards = uuids(machine)
    ends = [(pair.src, pair.dst, pair.memory) for pair in costs.pairs]
    with_host = [("host", card, memory) for card in cards for memory in ("pinned", "pageable")]
    expected: list[tuple[str, str, str | None]] = [*with_host]
    expected += [(dst, src, memory) for src, dst, memory in with_host]
    expected += [(one, other, None) for one in cards for other in cards]
    assert sorted(map(str, ends)) == sorted(map(str, expected))
    assert all(pair.bytes_per_second > 0 and pair.latency_seconds > 0 for pair in costs.pairs)
    assert (costs.driver, costs.size_bytes, costs.skipped) == ("570.86.15", 1 << 20, ())
    assert [done for done, _, _ in told] == list(range(len(expected)))
    assert {of for _, of, _ in told} == {len(expected)}
    assert load(cards, "570.86.15") == costs


def test_peer_access_is_used_where_it_can_be_and_told(machine: NvmlDouble) -> None:
    machine.p2p(0, 2, 3)
    pairs = {(pair.src, pair.dst): pair.peer for pair in measure().pairs}
    first, second, third = uuids(machine)
    assert pairs[first, second] is True
    assert pairs[first, third] is False
    assert pairs[third, first] is True
    assert pairs[first, first] is None
    assert machine.calls("cuCtxEnablePeerAccess") == 5


def test_all_memory_is_given_back(machine: NvmlDouble) -> None:
    measure()
    assert machine.calls("cuDevicePrimaryCtxRetain") == machine.calls("cuDevicePrimaryCtxRelease_v2") == 3


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("memory_used", (80 << 30) - (1 << 29) - (5 << 20), "gpu:1 has only 5 MiB free"),
        ("compute_mode", 3, "gpu:1 is in exclusive process mode"),
        ("compute_mode", 2, "gpu:1 is in prohibited mode"),
    ],
)
def test_a_card_that_is_full_or_taken_is_left_alone(
    name: str, value: int, reason: str, machine: NvmlDouble
) -> None:
    machine.set(1, name, value)
    costs = measure()
    card = uuids(machine)[1]
    assert card not in costs.uuids
    assert [dict(row) for row in costs.skipped] == [{"src": card, "dst": None, "reason": reason}]
    for index in (0, 2):
        machine.set(index, name, value)
    with pytest.raises(HopscopeError, match=r"nothing can be measured now: gpu:0 .*; gpu:1 .*; gpu:2 "):
        measure()
    assert machine.calls("cuDevicePrimaryCtxRetain") == 2


def test_the_process_itself_asks_before_it_takes_memory(machine: NvmlDouble) -> None:
    """A card may have filled up since it was looked at."""
    machine.set(0, "memory_used", (80 << 30) - (1 << 29) - (5 << 20))
    machine.set(2, "compute_mode", 3)
    words = [sys.executable, "-m", "probes.cuda.bandwidth", "--bytes", "1048576"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    first, _, third = uuids(machine)
    assert {row["src"]: row["reason"] for row in answer["skipped"]} == {
        first: "only 5 MiB of its memory are free",
        third: "it is in exclusive mode, and measuring would take it from others",
    }
    assert machine.calls("cuMemAlloc_v2") == 2


def test_a_pair_that_fails_does_not_spoil_the_others(machine: NvmlDouble) -> None:
    machine.fail("cuMemcpyPeerAsync", 700)
    costs = measure()
    assert len(costs.pairs) == 3 * 4 + 3
    assert len(costs.skipped) == 6
    assert all("cuMemcpyPeerAsync" in row["reason"] for row in costs.skipped)


def test_it_ends_in_time(machine: NvmlDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy_measuring, "LIMIT_S", 0.0)
    with pytest.raises(HopscopeError, match="not reached within 0 s"):
        measure()
    machine.hang("cuStreamSynchronize", deaf=True)
    monkeypatch.setattr(copy_measuring, "LIMIT_S", 0.5)
    monkeypatch.setattr(copy_measuring, "SLACK_S", 0.5)
    with pytest.raises(HopscopeError, match="the NVIDIA driver did not answer within 1 s"):
        measure()
    assert load() is None


def test_one_at_a_time(machine: NvmlDouble, hopscope_home: Path) -> None:
    folder = hopscope_home / "machine"
    folder.mkdir()
    with (folder / ".measuring").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(HopscopeError, match="somebody is measuring this machine now"):
            measure()
    assert measure().pairs


def test_a_machine_without_a_gpu_says_so(hopscope_home: Path) -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has an NVIDIA driver")
    with pytest.raises(HopscopeError, match="there is nothing to measure: no NVIDIA driver"):
        measure()


def test_in_the_background_the_progress_and_the_problem_are_there_for_all(machine: NvmlDouble) -> None:
    measuring = Measuring()
    machine.hang("cuInit")
    measuring.start()
    measuring.start()
    assert (measuring.running, measuring.progress) == (True, (0, 0, "CUDA starts"))
    machine.release()
    measuring.wait(60)
    assert (measuring.running, measuring.progress, measuring.problem) == (False, None, None)
    assert load(uuids(machine)) is not None
    machine.fail("cuInit", 803)
    measuring.start()
    measuring.wait(60)
    assert measuring.problem is not None and "differ in version" in measuring.problem
