"""How busy each GPU is, where one is chosen for a launch."""

from __future__ import annotations

from typing import Any

import pytest

from app.web.launch.card_loads import card_loads, least_busy, load_rows, warnings
from tests.unit.machine_snapshots import (
    DENIED,
    GIB,
    UNSUPPORTED,
    elsewhere,
    gpu,
    lost_gpu,
    machine,
    process,
    without_gpus,
)
from tests.unit.web.app_pages import page_of

IDLE: dict[str, Any] = {"utilization_gpu_percent": 0, "memory_free_bytes": 79 * GIB}


def test_a_card_says_how_much_is_free_how_busy_it_is_and_who_uses_it() -> None:
    users = [process(), elsewhere(7), process(8, command=DENIED, user=DENIED), process(9)]
    (load,) = card_loads(machine(gpu(0, processes=users)))
    (row,) = load_rows([load], ["gpu:0"])
    cells = row["cells"]
    assert (cells["card"]["text"], cells["becomes"]["text"]) == ("gpu:0", "gpu:0")
    # The bar, its label and the column's title are all of what is used.
    assert cells["memory"]["text"] == "20.6 GiB of 80 GiB"
    assert cells["memory"]["fraction"] == pytest.approx(1 - 60817 / 81920)
    assert cells["load"] == {"text": "57 %", "fraction": 0.57, "sort": 57}
    assert cells["users"]["text"] == "python3 (alice), a process of another container, process 8 and 1 more"


def test_the_chosen_ones_come_first_and_in_their_order() -> None:
    loads = card_loads(machine(*(gpu(index, **IDLE) for index in range(4))))
    rows = load_rows(loads, ["gpu:3", "gpu:1"])
    assert [row["id"] for row in rows] == ["gpu:3", "gpu:1", "gpu:0", "gpu:2"]
    assert [row["cells"]["becomes"]["text"] for row in rows] == ["gpu:0", "gpu:1", "", ""]


def test_a_busy_full_or_lost_card_is_warned_of_where_it_is_chosen() -> None:
    cards = [
        gpu(0, **IDLE),
        gpu(1, **(IDLE | {"utilization_gpu_percent": 20})),
        gpu(2, **(IDLE | {"memory_free_bytes": 19 * GIB})),
        gpu(3, utilization_gpu_percent=95, memory_free_bytes=GIB),
        lost_gpu(4),
        gpu(5, utilization_gpu_percent=UNSUPPORTED, memory_free_bytes=UNSUPPORTED, processes=DENIED),
    ]
    loads = card_loads(machine(*cards))
    assert warnings(loads, [f"gpu:{index}" for index in range(7)]) == [
        "gpu:1 is 20 % busy",
        "gpu:2 has only 19 GiB of 80 GiB free",
        "gpu:3 is 95 % busy and has only 1 GiB of 80 GiB free",
        "gpu:4 cannot be read: NVML_ERROR_GPU_IS_LOST",
    ]
    assert warnings(loads, ["gpu:0", "gpu:5"]) == []
    silent = load_rows(loads, [])[5]["cells"]
    assert (silent["memory"]["text"], silent["load"]["text"], silent["users"]["text"]) == ("?", "?", "")


def test_the_least_busy_cards_are_chosen_in_their_order() -> None:
    cards = [
        gpu(0, utilization_gpu_percent=46, memory_free_bytes=79 * GIB),
        lost_gpu(1),
        gpu(2, utilization_gpu_percent=19, memory_free_bytes=79 * GIB),
        gpu(3, utilization_gpu_percent=1, memory_free_bytes=60 * GIB),
        gpu(4, **IDLE),
        gpu(5, **IDLE),
        gpu(6, utilization_gpu_percent=UNSUPPORTED, memory_free_bytes=GIB),
    ]
    loads = card_loads(machine(*cards))
    devices = [load.device for load in loads]
    assert least_busy(loads, devices, 1) == ["gpu:4"]
    assert least_busy(loads, devices, 3) == ["gpu:3", "gpu:4", "gpu:5"]
    assert least_busy(loads, devices[:3], 2) == ["gpu:0", "gpu:2"]
    assert least_busy(loads, devices, 6) == [device for device in devices if device != "gpu:1"]
    # Nothing is known: as nvidia-smi counts.
    assert least_busy([], devices, 2) == ["gpu:0", "gpu:1"]


def test_without_cards_or_a_snapshot_there_is_nothing() -> None:
    assert card_loads(None) == card_loads(without_gpus()) == []


def page() -> None:
    from app.web.launch.card_loads import loads_panel

    loads_panel(["gpu:1", "gpu:0"])


class Watching:
    """A monitor that has this snapshot."""

    def __init__(self, snapshot: dict[str, Any] | None) -> None:
        self.snapshot = snapshot
        self.state = "live"


@pytest.mark.parametrize(
    ("snapshot", "told"),
    [
        (machine(gpu(0, **IDLE), gpu(1, **IDLE)), "Nothing speaks against these cards now"),
        (machine(gpu(0, **IDLE), gpu(1)), "is 57 % busy"),
        (None, ""),
    ],
    ids=["idle", "busy", "not watched"],
)
def test_the_panel_says_what_speaks_against_the_choice(
    snapshot: dict[str, Any] | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.web.launch.card_loads.monitor.shared", lambda: Watching(snapshot))
    shown = page_of(page).run()
    assert not shown.exception
    assert [told in markdown.value for markdown in shown.markdown] == ([True] if told else [])
