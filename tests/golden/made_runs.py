"""Runs made of small tables, for causes that a recording without GPUs cannot have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.facts.tables import Tables
from app.reports.run_report import build_report
from tests.unit.diagnosis import test_device_order as order
from tests.unit.diagnosis import test_imbalance as balance


def _findings(spec: Mapping[str, Any], tables: Tables) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = build_report({"spec": spec}, tables)["findings"]
    return found


def _other_gpus_than_asked_for() -> list[Mapping[str, Any]]:
    spec = order.spec(order.C, order.A)
    inside = {**spec["env"], "CUDA_VISIBLE_DEVICES": "1,0"}
    return _findings(spec, order.run(order.process(order.B, order.A, env=inside)))


def _asked_for_and_got() -> list[Mapping[str, Any]]:
    spec = order.spec(order.C, order.A)
    return _findings(spec, order.run(order.process(order.C, order.A, env=spec["env"])))


def _one_unused() -> list[Mapping[str, Any]]:
    return _findings(balance.SCRIPT, balance.tables(balance.op(1, "gpu:0"), balance.op(2, "cpu:0")))


def _both_used() -> list[Mapping[str, Any]]:
    return _findings(balance.SCRIPT, balance.tables(balance.op(1, "gpu:0"), balance.op(2, "gpu:1")))


def _memory_differs() -> list[Mapping[str, Any]]:
    keys = [balance.op(1, "gpu:0"), balance.op(2, "gpu:1")]
    keys += [balance.memory(3, "gpu:0"), balance.memory(4, "gpu:1")]
    peaks = balance.peaks(k3=9 * balance.GIB, k4=balance.GIB)
    return _findings({}, balance.tables(*keys, totals=peaks))


MADE: Mapping[str, Callable[[], Sequence[Mapping[str, Any]]]] = {
    "made/other_gpus_than_asked_for": _other_gpus_than_asked_for,
    "made/asked_for_and_got": _asked_for_and_got,
    "made/one_unused": _one_unused,
    "made/both_used": _both_used,
    "made/memory_differs": _memory_differs,
}
