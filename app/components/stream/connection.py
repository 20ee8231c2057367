"""One viewer's WebSocket: what it sends, and both directions at once until it goes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
from collections.abc import Coroutine
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

_LONGEST_WISH = 2000
_ABNORMAL = 1006
_UNSUPPORTED_DATA = 1003
"""The WebSocket's code for what an end does not take."""


async def while_connected(*directions: Coroutine[Any, Any, None]) -> None:
    """Run the directions of a connection until one ends; what tells of a viewer who left is no error."""
    tasks = [asyncio.create_task(direction) for direction in directions]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect):
                await task


async def receive_wish(socket: WebSocket) -> dict[str, Any]:
    """Return what a viewer sends next; the connection of one who sends anything but text is closed.

    WebSocketDisconnect once there is no connection any more.
    """
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    if (text := message.get("text")) is None:
        await socket.close(_UNSUPPORTED_DATA, "text is expected")
        raise WebSocketDisconnect(_UNSUPPORTED_DATA)
    return wish_in(text)


async def send_text(socket: WebSocket, text: str) -> None:
    """Send to a viewer; WebSocketDisconnect where the connection was closed meanwhile, from here too."""
    if socket.application_state is not WebSocketState.CONNECTED:
        raise WebSocketDisconnect(_ABNORMAL)
    await socket.send_text(text)


def wish_in(text: str) -> dict[str, Any]:
    """What a viewer sent; nothing where it is not understood."""
    if len(text) > _LONGEST_WISH:
        return {}
    try:
        wish = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return wish if isinstance(wish, dict) else {}


def number_in(value: Any) -> float | None:
    """The finite number that a viewer sent, None where it is none: JSON knows integers of any length."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
