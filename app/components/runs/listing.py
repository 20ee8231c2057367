"""A long table in the browser: the server keeps it, a viewer is sent the part in view and its changes.

While nothing changes, nothing is sent, and no viewer's page is drawn anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import time
from collections.abc import Mapping
from typing import Any, Protocol, Self

from starlette.websockets import WebSocket

from app.components.stream.connection import receive_wish, send_text, while_connected

LOOK_EVERY_S = 2.0
MOST_ROWS = 100
_LONGEST_SEARCH = 200
_LAST_ROW = 10**9


@dataclasses.dataclass(frozen=True)
class Wish:
    """The part of the table that a viewer wishes to see."""

    find: str = ""
    """Rows with this in them; '' for all."""
    sort: str = ""
    """The column to sort by; '' for the table's own order."""
    way: int = 1
    """-1 for the largest first."""
    first: int = 0
    """The number of the first row in view, from 0."""
    count: int = MOST_ROWS

    @classmethod
    def read(cls, wish: Mapping[str, Any]) -> Self:
        """From what a viewer sent; what is not understood is left out."""
        find, sort, first = wish.get("find"), wish.get("sort"), wish.get("first")
        place = first if isinstance(first, int) and not isinstance(first, bool) else 0
        return cls(
            find=find[:_LONGEST_SEARCH] if isinstance(find, str) else "",
            sort=sort[:_LONGEST_SEARCH] if isinstance(sort, str) else "",
            way=-1 if wish.get("way") == -1 else 1,
            first=min(max(0, place), _LAST_ROW) // MOST_ROWS * MOST_ROWS,
        )


@dataclasses.dataclass(frozen=True)
class View:
    """A part of the table."""

    head: Mapping[str, Any]
    """How many rows there are, and the like."""
    rows: Mapping[str, str]
    """The rows in view, in order: JSON by id."""
    broken: Mapping[str, str]
    """What cannot be read: JSON by id."""


class Listed(Protocol):
    """The table: `app.web.runs.runs_table.RunsTable`."""

    def look(self) -> None:
        """Look whether anything changed; it may take a while."""

    def view(self, wish: Wish, operator: bool) -> View:
        """A part of it."""


class ListingHub:
    """Hands parts of one table to any number of viewers; it is looked at only while there are some."""

    def __init__(self, table: Listed, every_s: float = LOOK_EVERY_S) -> None:
        self._table = table
        self._every_s = every_s
        self._viewers: set[asyncio.Event] = set()
        self._looked_at = float("-inf")
        self._looking: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        """Whether nobody looks."""
        return self._looking is None

    async def serve(self, socket: WebSocket, operator: bool) -> None:
        """Serve one viewer until it goes.

        It sends ``{"find", "sort", "way", "first"}``, see `Wish`. It is sent ``{"order": [id, ..], "rows":
        [row, ..], "broken": [row, ..], ..}``: of the rows those that it lacks, else only what has changed,
        and no message without news.
        """
        await socket.accept()
        viewer = _Viewer(socket, operator)
        self._viewers.add(viewer.wake)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            await while_connected(self._send(viewer), _listen(viewer))
        finally:
            self._viewers.discard(viewer.wake)
            if not self._viewers and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _look(self) -> None:
        """Look at the table now and then; of several viewers that come at once the first waits for it."""
        while True:
            wait = self._looked_at + self._every_s - time.monotonic()
            await asyncio.sleep(max(0.0, wait))
            with contextlib.suppress(Exception):  # a viewer is sent what there is; the next look may go well
                await asyncio.to_thread(self._table.look)
            self._looked_at = time.monotonic()
            for wake in self._viewers:
                wake.set()

    async def _send(self, viewer: _Viewer) -> None:
        while True:
            await viewer.wake.wait()
            viewer.wake.clear()
            if viewer.wish is None or self._looked_at == float("-inf"):
                continue
            view = await asyncio.to_thread(self._table.view, viewer.wish, viewer.operator)
            text = viewer.news(view)
            if text:
                await send_text(viewer.socket, text)


@dataclasses.dataclass(eq=False)
class _Viewer:
    """One open connection, and what its browser has."""

    socket: WebSocket
    operator: bool
    wish: Wish | None = None
    wake: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)
    _sent: View | None = None

    def news(self, view: View) -> str:
        """What the browser lacks of a view, as a message; '' where it lacks nothing."""
        before, self._sent = self._sent, view
        if before == view:
            return ""
        head: dict[str, Any] = {**view.head, "now": time.time()}
        parts = [json.dumps(head)[1:-1]]
        rows = [text for row, text in view.rows.items() if before is None or before.rows.get(row) != text]
        parts.append(f'"rows":[{",".join(rows)}]')
        if before is None or list(before.rows) != list(view.rows):
            parts.append(f'"order":{json.dumps(list(view.rows))}')
        if before is None or before.broken != view.broken:
            parts.append(f'"broken":[{",".join(view.broken.values())}]')
        return f"{{{','.join(parts)}}}"


async def _listen(viewer: _Viewer) -> None:
    while True:
        viewer.wish = Wish.read(await receive_wish(viewer.socket))
        viewer.wake.set()
