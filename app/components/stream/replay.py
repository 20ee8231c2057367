"""Replays a recording to one viewer: such messages as the live stream's, at the pace of then or faster."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.websockets import WebSocket

from app.components.stream.connection import number_in, receive_wish, send_text, while_connected
from app.components.stream.past import past_text, recent_text
from app.components.stream.stream import Message, Snapshot, Watch
from probes.nvml.snapshot import merge
from runners.machine.sample_history import SAMPLES, History
from runners.recordings import recordings

SPEEDS = (1.0, 4.0, 16.0)
"""How many seconds of the recording pass in one."""
_LEAST_PAUSE_S = 0.1
"""However fast it goes, a viewer gets no more than ten messages a second."""
_KEPT = 2
_TOLD = 256
_LAST = 10**9


class Replay:
    """One viewer's replay, over and over, from any message on."""

    def __init__(self, name: str, recording: recordings.Recording, watch: Callable[[], Watch]) -> None:
        """`watch` makes what looks for alerts, one for each round."""
        self._name = name
        self._playback = recordings.Playback(recording)
        self._count = len(recording.lines)
        self._make_watch = watch
        self._watch = watch()
        self._number = 0
        self._snapshot: Snapshot = {}
        self._alerts: list[Any] = []
        self._history = History()
        self._speed = SPEEDS[0]
        self._base = (0.0, 0.0)
        """A moment of the clock, and where the replay was then, seconds from its start."""
        self._paused = False
        self._sought: float | None = None
        self._wished = asyncio.Event()

    async def serve(
        self, socket: WebSocket, number: int = 0, *, speed: float = 1.0, paused: bool = False
    ) -> None:
        """Serve until the viewer goes, from the message of this number on, as fast as asked or held there.

        The viewer may send ``{"speed": 4}``, one of `SPEEDS`, ``{"paused": true}`` and ``{"seek": s}``,
        seconds from the start of the recording, and ask for history as on the live stream.
        """
        self._heed({"speed": speed, "paused": paused})
        await socket.accept()
        await while_connected(self._send(socket, number), self._listen(socket))

    async def _send(self, socket: WebSocket, number: int) -> None:
        text = await asyncio.to_thread(self._begin, number)
        while True:
            await send_text(socket, text)
            due = self._playback.due_s(self._number + 1)
            assert due is not None  # It goes on for ever.
            while self._sought is None and (self._paused or self._time_until(due) > 0):
                self._wished.clear()
                with contextlib.suppress(TimeoutError):
                    wait = None if self._paused else self._time_until(due)
                    await asyncio.wait_for(self._wished.wait(), wait)
            await asyncio.sleep(_LEAST_PAUSE_S / 2)
            sought, self._sought = self._sought, None
            if sought is None:
                text = await asyncio.to_thread(self._advance)
            else:
                text = await asyncio.to_thread(self._seek, sought)

    async def _listen(self, socket: WebSocket) -> None:
        while True:
            wish = await receive_wish(socket)
            if not self._snapshot:
                # It is still on its way to where it begins.
                continue
            if self._heed(wish):
                await send_text(socket, json.dumps({**self._when, "recording": self._label}))
            self._wished.set()
            if isinstance(asked := wish.get("history"), dict):
                await send_text(socket, await asyncio.to_thread(self._past, asked))

    def _heed(self, wish: Message) -> bool:
        """Take what is wished for; whether the recording's label is another now."""
        before = self._label
        self._base = (time.monotonic(), self._elapsed)
        speed, paused, seek = wish.get("speed"), wish.get("paused"), wish.get("seek")
        if isinstance(speed, int | float) and speed in SPEEDS:
            self._speed = float(speed)
        if isinstance(paused, bool):
            self._paused = paused
        if (sought := number_in(seek)) is not None:
            self._sought = sought
        return self._label != before

    @property
    def _elapsed(self) -> float:
        then, where = self._base
        if self._paused:
            return where
        return where + (time.monotonic() - then) * self._speed

    @property
    def _when(self) -> Message:
        return {"seq": self._snapshot["seq"], "t": self._snapshot["t"], "full": False}

    @property
    def _label(self) -> dict[str, Any]:
        header = self._playback.header
        return {
            "name": self._name,
            "made": header.made,
            "host": header.hostname,
            "speed": self._speed,
            "paused": self._paused,
            "length": round(self._playback.round_s, 3),
        }

    def _time_until(self, due: float) -> float:
        return (due - self._elapsed) / self._speed

    @property
    def _position(self) -> float:
        """Where the newest message stands in the recording, seconds from its start."""
        return round(self._playback.due_s(self._number % self._count) or 0.0, 3)

    def _seek(self, seconds: float) -> str:
        """The first message from another place of this round on; what came of other places is forgotten."""
        last = self._playback.due_s(self._count - 1) or 0.0
        place = self._playback.number_at(min(max(0.0, seconds), last))
        assert place is not None
        self._history, self._watch = History(), self._make_watch()
        return self._begin(self._number - self._number % self._count + place, sought=True)

    def _begin(self, number: int, sought: bool = False) -> str:
        """The first message: the whole state, with what went before it in this round as its history."""
        self._number = min(max(0, number), _LAST)
        self._base = (time.monotonic(), self._playback.due_s(self._number) or 0.0)
        first = self._number - self._number % self._count
        start = max(first, self._number - SAMPLES)
        self._snapshot = self._playback.snapshot(start)
        self._note()
        for step in range(start + 1, self._number + 1):
            self._snapshot = merge(self._snapshot, self._playback.message(step))
            self._note()
        head = {"now": time.time(), "live": False, "recording": self._label, "runs": []}
        head |= {"position": self._position, "sought": sought}
        body = json.dumps({**self._snapshot, **head, "full": True, "alerts": self._alerts})
        past = recent_text(self._history.since, self._snapshot["t"], self._playback.header.hz)
        return f'{body[:-1]},"history":{past}}}'

    def _advance(self) -> str:
        """The message that holds now; where several are due at once, the whole state."""
        number = self._playback.number_at(self._elapsed)
        assert number is not None
        number = max(number, self._number + 1)
        if number // self._count != self._number // self._count:
            self._history, self._watch = History(), self._make_watch()
        skipped = number != self._number + 1
        message = (
            {**self._playback.snapshot(number), "full": True} if skipped else self._playback.message(number)
        )
        before, self._number = self._alerts, number
        self._snapshot = merge(self._snapshot, message)
        self._note()
        message["position"] = self._position
        if message["full"]:
            message |= {"recording": self._label, "runs": []}
        if message["full"] or self._alerts != before:
            message["alerts"] = self._alerts
        return json.dumps(message, separators=(",", ":"))

    def _note(self) -> None:
        self._history.add(self._snapshot)
        self._alerts = list(self._watch(self._snapshot))

    def _past(self, asked: dict[str, Any]) -> str:
        return past_text(self._history.since, asked, self._snapshot["t"], self._playback.header.hz)


def recording_of(name: str) -> recordings.Recording:
    """The recording with this id, kept for the next who asks; HopscopeError where it cannot be had."""
    path = recordings.find(name)
    facts = path.stat()
    return _read(path, facts.st_mtime_ns, facts.st_size)


@functools.lru_cache(_TOLD)
def told_of(path: Path, _changed: int, _size: int) -> tuple[float, tuple[str, ...]]:
    """How long a round of a recording takes, seconds, and what people should know of it; HopscopeError."""
    recording = recordings.read_recording(path)
    return recordings.Playback(recording).round_s, recording.notes


@functools.lru_cache(_KEPT)
def _read(path: Path, _changed: int, _size: int) -> recordings.Recording:
    return recordings.read_recording(path)
