"""Numbers for people."""

from __future__ import annotations

import pytest

from app.views import units
from app.views.units import TIMES


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "?"),
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1 KiB"),
        (65536, "64 KiB"),
        (1_258_291, "1.20 MiB"),
        (19_660_800, "18.8 MiB"),
        (1_073_741_000, "1.00 GiB"),
        (3 * 2**50, "3 PiB"),
        (5000 * 2**50, "5,000 PiB"),
    ],
)
def test_size(number: int | None, text: str) -> None:
    assert units.size(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "?"),
        (0, "0 s"),
        (3.12e-7, "312 ns"),
        (4.2e-3, "4.2 ms"),
        (0.9996, "1 s"),
        (12.34, "12.3 s"),
        (59.99, "1 min 00 s"),
        (65, "1 min 05 s"),
        (7380, "2 h 03 min"),
        (-0.5, "-500 ms"),
    ],
)
def test_duration(seconds: float | None, text: str) -> None:
    assert units.duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (9, "9"),
        (9999, "9,999"),
        (10_000, "10k"),
        (12_345, "12.3k"),
        (999_499, "999k"),
        (999_500, "1M"),
        (1_234_567, "1.23M"),
    ],
)
def test_short(number: int, text: str) -> None:
    assert units.short(number) == text


def test_transfer() -> None:
    assert units.transfer(19_660_800, 300) == f"18.8 MiB · 300{TIMES}"
    assert units.transfer(None, 300) == f"? · 300{TIMES}"
    assert units.transfer(None, None) == "?"
    assert units.transfer(None, None, 65536) == f"≥ 64 KiB · ?{TIMES}"


def test_counts_rates_and_shares() -> None:
    assert [units.count(None), units.count(12000)] == ["?", "12,000"]
    assert [units.plural(1, "op"), units.plural(0, "op"), units.plural(None, "op")] == [
        "1 op",
        "0 ops",
        "? ops",
    ]
    assert [units.rate(31.234), units.rate(None), units.rate(float("nan"))] == [
        "31.2 steps/s",
        "? steps/s",
        "? steps/s",
    ]
    assert [units.percent(0.423), units.percent(0.031), units.percent(None), units.percent(0)] == [
        "42 %",
        "3.1 %",
        "? %",
        "0 %",
    ]


def test_units_of_axes() -> None:
    assert [units.size_unit(0), units.size_unit(2**20), units.size_unit(5e9)] == ["B", "MiB", "GiB"]
    assert units.size_factor("KiB") == 1024


def test_relative_differences() -> None:
    told = [units.relative(ppb) for ppb in (0, 12, 3_400, 99_999, 1_200_000, 120_000_000, 2_000_000_000)]
    assert told == ["0", "12 ppb", "3.4 ppm", "100 ppm", "0.12 %", "12 %", "200 %"]


def test_a_plural_of_its_own() -> None:
    assert [units.plural(number, "process", "processes") for number in (1, 2)] == ["1 process", "2 processes"]


@pytest.mark.parametrize(
    ("joules", "text"),
    [
        (0, "0 J"),
        (812.4, "812 J"),
        (999.9, "1 kJ"),
        (45_210, "45.2 kJ"),
        (100_000, "27.8 Wh"),
        (3_599_999, "1 kWh"),
        (4.7e6, "1.31 kWh"),
    ],
)
def test_energy(joules: float, text: str) -> None:
    assert units.energy(joules) == text
