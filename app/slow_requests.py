"""Bounds what those who have shown no token yet can hold: connections whose request has not come whole.

uvicorn waits for ever for the rest of a request's head, and keeps what has come of it.
"""

from __future__ import annotations

import asyncio
import weakref
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

LONGEST_S = 20.0
"""How long the head of a request may take."""
MOST = 100
"""Connections that wait at once; of more the one that began first is closed."""

_waiting: dict[int, weakref.ref[PatientProtocol]] = {}
"""Those that wait, by identity, the one that began first in front."""


class PatientProtocol(H11Protocol):
    """A connection that is closed where its request does not come."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # it is given no other
        """Wait for the first request."""
        self._timer: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read on; a whole head ends the waiting, and the beginning of another one starts it again."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._end()
        elif self._timer is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._end()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._timer = self.loop.call_later(LONGEST_S, self._close)
        _waiting[id(self)] = weakref.ref(self)
        if len(_waiting) > MOST and (first := next(iter(_waiting.values()))()) is not None:
            first._close()

    def _end(self) -> None:
        _waiting.pop(id(self), None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        self._end()
        self.transport.abort()


def bound(config: uvicorn.Config) -> None:
    """Have the server of this configuration close such connections; others than uvicorn's own stay."""
    kind: Any = config.http_protocol_class
    if kind is H11Protocol:
        config.http_protocol_class = PatientProtocol
