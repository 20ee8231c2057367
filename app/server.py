"""The dashboard's server: Streamlit's app with our routes and life cycle around it.

`python3 -m app` calls `serve`; `streamlit run app/server.py` finds `app`. Both ways the same checks apply.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
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

import plotly
import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from app import access
from app.analysis.alerts import Watcher
from app.live.going_on import GoingOn
from app.live.replay import Replay, recording_of
from app.live.stream import Hub
from app.tokens import kept_tokens
from app.views.metrics import CONTENT_TYPE as METRICS_TYPE
from app.views.metrics import metrics_text
from app.views.smi_text import machine_text
from probes.attach import dashboards
from runners import background, monitor
from runners.cuda_order import with_ordinals
from runners.errors import HopscopeError, UsageError

DEFAULT_ADDRESS = "127.0.0.1"
DEFAULT_PORT = 8501
_PLOTLY_JS = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"

_FRESH = {"Cache-Control": "no-store"}
_CONNECTIONS_GRACE_S = 3

_build: str | None = None
_new_tokens = False
_hub = Hub(monitor.shared(), Watcher().look, GoingOn().look)


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
    """Print the address, install what is missing meanwhile, and stop that install with the server."""
    _bound_the_stop()
    address = st.get_option("server.address") or "0.0.0.0"
    port = int(st.get_option("server.port"))
    tokens, unkept = (None, None) if access.is_loopback(address) else kept_tokens(port, _new_tokens)
    policy = access.policy_for(address, port, tokens)
    access.set_policy(policy)
    for line in _addresses(address, policy):
        print(line, flush=True)
    if unkept:
        print(f"hopscope: {unkept}", file=sys.stderr, flush=True)
    address_told = contextlib.ExitStack()
    address_told.enter_context(dashboards.told(_url(address, policy.port), policy.port))
    installing = asyncio.create_task(asyncio.to_thread(_install_meanwhile))
    _hub.start()
    monitor.shared().start()
    try:
        yield {}
    finally:
        address_told.close()
        await _hub.stop()
        await asyncio.to_thread(monitor.shared().stop)
        await installing
        await asyncio.to_thread(background.stop)


def _bound_the_stop() -> None:
    """Let a stop wait for open connections no longer than `_CONNECTIONS_GRACE_S`.

    Else one that was accepted while the server closes, or whose browser reads no more, keeps uvicorn waiting
    for ever (`Server.shutdown` closes those that it knows, and waits for all to be gone). Streamlit hands no
    such setting on; the server is found by the handler that it has set for SIGTERM.
    """
    server = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    if isinstance(server, uvicorn.Server):
        server.config.timeout_graceful_shutdown = _CONNECTIONS_GRACE_S


def _install_meanwhile() -> None:
    try:
        background.start(build=_build)
    except HopscopeError as error:
        print(f"hopscope: {error}", file=sys.stderr, flush=True)


def _addresses(address: str, policy: access.Policy) -> list[str]:
    """The lines that tell where the dashboard is; with tokens, one line a role."""
    url = _url(address, policy.port)
    if not policy.tokens:
        return [f"Hopscope: {url}"]
    lines = []
    for token, role in policy.tokens.items():
        may = "to look, launch and stop" if role == "operator" else "to look"
        lines.append(f"Hopscope: {url}/?{access.TOKEN}={token}  ({role}: {may})")
    return lines


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
    ],
    middleware=[Middleware(access.AccessCheck)],
)


def serve(
    port: int = DEFAULT_PORT, listen: str | None = None, build: str | None = None, new_tokens: bool = False
) -> int:
    """Serve the dashboard until stopped; returns the exit status.

    `listen` is the address to listen on instead of loopback; a token is then required, that of the last
    start or with `new_tokens` another. `build`, `cpu` or `gpu`, is that of the environments installed
    meanwhile. UsageError where the port or address can't be had.
    """
    global _build, _new_tokens
    _build, _new_tokens = build, new_tokens
    address = listen or DEFAULT_ADDRESS
    _check_free(address, port)
    settings = _settings(ROOT / ".streamlit" / "config.toml")
    settings |= {"server.address": address, "server.port": port}
    if not access.is_loopback(address):
        settings["server.allowedHosts"] = ["*"]  # AccessCheck knows better
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
