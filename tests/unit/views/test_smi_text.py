"""The table as nvidia-smi prints it: whole tables written out, and what must never happen in one."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from app.views.columns import CUT, aligned, cut, left, plain, right, width
from app.views.gaps import Gaps, ranges, why
from app.views.host_text import host_line, uptime
from app.views.smi_text import WIDTH, smi_text
from tests.unit.machine_snapshots import (
    DENIED,
    GIB,
    LOST,
    MIB,
    NO_DRIVER,
    UNSUPPORTED,
    T,
    elsewhere,
    gpu,
    host,
    lost_gpu,
    machine,
    process,
    without_gpus,
)


@pytest.fixture(autouse=True)
def greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def test_a_healthy_machine() -> None:
    snapshot = machine(gpu(0, processes=[process()]), gpu(1))
    assert smi_text(snapshot) == (
        "2026-01-01 00:00:00  ws1\n"
        "+-----------------------------------------------------------------------------------------+\n"
        "| Hopscope 0.1.0             Driver Version: 570.86.15          CUDA Version: 12.8        |\n"
        "|-----------------------------------------+------------------------+----------------------|\n"
        "| GPU  Name                 Persistence-M | Bus-Id                 | Volatile Uncorr. ECC |\n"
        "| Fan   Temp  Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
        "| SM clock: now / most          PCIe link |        Reserved memory |               MIG M. |\n"
        "|=========================================+========================+======================|\n"
        "|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:41:00.0     |                    0 |\n"
        "|  30%   61C  P0           251W /    400W |   20480MiB /  81920MiB |     57%      Default |\n"
        "|  1275 / 1410MHz               gen 4 x16 |     623MiB reserved    |             Disabled |\n"
        "+-----------------------------------------+------------------------+----------------------+\n"
        "|   1  NVIDIA A100-SXM4-80GB          On  |   00000000:42:00.0     |                    0 |\n"
        "|  30%   61C  P0           251W /    400W |   20480MiB /  81920MiB |     57%      Default |\n"
        "|  1275 / 1410MHz               gen 4 x16 |     623MiB reserved    |             Disabled |\n"
        "+-----------------------------------------+------------------------+----------------------+\n"
        "+-----------------------------------------------------------------------------------------+\n"
        "| Processes:                                                                              |\n"
        "|  GPU   GI      PID  Type   User        SM  Process                           GPU Memory |\n"
        "|=========================================================================================|\n"
        "|    0    -     4242  C      alice     55%  python3 train.py --epochs 3           1024MiB |\n"
        "+-----------------------------------------------------------------------------------------+\n"
        "Host ws1: CPU 12 % of 24 cores, load 3.20, memory 12 GiB of 64 GiB, swap 0 B, up 2 days 4 h\n"
    )


def test_a_machine_in_trouble() -> None:
    events = [{"code": 79, "t": T, "text": "GPU has fallen off the bus"}]
    snapshot = machine(
        gpu(
            0,
            name="NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
            fan_percent=UNSUPPORTED,
            pcie_generation=1,
            throttle_reasons=["power cap (software)", "thermal slowdown (hardware)"],
            ecc_uncorrected_volatile=3,
            ecc_corrected_aggregate=12,
            remapped_rows_pending=True,
            compute_mode="exclusive process",
            processes=[elsewhere(77), process(78, where="gone", user=LOST, command=LOST, sm_percent=DENIED)],
        ),
        lost_gpu(1, xid=events),
        gpu(
            2,
            fan_percent=UNSUPPORTED,
            memory_used_bytes=UNSUPPORTED,
            memory_total_bytes=UNSUPPORTED,
            memory_reserved_bytes=UNSUPPORTED,
            processes=DENIED,
            mig_mode="on",
            mig=[
                {
                    "uuid": "MIG-1",
                    "gpu_instance": 1,
                    "compute_instance": 0,
                    "name": "NVIDIA A100-SXM4-80GB MIG 3g.40gb",
                    "memory_total_bytes": 40 * GIB,
                    "memory_used_bytes": 37 * MIB,
                }
            ],
        ),
    )
    head, _, table = smi_text(snapshot).partition("|=========================================+")
    assert head.count("\n") == 7
    assert table == (
        "========================+======================|\n"
        "|   0  RTX PRO 6000 Blackwell Max..   On  |   00000000:41:00.0     |                    3 |\n"
        "|  N/A   61C  P0           251W /    400W |   20480MiB /  81920MiB |     57%   E. Process |\n"
        "|  1275 / 1410MHz          gen 1 of 4 x16 |     623MiB reserved    |             Disabled |\n"
        "|      clocks held down by: power cap (software), thermal slowdown (hardware)             |\n"
        "|      ECC errors: 3 uncorrected since the driver was loaded; 12 corrected in the card's  |\n"
        "|        life                                                                             |\n"
        "|      memory rows wait to be remapped: reset the GPU                                     |\n"
        "+-----------------------------------------+------------------------+----------------------+\n"
        "|   1  NVIDIA A100-SXM4-80GB              |   00000000:42:00.0     |                      |\n"
        "|      [GPU is lost] nothing of this card can be read now (NVML_ERROR_GPU_IS_LOST)        |\n"
        "|      XID 79 at 2026-01-01 00:00:00: GPU has fallen off the bus                          |\n"
        "+-----------------------------------------+------------------------+----------------------+\n"
        "|   2  NVIDIA A100-SXM4-80GB          On  |   00000000:43:00.0     |                    0 |\n"
        "|  N/A   61C  P0           251W /    400W |        N/A /       N/A |     57%      Default |\n"
        "|  1275 / 1410MHz               gen 4 x16 |        N/A reserved    |              Enabled |\n"
        "+-----------------------------------------+------------------------+----------------------+\n"
        "+-----------------------------------------------------------------------------------------+\n"
        "| MIG instances:                                                                          |\n"
        "|  GPU   GI   CI   Name                                                      Memory-Usage |\n"
        "|=========================================================================================|\n"
        "|    2    1    0   NVIDIA A100-SXM4-80GB MIG 3g.40gb                    37MiB /  40960MiB |\n"
        "+-----------------------------------------------------------------------------------------+\n"
        "+-----------------------------------------------------------------------------------------+\n"
        "| Processes:                                                                              |\n"
        "|  GPU   GI      PID  Type   User        SM  Process                           GPU Memory |\n"
        "|=========================================================================================|\n"
        "|    0    -       77  C      -         55%  (of another container)                1024MiB |\n"
        "|    0    -       78  C      -         N/A  (ended; the driver still counts it)   1024MiB |\n"
        "|    2  which processes use this card is not told [denied]                                |\n"
        "+-----------------------------------------------------------------------------------------+\n"
        "What could not be read, and why:\n"
        "  GPU 0    SM share of processes [denied]\n"
        "  GPU 0,2  fan [unsupported]\n"
        "  GPU 2    memory, reserved memory [unsupported]\n"
        "Host ws1: CPU 12 % of 24 cores, load 3.20, memory 12 GiB of 64 GiB, swap 0 B, up 2 days 4 h\n"
    )


def test_without_a_driver_the_reason_is_one_line_and_the_host_stands_below() -> None:
    assert smi_text(without_gpus()) == (
        "2026-01-01 00:00:00  ws1\n"
        "No GPU can be read: no NVIDIA driver is installed: its library libnvidia-ml.so.1 was not found "
        "(NVML_ERROR_LIBRARY_NOT_FOUND)\n"
        "Host ws1: CPU 12 % of 24 cores, load 3.20, memory 12 GiB of 64 GiB, swap 0 B, up 2 days 4 h\n"
    )
    assert smi_text(machine(gpus=[])).splitlines()[1] == "No GPU: the NVIDIA driver runs and reports none"


def test_figures_that_are_old_are_told_to_be() -> None:
    said = {"state": "stale", "text": "the sampler said nothing for 5 s"}
    lines = smi_text(machine(gpu(), sampler=said)).splitlines()
    assert lines[1] == "These figures are old: the sampler said nothing for 5 s"
    assert not smi_text(machine(gpu(), sampler={"state": "live", "text": ""})).splitlines()[1].startswith("T")


def test_all_of_a_card_missing_still_is_a_row_and_every_na_has_its_reason() -> None:
    nothing = dict.fromkeys(gpu(), UNSUPPORTED) | {"index": 3, "unreadable": None}
    text = smi_text(machine(nothing))
    assert "N/A" in text
    key = " ".join(text.partition("What could not be read, and why:\n")[2].split())
    for what in ("name", "bus id", "persistence mode", "ECC", "fan", "temperature", "performance state"):
        assert what in key
    for what in (
        "power limit",
        "memory",
        "utilization",
        "compute mode",
        "SM clock",
        "PCIe width",
        "MIG mode",
    ):
        assert what in key
    assert "throttle reasons" in key and "XID errors" in key
    assert all(width(line) <= WIDTH for line in text.splitlines())


def test_a_snapshot_with_nothing_in_its_rows_is_told_as_not_sampled() -> None:
    text = smi_text({"t": T, "gpus": [{"index": 0}], "nvml": "ok"})
    assert "[not sampled]" in text


def test_ecc_switched_off_is_no_zero() -> None:
    row = smi_text(machine(gpu(ecc_mode=False))).splitlines()[8]
    assert row.endswith("|                  Off |")


def test_what_others_wrote_neither_moves_the_cursor_nor_breaks_the_table() -> None:
    rows = [
        process(1, command="\x1b[2J\x1b[31mrm\x07 -rf\u202e /\nsecond line", user="eve\x1b[H"),
        process(2, command="訓練" * 40, user="アリス・リデル"),
        process(3, command="a\u0301" * 60, type="C+G+M"),
        process(4_194_304, command="", memory_bytes=141_000 * MIB, sm_percent=100),
    ]
    text = smi_text(machine(gpu(name="N\x1b[1mV" * 20, processes=rows)))
    assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
    lines = text.splitlines()
    assert {width(line) for line in lines if line.startswith(("|", "+"))} == {WIDTH}
    assert any("アリス.." in line and "訓練" in line for line in lines)


def test_only_the_newest_xid_errors_are_told_one_by_one() -> None:
    events = [{"code": code, "t": T, "text": "GPU memory page fault"} for code in range(31, 37)]
    text = smi_text(machine(gpu(xid=events)))
    assert "XID 36 at" in text and "XID 34 at" in text and "XID 33 at" not in text
    assert "and 3 earlier XID errors" in text


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (UNSUPPORTED, "unsupported"),
        (DENIED, "denied"),
        (LOST, "GPU is lost"),
        ({"state": "unsupported", "reason": "NVML_ERROR_FUNCTION_NOT_FOUND"}, "unsupported by this driver"),
        ({"state": "error", "reason": "NVML_ERROR_UNKNOWN"}, "unknown error"),
        ({"state": "error", "reason": "NVML_ERROR_IRQ_ISSUE"}, "irq issue"),
        ({"state": "error", "reason": "NVML_ERROR_4711"}, "error 4711"),
        ({"state": "error", "reason": "a rate needs two samples"}, "a rate needs two samples"),
        ({"state": "error", "reason": ""}, "error"),
    ],
)
def test_reasons_in_words(missing: dict[str, str], words: str) -> None:
    assert why(missing) == words


def test_the_key_puts_cards_with_the_same_gaps_together() -> None:
    gaps = Gaps()
    for index in (0, 1, 2, 5):
        gaps.note(index, "fan", UNSUPPORTED)
        gaps.note(index, "fan", UNSUPPORTED)
        gaps.note(index, "ECC", UNSUPPORTED)
    gaps.note(1, "power", DENIED)
    assert gaps.lines(91) == [
        "What could not be read, and why:",
        "  GPU 0-2,5  fan, ECC [unsupported]",
        "  GPU 1      power [denied]",
    ]
    assert Gaps().lines(91) == []
    assert ranges((0,)) == "0" and ranges((0, 2, 3, 4, 7)) == "0,2-4,7"


def test_the_host() -> None:
    assert host_line({}, 91) == []
    assert host_line(host(cpu_percent={"state": "error", "reason": "/proc/stat cannot be read"}), 200) == [
        "Host ws1: CPU N/A [/proc/stat cannot be read] of 24 cores, load 3.20, memory 12 GiB of 64 GiB, "
        "swap 0 B, up 2 days 4 h"
    ]
    assert [uptime(seconds) for seconds in (59, 3599, 3660, 86_400, 200_000)] == [
        "0 min",
        "59 min",
        "1 h 01 min",
        "1 day 0 h",
        "2 days 7 h",
    ]


def test_columns() -> None:
    assert cut("abcdef", 6) == "abcdef" and cut("abcdefg", 6) == "abcd" + CUT
    assert cut("ab defg", 5) == "ab.." and cut("訓練訓練", 7) == "訓練.." and cut("abc", 1) == "."
    assert left("訓", 4) == "訓  " and right("訓", 4) == "  訓"
    assert plain(" a\tb\n\x00\u200b ") == "a b ??"
    assert aligned(("A", "LONG"), [("x", "1"), ("yy", "22")], numbers=[1]) == [
        "A   LONG",
        "x      1",
        "yy    22",
    ]
    assert NO_DRIVER["text"].startswith("no NVIDIA driver")
