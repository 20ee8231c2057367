"""The stream of the Machine page: what viewers are sent, and that none of them holds up the others."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip("starlette")

from starlette.websockets import WebSocketDisconnect

from app.components.stream import connection, past, stream
from app.components.stream.stream import Hub
from probes.nvml.snapshot import merge
from tests.unit.machine_samples import ByHand, change, full_message
from tests.unit.viewers import Socket, in_loop

NOW = 0.0
"""When the test began, epoch seconds; not when this file was read, which may be long before."""


@pytest.fixture(autouse=True)
def begin_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "NOW", time.time())


class Room:
    """A hub at work on a source that the test moves, and its viewers."""

    def __init__(self, hub: Hub, source: ByHand) -> None:
        self.hub = hub
        self.source = source
        self._served: list[tuple[Socket, asyncio.Task[None]]] = []

    async def enter(self, socket: Socket | None = None, **terms: Any) -> Socket:
        """Let a viewer in who has got its first message."""
        socket = socket or Socket()
        task = asyncio.create_task(self.hub.serve(socket, **terms))
        self._served.append((socket, task))
        await socket.received(1)
        return socket

    async def publish(self, *messages: dict[str, Any]) -> None:
        """Each message from a thread of its own, as the monitor does it."""
        for message in messages:
            await asyncio.to_thread(self.source.publish, message)

    async def leave(self) -> None:
        for socket, task in self._served:
            socket.open.set()
            socket.wishes.put_nowait(None)
            async with asyncio.timeout(60):
                await task


def in_room(
    visit: Callable[[Room], Awaitable[None]],
    watch: Callable[[Mapping[str, Any]], list[dict[str, Any]]] = lambda _snapshot: [],
    runs: Callable[[], Sequence[dict[str, Any]]] = list,
) -> None:
    async def main() -> None:
        source = ByHand()
        hub = Hub(source, watch, runs)
        hub.start()
        room = Room(hub, source)
        try:
            await visit(room)
            await room.leave()
            assert hub.viewers == 0
        finally:
            await hub.stop()
        assert source.callbacks == []

    in_loop(main)


def state_of(messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a page shows after these messages."""
    shown: dict[str, Any] | None = None
    for message in messages:
        shown = merge(shown, {key: value for key, value in message.items() if key not in ("now", "history")})
    assert shown is not None
    return shown


def test_the_first_message_has_everything() -> None:
    async def visit(room: Room) -> None:
        await room.publish(full_message(1, NOW - 60), change(2, NOW - 59, 7, 8), change(3, NOW - 58, 9))
        (first,) = await (await room.enter()).received(1)
        assert first["full"] is True and first["live"] is True
        assert first["seq"] == 3 and abs(first["now"] - time.time()) < 60
        assert [gpu["utilization_gpu_percent"] for gpu in first["gpus"]] == [9, 8]
        assert first["alerts"] == [{"code": "seen", "text": "3"}]
        curves = first["history"]
        assert curves["t"] == pytest.approx([NOW - 60, NOW - 59, NOW - 58])
        assert curves["gpus"]["GPU-1"]["utilization_gpu_percent"] == [10, 8, 8]
        assert curves["host"]["cpu_percent"] == [5, 2, 3]

    in_room(visit, watch=lambda snapshot: [{"code": "seen", "text": str(snapshot["seq"])}])


def test_history_goes_back_as_far_as_asked() -> None:
    async def visit(room: Room) -> None:
        await room.publish(full_message(1, NOW - 900), change(2, NOW - 60, 7), change(3, NOW - 30, 9))
        (first,) = await (await room.enter()).received(1)
        assert first["history"]["t"] == pytest.approx([NOW - 60, NOW - 30])
        (first,) = await (await room.enter(since=NOW - 40)).received(1)
        assert first["history"]["t"] == pytest.approx([NOW - 30])

    in_room(visit)


def test_every_viewer_is_handed_the_same_text() -> None:
    async def visit(room: Room) -> None:
        await room.publish(full_message(1, NOW))
        one, other = await room.enter(), await room.enter()
        await room.publish(change(2, NOW + 1, 50), change(3, NOW + 2, 60))
        assert [message["seq"] for message in await one.received(3)] == [1, 2, 3]
        await other.received(3)
        assert all(mine is theirs for mine, theirs in zip(one.texts[1:], other.texts[1:], strict=True))

    in_room(visit)


def test_alerts_and_runs_are_told_when_they_change() -> None:
    running: list[dict[str, Any]] = [{"id": "a"}]

    async def visit(room: Room) -> None:
        await room.publish(full_message(1, NOW))
        viewer = await room.enter()
        seq = 1
        while "runs" not in json.loads(viewer.texts[-1]) or seq == 1:
            seq += 1
            await room.publish(change(seq, NOW + seq, 0))
            await viewer.received(seq)
        assert json.loads(viewer.texts[-1])["runs"] == [{"id": "a"}]
        await room.publish(change(seq + 1, NOW + seq + 1, 99), change(seq + 2, NOW + seq + 2, 98))
        hot, still_hot = (await viewer.received(seq + 2))[-2:]
        assert hot["alerts"] == [{"code": "hot"}] and "runs" not in hot
        assert "alerts" not in still_hot

    def watch(snapshot: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [{"code": "hot"}] if snapshot["gpus"][0]["utilization_gpu_percent"] > 90 else []

    in_room(visit, watch, lambda: list(running))


def test_before_the_first_sample_it_says_so_and_goes_on_with_the_whole() -> None:
    async def visit(room: Room) -> None:
        viewer = await room.enter()
        assert (await viewer.received(1))[0]["starting"] is True
        await room.publish(full_message(1, NOW), change(2, NOW + 1, 3, 4))
        _, *messages = await viewer.received(3)
        assert messages[0]["full"] is True
        shown = state_of(messages)
        assert [gpu["utilization_gpu_percent"] for gpu in shown["gpus"]] == [3, 4]

    in_room(visit)


def test_a_source_that_began_before_is_shown_at_once() -> None:
    async def visit(room: Room) -> None:
        room.source.snapshot = merge(None, full_message(4, NOW))
        (first,) = await (await room.enter()).received(1)
        assert first["seq"] == 4 and first["alerts"] == [{"code": "one"}]

    in_room(visit, watch=lambda _snapshot: [{"code": "one"}])


def test_a_slow_viewer_is_skipped_and_then_sees_what_is_true() -> None:
    async def visit(room: Room) -> None:
        await room.publish(full_message(1, NOW))
        slow, quick = await room.enter(), await room.enter()
        slow.open.clear()
        total = 4 * stream.MOST_WAITING
        for seq in range(2, total):
            await room.publish(change(seq, NOW + seq, seq % 100, seq % 7))
            await quick.received(seq)
        held = room.hub.most_waiting
        assert held <= stream.MOST_WAITING
        slow.open.set()
        await room.publish(change(total, NOW + total, 42, 43), change(total + 1, NOW + total + 1, 44))
        async with asyncio.timeout(60):
            while json.loads(slow.texts[-1])["seq"] != total + 1:
                await slow.received(len(slow.texts) + 1)
        assert len(slow.texts) < total / 2
        everything = [json.loads(text) for text in slow.texts]
        assert sum(message["full"] for message in everything) >= 2
        shown, truth = state_of(everything), room.source.snapshot
        assert truth is not None
        assert shown["gpus"] == truth["gpus"] and shown["host"] == truth["host"]

    in_room(visit)


def test_runs_that_take_long_to_read_hold_nobody_up() -> None:
    let_go = threading.Event()

    def runs() -> list[dict[str, Any]]:
        assert let_go.wait(30)
        return []

    async def visit(room: Room) -> None:
        await room.publish(full_message(1, NOW))
        viewer = await room.enter()
        await room.publish(change(2, NOW + 1, 5), change(3, NOW + 2, 6))
        assert [message["seq"] for message in await viewer.received(3)] == [1, 2, 3]
        let_go.set()

    in_room(visit, runs=runs)


def test_only_who_may_changes_the_rate_and_only_to_one_that_is_offered() -> None:
    async def visit(room: Room) -> None:
        await room.publish(full_message(1, NOW))
        guest = await room.enter()
        guest.ask(hz=10, history={"span": 60})
        await guest.received(2)
        assert room.source.hz == 1
        operator = await room.enter(may_change=True)
        for wish in (
            "not json",
            "[]",
            '{"hz": 1000}',
            '{"hz": "5"}',
            '{"hz": true, "history": {"span": 60}}',
        ):
            operator.wishes.put_nowait(wish)
        await operator.received(2)
        assert room.source.hz == 1
        operator.ask(hz=5, history={"span": 60})
        await operator.received(3)
        assert room.source.hz == 5

    in_room(visit)


@pytest.mark.parametrize("frame", [b"", b'{"hz": 5}'])
def test_who_sends_bytes_is_hung_up_on_quietly(frame: bytes) -> None:
    async def visit(room: Room) -> None:
        await room.publish(full_message(1, NOW - 60))
        socket = await room.enter()
        socket.wishes.put_nowait(frame)
        await room.leave()
        assert socket.closed == 1003
        assert room.source.hz == 1.0

    in_room(visit)


def test_an_hour_comes_as_means_of_what_was_asked_for() -> None:
    async def visit(room: Room) -> None:
        start = (NOW - 3000) // 6 * 6
        await room.publish(full_message(1, start))
        for second in range(1, 600):
            room.source.publish(change(second + 1, start + second, second % 6, 50))
        viewer = await room.enter()
        viewer.ask(history={"span": 3600, "fields": ["utilization_gpu_percent"]})
        _, answer = await viewer.received(2)
        assert (answer["span"], answer["step"], answer["fields"]) == (3600, 6, ["utilization_gpu_percent"])
        curves = answer["history"]
        assert curves["t"][:2] == pytest.approx([start + 3, start + 9])
        assert len(curves["t"]) == 100
        assert list(curves["gpus"]["GPU-0"]) == ["utilization_gpu_percent"]
        assert curves["gpus"]["GPU-0"]["utilization_gpu_percent"][1:] == [2.5] * 99
        assert curves["host"] == {}

    in_room(visit)


@pytest.mark.parametrize("span", [float("nan"), float("inf"), -5, "long", None, True, 10**12, 10**400])
def test_odd_spans_are_bounded(span: object) -> None:
    seconds, fields = past.wanted_in({"span": span, "fields": "all"})
    assert 1 <= seconds <= past.LONGEST_S and fields == ()


@pytest.mark.parametrize("text", ["[" * 1500, '{"a":' * 300, "9" * 1999, "null", "\ud800", "NaN"])
def test_a_wish_that_is_none_is_left_out(text: str) -> None:
    assert connection.wish_in(text) == {}


def test_what_is_sent_after_the_connection_was_closed_ends_its_serving() -> None:
    async def send_late() -> None:
        socket = Socket()
        await connection.send_text(socket, "in time")
        await socket.close(1003)
        with pytest.raises(WebSocketDisconnect):
            await connection.send_text(socket, "late")
        assert socket.texts == ["in time"]

    asyncio.run(send_late())
