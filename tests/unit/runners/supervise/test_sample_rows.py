"""The rows of a run's samples: what of the sampler's messages is kept, and a disk without room."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from probes.nvml.snapshot import merge
from runners.supervise import sample_rows
from runners.supervise.sample_rows import Rows

UNSUPPORTED = {"state": "unsupported", "reason": "NVML_ERROR_NOT_SUPPORTED"}
USAGE = {"processes": 2, "memory_bytes": 1000}


def gpu(index: int, **fields: Any) -> dict[str, Any]:
    row = {"index": index, "uuid": f"GPU-{index}", "name": "Card", "memory_total_bytes": 100, "serial": "1"}
    return row | {"utilization_gpu_percent": 5, "power_watts": UNSUPPORTED, "fan_percent": 30} | fields


def whole(*gpus: dict[str, Any], t: float = 100.0, **more: Any) -> dict[str, Any]:
    host = {"hostname": "here", "cpu_percent": 1.5, "memory_used_bytes": 10, "cpu_cores": 4}
    return {
        "seq": 1,
        "t": t,
        "full": True,
        "driver": "570.1",
        "nvml": "ok",
        "gpus": list(gpus),
        "host": host,
    } | more


class File:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Iterator[File]:
    made = File(tmp_path / "samples.jsonl")
    yield made
    os.close(made.descriptor)


def test_a_first_row_is_full_and_has_only_what_is_worth_a_curve(file: File) -> None:
    rows = Rows(file.descriptor, ["GPU-0"])
    rows.take(whole(gpu(0)))
    rows.add(100.0, 7.25, USAGE)
    assert file.rows() == [
        {
            "t": 100.0,
            "mono": 7.25,
            "full": True,
            "every": 1.0,
            "unsampled": None,
            "driver": "570.1",
            "nvml": "ok",
            "gpus": [
                {
                    "index": 0,
                    "uuid": "GPU-0",
                    "name": "Card",
                    "memory_total_bytes": 100,
                    "utilization_gpu_percent": 5,
                    "power_watts": UNSUPPORTED,
                }
            ],
            "host": {"cpu_percent": 1.5, "memory_used_bytes": 10, "cpu_cores": 4},
            "run": USAGE,
        }
    ]


def test_later_rows_say_what_changed(file: File) -> None:
    rows = Rows(file.descriptor, ["GPU-0", "GPU-1"])
    rows.take(whole(gpu(0), gpu(1)))
    rows.add(100.0, 7.0, USAGE)
    changed = [{"index": 0, "fan_percent": 40}, {"index": 1, "utilization_gpu_percent": 99}]
    rows.take({"seq": 2, "t": 101.0, "full": False, "gpus": changed, "host": {"cpu_percent": 2.0}})
    rows.add(101.0, 8.0, {**USAGE, "cpu_percent": 50.0})
    rows.take({"seq": 3, "t": 102.0, "full": False})
    rows.add(102.0, 9.0, {**USAGE, "cpu_percent": 50.0})
    assert file.rows()[1:] == [
        {
            "t": 101.0,
            "mono": 8.0,
            "gpus": [{"index": 1, "utilization_gpu_percent": 99}],
            "host": {"cpu_percent": 2.0},
            "run": {"cpu_percent": 50.0},
        },
        {"t": 102.0, "mono": 9.0},
    ]


def test_rows_merge_as_the_samplers_messages_do(file: File) -> None:
    rows = Rows(file.descriptor, ["GPU-0"])
    rows.take(whole(gpu(0)))
    rows.add(100.0, 7.0, {})
    rows.take(
        {"seq": 2, "t": 101.0, "gpus": [{"index": 0, "utilization_gpu_percent": 80, "power_watts": 30.5}]}
    )
    rows.add(101.0, 8.0, {})
    merged = None
    for row in file.rows():
        merged = merge(merged, row)
    assert merged is not None
    assert merged["gpus"][0] | {} == {
        "index": 0,
        "uuid": "GPU-0",
        "name": "Card",
        "memory_total_bytes": 100,
        "utilization_gpu_percent": 80,
        "power_watts": 30.5,
    }


@pytest.mark.parametrize("uuid", ["GPU-7", UNSUPPORTED, None])
def test_cards_that_are_not_the_runs_are_left_out(file: File, uuid: Any) -> None:
    rows = Rows(file.descriptor, ["GPU-1"])
    rows.take(whole(gpu(0, uuid=uuid), gpu(1)))
    rows.add(100.0, 7.0, {})
    assert [card["uuid"] for card in file.rows()[0]["gpus"]] == ["GPU-1"]


def test_while_the_sampler_is_silent_rows_say_so_and_have_the_runs_own_figures(file: File) -> None:
    rows = Rows(file.descriptor, ["GPU-0"])
    rows.add(99.0, 6.0, USAGE)
    rows.take(whole(gpu(0)))
    rows.add(100.0, 7.0, USAGE)
    rows.miss("it hangs")
    rows.add(101.0, 8.0, USAGE)
    rows.add(102.0, 9.0, {**USAGE, "memory_bytes": 5})
    rows.take({"seq": 2, "t": 103.0, "full": False, "gpus": [{"index": 0, "utilization_gpu_percent": 6}]})
    rows.add(103.0, 10.0, {**USAGE, "memory_bytes": 5})
    starting, first, silent, still, again = file.rows()
    assert starting["unsampled"] == "the sampler is starting"
    assert (starting["gpus"], starting["host"], starting["run"]) == ([], {}, USAGE)
    assert first["unsampled"] is None
    assert silent == {
        "t": 101.0,
        "mono": 8.0,
        "full": True,
        "every": 1.0,
        "unsampled": "it hangs",
        "gpus": [],
        "host": {},
        "run": USAGE,
    }
    assert still == {"t": 102.0, "mono": 9.0, "run": {"memory_bytes": 5}}
    # It was only late: what it said before still holds where it says nothing new.
    assert again["full"] is True
    assert again["gpus"][0]["utilization_gpu_percent"] == 6
    assert again["gpus"][0]["name"] == "Card"


def test_a_card_that_comes_or_goes_makes_a_full_row(file: File) -> None:
    rows = Rows(file.descriptor, ["GPU-0", "GPU-1"])
    for gpus in ([gpu(0), gpu(1)], [gpu(1)], [gpu(1)]):
        rows.take(whole(*gpus))
        rows.add(100.0, 7.0, {})
    assert [row.get("full", False) for row in file.rows()] == [True, True, False]


def test_every_so_many_rows_one_is_full(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_rows, "FULL_EVERY", 3)
    rows = Rows(file.descriptor, [])
    for second in range(8):
        rows.take(whole())
        rows.add(100.0 + second, second, {})
    assert [second for second, row in enumerate(file.rows()) if row.get("full")] == [0, 3, 6]


def test_a_long_run_gets_rows_more_seldom_and_they_say_how_seldom(
    file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_rows, "THIN_BYTES", 700)
    rows = Rows(file.descriptor, [])
    for second in range(40):
        rows.take(whole(t=second))
        rows.add(second, second, {})
    times: list[float] = []
    every: list[float] = []
    for row in file.rows():
        times.append(row["t"])
        every.append(row["every"] if "every" in row else every[-1])
    assert every[0] == 1.0
    assert every[-1] > 1.0
    pairs = zip(times, times[1:], every[:-1], strict=False)
    assert all(after - before == step for before, after, step in pairs), list(zip(times, every, strict=True))


def test_what_finds_no_room_is_counted_and_the_next_row_is_full(tmp_path: Path, file: File) -> None:
    full_disk = os.open("/dev/full", os.O_WRONLY)
    rows = Rows(file.descriptor, [])
    rows.take(whole())
    rows.add(100.0, 7.0, {})
    kept = os.dup(file.descriptor)
    os.dup2(full_disk, file.descriptor)
    for second in (101.0, 102.0):
        rows.add(second, 8.0, {})
    assert rows.lost == 2
    os.dup2(kept, file.descriptor)
    rows.add(103.0, 10.0, {})
    assert rows.lost == 0
    rows.add(104.0, 11.0, {})
    os.close(kept)
    os.close(full_disk)
    _, after, last = file.rows()
    assert (after["t"], after["full"], after["lost"]) == (103.0, True, 2)
    assert last == {"t": 104.0, "mono": 11.0}


def test_a_row_that_is_written_in_part_leaves_nothing_behind(
    file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Rows(file.descriptor, [])
    rows.take(whole())
    rows.add(100.0, 7.0, {})
    whole_write = os.write

    def part(descriptor: int, data: bytes) -> int:
        if len(data) < 40:
            raise OSError(28, "No space left on device")
        return whole_write(descriptor, data[:30])

    monkeypatch.setattr(os, "write", part)
    rows.miss("so that there is much to write")
    rows.add(101.0, 8.0, {})
    monkeypatch.setattr(os, "write", whole_write)
    rows.add(102.0, 9.0, {})
    assert [row["t"] for row in file.rows()] == [100.0, 102.0]
    assert file.rows()[1]["lost"] == 1


def test_a_torn_row_that_cannot_be_taken_back_is_ended_before_the_next(
    file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Rows(file.descriptor, [])
    rows.take(whole())
    whole_write = os.write
    calls = iter([30, 0])

    def torn(descriptor: int, data: bytes) -> int:
        if (size := next(calls)) == 0:
            raise OSError(28, "No space left on device")
        return whole_write(descriptor, data[:size])

    def refuse(descriptor: int, length: int) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "write", torn)
    monkeypatch.setattr(os, "ftruncate", refuse)
    rows.add(100.0, 7.0, {})
    monkeypatch.setattr(os, "write", whole_write)
    rows.add(101.0, 8.0, {})
    torn_line, next_line = file.path.read_text().splitlines()
    assert len(torn_line) == 30
    assert json.loads(next_line)["t"] == 101.0
