"""What the run's page says of its samples: which cards are drawn, and what is missing and why."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.store.samples import positions
from app.views.samples_data import UTILIZATION
from app.web.run.run_samples import NO_FILE, NONE_YET, OLD, TOO_SHORT, RunSamples, run_samples, words_without
from app.web.shared.open_runs import OpenRun
from runners.runs.run import read_run
from tests.unit.samples import LOST, MEMORY, POWER, UNSUPPORTED, UTIL, full, gpu, parsed, row, write
from tests.unit.traces import SECOND, Trace, write_status


def shown(*rows: Any, devices: Mapping[str, tuple[str, ...]] | None = None, wanted: int = 0) -> RunSamples:
    table = parsed(*rows)
    return RunSamples(table, positions(table, 1000.0), devices or {}, wanted)


def drawn(samples: RunSamples, *only: str) -> list[str]:
    return [one.source.label for one in samples.curves(only).of(UTILIZATION, cards=True)]


def test_the_runs_cards_are_drawn_in_the_order_of_its_devices() -> None:
    devices = {"GPU-2": ("gpu:0",), "GPU-0": ("gpu:1",)}
    samples = shown(full(0, gpu(0), gpu(1), gpu(2)), devices=devices)
    assert drawn(samples) == ["gpu:0", "gpu:1"]
    assert drawn(samples, "gpu:1", "cpu:0") == ["gpu:1"]
    assert drawn(samples, "cpu:0") == []
    assert [one.source.label for one in samples.curves(("gpu:1",)).of("cpu_percent", cards=False)] == [
        "machine"
    ]
    assert samples.remarks() == ["1 other card that the run could see not drawn"]


def test_cards_that_nobody_can_name_go_by_nvidia_smi() -> None:
    samples = shown(full(0, gpu(1), gpu(0)))
    assert drawn(samples, "gpu:0") == ["nvidia-smi's 0", "nvidia-smi's 1"]
    assert samples.remarks() == [
        "Cards go by nvidia-smi's numbers: which of the run's devices each is was not told"
    ]


def test_all_that_is_missing_is_told_with_its_reason() -> None:
    samples = shown(
        full(0, gpu(0, **{POWER: UNSUPPORTED}), gpu(1, **{POWER: UNSUPPORTED}), lost=1),
        row(1, gpus=[{"index": 1, UTIL: LOST, "throttle_reasons": ["hardware slowdown"]}]),
        b"{",
        row(2),
        full(3, unsampled="the sampler said nothing"),
        row(4),
        full(5, unsampled="the sampler is starting"),
        devices={"GPU-0": ("gpu:0",), "GPU-1": ("gpu:1",)},
        wanted=2,
    )
    assert samples.remarks() == [
        "gpu:1 was slowed down in 1 sample: hardware slowdown",
        "No power of gpu:0, gpu:1: NVML_ERROR_NOT_SUPPORTED",
        "At times no utilisation of gpu:1: NVML_ERROR_GPU_IS_LOST",
        "2 samples of cards and machine missing: the sampler said nothing",
        "1 sample found no room on the disk",
        "1 line of the samples could not be read, and 1 sample after them not used",
    ]


def test_a_sampler_that_never_starts_is_told() -> None:
    rows = [full(second, unsampled="the sampler is starting") for second in range(5)]
    assert shown(*rows).remarks() == ["5 samples of cards and machine missing: the sampler is starting"]


def test_a_driver_that_is_not_there_is_told_of_a_run_that_was_given_cards() -> None:
    nvml = {"state": "mismatch", "reason": "NVML_ERROR_LIB_RM_VERSION_MISMATCH", "text": "reload the driver"}
    assert shown(full(0, nvml=nvml), wanted=1).remarks() == [
        "The cards could not be sampled: reload the driver"
    ]
    assert shown(full(0, nvml=nvml), wanted=0).remarks() == []
    assert shown(full(0, gpu(memory_used_bytes=LOST)), devices={"GPU-0": ("gpu:0",)}, wanted=1).remarks() == [
        "No memory of gpu:0: NVML_ERROR_GPU_IS_LOST"
    ]
    assert MEMORY == "memory_used_bytes"


def test_a_long_time_before_the_recording_is_told() -> None:
    samples = shown(full(-40), full(-5), full(0))
    assert samples.remarks() == ["The 40 s before the recording began are not drawn"]


def test_of_a_short_stretch_the_nearest_sample_is_told() -> None:
    samples = shown(full(0, gpu()), row(1, gpus=[{"index": 0, UTIL: 70}]), devices={"GPU-0": ("gpu:0",)})
    told = samples.nearest((0.9, 0.95), ())
    assert told.startswith("Sampled at 1 s: gpu:0: 70 %, 100 B, 50 W; machine: CPU 20 %")
    assert samples.nearest((90.0, 90.1), ()) == ""


@pytest.mark.parametrize(("ended", "words"), [(True, TOO_SHORT), (False, NONE_YET)])
def test_where_there_is_none_that_is_said(ended: bool, words: str) -> None:
    spec: dict[str, Any] = {"sampled_gpus": []}
    assert words_without(None, {}, ended) == OLD
    assert words_without(None, spec, ended) == NO_FILE
    assert words_without(shown(), spec, ended) == words
    assert shown().remarks() == []
    assert words_without(shown(full(0)), spec, ended) == ""


def test_samples_that_ended_before_the_run_did_are_told() -> None:
    samples = shown(full(0), full(1))
    assert dataclasses.replace(samples, until=1006.0).remarks() == []
    assert dataclasses.replace(samples, until=1041.0).remarks() == ["The last 40 s were not sampled"]


def test_an_open_runs_samples_have_its_own_names(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    write_status(folder, ended=1003.0)
    device_map = {"gpu:0": {"uuid": "GPU-1", "nvml_index": 1}}
    spec = {"run": "run", "device_map": device_map, "sampled_gpus": ["GPU-1"]}
    (folder / "spec.json").write_text(json.dumps(spec))
    trace = Trace(folder, wall_ns=1000 * SECOND, mono_ns=0, devices=["cpu:0"])
    trace.close()
    opened = OpenRun(folder)
    run, store, snapshot = read_run(folder), opened.store, opened.look(ended=False)
    assert run_samples(run, store, snapshot) is None
    write(folder, full(2, gpu(1)))
    found = run_samples(run, store, snapshot)
    assert words_without(found, spec, ended=False) == NONE_YET
    store.refresh()
    found = run_samples(run, store, snapshot)
    assert found is not None
    assert found.t_s.tolist() == [2.0]
    assert drawn(found) == ["gpu:0"]
    assert (found.wanted, found.until) == (1, 1003.0)
    store.close()
