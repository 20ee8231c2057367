"""What a person is told of a machine, from snapshots written out."""

from __future__ import annotations

from typing import Any

import pytest

from app.web.machine.alerts import IDLE_AFTER_S, MOST_HOLDERS, Watcher
from tests.unit.machine_snapshots import (
    GIB,
    LOST,
    NO_DRIVER,
    UNSUPPORTED,
    T,
    elsewhere,
    gpu,
    lost_gpu,
    process,
)
from tests.unit.machine_snapshots import machine as snapshot


def told(*gpus: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(a["code"], a["severity"], a["text"]) for a in Watcher().look(snapshot(*gpus))]


def test_a_healthy_machine_and_one_that_tells_nothing_give_no_alert() -> None:
    assert told(gpu(0), gpu(1)) == []
    silent = dict.fromkeys(gpu(0), UNSUPPORTED) | {"index": 0, "unreadable": None}
    assert told(silent) == []


@pytest.mark.parametrize(
    ("fields", "code", "severity", "text"),
    [
        (
            {"memory_free_bytes": 3 * GIB},
            "memory-full",
            "warning",
            "GPU 0 has 3 GiB of 80 GiB free.",
        ),
        (
            {"throttle_reasons": ["power cap (software)", "thermal slowdown (hardware)"]},
            "throttling",
            "warning",
            "GPU 0 runs below its clocks: thermal slowdown (hardware) (1,275 of 1,410 MHz).",
        ),
        (
            {"ecc_uncorrected_volatile": 2},
            "ecc",
            "error",
            "GPU 0 has had 2 memory errors that ECC could not correct, since the driver was loaded.",
        ),
        (
            {"remapped_rows_pending": True},
            "remap-pending",
            "warning",
            "GPU 0 waits for a reset to stop using faulty memory.",
        ),
        (
            {"remapped_rows_failure": True},
            "remap-failure",
            "error",
            "GPU 0 has no spare memory rows left to replace a faulty one.",
        ),
        ({"temperature_celsius": 87}, "hot", "warning", "GPU 0 is at 87 °C; it slows down at 89 °C."),
        ({"pcie_width": 4}, "pcie-narrow", "warning", "GPU 0 uses 4 of 16 PCIe lanes."),
        (
            {
                "xid": [
                    {"code": 31, "t": T - 7200, "text": "x"},
                    {"code": 79, "t": T - 65, "text": "fallen off"},
                ]
            },
            "xid",
            "error",
            "GPU 0 reported XID 79, fallen off, 1 min 05 s ago.",
        ),
    ],
)
def test_what_one_row_tells(fields: dict[str, Any], code: str, severity: str, text: str) -> None:
    assert told(gpu(0, **fields)) == [(code, severity, text)]


@pytest.mark.parametrize(
    "fields",
    [
        {"memory_free_bytes": 5 * GIB},
        {"throttle_reasons": ["idle", "power cap (software)", "application clocks setting"]},
        {"temperature_celsius": 85},
        {"pcie_width": 8, "utilization_gpu_percent": 0},
        {"xid": [{"code": 79, "t": T - 3700, "text": "fallen off"}]},
        {"xid": UNSUPPORTED},
    ],
)
def test_what_is_no_news(fields: dict[str, Any]) -> None:
    assert told(gpu(0, **fields)) == []


def test_a_lost_card_comes_first() -> None:
    codes = [code for code, _, _ in told(gpu(0, pcie_width=4), lost_gpu(1))]
    assert codes == ["gpu-lost", "pcie-narrow"]
    assert told(lost_gpu(1))[0][2] == "GPU 1 could not be read: NVML_ERROR_GPU_IS_LOST."


def test_how_long_a_card_has_been_lost_is_told() -> None:
    watcher = Watcher()
    after(watcher, 0, lost_gpu(1))
    assert after(watcher, 65, lost_gpu(1)) == [
        "GPU 1 could not be read for 1 min 05 s: NVML_ERROR_GPU_IS_LOST."
    ]
    assert after(watcher, 70, gpu(1)) == []
    assert after(watcher, 80, lost_gpu(1)) == ["GPU 1 could not be read: NVML_ERROR_GPU_IS_LOST."]


def test_an_old_xid_is_no_emergency_any_more() -> None:
    (alert,) = told(gpu(0, xid=[{"code": 43, "t": T - 700, "text": "x"}]))
    assert alert[:2] == ("xid", "warning")


def test_the_most_urgent_stands_first_whichever_card_it_is_of() -> None:
    watcher = Watcher()
    idle = gpu(0, processes=[process(7, sm_percent=0)], pcie_width=4)
    worn = gpu(1, throttle_reasons=["hardware slowdown"], ecc_uncorrected_volatile=1)
    for seconds in (0, IDLE_AFTER_S):
        found = watcher.look(snapshot(idle, worn, lost_gpu(2), t=T + seconds))
    assert [alert["code"] for alert in found] == [
        "gpu-lost",
        "ecc",
        "throttling",
        "pcie-narrow",
        "idle-holder",
    ]


def test_a_card_that_is_not_listed_any_more_is_missed() -> None:
    watcher = Watcher()
    assert watcher.look(snapshot(gpu(0), gpu(1))) == []
    (alert,) = watcher.look(snapshot(gpu(0)))
    assert (alert["code"], alert["gpu"]) == ("gpu-gone", 1)
    assert gpu(1)["uuid"] in alert["text"]
    # Still listed, though nothing of it can be read: that is told as a lost card, once.
    whole = dict.fromkeys(gpu(1), LOST) | {"index": 1, "unreadable": LOST}
    assert [a["code"] for a in watcher.look(snapshot(gpu(0), whole))] == ["gpu-lost"]
    (alert,) = watcher.look(snapshot(nvml=NO_DRIVER))
    assert alert["code"] == "driver-gone"
    assert watcher.look(snapshot(gpu(0), gpu(1))) == []


def test_a_machine_that_never_had_a_driver_misses_none() -> None:
    assert Watcher().look(snapshot(nvml=NO_DRIVER)) == []


def after(watcher: Watcher, seconds: float, *gpus: dict[str, Any]) -> list[str]:
    return [alert["text"] for alert in watcher.look(snapshot(*gpus, t=T + seconds))]


def test_who_holds_memory_for_minutes_and_does_nothing_is_named() -> None:
    watcher = Watcher()
    idle = gpu(0, processes=[process(7, sm_percent=0, memory_bytes=2 * GIB)])
    assert after(watcher, 0, idle) == []
    assert after(watcher, IDLE_AFTER_S - 1, idle) == []
    assert after(watcher, IDLE_AFTER_S + 60, idle) == [
        "PID 7 (alice: /usr/bin/python3 train.py --epochs 3) holds 2 GiB of GPU 0 and has done nothing for "
        "6 min 00 s."
    ]
    # One kernel, and the time begins anew.
    assert after(watcher, 400, gpu(0, processes=[process(7, sm_percent=3, memory_bytes=2 * GIB)])) == []
    assert after(watcher, 500, idle) == []


@pytest.mark.parametrize(
    ("row", "load", "alerts"),
    [
        (process(7, sm_percent=0, memory_bytes=100 << 20), 0, 0),
        (process(7, sm_percent=0, type="G"), 0, 0),
        (process(7, sm_percent=UNSUPPORTED), 12, 0),
        (process(7, sm_percent=UNSUPPORTED), 0, 1),
        (process(7, sm_percent=0, memory_bytes=UNSUPPORTED), 0, 0),
        (elsewhere(7, sm_percent=0), 0, 1),
    ],
)
def test_who_counts_as_idle(row: dict[str, Any], load: int, alerts: int) -> None:
    watcher = Watcher()
    card = gpu(0, processes=[row], utilization_gpu_percent=load)
    after(watcher, 0, card)
    assert len(after(watcher, IDLE_AFTER_S, card)) == alerts


def test_memory_of_a_process_that_has_ended_is_nobodys_to_ask_about() -> None:
    watcher = Watcher()
    gone = process(7, where="gone", user=LOST, command=LOST, sm_percent=0)
    after(watcher, 0, gpu(0, processes=[gone]))
    (alert,) = watcher.look(snapshot(gpu(0, processes=[gone]), t=T + IDLE_AFTER_S))
    assert (alert["code"], alert["severity"]) == ("ended-holder", "info")
    assert alert["text"] == "PID 7 has ended, but the driver still counts 1 GiB of GPU 0 to it."


def test_many_idle_holders_are_counted_and_not_listed() -> None:
    watcher = Watcher()
    crowd = gpu(0, processes=[process(pid, sm_percent=0) for pid in range(1, MOST_HOLDERS + 4)])
    after(watcher, 0, crowd)
    texts = after(watcher, IDLE_AFTER_S, crowd)
    assert len(texts) == MOST_HOLDERS + 1
    assert texts[-1] == "3 more processes hold memory and do nothing."
