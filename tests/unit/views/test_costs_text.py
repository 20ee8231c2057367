"""What copies cost, as text."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from app.views.costs_text import costs_text
from runners.machine.copy_costs import Costs, Pair


@pytest.fixture(autouse=True)
def greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def test_pairs_and_what_was_left_out() -> None:
    pairs = (
        Pair("host", "GPU-a", 12.5e9, 9.2e-6, "pageable"),
        Pair("GPU-b", "GPU-a", 45e9, 12e-6, None, False),
        Pair("GPU-a", "GPU-a", 1.5e12, 3e-6),
        Pair("GPU-a", "GPU-b", 250e9, 8e-6, None, True),
        Pair("GPU-a", "host", 25e9, 6e-6, "pinned"),
        Pair("GPU-x", "host", 25e9, 6e-6, "pinned"),
    )
    skipped = (
        {"src": "GPU-c", "dst": None, "reason": "gpu:2 is in MIG mode"},
        {"src": "GPU-a", "dst": "GPU-b", "reason": "no room\x1b[2J"},
    )
    costs = Costs(1767225600.0, "570.86.15", "ws1", 64 << 20, pairs, skipped)
    names = {"GPU-a": "gpu:0", "GPU-b": "gpu:1", "GPU-c": "gpu:2"}
    assert costs_text(costs, names).splitlines() == [
        "Copies of 64 MiB on ws1, measured 2026-01-01 00:00:00:",
        "FROM   TO     HOST MEMORY   BANDWIDTH  LATENCY  WAY",
        "GPU-x  host   pinned       23.3 GiB/s     6 µs",
        "gpu:0  gpu:0               1.36 TiB/s     3 µs  within the card",
        "gpu:0  gpu:1                233 GiB/s     8 µs  direct (peer access)",
        "gpu:0  host   pinned       23.3 GiB/s     6 µs",
        "gpu:1  gpu:0               41.9 GiB/s    12 µs  through the host",
        "host   gpu:0  pageable     11.6 GiB/s   9.2 µs",
        "Not measured: gpu:2: gpu:2 is in MIG mode",
        "Not measured: gpu:0 to gpu:1: no room?[2J",
    ]
    assert costs_text(Costs(1767225600.0, None, "ws1", 1, ()), {}).count("\n") == 1
