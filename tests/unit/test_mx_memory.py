"""A GPU's memory is what its driver says; another context's is measured where it can be, else estimated."""

from __future__ import annotations

import sys
from collections import Counter
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from probes.mx.memory import Memory

TOTAL = 1000


class MXNetError(Exception):
    """Stands for MXNet's own, which is not installed here."""


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> dict[int, int]:
    """Free bytes by card; a card that is not in it can't be asked."""
    found: dict[int, int] = {}

    def gpu_memory_info(number: int) -> tuple[int, int]:
        if number not in found:
            raise MXNetError("CUDA: invalid device ordinal")
        return found[number], TOTAL

    base, context = ModuleType("mxnet.base"), ModuleType("mxnet.context")
    base.MXNetError = MXNetError  # type: ignore[attr-defined]
    context.gpu_memory_info = gpu_memory_info  # type: ignore[attr-defined]
    for module in (ModuleType("mxnet"), base, context):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return found


class Written:
    """Takes what is recorded of memory."""

    def __init__(self) -> None:
        self.ending = True  # every tick samples
        self.counts = self.kept_counts = Counter[int]()
        self.told: dict[tuple[str, str, str], list[int]] = {}
        """The values, by device, what they are, and basis."""

    def key(self, identity: Any, kind: str, fields: dict[str, Any], counted: bool) -> int:
        assert (kind, counted) == ("memory", False)
        self.told.setdefault((fields["device"], fields["what"], fields["basis"]), [])
        return list(self.told).index((fields["device"], fields["what"], fields["basis"]))

    def event(self, kind: str, start: int, dur: int, key: int, count: int, value: int) -> None:
        list(self.told.values())[key].append(value)


@pytest.fixture
def recording() -> Written:
    return Written()


def sampled(recording: Written, totals: dict[str, list[int]], exact: Any = None) -> Memory:
    return Memory(cast(Any, recording), cast(Any, SimpleNamespace(totals=totals)), exact)


def test_a_card_is_sampled_and_its_peak_is_the_most_that_was_seen(
    recording: Written, free: dict[int, int]
) -> None:
    memory = sampled(recording, {"gpu:1": [5, 7]})
    for left in (900, 400, 700):
        free[1] = left
        memory.tick()
    assert recording.told == {
        ("gpu:1", "in_use", "sampled"): [100, 600, 300],
        ("gpu:1", "peak", "sampled"): [100, 600, 600],
    }


@pytest.mark.usefixtures("free")
def test_a_card_that_does_not_answer_is_estimated(recording: Written) -> None:
    sampled(recording, {"gpu:0": [5, 7]}).tick()
    assert recording.told == {("gpu:0", "in_use", "estimated"): [5], ("gpu:0", "peak", "estimated"): [7]}


def test_what_is_measured_goes_before_an_estimate(recording: Written) -> None:
    exact = SimpleNamespace(memory={"cpu:1": [30, 40]})
    memory = sampled(recording, {"cpu:1": [5, 7], "cpu:2": [1, 2]}, exact)
    memory.tick()
    assert recording.told == {
        ("cpu:1", "in_use", "measured"): [30],
        ("cpu:1", "peak", "measured"): [40],
        ("cpu:2", "in_use", "estimated"): [1],
        ("cpu:2", "peak", "estimated"): [2],
    }
