"""Requests to a running server: paths, queries, methods, Host, Origin, Cookie and other headers, uploads."""

from __future__ import annotations

import contextlib
import random
import re
import socket
from collections.abc import Callable, Iterator
from urllib.parse import quote, quote_from_bytes

from tests.hostile import ground as checks
from tests.hostile import material
from tests.hostile.ground import Ground, Harm
from tests.hostile.served import Served, served

SHARE = 350
CHECKED = "no answer of 500 or more, no secret, no traceback; nobody without a token gets in; log, memory"

_ROUTES = (
    *("/", "/run", "/runs", "/launch", "/lessons", "/machine", "/nowhere"),
    *(
        "/hopscope/health",
        "/hopscope/plotly.min.js",
        "/hopscope/devices.json",
        "/hopscope/devices.txt",
        "/metrics",
    ),
    *("/hopscope/machine", "/_stcore/health", "/_stcore/host-config", "/_stcore/stream", "/_stcore/metrics"),
    *(
        "/_stcore/upload_file/x/y",
        "/_stcore/agent/interact",
        "/_stcore/agent/mcp",
        "/_stcore/agent/openapi.json",
    ),
    *(
        "/media/x",
        "/app/static/x",
        "/component/x/y",
        "/_stcore/bidi-components/x/y",
        "/static/js/x.js",
        "/favicon.png",
    ),
)
_NAMES = (
    "run",
    "replay",
    "since",
    "from",
    "speed",
    "paused",
    "pair",
    "group",
    "crossing",
    "finding",
    "line",
    "hop",
)
_MORE_NAMES = ("graph", "open", "file", "verify", "t", "tab", "token", "program", "script", "folder", "embed")
_METHODS = (
    "GET",
    "GET",
    "GET",
    "GET",
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "OPTIONS",
    "PATCH",
    "TRACE",
    "CONNECT",
)
_SITES = ("same-origin", "cross-site", "none", "same-site", "x")
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})")
_OPEN = ("/_stcore/health",)
_MOST_ANSWER = 1 << 20


@contextlib.contextmanager
def opened(ground: Ground) -> Iterator[Callable[[random.Random], None]]:
    """What tries one input."""
    with served(ground) as server:

        def attempt(rng: random.Random) -> None:
            raw, let_in = request(rng, server)
            ground.note("request", raw[:200_000])
            answer = _answer(server, raw)
            _check(answer, raw, let_in)
            server.check()
            if rng.random() < 0.02 and not server.answers():
                raise Harm("the server does not answer any more")

        yield attempt


def request(rng: random.Random, server: Served) -> tuple[bytes, bool]:
    """A request, and whether it comes with a token."""
    method = rng.choice(_METHODS) if rng.random() < 0.95 else material.text(rng)[:50] or "X"
    target = address(rng)
    headers, let_in = _headers(rng, server)
    body = b""
    if method in ("POST", "PUT", "PATCH") or rng.random() < 0.03:
        body = _body(rng)
        headers.append((b"Content-Length", str(rng.choice((len(body),) * 9 + (len(body) * 2 + 1,))).encode()))
    head = b"\r\n".join(
        [
            f"{method} ".encode("utf-8", "replace") + target + b" HTTP/1.1",
            *(b": ".join(one) for one in headers),
        ]
    )
    raw = head + b"\r\n\r\n" + body
    if rng.random() < 0.05:
        return material.damaged_bytes(rng, raw), True
    return raw, let_in


def address(rng: random.Random) -> bytes:
    """A path with a query."""
    path = _ROUTES[0] if rng.random() < 0.1 else rng.choice(_ROUTES)
    if rng.random() < 0.35:
        path += rng.choice(("/", "", "/../", "//", "/..%2f", "\\")) + _coded(rng, material.text(rng)[:3000])
    elif rng.random() < 0.1:
        path = _coded(rng, material.text(rng)[:3000])
    parts = []
    for _ in range(rng.choice((0, 1, 1, 2, 5))):
        name = (
            rng.choice((*_NAMES, *_MORE_NAMES))
            if rng.random() < 0.9
            else quote(material.text(rng)[:99], errors="replace")
        )
        parts.append(f"{name}{rng.choice(('=', '=', '=', ''))}{_coded(rng, material.text(rng)[:8000])}")
    found = path + ("?" + rng.choice("&&&;").join(parts) if parts else "")
    return (
        found.encode("utf-8", "replace").replace(b"\r", b"%0d").replace(b"\n", b"%0a").replace(b" ", b"%20")
    )


def _coded(rng: random.Random, text: str) -> str:
    kind = rng.random()
    if kind < 0.6:
        return quote_from_bytes(text.encode("utf-8", "surrogatepass"), safe="" if kind < 0.3 else "/")
    return text if kind < 0.8 else text.replace("%", "%zz")


def _headers(rng: random.Random, server: Served) -> tuple[list[tuple[bytes, bytes]], bool]:
    role = rng.choice(("operator", "operator", "viewer", ""))
    cookie = server.cookies.get(role, "")
    own = f"127.0.0.1:{server.port}"
    fields: list[tuple[str, str]] = []
    fields.append(("Host", own if rng.random() < 0.85 else _header_text(rng)))
    if cookie:
        fields.append(("Cookie", _cookies(rng, cookie)))
    elif rng.random() < 0.5:
        fields.append(("Cookie", _cookies(rng, "x=y")))
    if rng.random() < 0.3:
        fields.append(
            (
                "Origin",
                rng.choice(
                    (f"http://{own}", "null", "http://192.0.2.1", "http://localhost:1", _header_text(rng))
                ),
            )
        )
    if rng.random() < 0.3:
        fields.append(("Sec-Fetch-Site", rng.choice(_SITES)))
        fields.append(
            ("Sec-Fetch-Mode", rng.choice(("navigate", "cors", "no-cors", "websocket", _header_text(rng))))
        )
        fields.append(("Sec-Fetch-Dest", rng.choice(("document", "iframe", "script", _header_text(rng)))))
    if rng.random() < 0.5:
        fields.append(("Accept", rng.choice(("text/html", "*/*", _header_text(rng)))))
    for _ in range(rng.choice((0, 0, 1, 3))):
        names = (
            "Authorization",
            "X-Forwarded-For",
            "X-Forwarded-Host",
            "Forwarded",
            "X-Xsrftoken",
            "Content-Type",
            "Range",
        )
        more = (
            "If-None-Match",
            "Accept-Encoding",
            "Upgrade",
            "Connection",
            "Transfer-Encoding",
            "Expect",
            "Content-Encoding",
        )
        fields.append(
            (
                rng.choice((*names, *more)),
                rng.choice(
                    (
                        "Bearer x",
                        "websocket",
                        "chunked",
                        "bytes=0-0,5-",
                        "multipart/form-data; boundary=x",
                        _header_text(rng),
                    )
                ),
            )
        )
    if rng.random() < 0.02:
        fields += [(f"X-{number}", "y" * 50) for number in range(rng.choice((90, 500)))]
    rng.shuffle(fields)
    return [(name.encode(), value.encode("utf-8", "replace")) for name, value in fields], bool(cookie)


def _header_text(rng: random.Random) -> str:
    return (
        material.text(rng)[:20_000].replace("\r", "").replace("\n", "")
        if rng.random() < 0.9
        else material.text(rng)
    )


def _cookies(rng: random.Random, own: str) -> str:
    """The cookie among others', in any order."""
    others = [
        f"{material.text(rng)[:200]}={material.text(rng)[:2000]}".replace("\r", "").replace("\n", "")
        for _ in range(rng.choice((0, 0, 1, 3)))
    ]
    if rng.random() < 0.03:
        others += [f"c{number}={'v' * 60}" for number in range(rng.choice((100, 1000)))]
    parts = [*others, own]
    rng.shuffle(parts)
    return rng.choice(("; ", ";", ",")).join(parts)


def _body(rng: random.Random) -> bytes:
    text = material.text(rng).encode("utf-8", "surrogatepass")
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="%b"\r\n\r\n%b\r\n--x--\r\n'
    return rng.choice(
        (
            b"",
            text,
            material.as_json(rng, material.value(rng)),
            part % (text[:500], text),
            rng.randbytes(5000),
        )
    )


def _answer(server: Served, raw: bytes) -> bytes:
    """What comes back, or b'' where the connection is closed without a word."""
    with server.connect() as connection:
        found = b""
        try:
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            while len(found) < _MOST_ANSWER and (piece := connection.recv(1 << 16)):
                found += piece
        except TimeoutError:
            raise Harm("the server does not answer this request") from None
        except OSError:
            pass  # it closed the connection on what it does not take
    return found


def _check(answer: bytes, raw: bytes, let_in: bool) -> None:
    match = _STATUS.match(answer)
    if match is None:
        return
    status = int(match[1])
    # Before the first sample there is none, and the server says so.
    waiting = status == 503 and b"No sample" in answer
    if status >= 500 and not waiting and not (status == 501 and b"Not Implemented" in answer):
        raise Harm(f"answered with {status}: {answer[-600:]!r}")
    checks.check_secret(answer.decode("utf-8", "replace"))
    if b"Traceback (most recent" in answer:
        raise Harm(f"an answer with a traceback: {answer[-2000:]!r}")
    if not let_in and status == 200 and b" /_stcore/health" not in raw[:40]:
        raise Harm(f"who has no token gets in: {answer[:500]!r}")
