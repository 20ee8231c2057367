"""What samples come to: which device of the run each card was, figures, and what is missing."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from app.facts.gpu_samples import devices_of_cards, energy_joules, sample_summary
from app.facts.tables import Tables
from app.reports.html import render_html
from app.reports.run_report import build_report
from app.reports.text import render_text
from tests.unit.samples import POWER, UNSUPPORTED, UTIL, full, gpu, parsed, row

BUS = "00000000:41:00.0"


@pytest.mark.parametrize(
    ("device_map", "expected"),
    [
        ({}, {}),
        ({"gpu:0": {"uuid": "GPU-1"}}, {"GPU-1": ("gpu:0",)}),
        # The run counts from 0 whatever nvidia-smi counts, and in its own order.
        (
            {"gpu:1": {"uuid": "GPU-0"}, "gpu:0": {"uuid": "GPU-1"}, "cpu:0": {"uuid": "GPU-0"}},
            {"GPU-1": ("gpu:0",), "GPU-0": ("gpu:1",)},
        ),
        ({"gpu:0": {"pci_bus_id": "0000:41:00.0"}}, {"GPU-0": ("gpu:0",)}),
        (
            {"gpu:0": {"parent_uuid": "GPU-1", "stand_in": True}, "gpu:1": {"parent_uuid": "GPU-1"}},
            {"GPU-1": ("gpu:0", "gpu:1")},
        ),
        (
            {"worker:1/gpu:0": {"uuid": "GPU-0"}, "worker:0/gpu:0": {"uuid": "GPU-0"}},
            {"GPU-0": ("worker:0/gpu:0", "worker:1/gpu:0")},
        ),
        ({"gpu:0": {"uuid": "GPU-0", "also": ["GPU-1"]}}, {"GPU-0": ("gpu:0",), "GPU-1": ("gpu:0",)}),
        # Two cards, and nothing says which it is.
        ({"gpu:0": {"cuda_ordinal": 0}}, {}),
        ({"gpu:0": {"uuid": None, "pci_bus_id": 3}}, {}),
    ],
)
def test_a_card_is_known_by_what_the_run_says_of_its_devices(
    device_map: dict[str, dict[str, Any]], expected: dict[str, tuple[str, ...]]
) -> None:
    samples = parsed(full(0, gpu(0, pci_bus_id=BUS), gpu(1, pci_bus_id="00000000:42:00.0")))
    found = devices_of_cards(device_map, samples)
    assert found == expected
    assert list(found) == list(expected)


def test_the_only_card_is_the_only_device() -> None:
    samples = parsed(full(0, gpu(3)))
    assert devices_of_cards({"gpu:0": {"cuda_ordinal": 0}, "cpu:0": {}}, samples) == {"GPU-3": ("gpu:0",)}
    assert devices_of_cards({"gpu:0": {"uuid": "GPU-8"}}, samples) == {}
    assert devices_of_cards({"gpu:0": {}, "gpu:1": {}}, samples) == {}


@pytest.mark.parametrize(
    ("counter", "joules"),
    [
        ([], None),
        ([5.0], None),
        ([math.nan, 5.0, math.nan], None),
        ([5.0, 5.0], 0.0),
        ([5.0, 7.0, math.nan, 12.0], 7.0),
        ([100.0, 110.0, 3.0, 8.0], 15.0),
    ],
)
def test_energy_is_what_the_counter_went_up_by(counter: list[float], joules: float | None) -> None:
    assert energy_joules(np.array(counter)) == joules


def test_the_summary_has_a_row_a_card_and_what_it_lacks() -> None:
    samples = parsed(
        full(0, gpu(0, energy_joules=1000.0, temperature_celsius=40), gpu(5, **{POWER: UNSUPPORTED}), lost=2),
        row(1, gpus=[{"index": 0, UTIL: 90, POWER: 250.0, "energy_joules": 1300.0}]),
        row(2, gpus=[{"index": 0, "throttle_reasons": ["hardware slowdown"]}], run={"cpu_percent": 50.0}),
        b"damaged",
        row(4),
        full(5, unsampled="the sampler is starting"),
    )
    device_map = {"gpu:0": {"uuid": "GPU-5"}}
    summary = sample_summary(samples, device_map)
    assert summary is not None
    five, zero = summary.pop("cards")
    assert summary == {
        "basis": "sampled",
        "count": 4,
        "every_s": 1.0,
        "lost": 2,
        "damaged": 1,
        "skipped": 1,
        "unsampled": [{"count": 1, "why": "the sampler is starting"}],
        "nvml": "ok",
        "machine": {
            "count": 4,
            "mean_cpu_percent": 20.0,
            "max_cpu_percent": 20.0,
            "peak_memory_bytes": 5000,
            "cpu_cores": 4,
        },
        "processes": {
            "count": 4,
            "mean_cpu_percent": 50.0,
            "max_cpu_percent": 50.0,
            "peak_memory_bytes": 10,
            "cpu_cores": 4,
        },
    }
    assert zero == {
        "devices": [],
        "uuid": "GPU-0",
        "nvml_index": 0,
        "name": "Card",
        "count": 3,
        "mean_utilization_percent": 63.3,
        "max_utilization_percent": 90.0,
        "peak_memory_bytes": 100,
        "memory_total_bytes": 1000,
        "mean_power_watts": 183.5,
        "max_power_watts": 250.0,
        "max_temperature_celsius": 40.0,
        "energy_joules": 300.0,
        "throttled": [{"reasons": "hardware slowdown", "count": 1}],
        "missing": {},
    }
    assert five["devices"] == ["gpu:0"]
    assert (five["mean_power_watts"], five["energy_joules"]) == (None, None)
    assert five["missing"] == {POWER: "NVML_ERROR_NOT_SUPPORTED"}
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_a_run_without_samples_has_none_and_one_without_rows_has_no_figures() -> None:
    assert sample_summary(None, {}) is None
    summary = sample_summary(parsed(), {})
    assert summary is not None
    assert (summary["count"], summary["cards"], summary["machine"]) == (0, [], None)


def test_reports_for_people_have_them_with_units_and_say_what_is_wrong() -> None:
    samples = parsed(
        full(0, gpu(0, name="<b>", energy_joules=0.0), gpu(1, **{UTIL: UNSUPPORTED, POWER: UNSUPPORTED})),
        row(1, gpus=[{"index": 0, UTIL: 90, "energy_joules": 250_000.0, "throttle_reasons": ["<i>"]}]),
        full(4, unsampled="it <hangs>", lost=3),
    )
    run = {"run": "r", "spec": {"device_map": {"gpu:0": {"uuid": "GPU-0"}}}}
    report = build_report(run, Tables([], {}, [], [], []), samples=samples)
    text = render_text(report)
    assert "Sampled once a second" in text
    lines = [line.split("  ") for line in text.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert ["gpu:0", "2", "50 %, at most 90 %", "100 B", "50 W, at most 50 W", "69.4 Wh"] in cells
    assert ["nvidia-smi's 1", "2", "100 B"] in cells
    assert ["run's processes (CPU)", "3", "10 B"] in cells
    assert "   1 sample without cards and machine: it <hangs>" in text
    assert "   3 samples found no room on the disk" in text
    assert "   gpu:0 was slowed down in 1 sample: <i>" in text
    page = render_html(report)
    assert "it &lt;hangs&gt;" in page
    assert "<hangs>" not in page
    assert "69.4 Wh" in page
