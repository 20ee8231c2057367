"""WebSocket messages to a running server: pages, the machine's stream, uploads of a session."""

from __future__ import annotations

import contextlib
import json
import random
import socket as sockets
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from tests.hostile import ground as checks
from tests.hostile import material
from tests.hostile.entrances.addresses import address
from tests.hostile.ground import Ground, Harm
from tests.hostile.served import Served, served

SHARE = 25
CHECKED = "no error on a page, no secret; the server answers on, its memory is bounded, its log has no error"

_STREAM = "/_stcore/stream"
_ANSWER_S = 40.0
_SILENT_S = 0.3
_WIDGETS = (
    "tab",
    "own",
    "program",
    "graphs",
    "file",
    "recording-upload",
    "clear-filter",
    "try",
    "verify-how",
    "runs",
    "hops",
)
_PAGES = ("", "machine", "launch", "runs", "run", "lessons")
_COMPONENT = "$$ID-0-{}"
_MOST_TAKEN = 4000


@contextlib.contextmanager
def opened(ground: Ground) -> Iterator[Callable[[random.Random], None]]:
    """What tries one input."""
    with served(ground) as server:

        def attempt(rng: random.Random) -> None:
            kind = rng.random()
            attack = (
                _page_rerun
                if kind < 0.35
                else _stream_bytes
                if kind < 0.55
                else _machine_words
                if kind < 0.85
                else _half_open
                if kind < 0.93
                else _upload
            )
            ground.note("kind", attack.__name__)
            with contextlib.suppress(WebSocketException, OSError):
                attack(rng, server, ground)
            server.check()
            if rng.random() < 0.1 and not server.answers():
                raise Harm("the server does not answer any more")

        yield attempt


def _connect(server: Served, path: str, rng: random.Random) -> ClientConnection:
    role = rng.choice(("operator", "viewer"))
    return connect(
        f"ws://127.0.0.1:{server.port}{path}",
        additional_headers={"Cookie": server.cookies[role]},
        origin=Origin(f"http://127.0.0.1:{server.port}"),
        subprotocols=[Subprotocol("streamlit")] if path == _STREAM else None,
        open_timeout=_ANSWER_S,
        close_timeout=1,
        max_size=None,
        compression=rng.choice((None, "deflate")),
    )


def _page_rerun(rng: random.Random, server: Served, ground: Ground) -> None:
    """Pages asked for as a browser does, with hostile addresses and states of widgets."""
    with _connect(server, _STREAM, rng) as stream:
        for _ in range(rng.choice((1, 1, 2))):
            message = rerun(rng)
            ground.note("message", message)
            stream.send(message.SerializeToString())
            if message.rerun_script.fragment_id:
                _listen(stream)  # one that is unknown is not run
            else:
                _until_finished(stream)


def rerun(rng: random.Random) -> BackMsg:
    """A well-formed wish for a page."""
    message = BackMsg()
    state = message.rerun_script
    query = address(rng).decode("utf-8", "replace").partition("?")[2]
    if rng.random() < 0.6:
        run = rng.choice(
            (f"20261122-19192{rng.randrange(3)}-sound-000{rng.randrange(3)}", "..", ".", _text(rng)[:200])
        )
        query = f"run={quote(run, errors='replace')}&{query}"
    state.query_string = query[:20_000]
    state.page_name = rng.choice(_PAGES) if rng.random() < 0.8 else _text(rng)[:500]
    if rng.random() < 0.2:
        state.page_script_hash = _text(rng)[:500]
    if rng.random() < 0.1:
        state.fragment_id = _text(rng)[:500]
        state.is_auto_rerun = rng.random() < 0.5
    if rng.random() < 0.1:
        state.cached_message_hashes.append(_text(rng)[:200])
    if rng.random() < 0.3:
        state.context_info.timezone = _text(rng)[:200]
        state.context_info.locale = _text(rng)[:200]
        state.context_info.url = _text(rng)[:2000]
        state.context_info.timezone_offset = rng.choice((0, -(2**31), 2**31 - 1))
    for _ in range(rng.choice((0, 0, 1, 4))):
        _widget(rng, state.widget_states.widgets.add())
    return message


def _widget(rng: random.Random, widget: Any) -> None:
    name = rng.choice(_WIDGETS)
    # What has another form is no browser's, and only its sender's own page fails at it.
    widget.id = rng.choice(
        (_COMPONENT.format(name), f"$$ID-{rng.getrandbits(64):x}-{name}", f"$$ID-{_text(rng)[:300]}")
    )
    match rng.randrange(9):
        case 0:
            widget.trigger_value = True
        case 1:
            widget.int_value = rng.choice((0, -1, 2**62))
        case 2:
            widget.double_value = rng.choice((0.0, float("nan"), float("inf"), 1e308))
        case 3:
            widget.string_value = _text(rng)[:20_000]
        case 4:
            widget.json_value = json.dumps(material.value(rng)) if rng.random() < 0.7 else _text(rng)
        case 5:
            widget.string_array_value.data.append(_text(rng)[:500])
        case 6:
            widget.bytes_value = rng.randbytes(100)
        case 7:
            widget.json_trigger_value = (
                json.dumps({"event": material.value(rng)}) if rng.random() < 0.8 else _text(rng)
            )
        case 8:
            info = widget.file_uploader_state_value.uploaded_file_info.add()
            info.file_id, info.name, info.size = _text(rng)[:99], _text(rng)[:99], rng.choice((0, 2**62))


def _text(rng: random.Random) -> str:
    """A text that protobuf takes."""
    return material.text(rng).encode("utf-8", "replace").decode()


def _until_finished(stream: ClientConnection) -> None:
    """Look at all that a page is sent until its script is through."""
    deadline = time.monotonic() + _ANSWER_S
    while time.monotonic() < deadline:
        try:
            data = stream.recv(timeout=_ANSWER_S)
        except TimeoutError:
            raise Harm("the page does not come to its end") from None
        assert isinstance(data, bytes)
        message = ForwardMsg()
        message.ParseFromString(data)
        check_message(message)
        if message.WhichOneof("type") == "script_finished":
            return
    raise Harm("the page does not come to its end")


def check_message(message: ForwardMsg) -> None:
    """Raise Harm where a page shows an error, a secret, or hostile text as what it is not."""
    kind = message.WhichOneof("type")
    if kind == "session_event" and message.session_event.WhichOneof("type") == "script_compilation_exception":
        raise Harm(f"the page does not compile: {message}"[:3000])
    if kind != "delta":
        return
    check_delta(message.delta)


def check_delta(delta: Any) -> None:
    """As `check_message`, of one element."""
    if delta.WhichOneof("type") != "new_element":
        return
    element = delta.new_element
    name = element.WhichOneof("type")
    if name == "exception":
        raise Harm(f"a page shows an exception: {element.exception}"[:5000])
    body = getattr(getattr(element, name or "", None), "body", "")
    if isinstance(body, str) and name in ("markdown", "alert", "heading"):
        checks.check_markdown(body)
    checks.check_secret(str(element))


def _stream_bytes(rng: random.Random, server: Served, ground: Ground) -> None:
    """What is no message, or half of one."""
    with _connect(server, _STREAM, rng) as stream:
        for _ in range(rng.choice((1, 1, 3, 10))):
            kind = rng.random()
            if kind < 0.3:
                data: bytes | str = rng.randbytes(rng.choice((0, 1, 5, 300, 70_000)))
            elif kind < 0.6:
                data = material.damaged_bytes(rng, rerun(rng).SerializeToString())
            elif kind < 0.7:
                data = _text(rng)
            else:
                message = BackMsg()
                name = rng.choice(
                    (
                        "clear_cache",
                        "set_run_on_save",
                        "stop_script",
                        "load_git_info",
                        "debug_disconnect_websocket",
                        "debug_shutdown_runtime",
                        "app_heartbeat",
                    )
                )
                setattr(message, name, True)
                if rng.random() < 0.3:
                    message = BackMsg()
                    message.file_urls_request.request_id = _text(rng)[:99]
                    message.file_urls_request.session_id = _text(rng)[:99]
                    message.file_urls_request.file_names.extend(
                        _text(rng)[:99] for _ in range(rng.choice((0, 3, 1000)))
                    )
                data = message.SerializeToString()
            ground.note("message", data[:100_000])
            stream.send(data)
        _listen(stream)


def _listen(stream: ClientConnection) -> None:
    with contextlib.suppress(TimeoutError):
        for _ in range(_MOST_TAKEN):
            checks.check_secret(str(stream.recv(timeout=_SILENT_S)))


def _machine_words(rng: random.Random, server: Served, ground: Ground) -> None:
    """Wishes to the machine's stream, floods of them too."""
    names = ("since", "replay", "from", "speed", "paused")
    query = "&".join(
        f"{name}={quote(material.text(rng)[:2000], errors='replace')}"
        for name in rng.sample(names, rng.randint(0, 3))
    )
    ground.note("query", query)
    with _connect(server, f"/hopscope/machine?{query}", rng) as stream:
        for _ in range(rng.choice((1, 3, 10, 300))):
            word = _wish(rng)
            ground.note("wish", word[:20_000])
            stream.send(word)
        _listen(stream)


def _wish(rng: random.Random) -> str | bytes:
    kind = rng.random()
    if kind < 0.1:
        return rng.randbytes(rng.choice((0, 10, 10_000)))
    if kind < 0.3:
        return _text(rng)
    if kind < 0.6:
        span, fields = material.value(rng), material.value(rng)
        history = rng.choice(
            (
                {"span": span, "fields": fields},
                {"span": rng.choice((1, 1e308, -1)), "fields": ["power_watts", _text(rng)[:99]]},
                span,
            )
        )
        return material.as_json(rng, {"history": history}).decode("utf-8", "replace")
    if kind < 0.8:
        return material.as_json(
            rng, {rng.choice(("hz", "speed", "seek", "paused")): material.value(rng)}
        ).decode("utf-8", "replace")
    return material.as_json(rng, material.value(rng)).decode("utf-8", "replace")


def _half_open(rng: random.Random, server: Served, ground: Ground) -> None:
    """A connection that is cut, falls silent, or sends frames that are none."""
    path = rng.choice(("/hopscope/machine", "/_stcore/stream"))
    with server.connect() as connection:
        head = (
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: {rng.choice((13, 13, 13, 8, 99))}\r\nSec-WebSocket-Key: "
            f"{rng.choice(('dGhlIHNhbXBsZSBub25jZQ==', 'x', _text(rng)[:99]))}\r\n"
            f"Cookie: {server.cookies['viewer']}\r\nOrigin: http://127.0.0.1:{server.port}\r\n\r\n"
        ).encode("utf-8", "replace")
        connection.sendall(head)
        connection.settimeout(_SILENT_S)
        frames = rng.choice(
            (
                b"",
                rng.randbytes(50),
                b"\x81\xff" + struct.pack(">Q", 2**63 - 1),
                b"\x82\x7e\xff\xff",
                b"\x01\x80aaaa" * 99,
                b"\x89\xfe\x00\x80" + b"a" * 132,
            )
        )
        ground.note("frames", frames)
        connection.sendall(frames)
        with contextlib.suppress(TimeoutError):
            connection.recv(1000)
        if rng.random() < 0.5:  # gone without a word
            connection.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0))


def _upload(rng: random.Random, server: Served, ground: Ground) -> None:
    """A file put where a page of one's own session may put one."""
    with _connect(server, _STREAM, rng) as stream:
        message = BackMsg()
        message.rerun_script.query_string = ""
        stream.send(message.SerializeToString())
        session = ""
        for _ in range(200):
            found = ForwardMsg()
            data = stream.recv(timeout=_ANSWER_S)
            assert isinstance(data, bytes)
            found.ParseFromString(data)
            if found.WhichOneof("type") == "new_session":
                session = found.new_session.initialize.session_id
            if found.WhichOneof("type") == "script_finished":
                break
        body = rng.choice(
            (
                b"",
                rng.randbytes(3000),
                b"\x1f\x8b" + rng.randbytes(500),
                material.as_json(rng, material.value(rng)),
            )
        )
        name = quote(rng.choice(("x", "..", "a/b", _text(rng)[:99])), safe="")
        part = (
            f'--x\r\nContent-Disposition: form-data; name="f"; filename="{_text(rng)[:99]}"\r\n\r\n'.encode()
            + body
            + b"\r\n--x--\r\n"
        )
        role = rng.choice(("operator", "viewer"))
        raw = (
            f"PUT /_stcore/upload_file/{session}/{name} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Cookie: {server.cookies[role]}\r\nOrigin: http://127.0.0.1:{server.port}\r\n"
            f"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {len(part)}\r\n"
            "Connection: close\r\n\r\n"
        ).encode() + part
        ground.note("upload", raw)
        with server.connect() as connection:
            connection.sendall(raw)
            answer = connection.recv(1 << 16)
            if answer[9:10] == b"5":
                raise Harm(f"an upload is answered with {answer[:500]!r}")
