"""Snapshots, the messages between them, and the curves made of them."""

from __future__ import annotations

import copy
from typing import Any

from probes.nvml.snapshot import change, merge
from runners.machine.sample_history import History
from tests.unit.machine_snapshots import LOST, T, gpu, lost_gpu, machine


def test_only_what_changed_is_said_and_merges_to_the_same() -> None:
    before = machine(gpu(0), gpu(1))
    after = copy.deepcopy(before)
    after |= {"seq": 8, "t": T + 1}
    after["gpus"][1] |= {"power_watts": 99.5, "throttle_reasons": ["idle"]}
    after["host"]["cpu_percent"] = 13.0
    message = change(before, after)
    assert message == {
        "seq": 8,
        "t": T + 1,
        "full": False,
        "gpus": [{"index": 1, "power_watts": 99.5, "throttle_reasons": ["idle"]}],
        "host": {"cpu_percent": 13.0},
    }
    assert merge(before, message) == after
    assert before == machine(gpu(0), gpu(1))


def test_a_tick_without_news_is_a_message_too() -> None:
    before = machine(gpu(0))
    after = {**copy.deepcopy(before), "seq": 9, "t": T + 2}
    assert change(before, after) == {"seq": 9, "t": T + 2, "full": False}


def test_the_first_message_and_one_after_cards_came_or_went_are_whole() -> None:
    whole = machine(gpu(0))
    assert change(None, whole) == {**whole, "full": True}
    assert merge(None, {**whole, "full": True}) == whole
    fewer = machine()
    assert change(whole, fewer)["full"]
    assert merge(whole, change(whole, fewer)) == fewer


def test_a_card_that_is_lost_and_comes_back_leaves_nothing_of_either_behind() -> None:
    whole, lost = machine(gpu(0)), machine(lost_gpu(0))
    there = merge(whole, change(whole, lost))
    assert there == lost
    assert merge(there, change(there, whole)) == whole


def rows(history: History, since: float = 0.0) -> dict[str, Any]:
    return history.since(since)


def sample(t: float, **fields: Any) -> dict[str, Any]:
    return machine(gpu(0, **fields), t=t)


UUID = gpu(0)["uuid"]


def test_curves_have_a_gap_where_there_was_no_value() -> None:
    history = History(4)
    history.add(sample(1.0, power_watts=10.5))
    history.add(machine(lost_gpu(0), t=2.0))
    history.add(sample(3.0, power_watts=LOST))
    history.add(sample(4.0, power_watts=40.0))
    told = rows(history)
    assert told["t"] == [1.0, 2.0, 3.0, 4.0]
    assert told["gpus"][UUID]["power_watts"] == [10.5, None, None, 40]
    assert told["gpus"][UUID]["temperature_celsius"] == [61, None, 61, 61]
    assert told["host"]["cpu_percent"] == [12.4] * 4


def test_the_oldest_rows_make_room_and_a_card_that_left_is_told_no_more() -> None:
    history = History(3)
    for t in (1.0, 2.0):
        history.add(sample(t, power_watts=t))
    for t in (3.0, 4.0):
        history.add(machine(t=t))
    assert rows(history)["gpus"][UUID]["power_watts"] == [2, None, None]
    history.add(machine(t=5.0))
    assert (rows(history)["t"], rows(history)["gpus"]) == ([3.0, 4.0, 5.0], {})
    assert rows(history, since=3.0)["t"] == [4.0, 5.0]
    assert rows(history, since=5.0)["t"] == []
