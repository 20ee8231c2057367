"""A viewer's end of a WebSocket, and a loop to serve it on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.websockets import WebSocket, WebSocketState


class Socket(WebSocket):
    """A viewer's end of a connection; it takes what is sent while `open` is set."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.wishes: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self.open = asyncio.Event()
        self.open.set()
        self.got = asyncio.Condition()
        self.closed: int | None = None
        self.application_state = WebSocketState.CONNECTED

    async def accept(self, *_terms: Any, **_more: Any) -> None:
        return

    async def send_text(self, text: str) -> None:
        await self.open.wait()
        async with self.got:
            self.texts.append(text)
            self.got.notify_all()

    async def receive(self) -> dict[str, Any]:
        wish = await self.wishes.get()
        if wish is None:
            return {"type": "websocket.disconnect", "code": 1005}
        return {"type": "websocket.receive", "bytes" if isinstance(wish, bytes) else "text": wish}

    async def close(self, code: int = 1000, reason: str | None = None) -> None:
        self.closed = code
        self.application_state = WebSocketState.DISCONNECTED

    async def received(self, number: int) -> list[dict[str, Any]]:
        """What came, once it is so many messages."""
        async with asyncio.timeout(60), self.got:
            await self.got.wait_for(lambda: len(self.texts) >= number)
        return [json.loads(text) for text in self.texts]

    def ask(self, **wish: Any) -> None:
        self.wishes.put_nowait(json.dumps(wish))


def in_loop(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run it in a thread: where browser tests ran before, Playwright's loop runs in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(main())).result()
