"""A run's samples read back: rows that say only what changed, damaged ones, sealed ones, the times."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.store.run import open_run
from app.store.sample_parsing import HOST, RUN, SampleTable
from app.store.sample_series import series
from app.store.samples import positions
from tests.unit.samples import LOST, POWER, UNSUPPORTED, UTIL, full, gpu, parsed, row, write
from tests.unit.traces import SECOND, Trace, write_status


def values(table: SampleTable, source: str, field: str) -> list[float | None]:
    return [None if math.isnan(value) else value for value in table.column(source, field).tolist()]


def test_what_did_not_change_still_holds() -> None:
    table = parsed(
        full(0, gpu(0), gpu(1)),
        row(1, gpus=[{"index": 1, UTIL: 90}], run={"cpu_percent": 30.5}),
        row(2),
        row(3, host={"cpu_percent": 21.0}),
    )
    assert table.rows == 4
    assert table.wall_s.tolist() == [1000.0, 1001.0, 1002.0, 1003.0]
    assert table.mono_s.tolist() == [50.0, 51.0, 52.0, 53.0]
    assert values(table, "GPU-0", UTIL) == [10, 10, 10, 10]
    assert values(table, "GPU-1", UTIL) == [10, 90, 90, 90]
    assert values(table, HOST, "cpu_percent") == [20, 20, 20, 21]
    assert values(table, RUN, "cpu_percent") == [None, 30.5, 30.5, 30.5]
    assert values(table, RUN, "memory_bytes") == [10] * 4
    assert table.sources["GPU-1"].facts == {"index": 1, "name": "Card", "memory_total_bytes": 1000}
    assert table.sources[HOST].facts == {"cpu_cores": 4}
    assert (table.damaged, table.skipped, table.lost, table.nvml) == (0, 0, 0, "ok")


def test_a_missing_field_is_missing_with_its_reason() -> None:
    table = parsed(full(0, gpu(**{POWER: UNSUPPORTED})), row(1, gpus=[{"index": 0, UTIL: LOST}]))
    assert values(table, "GPU-0", POWER) == [None, None]
    assert values(table, "GPU-0", UTIL) == [10, None]
    assert table.sources["GPU-0"].missing == {
        POWER: "NVML_ERROR_NOT_SUPPORTED",
        UTIL: "NVML_ERROR_GPU_IS_LOST",
    }


def test_a_card_that_comes_late_or_goes_has_nothing_where_it_was_not() -> None:
    table = parsed(
        full(0),
        full(1, gpu(0)),
        row(2, gpus=[{"index": 0, UTIL: 20}]),
        full(3, unsampled="it hangs"),
        row(4, run={"memory_bytes": 11}),
        full(5, gpu(0)),
    )
    assert values(table, "GPU-0", UTIL) == [None, 10, 20, None, None, 10]
    assert values(table, RUN, "memory_bytes") == [10, 10, 10, 10, 11, 10]
    assert table.unsampled == {"it hangs": 2}


def test_an_index_that_becomes_another_card_is_another_source() -> None:
    table = parsed(full(0, gpu(0)), full(1, gpu(0, uuid="GPU-9")), row(2, gpus=[{"index": 0, UTIL: 70}]))
    assert values(table, "GPU-0", UTIL) == [10, None, None]
    assert values(table, "GPU-9", UTIL) == [None, 10, 70]


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b'{"t": 1001, "gpus": [{"in',
        b"\x00\x00\xff",
        b"[]",
        b"{}",
        b"null",
        b'{"t": "NaN"}',
        b'{"t": 1001, "gpus": 3}',
        b'{"t": 1001, "gpus": [{}]}',
        b'{"t": 1001, "host": [1]}',
        b'{"t": 1001, "run": {"cpu_percent": [1]}}',
        b'{"t": 1001, "every": "soon"}',
        b"[" * 100_000,
    ],
)
def test_after_a_damaged_line_nothing_is_known_until_a_full_row(line: bytes) -> None:
    table = parsed(full(0, gpu()), line, row(2, gpus=[{"index": 0, UTIL: 77}]), b"  ", full(3, gpu()), row(4))
    assert table.wall_s.tolist() == [1000.0, 1003.0, 1004.0]
    assert values(table, "GPU-0", UTIL) == [10, 10, 10]
    assert (table.damaged, table.skipped) == (1, 1)


def test_a_file_that_begins_in_the_middle_begins_with_its_first_full_row() -> None:
    table = parsed(row(0, gpus=[{"index": 0, UTIL: 1}]), full(1, gpu()))
    assert (table.rows, table.skipped, table.damaged) == (1, 1, 0)


def test_numbers_that_are_none_are_missing() -> None:
    table = parsed(full(0, gpu(**{POWER: math.inf, UTIL: math.nan})))
    assert values(table, "GPU-0", POWER) == [None]
    assert values(table, "GPU-0", UTIL) == [None]


def test_throttle_reasons_are_told_by_number() -> None:
    table = parsed(
        full(0, gpu()),
        row(1, gpus=[{"index": 0, "throttle_reasons": ["power cap (software)"]}]),
        row(2, gpus=[{"index": 0, "throttle_reasons": ["hardware slowdown", "sync boost"]}]),
        row(3, gpus=[{"index": 0, "throttle_reasons": UNSUPPORTED}]),
        row(4, gpus=[{"index": 0, "throttle_reasons": []}]),
    )
    assert table.reasons == ("power cap (software)", "hardware slowdown, sync boost")
    assert values(table, "GPU-0", "throttle_reasons") == [-1, 0, 1, None, -1]


def test_what_found_no_room_is_added_up() -> None:
    assert parsed(full(0, lost=3), full(9, lost=2)).lost == 5


class TestStore:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        folder = tmp_path / "run"
        write_status(folder, started=1000.0)
        return folder

    @staticmethod
    def trace(folder: Path, **header: Any) -> None:
        facts = {"wall_ns": 1002 * SECOND, "mono_ns": 52 * SECOND, "host": None}
        trace = Trace(folder, **(facts | header))
        trace.event("op", 10, trace.key("op", 1, op="Add", device="cpu:0", loc=0))
        trace.close()

    def test_a_run_of_before_there_were_samples_has_none(self, folder: Path) -> None:
        self.trace(folder)
        store = open_run(folder)
        assert store.samples() is None
        assert store.seal()
        assert store.samples() is None
        store.close()
        store = open_run(folder)
        assert store.samples() is None
        store.close()

    def test_a_run_that_ended_before_its_first_sample_has_an_empty_table(self, folder: Path) -> None:
        self.trace(folder)
        write(folder)
        store = open_run(folder)
        for _ in range(2):
            samples = store.samples()
            assert samples is not None
            assert samples.rows == 0
            assert store.sample_times(samples).tolist() == []
            assert store.seal()
        store.close()

    def test_they_are_followed_while_they_are_written(self, folder: Path) -> None:
        write_status(folder, "running")
        write(folder, full(0, gpu()), rest='{"t": 1001, "mo')
        store = open_run(folder)
        before = store.generation
        samples = store.samples()
        assert samples is not None
        assert samples.rows == 1
        write(folder, rest='no": 51, "gpus": [{"index": 0, "utilization_gpu_percent": 44}]}\n')
        store.refresh()
        samples = store.samples()
        assert samples is not None
        assert values(samples, "GPU-0", UTIL) == [10, 44]
        assert samples.damaged == 0
        # What rests on the traces need not be worked out anew.
        assert store.generation == before
        store.close()

    def test_sealed_they_are_the_same_and_need_no_other_file(self, folder: Path) -> None:
        write_status(folder, started=1000.0, samples_lost=4)
        self.trace(folder)
        card = gpu(**{POWER: UNSUPPORTED, "throttle_reasons": ["sync boost"]})
        write(folder, full(0, card, lost=1), row(1), full(2, unsampled="it hangs"), rest='{"t": 1003')
        store = open_run(folder)
        live = store.samples()
        assert live is not None
        assert (live.lost, live.damaged) == (5, 1)
        assert store.seal()
        store.close()
        (folder / "samples.jsonl").unlink()
        store = open_run(folder)
        sealed = store.samples()
        assert store.sealed
        assert sealed is not None
        assert store.sample_times(sealed).tolist() == [-2.0, -1.0, 0.0]
        store.close()
        for name in ("reasons", "unsampled", "nvml", "damaged", "skipped", "lost", "sources"):
            assert getattr(sealed, name) == getattr(live, name), name
        assert sealed.columns.keys() == live.columns.keys()
        for name in ("wall_s", "mono_s", "every_s"):
            np.testing.assert_array_equal(getattr(sealed, name), getattr(live, name))
        for key, column in live.columns.items():
            np.testing.assert_array_equal(sealed.columns[key], column)

    def test_a_sealed_file_that_is_damaged_is_read_from_the_rows_again(self, folder: Path) -> None:
        self.trace(folder)
        write(folder, full(0, gpu()))
        store = open_run(folder)
        assert store.seal()
        store.close()
        parquet = folder / "tables" / "samples.parquet"
        parquet.write_bytes(b"x" * parquet.stat().st_size)
        store = open_run(folder)
        samples = store.samples()
        assert samples is not None
        assert samples.rows == 1
        store.close()

    @pytest.mark.parametrize(
        ("header", "spec_host", "expected"),
        [
            ({}, None, 3.0),
            ({"host": "here"}, "here", 3.0),
            # Of another machine only the wall clock can be compared.
            ({"host": "there"}, "here", -2.0),
            ({"mono_ns": 0}, None, -2.0),
        ],
    )
    def test_they_stand_on_the_runs_timeline(
        self, folder: Path, header: dict[str, Any], spec_host: str | None, expected: float
    ) -> None:
        # The wall clock was set back by five seconds after the first row.
        spec = {"run": "run", "host": {"name": spec_host}} if spec_host else {"run": "run"}
        (folder / "spec.json").write_text(json.dumps(spec))
        self.trace(folder, **header)
        write(folder, {**full(0, gpu()), "mono": 55.0})
        store = open_run(folder)
        samples = store.samples()
        assert samples is not None
        assert store.sample_times(samples).tolist() == [expected]
        store.close()

    def test_without_a_trace_they_begin_with_the_run(self, folder: Path) -> None:
        write(folder, full(3, gpu()))
        store = open_run(folder)
        samples = store.samples()
        assert samples is not None
        assert store.sample_times(samples).tolist() == [3.0]
        (folder / "status.json").unlink()
        assert store.sample_times(samples).tolist() == [0.0]
        store.close()


def test_a_row_without_the_monotonic_clock_goes_by_the_other() -> None:
    table = parsed(full(0, gpu()), {"t": 1004.0})
    assert positions(table, 1000.0, 50.0).tolist() == [0.0, 4.0]


class TestCurves:
    def test_few_samples_are_as_they_are(self) -> None:
        table = parsed(full(0, gpu(0), gpu(1)), row(1, gpus=[{"index": 1, POWER: 60.0}]))
        samples = series(table, positions(table, 1000.0), {"GPU-1": ("gpu:0",)})
        assert samples.t_s == (0.0, 1.0)
        assert (samples.every_s, samples.mean_of_s) == (1.0, None)
        labels = {curve.source.label: curve.values for curve in samples.of(POWER, cards=True)}
        assert labels == {"nvidia-smi's 0": (50.5, 50.5), "gpu:0": (50.5, 60.0)}
        assert [curve.source.label for curve in samples.of("cpu_percent", cards=False)] == ["machine"]
        assert [curve.highest for curve in samples.curves] == [()] * len(samples.curves)

    def test_between_samples_of_which_one_is_missing_is_a_gap(self) -> None:
        table = parsed(full(0, gpu()), row(1.3), row(3.3), full(4.3, gpu(), every=2.0), row(6.4), row(8.4))
        samples = series(table, positions(table, 1000.0), {})
        (curve,) = samples.of(UTIL, cards=True)
        assert list(zip(samples.t_s, curve.values, strict=True)) == [
            (0.0, 10),
            (1.3, 10),
            (2.3, None),
            (3.3, 10),
            (4.3, 10),
            (6.4, 10),
            (8.4, 10),
        ]

    def test_many_are_means_with_the_highest_and_gaps_where_all_are_missing(self) -> None:
        rows = [full(t, gpu(**{UTIL: t % 2 * 100})) for t in (*range(100), *range(200, 300))]
        table = parsed(*rows)
        samples = series(table, positions(table, 1000.0), {}, points=30)
        (curve,) = samples.of(UTIL, cards=True)
        assert len(samples.t_s) == 30
        assert samples.mean_of_s == pytest.approx(299 / 30)
        assert [value is None for value in curve.values] == [10 <= index < 20 for index in range(30)]
        assert set(curve.highest) == {100, None}
        there = [value for value in curve.values if value is not None]
        assert min(there) > 40 and max(there) < 60

    def test_means_are_of_two_samples_at_least(self) -> None:
        table = parsed(*(full(t * 1.001, gpu()) for t in range(100)))
        samples = series(table, positions(table, 1000.0), {}, points=49)
        assert samples.mean_of_s is not None
        assert samples.mean_of_s >= 2.0
        (curve,) = samples.of(UTIL, cards=True)
        assert None not in curve.values

    def test_a_stretch_has_the_samples_beside_it_too(self) -> None:
        table = parsed(*(full(t, gpu()) for t in range(10)))
        times = positions(table, 1000.0)
        assert series(table, times, {}, (3.5, 5.2)).t_s == (3.0, 4.0, 5.0, 6.0)
        assert series(table, times, {}, (3.2, 3.4)).t_s == (3.0, 4.0)
        assert series(table, times, {}, (-5.0, -4.0)).t_s == (0.0,)
        assert series(table, times, {}, (20.0, 30.0)).t_s == (9.0,)

    def test_what_throttled_a_card_stands_beside_its_curves(self) -> None:
        table = parsed(full(0, gpu()), full(1, gpu(throttle_reasons=["hardware slowdown"])), row(2), row(5))
        ((card, words),) = series(table, positions(table, 1000.0), {}).throttled
        assert card.id == "GPU-0"
        assert words == ("", "hardware slowdown", "hardware slowdown", "", "hardware slowdown")

    def test_of_no_samples_there_is_no_curve(self) -> None:
        samples = series(parsed(), np.empty(0), {})
        assert (samples.t_s, samples.curves) == ((), ())
