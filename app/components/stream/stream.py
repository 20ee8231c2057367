"""What the Machine page listens to: each sample encoded once and handed to everybody who looks.

The monitor calls from a thread of its own, and what takes time (alerts, encoding, histories) happens there
or in worker threads: on the event loop texts are only handed on. What waits for a viewer is bounded; one
who falls behind is sent the whole state instead of what was missed.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from starlette.websockets import WebSocket

from app.components.stream.connection import receive_wish, send_text, while_connected
from app.components.stream.past import past_text, recent_text
from app.components.stream.thinning import History

Message = dict[str, Any]
Snapshot = dict[str, Any]
Watch = Callable[[Snapshot], Sequence[Mapping[str, Any]]]
"""From a snapshot to the alerts that it raises."""
Runs = Callable[[], Sequence[Mapping[str, Any]]]
"""The runs that go on now; it may take a while."""

RATES = (1.0, 2.0, 5.0, 10.0)
"""Samples a second that a viewer may ask for."""
MOST_WAITING = 32
_RUNS_EVERY_S = 2.0
_CALM_HZ = 1.0
_CALM_AFTER_S = 60.0
"""How long after the last viewer left no more than `_CALM_HZ` is sampled: nobody sees it."""


class Source(Protocol):
    """Where samples come from: `runners.machine.monitor.Monitor`."""

    @property
    def snapshot(self) -> Snapshot | None:
        """The newest, None before the first."""

    @property
    def hz(self) -> float:
        """Samples a second."""

    def subscribe(self, callback: Callable[[Message, Snapshot], None]) -> Callable[[], None]:
        """Have each message with its snapshot, in a thread of the source's; returns what ends that."""

    def history(self, since: float) -> History:
        """The samples since then, epoch seconds."""

    def set_rate(self, hz: float) -> float:
        """Samples a second from now on."""


@dataclasses.dataclass(eq=False)
class _Viewer:
    """One open connection, and what waits to be sent to it."""

    waiting: asyncio.Queue[tuple[int, str]]
    behind: bool = False
    """It missed something: it is to get the whole state next."""


@dataclasses.dataclass(frozen=True)
class _State:
    """Everything that a viewer is shown, and the number of the message that made it so."""

    number: int = 0
    snapshot: Snapshot | None = None
    alerts: Sequence[Mapping[str, Any]] = ()
    runs: Sequence[Mapping[str, Any]] = ()


class Hub:
    """Hands the samples of one source to any number of viewers."""

    def __init__(self, source: Source, watch: Watch, runs: Runs) -> None:
        self._source = source
        self._watch = watch
        self._read_runs = runs
        self._guard = threading.Lock()
        self._state = _State()
        self._runs: Sequence[Mapping[str, Any]] = ()
        self._viewers: tuple[_Viewer, ...] = ()
        self._came = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._unsubscribe: Callable[[], None] = _nothing
        self._looking: asyncio.Task[None] | None = None
        self._calming: asyncio.TimerHandle | None = None

    @property
    def viewers(self) -> int:
        """How many look now."""
        return len(self._viewers)

    @property
    def most_waiting(self) -> int:
        """How many messages wait for the slowest of them."""
        return max((viewer.waiting.qsize() for viewer in self._viewers), default=0)

    def start(self) -> None:
        """Listen to the source. To be called on the event loop that the connections are served on."""
        self._loop = asyncio.get_running_loop()
        self._came = asyncio.Event()
        self._unsubscribe = self._source.subscribe(self._heard)
        self._looking = self._loop.create_task(self._look_at_runs())

    async def stop(self) -> None:
        """Listen no more."""
        self._unsubscribe()
        if self._calming is not None:
            self._calming.cancel()
        if self._looking is not None:
            self._looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._looking
        self._loop = None

    async def serve(self, socket: WebSocket, since: float = 0.0, may_change: bool = False) -> None:
        """Serve one viewer until it goes: the whole state with its history since then, then each message.

        `since` is in epoch seconds; no more than the last two minutes come unasked. The viewer may send
        ``{"history": {"span": s, "fields": [..]}}``, answered with as much history, and, where it
        `may_change` things, ``{"hz": 5}``.
        """
        await socket.accept()
        viewer = _Viewer(asyncio.Queue(MOST_WAITING))
        self._viewers = (*self._viewers, viewer)
        self._came.set()
        if self._calming is not None:
            self._calming.cancel()
        try:
            await while_connected(self._send(socket, viewer, since), self._listen(socket, may_change))
        finally:
            self._viewers = tuple(other for other in self._viewers if other is not viewer)
            if not self._viewers:
                self._came.clear()
                if self._loop is not None:
                    self._calming = self._loop.call_later(_CALM_AFTER_S, self._calm)

    async def _send(self, socket: WebSocket, viewer: _Viewer, since: float) -> None:
        number, text = await asyncio.to_thread(self._opening, since)
        # Before the first sample there is no state to add to: the next message brings a whole one.
        viewer.behind = viewer.behind or not number
        await send_text(socket, text)
        while True:
            made, text = await viewer.waiting.get()
            if made > number:
                await send_text(socket, text)

    async def _listen(self, socket: WebSocket, may_change: bool) -> None:
        while True:
            wish = await receive_wish(socket)
            if may_change and (hz := rate_in(wish)):
                await asyncio.to_thread(self._source.set_rate, hz)
            asked = wish.get("history")
            if isinstance(asked, dict):
                await send_text(socket, await asyncio.to_thread(self._past, asked))

    def _opening(self, since: float) -> tuple[int, str]:
        """The first message, and the number of the last that is in it; 0 before there is any."""
        now = time.time()
        state = self._current()
        head: Message = {"now": now, "live": True, "hz": self._source.hz}
        if state.snapshot is None:
            return 0, _json(head | {"starting": True, "runs": self._runs})
        past = recent_text(self._source.history, now, self._source.hz, since)
        body = _json(_whole(state) | head)
        return state.number, f'{body[:-1]},"history":{past}}}'

    def _past(self, asked: dict[str, Any]) -> str:
        return past_text(self._source.history, asked, time.time(), self._source.hz)

    def _current(self) -> _State:
        with self._guard:
            if self._state.snapshot is None and (snapshot := self._source.snapshot) is not None:
                # The source was at work before anybody listened.
                self._state = _State(1, snapshot, self._watch(snapshot))
            return dataclasses.replace(self._state, runs=self._runs)

    def _heard(self, message: Message, snapshot: Snapshot) -> None:
        """Pass on a message; runs in the source's thread."""
        alerts = self._watch(snapshot)
        viewers = self._viewers
        with self._guard:
            before, runs = self._state, self._runs
            state = self._state = _State(before.number + 1, snapshot, alerts, runs)
        if not viewers:
            return
        news: Message = {}
        if alerts != before.alerts:
            news["alerts"] = alerts
        if runs != before.runs:
            news["runs"] = runs
        text = _json(message | news)
        whole = _json(_whole(state)) if any(viewer.behind for viewer in viewers) else None
        loop = self._loop
        # The loop may close meanwhile, when the server stops.
        with contextlib.suppress(RuntimeError):
            if loop is not None:
                loop.call_soon_threadsafe(self._hand_on, state.number, text, whole)

    def _hand_on(self, number: int, text: str, whole: str | None) -> None:
        for viewer in self._viewers:
            hand_over(viewer, number, text, whole)

    def _calm(self) -> None:
        if self._loop is not None and self._source.hz > _CALM_HZ:
            self._loop.run_in_executor(None, self._source.set_rate, _CALM_HZ)

    async def _look_at_runs(self) -> None:
        """Look at the runs while somebody looks at the page; they are told with the next sample."""
        while True:
            await self._came.wait()
            self._runs = await asyncio.to_thread(self._read_runs)
            await asyncio.sleep(_RUNS_EVERY_S)


def hand_over(viewer: _Viewer, number: int, text: str, whole: str | None) -> None:
    """Put a message where the viewer's connection takes it from; where that is full, empty it."""
    if viewer.behind:
        if whole is None:
            return
        text = whole
    try:
        viewer.waiting.put_nowait((number, text))
        viewer.behind = False
    except asyncio.QueueFull:
        viewer.behind = True
        while not viewer.waiting.empty():
            viewer.waiting.get_nowait()


def rate_in(wish: Message) -> float | None:
    """The rate that a viewer asks for, if it is one of `RATES`."""
    hz = wish.get("hz")
    return float(hz) if isinstance(hz, int | float) and not isinstance(hz, bool) and hz in RATES else None


def _whole(state: _State) -> Message:
    return {**(state.snapshot or {}), "full": True, "alerts": state.alerts, "runs": state.runs}


def _json(message: Message) -> str:
    return json.dumps(message, separators=(",", ":"))


def _nothing() -> None:
    """Ends nothing."""
