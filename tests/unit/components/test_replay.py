"""Replays on the Machine page's stream: where they start, how fast they go, what they are called."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from app.components.stream.replay import Replay, recording_of
from runners.errors import HopscopeError
from runners.recordings import recordings
from tests.unit.components.test_stream import state_of
from tests.unit.machine_samples import ByHand, change, full_message
from tests.unit.viewers import Socket, in_loop

START = 1_700_000_000.0
SAMPLES = 40


@pytest.fixture
def recording(hopscope_home: Path) -> recordings.Recording:
    """Forty samples at 20 Hz, kept as an upload is."""
    recordings.folder().mkdir(parents=True)
    recorder = recordings.Recorder(recordings.folder() / "bench.jsonl.gz")
    source = ByHand()
    source.subscribe(recorder.add)
    source.publish({**full_message(1, START), "hz": 20.0})
    for number in range(1, SAMPLES):
        source.publish(change(number + 1, START + number / 20, number, 0))
    recorder.close()
    return recording_of("bench.jsonl.gz")


def watch_first(snapshot: Mapping[str, Any]) -> list[dict[str, Any]]:
    load = snapshot["gpus"][0]["utilization_gpu_percent"]
    return [{"code": "late"}] if load >= SAMPLES - 5 else []


def replayed(
    recording: recordings.Recording, number: int, until: int, *wishes: dict[str, Any], **terms: Any
) -> list[dict[str, Any]]:
    """So many messages of a replay from a message on, of which the wishes are sent after the first."""

    async def main() -> list[dict[str, Any]]:
        socket = Socket()
        replay = Replay("bench.jsonl.gz", recording, lambda: watch_first)
        serving = asyncio.create_task(replay.serve(socket, number, **terms))
        await socket.received(1)
        for wish in wishes:
            socket.ask(**wish)
        messages = await socket.received(until)
        socket.wishes.put_nowait(None)
        async with asyncio.timeout(60):
            await serving
        return messages

    told: list[dict[str, Any]] = in_loop(main)
    return told


def test_it_says_what_it_is_and_follows_the_recording(recording: recordings.Recording) -> None:
    first, *others = replayed(recording, 0, 5)
    assert first["full"] is True and first["live"] is False
    label = first["recording"]
    assert (label["name"], label["host"], label["speed"]) == ("bench.jsonl.gz", "bench", 1)
    assert abs(label["made"] - time.time()) < 600
    assert first["t"] == START and first["history"]["t"] == [START]
    shown = state_of([first, *others])
    assert shown["recording"] == label
    assert shown["gpus"][0]["utilization_gpu_percent"] == shown["seq"] - 1 == round((shown["t"] - START) * 20)


def test_it_goes_on_where_it_was_with_what_went_before(recording: recordings.Recording) -> None:
    first, *_ = replayed(recording, SAMPLES + 10, 1)
    assert first["seq"] == SAMPLES + 11
    assert first["gpus"][0]["utilization_gpu_percent"] == 10
    # At 20 Hz two minutes come as means of half a second.
    assert first["history"]["t"] == [START + 0.25, START + 0.5]
    assert first["history"]["gpus"]["GPU-0"]["utilization_gpu_percent"] == [4.5, 10]


def test_each_round_starts_afresh(recording: recordings.Recording) -> None:
    messages = replayed(recording, SAMPLES - 3, 12)
    assert messages[0]["alerts"] == [{"code": "late"}]
    around = next(message for message in messages if message["seq"] > SAMPLES)
    assert around["full"] is True and around["t"] < START + 1
    assert around["alerts"] == [] and around["recording"]["host"] == "bench"


def test_faster_it_skips_samples_and_stays_true(recording: recordings.Recording) -> None:
    messages = replayed(recording, 0, 12, {"speed": 16}, {"speed": 1000}, {"speed": "4"})
    assert [message["recording"]["speed"] for message in messages if "recording" in message][-1] == 16
    shown = state_of(messages)
    assert shown["seq"] > 30
    assert shown["gpus"][0]["utilization_gpu_percent"] == (shown["seq"] - 1) % SAMPLES


def test_it_says_where_it_is_and_how_long_it_is(recording: recordings.Recording) -> None:
    first, *others = replayed(recording, SAMPLES + 10, 3)
    assert first["recording"]["length"] == pytest.approx(SAMPLES / 20)
    assert first["recording"]["paused"] is False
    assert [message["position"] for message in (first, *others)] == pytest.approx([0.5, 0.55, 0.6], abs=0.2)


def test_one_goes_elsewhere_and_what_came_before_is_forgotten(recording: recordings.Recording) -> None:
    messages = replayed(recording, SAMPLES + 30, 8, {"seek": 0.5})
    sought = next(message for message in messages if message.get("sought"))
    assert (sought["full"], sought["position"], sought["seq"]) == (True, 0.5, SAMPLES + 11)
    assert sought["gpus"][0]["utilization_gpu_percent"] == 10
    assert max(sought["history"]["t"]) <= sought["t"] == START + 0.5
    assert all(message["t"] > sought["t"] for message in messages[messages.index(sought) + 1 :])


@pytest.mark.parametrize(("place", "position"), [(1e9, (SAMPLES - 1) / 20), (-3, 0.0)])
def test_places_beyond_the_ends_are_the_ends(
    recording: recordings.Recording, place: float, position: float
) -> None:
    messages = replayed(recording, 20, 3, {"paused": True}, {"seek": place})
    assert next(message for message in messages if message.get("sought"))["position"] == position


def test_it_is_held_and_goes_on_from_there(recording: recordings.Recording) -> None:
    async def main() -> list[dict[str, Any]]:
        socket = Socket()
        replay = Replay("bench.jsonl.gz", recording, lambda: watch_first)
        serving = asyncio.create_task(replay.serve(socket, 0))
        await socket.received(1)
        socket.ask(paused=True)
        socket.ask(seek=1.0)
        socket.ask(seek="1")
        messages = await socket.received(3)
        while not messages[-1].get("sought"):
            messages = await socket.received(len(messages) + 1)
        held = len(messages)
        # Ten samples' time.
        await asyncio.sleep(0.5)
        assert len(socket.texts) == held
        begun = time.monotonic()
        socket.ask(paused=False)
        messages = await socket.received(held + 3)
        took.append(time.monotonic() - begun)
        socket.wishes.put_nowait(None)
        async with asyncio.timeout(60):
            await serving
        return messages[held - 1 :]

    took: list[float] = []
    at, label, *others = in_loop(main)
    assert at["recording"]["paused"] is True and label["recording"]["paused"] is False
    assert at["position"] == 1.0
    # From there, not from where it would be by now.
    assert others[0]["position"] <= 1.1 + took[0]


def test_one_that_was_held_before_the_connection_was_lost_is_held_from_the_start(
    recording: recordings.Recording,
) -> None:
    ask = {"history": {"span": 1}}
    first, *others = replayed(recording, 20, 4, ask, ask, ask, speed=16, paused=True)
    assert (first["recording"]["paused"], first["recording"]["speed"]) == (True, 16)
    # Answers come, and no sample among them.
    assert first["seq"] == 21 and all("span" in message for message in others)
    (first,) = replayed(recording, 20, 1, speed=1000)
    assert first["recording"]["speed"] == 1


def test_history_is_that_of_the_recording(recording: recordings.Recording) -> None:
    wish = {"history": {"span": 1, "fields": ["utilization_gpu_percent"]}}
    messages = replayed(recording, 30, 4, wish)
    answer = next(message for message in messages if "span" in message)
    curve = answer["history"]["gpus"]["GPU-0"]["utilization_gpu_percent"]
    assert curve == list(range(curve[0], curve[-1] + 1)) and curve[-1] >= 30 and curve[0] >= 10


@pytest.mark.parametrize("number", [-5, 10**30])
def test_odd_places_are_bounded(recording: recordings.Recording, number: int) -> None:
    (first,) = replayed(recording, number, 1)
    assert first["full"] is True and len(first["gpus"]) == 2


@pytest.mark.parametrize("name", ["", "none.jsonl", "../spec.json", "/etc/passwd", "a\0b.jsonl"])
def test_only_recordings_of_the_folder_are_replayed(hopscope_home: Path, name: str) -> None:
    with pytest.raises(HopscopeError, match="there is no recording"):
        recording_of(name)


def test_one_that_was_replaced_is_read_again(recording: recordings.Recording) -> None:
    assert recording_of("bench.jsonl.gz") is recording
    path = recordings.find("bench.jsonl.gz")
    recorder = recordings.Recorder(path, overwrite=True)
    source = ByHand()
    source.subscribe(recorder.add)
    source.publish(full_message(1, START, gpus=3))
    recorder.close()
    assert len(recording_of("bench.jsonl.gz").header.gpus) == 3
    assert json.loads(recording_of("bench.jsonl.gz").lines[0])["t"] == START
