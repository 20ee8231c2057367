"""Leases of GPUs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runners.runs import leases


def test_a_card_is_one_runs_until_it_is_released(tmp_path: Path) -> None:
    held = leases.take(tmp_path, ["GPU-a", "GPU-b"], "run-1")
    assert leases.holders(tmp_path, "GPU-a") == ["run-1"]
    with pytest.raises(leases.Held) as refusal:
        leases.take(tmp_path, ["GPU-b"], "run-2")
    assert (refusal.value.card, refusal.value.runs) == ("GPU-b", ["run-1"])
    leases.release(held)
    assert leases.holders(tmp_path, "GPU-b") == []
    leases.release(leases.take(tmp_path, ["GPU-b"], "run-2"))


def test_all_or_none(tmp_path: Path) -> None:
    held = leases.take(tmp_path, ["GPU-b"], "run-1")
    with pytest.raises(leases.Held):
        leases.take(tmp_path, ["GPU-a", "GPU-b"], "run-2")
    assert leases.holders(tmp_path, "GPU-a") == []
    leases.release(held)


def test_sharing_is_seen_by_those_who_do_not_want_to(tmp_path: Path) -> None:
    first = leases.take(tmp_path, ["GPU-a"], "run-1")
    second = leases.take(tmp_path, ["GPU-a"], "run-2", share=True)
    assert leases.holders(tmp_path, "GPU-a") == ["run-1", "run-2"]
    leases.release(first)
    with pytest.raises(leases.Held) as refusal:
        leases.take(tmp_path, ["GPU-a"], "run-3")
    assert refusal.value.runs == ["run-2"]
    leases.release(second)


def test_a_lease_lives_as_long_as_any_process_that_holds_it(tmp_path: Path) -> None:
    held = leases.take(tmp_path, ["GPU-a"], "run-1")
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writable)
        os.read(readable, 1)
        os._exit(0)
    os.close(readable)
    leases.release(held)
    assert leases.holders(tmp_path, "GPU-a") == ["run-1"]
    os.close(writable)
    os.waitpid(child, 0)
    assert leases.holders(tmp_path, "GPU-a") == []


def test_a_card_nobody_ever_used_is_free(tmp_path: Path) -> None:
    assert leases.holders(tmp_path, "GPU-a") == []
    assert list(tmp_path.iterdir()) == []
