"""The dashboard's server: Streamlit's app with our routes and life cycle around it.

`python3 -m app` calls `serve`; `streamlit run app/server.py` finds `app`. Both ways the same checks apply.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import errno
import logging
import math
import os
import signal
import socket
import sys
import time
import tomllib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # `streamlit run` knows this file's folder only
    sys.path.insert(0, str(ROOT))

import h11
import plotly
import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets import http11

from app import access, slow_requests
from app.components.runs.listing import ListingHub
from app.components.stream.going_on import GoingOn
from app.components.stream.replay import Replay, recording_of
from app.components.stream.stream import Hub
from app.opening import missing_lines, opening_lines
from app.tokens import kept_tokens
from app.views.metrics import CONTENT_TYPE as METRICS_TYPE
from app.views.metrics import metrics_text
from app.views.smi_text import machine_text
from app.web.machine.alerts import Watcher
from app.web.runs.runs_table import RunsTable
from probes.attach import dashboards
from runners.environments import background_install
from runners.errors import HopscopeError, UsageError
from runners.machine import monitor
from runners.machine.cuda_order import with_ordinals
from runners.runs import registry

DEFAULT_ADDRESS = "127.0.0.1"
DEFAULT_PORT = 8501
_PLOTLY_JS = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"

_FRESH = {"Cache-Control": "no-store"}
_CONNECTIONS_GRACE_S = 3
_CLIENTS_LOGGERS = ("streamlit.web.server.starlette.starlette_websocket", "uvicorn.error")
"""What tells of messages and requests that could not be read."""
_MESSAGE_BYTES = 8 << 20
"""The largest message of a page: an edited copy of a file and what else stands in its widgets."""
_HEADER_BYTES = 1 << 20
"""The largest header of a request: a browser keeps up to 180 cookies of 4 KiB for one host."""


@dataclasses.dataclass(frozen=True)
class Options:
    """How `serve` was asked to let people in."""

    no_token: bool = False
    new_tokens: bool = False


_options = Options()
_hub = Hub(monitor.shared(), Watcher().look, GoingOn().look)
_runs_hub = ListingHub(RunsTable(registry.index.look))


async def _health(_request: Request) -> Response:
    return JSONResponse({"ok": True})


async def _plotly_js(_request: Request) -> Response:
    """The browser half of the installed plotly, so that nothing is fetched from outside."""
    return FileResponse(
        _PLOTLY_JS, media_type="text/javascript", headers={"Cache-Control": "public, max-age=86400"}
    )


async def _machine(socket: WebSocket) -> None:
    """The Machine page's stream: of this machine, or a recording's.

    It is cancelled where the server stops and the browser reads no more.
    """
    query = socket.query_params
    if (name := query.get("replay")) is not None:
        try:
            recording = await asyncio.to_thread(recording_of, name)
        except HopscopeError:
            # The page has said why.
            await socket.close()
            return
        replay = Replay(name, recording, lambda: Watcher().look)
        speed, paused = _number(query.get("speed")), query.get("paused") == "true"
        with contextlib.suppress(asyncio.CancelledError):
            await replay.serve(socket, int(_number(query.get("from"))), speed=speed, paused=paused)
        return
    with contextlib.suppress(asyncio.CancelledError):
        await _hub.serve(socket, _number(query.get("since")), access.role_of(socket) == "operator")


async def _runs(socket: WebSocket) -> None:
    """The Runs page's stream: the part of the list that a viewer looks at, when it changes."""
    with contextlib.suppress(asyncio.CancelledError):
        await _runs_hub.serve(socket, access.role_of(socket) == "operator")


def _number(text: str | None) -> float:
    try:
        number = float(text or 0)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0


async def _devices_json(_request: Request) -> Response:
    """The newest sample, as `devices --json` has it."""
    snapshot = await _newest()
    return JSONResponse(snapshot, headers=_FRESH) if snapshot else _none_yet()


async def _devices_text(_request: Request) -> Response:
    """The newest sample as `devices` prints it."""
    snapshot = await _newest()
    if snapshot is None:
        return _none_yet()
    return PlainTextResponse(await asyncio.to_thread(machine_text, snapshot, os.environ), headers=_FRESH)


async def _metrics(_request: Request) -> Response:
    """The newest sample for Prometheus."""
    source = monitor.shared()
    body = await asyncio.to_thread(metrics_text, source.snapshot, source.state, time.time())
    return Response(body, media_type=METRICS_TYPE, headers=_FRESH)


async def _newest() -> dict[str, Any] | None:
    """The newest sample with CUDA's numbers; the driver may be asked for these."""
    snapshot = monitor.shared().snapshot
    return None if snapshot is None else await asyncio.to_thread(with_ordinals, snapshot)


def _none_yet() -> Response:
    return PlainTextResponse("No sample has been taken yet; ask again in a second.\n", 503, _FRESH)


@contextlib.asynccontextmanager
async def _lifespan(_app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Decide who gets in, print the address, and keep what serves the pages going.

    It runs in every way of starting, also under another server's command.
    """
    for line in registry.close_to_others():
        print(f"hopscope: {line}", file=sys.stderr, flush=True)
    server = _uvicorn_server()
    if server is not None:
        _bound(server.config)
    for name in _CLIENTS_LOGGERS:
        logging.getLogger(name).addFilter(OneLine())
    address, port = _listening(server)
    tokens, unkept = ({}, None) if _options.no_token else kept_tokens(_options.new_tokens)
    policy = access.Policy(tokens, (address.lower(),))
    access.set_policy(policy)
    url = _url(address, port)
    for line in opening_lines(url, tokens, secret=sys.stdout.isatty()):
        print(line, flush=True)
    if unkept:
        print(f"hopscope: {unkept}", file=sys.stderr, flush=True)
    for line in await asyncio.to_thread(missing_lines):
        print(line, flush=True)
    address_told = contextlib.ExitStack()
    address_told.enter_context(dashboards.told(url, port))
    _hub.start()
    monitor.shared().start()
    try:
        yield {}
    finally:
        address_told.close()
        await _hub.stop()
        await asyncio.to_thread(monitor.shared().stop)
        await asyncio.to_thread(background_install.stop)


class OneLine(logging.Filter):
    """Say in one line what was refused: whoever reaches the server can send any bytes."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Pass every record on, without the frames of others' code where the client was wrong."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, h11.LocalProtocolError):
            # The request broke off in its body, and then no answer can be sent.
            record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
            record.msg, record.args = f"A malformed request was dropped: {error}", ()
            record.exc_info = None
        elif error is not None and record.levelno == logging.WARNING:
            record.msg, record.args = f"{record.getMessage()}: {error}", ()
            record.exc_info = None
        return True


def _uvicorn_server() -> uvicorn.Server | None:
    """The server that runs this app, found by the handler that it has set for SIGTERM."""
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    return server if isinstance(server, uvicorn.Server) else None


def _bound(config: uvicorn.Config) -> None:
    """Bound what a stop waits for and what one client may send; Streamlit hands no such settings on.

    Without the first a connection that was accepted while the server closes, or whose browser reads no
    more, keeps uvicorn waiting for ever (`Server.shutdown` closes those that it knows, and waits for all to
    be gone).
    """
    config.timeout_graceful_shutdown = _CONNECTIONS_GRACE_S
    config.ws_max_size = _MESSAGE_BYTES
    # Other servers of this host share a browser's cookies with this one, so their size is not ours to choose.
    config.h11_max_incomplete_event_size = _HEADER_BYTES
    http11.MAX_LINE_LENGTH = _HEADER_BYTES
    slow_requests.bound(config)


def _listening(server: uvicorn.Server | None) -> tuple[str, int]:
    """The address and port that are served: as the server has them, else as Streamlit was told."""
    if server is not None and server.config.uds is None and server.config.fd is None:
        return server.config.host, server.config.port
    return st.get_option("server.address") or "0.0.0.0", int(st.get_option("server.port"))


def _url(address: str, port: int) -> str:
    shown = socket.gethostname() if access.is_wildcard(address) else address
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"


app = st.App(
    Path(__file__).with_name("main.py"),
    lifespan=_lifespan,
    routes=[
        Route("/hopscope/health", _health),
        Route("/hopscope/plotly.min.js", _plotly_js),
        Route("/hopscope/devices.json", _devices_json),
        Route("/hopscope/devices.txt", _devices_text),
        Route("/metrics", _metrics),
        WebSocketRoute("/hopscope/machine", _machine),
        WebSocketRoute("/hopscope/runs", _runs),
    ],
    middleware=[Middleware(access.AccessCheck)],
    exception_handlers={Exception: access.failed},
)


def serve(port: int = DEFAULT_PORT, listen: str | None = None, options: Options | None = None) -> int:
    """Serve the dashboard until stopped; returns the exit status.

    `listen` is the address to listen on instead of loopback. UsageError where the port or address can't be
    had, or where a server without tokens would be reached from other machines.
    """
    global _options
    _options = options or Options()
    address = listen or DEFAULT_ADDRESS
    if _options.no_token and not access.is_loopback(address):
        raise UsageError(
            f"--no-token is not possible with --listen {address}: everybody who reaches that address could"
            " run any code as you; leave one of them out"
        )
    _check_free(address, port)
    settings = _settings(ROOT / ".streamlit" / "config.toml")
    settings |= {"server.address": address, "server.port": port}
    app.run(config=settings)
    return 0


def _settings(file: Path) -> dict[str, Any]:
    """The settings of a Streamlit config file: read here, because Streamlit finds it from one folder only."""
    with file.open("rb") as content:
        return dict(_flat("", tomllib.load(content)))


def _flat(prefix: str, section: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """`theme.light.textColor` for what stands in a table within a table."""
    for name, value in section.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value


def _check_free(address: str, port: int) -> None:
    if not 0 <= port <= 65535:
        raise UsageError(f"no port {port}: ports are 1 to 65535, or 0 for any free one")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise UsageError(_why_not(address, port, error)) from None


def _why_not(address: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} on {address} is in use; stop what uses it, or choose another: --port {port + 1}"
    if error.errno == errno.EACCES:
        return f"port {port} is reserved for root; choose one above 1023: --port {DEFAULT_PORT}"
    reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
    return f"cannot listen on {address}: {reason}; give one of this machine's addresses, or 0.0.0.0 for all"
