"""Which card is which, as text."""

from __future__ import annotations

from typing import Any

from app.views.index_map import index_map
from tests.unit.machine_snapshots import gpu, lost_gpu, machine, without_gpus


def counted(now: Any, by_bus: Any, by_speed: Any) -> dict[str, Any]:
    return {"cuda_ordinal": now, "cuda_ordinals": {"PCI_BUS_ID": by_bus, "FASTEST_FIRST": by_speed}}


def test_the_map_with_hidden_unknown_and_lost_cards() -> None:
    hidden = {"state": "unsupported", "reason": "hidden by CUDA_VISIBLE_DEVICES=1,0"}
    unread = {"state": "error", "reason": "the card cannot be read"}
    snapshot = machine(
        gpu(0, **counted(1, 0, 1)),
        gpu(1, **counted(0, 1, 0)),
        gpu(2, **counted(hidden, 2, 2)),
        lost_gpu(3, **counted(unread, unread, unread)),
    )
    assert index_map(snapshot, {"CUDA_VISIBLE_DEVICES": "1,0\x1b[2J"}).splitlines() == [
        "Which card is which, to a process started from here (CUDA_DEVICE_ORDER is not set; "
        "CUDA_VISIBLE_DEVICES=1,0?[2J):",
        "NVML  UUID                                      PCI BUS ID        CUDA  PCI_BUS_ID  FASTEST_FIRST  "
        "TENSORFLOW  MXNET",
        "   0  GPU-00000000-aaaa-bbbb-cccc-dddddddddddd  00000000:41:00.0     1           0              1  "
        "/GPU:1      gpu(1)",
        "   1  GPU-00000001-aaaa-bbbb-cccc-dddddddddddd  00000000:42:00.0     0           1              0  "
        "/GPU:0      gpu(0)",
        "   2  GPU-00000002-aaaa-bbbb-cccc-dddddddddddd  00000000:43:00.0     -           2              2  "
        "-           -",
        "   3  GPU-00000003-aaaa-bbbb-cccc-dddddddddddd  00000000:44:00.0     -           -              -  "
        "-           -",
        "What could not be read, and why:",
        "  GPU 2  CUDA's number [hidden by CUDA_VISIBLE_DEVICES=1,0]",
        "  GPU 3  CUDA's number, number by PCI_BUS_ID, number by FASTEST_FIRST [the card cannot be read]",
    ]


def test_nothing_without_gpus_and_a_reason_where_cuda_was_not_asked() -> None:
    assert index_map(without_gpus(), {}) == ""
    assert index_map(machine(gpu()), {}).splitlines()[-1].endswith("[not asked of CUDA]")
