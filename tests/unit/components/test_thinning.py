"""Histories as fewer points: means, gaps, JSON."""

from __future__ import annotations

import json

import pytest

from app.components.stream.thinning import MOST_POINTS, encode, step_for, thin

PAST = {
    "t": [10.0, 11.0, 12.5, 14.0, 30.0],
    "gpus": {'GPU-"a': {"power_watts": [1, 3, None, None, 8], "utilization_gpu_percent": [0, 0, 1, 1, 1]}},
    "host": {"cpu_percent": [2, 4, 6, 8, 10]},
}


def test_means_stand_in_the_middle_and_gaps_stay() -> None:
    thinned = thin(PAST, 2.0)
    assert thinned["t"] == [11.0, 13.0, 15.0, 30.0]
    assert thinned["gpus"]['GPU-"a']["power_watts"] == [2.0, None, None, 8.0]
    assert thinned["host"]["cpu_percent"] == [3.0, 6.0, 8.0, 10.0]


def test_a_step_of_none_keeps_every_sample_of_the_fields_wanted() -> None:
    kept = thin(PAST, 0.0, ["power_watts"])
    assert kept == {"t": PAST["t"], "gpus": {'GPU-"a': {"power_watts": [1, 3, None, None, 8]}}, "host": {}}


def test_nothing_sampled_is_nothing() -> None:
    assert thin({"t": [], "gpus": {}, "host": {}}, 6.0) == {"t": [], "gpus": {}, "host": {}}


def test_encoding_piece_by_piece_is_json() -> None:
    assert json.loads(encode(PAST)) == PAST


@pytest.mark.parametrize("span", [120, 600, 3600])
@pytest.mark.parametrize("hz", [0.1, 1, 2, 5, 10])
def test_steps_keep_to_the_most_points(span: float, hz: float) -> None:
    step = step_for(span, hz)
    assert (span * hz if step == 0 else span / step) <= MOST_POINTS
