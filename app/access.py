"""Who may look and who may act: the tokens, and the checks that every request passes.

A token is required always, on loopback too: other users of the machine are not its owner. The address that
carries it sets a cookie, and the address bar is freed of it so that a copied link gives nobody rights they
did not have. What cannot be judged is refused: before a policy is set nobody gets in, and a server without
tokens answers connections to a loopback address only, whatever it was told to listen on.
"""

from __future__ import annotations

import dataclasses
import hashlib
import ipaddress
import secrets
import socket
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.sign_in import TOKEN, sign_in
from app.tokens import Role

VIEWER_MESSAGE_BYTES = 256 << 10
"""The largest message that a viewer's page may send: what stands in its widgets."""
MOST_VIEWER_SOCKETS = 200
"""How many connections of viewers stay open at once; a page has two."""
RESPONSE_HEADERS = {
    # A page inside another site's frame could have its buttons clicked unseen.
    "content-security-policy": "frame-ancestors 'none'; base-uri 'self'; form-action 'self'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_LOOPBACK_NAME = "localhost"
_PAGE_STREAM = "/_stcore/stream"
"""Where a page's connection to Streamlit is."""
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_UNSUPPORTED_DATA, _POLICY_VIOLATION, _TOO_BIG, _TRY_LATER = 1003, 1008, 1009, 1013
"""Codes that close a WebSocket, by RFC 6455."""
_NEEDS_TOKEN = "A token is required: `python3 -m app token` prints the address that carries it."

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclasses.dataclass(frozen=True)
class Policy:
    """What a server asks of a request.

    `tokens` maps each token to its role; without any, everybody who reaches a loopback address of the server
    is an operator, and nobody else gets in. `names` are the host names that it was told to listen on.
    """

    tokens: Mapping[str, Role]
    names: tuple[str, ...] = ()

    @property
    def cookie(self) -> str:
        """The cookie's name. A browser keeps one jar a host for all ports, so it differs with the tokens."""
        mark = hashlib.sha256("\0".join(sorted(self.tokens)).encode()).hexdigest()
        return f"hopscope-{mark[:12]}"

    def role_of(self, tokens: Iterable[str]) -> Role | None:
        """The highest role that one of `tokens` gives, None where none does."""
        if not self.tokens:
            return "operator"
        found: set[Role] = set()
        for token in tokens:
            for known, role in self.tokens.items():
                if secrets.compare_digest(known.encode(), token.encode("utf-8", "replace")):
                    found.add(role)
        return "operator" if "operator" in found else next(iter(found), None)

    def role_by_cookie(self, headers: Iterable[str]) -> Role | None:
        """The role that the Cookie headers give."""
        return self.role_of(cookie_values(headers, self.cookie))

    def knows_host(self, host: str | None, server: str | None) -> bool:
        """Whether a Host header names this server; `server` is the address that the connection came to.

        A web site can have its name resolve to this machine (DNS rebinding), so unknown names are refused. An
        address is no name; those of others are refused where only this machine connects.
        """
        name = _host_name(host)
        if name is None:
            return False
        own = _address(server)
        local = own is not None and own.is_loopback
        address = _address(name)
        if address is not None:
            return not local or address.is_loopback or address == own
        return name in (_LOOPBACK_NAME, *self.names) or (not local and name in _machine_names())


def cookie_values(headers: Iterable[str], name: str) -> list[str]:
    """All values of the cookie `name`; what stands beside it does not matter, however malformed."""
    found = []
    for header in headers:
        for part in header.split(";"):
            key, _, value = part.partition("=")
            if key.strip() == name:
                found.append(value.strip().strip('"'))
    return found


def is_loopback(address: str) -> bool:
    """Whether a server that listens on `address`, a name or a number, is reached from this machine only."""
    try:
        found = socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    addresses = [_address(str(entry[4][0])) for entry in found]
    return bool(addresses) and all(one is not None and one.is_loopback for one in addresses)


def is_wildcard(address: str) -> bool:
    """Whether `address` stands for all of this machine's addresses."""
    found = _address(address)
    return found is not None and found.is_unspecified


_policy: Policy | None = None


def set_policy(policy: Policy | None) -> None:
    """Use `policy` for every request from now on; None lets nobody in."""
    global _policy
    _policy = policy


def role() -> Role | None:
    """The role of the viewer whose page runs now; None for one without a valid token."""
    import streamlit

    if _policy is None:
        return None
    return _policy.role_by_cookie(streamlit.context.headers.get_all("cookie"))


def role_of(connection: HTTPConnection) -> Role | None:
    """The role of who asks on one of our own routes; None for one without a valid token."""
    return _policy.role_by_cookie(connection.headers.getlist("cookie")) if _policy else None


async def failed(_request: Request, _error: Exception) -> Response:
    """The answer where one of the server's own routes failed: outside of the check, with its headers."""
    return PlainTextResponse("This request failed; the server's log says why.\n", 500, RESPONSE_HEADERS)


class AccessCheck:
    """ASGI middleware: Host, origin and token of every request, Streamlit's own routes included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._viewer_sockets = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that may not pass; hand on the others."""
        if scope["type"] == "http":
            answer = _refuse(scope, _policy) or self._app
            await answer(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Streamlit takes bytes unasked.
        text = not scope["path"].endswith(_PAGE_STREAM)
        if _refuse(scope, _policy) is not None:
            await _close(receive, send, _POLICY_VIOLATION)
        elif role_of(HTTPConnection(scope)) == "operator":
            watched = _Watched(receive, send, None, text)
            await self._app(scope, watched.receive, watched.send)
        elif self._viewer_sockets >= MOST_VIEWER_SOCKETS:
            await _close(receive, send, _TRY_LATER)
        else:
            self._viewer_sockets += 1
            watched = _Watched(receive, send, VIEWER_MESSAGE_BYTES, text)
            try:
                await self._app(scope, watched.receive, watched.send)
            finally:
                self._viewer_sockets -= 1


def _with_headers(send: Send) -> Send:
    """Add to each answer the headers that keep other sites away from it."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in RESPONSE_HEADERS.items():
                headers[name] = value
        await send(message)

    return sending


class _Watched:
    """A connection that ends where its client sends what may not pass; later answers are dropped."""

    def __init__(self, receive: Receive, send: Send, most_bytes: int | None, text: bool) -> None:
        """`most_bytes` of one message, None for any number; `text` may it be, or bytes alone."""
        self._receive, self._send = receive, send
        self._most_bytes, self._text = most_bytes, text
        self._ended = False

    async def receive(self) -> Message:
        """The next message, or that the connection is over."""
        message = await self._receive()
        code = self._refused(message) if message["type"] == "websocket.receive" else None
        if code is None:
            return message
        self._ended = True
        await self._send({"type": "websocket.close", "code": code})
        return {"type": "websocket.disconnect", "code": code}

    async def send(self, message: Message) -> None:
        """Send while the connection is there."""
        if self._ended:
            return
        try:
            await self._send(message)
        except RuntimeError:
            # The other end has closed it, and word of that is still on its way to who receives.
            if message["type"] != "websocket.send":
                raise
            self._ended = True

    def _refused(self, message: Message) -> int | None:
        """The code that ends the connection on this message; None for one that may pass."""
        text = message.get("text")
        if text is not None and not self._text:
            return _UNSUPPORTED_DATA
        sent = message.get("bytes") or (text or "").encode()
        return _TOO_BIG if self._most_bytes is not None and len(sent) > self._most_bytes else None


async def _close(receive: Receive, send: Send, code: int) -> None:
    await receive()
    await send({"type": "websocket.close", "code": code})


def _refuse(scope: Scope, policy: Policy | None) -> Response | None:
    """The answer to a request that may not pass, or None for one that may."""
    if policy is None:
        return PlainTextResponse("The server is starting.\n", 503)
    offered = _tokens_offered(scope)
    _hide_tokens(scope, policy.tokens)
    headers = Headers(scope=scope)
    server = (scope.get("server") or (None,))[0]
    if not policy.knows_host(headers.get("host"), server):
        return PlainTextResponse("This server does not go by that name.\n", 403)
    if _is_foreign(scope, headers):
        return PlainTextResponse("Requests from other sites are refused.\n", 403)
    return _refuse_stranger(scope, offered, policy, server)


def _tokens_offered(scope: Scope) -> list[str]:
    """Take the tokens out of a request's address: what serves the app may write the rest into its log."""
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    offered = [value for name, value in query if name == TOKEN]
    if offered:
        rest = urlencode([(name, value) for name, value in query if name != TOKEN])
        scope["query_string"] = rest.encode("ascii")
    return offered


def _hide_tokens(scope: Scope, tokens: Iterable[str]) -> None:
    """Take tokens out of what is left of an address, such as a mistyped one: a log would keep them."""
    for token in tokens:
        scope["path"] = scope["path"].replace(token, "...")
        for name in ("query_string", "raw_path"):
            if token.encode() in (scope.get(name) or b""):
                scope[name] = scope[name].replace(token.encode(), b"...")


def _refuse_stranger(scope: Scope, offered: list[str], policy: Policy, server: str | None) -> Response | None:
    """The answer to who has no token, or not the one for what is asked; a redirect where one was brought."""
    if not policy.tokens and not ((own := _address(server)) and own.is_loopback):
        return PlainTextResponse("Without tokens this server answers this machine only.\n", 403)
    headers = Headers(scope=scope)
    if offered and _navigates(scope, headers) and policy.role_of(offered):
        held = cookie_values(headers.getlist("cookie"), policy.cookie)
        # A link on another site's page takes no right from who is signed in.
        kept = held if headers.get("sec-fetch-site") == "cross-site" else []
        return _welcome(scope, policy, [*offered, *kept])
    role = policy.role_of([*offered, *cookie_values(headers.getlist("cookie"), policy.cookie)])
    if role is None and _navigates(scope, headers):
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        return HTMLResponse(sign_in(scope["path"], query), 403)
    if role is None:
        return PlainTextResponse(f"{_NEEDS_TOKEN}\n", 403)
    if role != "operator" and _changes(scope):
        return PlainTextResponse("Only operators may send anything to this server.\n", 403)
    return None


def _is_foreign(scope: Scope, headers: Headers) -> bool:
    """Whether a page of another site asks; its reader may follow a link to here, and no more.

    Another port of this host is another site, although a browser sends it the same cookies.
    """
    origin = headers.get("origin")
    if origin is not None:
        return _origin_host(origin) != headers["host"].lower()
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        # Browsers name the origin of what changes something; other programs come with a token.
        return False
    followed = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return not followed or _changes(scope) or scope["type"] != "http"


def _changes(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] not in _SAFE_METHODS


def _navigates(scope: Scope, headers: Headers) -> bool:
    return bool(
        scope["type"] == "http" and scope["method"] == "GET" and "text/html" in headers.get("accept", "")
    )


def _welcome(scope: Scope, policy: Policy, offered: list[str]) -> Response:
    """Keep the token in a cookie and show the same page without it in the address."""
    rest = scope["query_string"].decode("latin-1")
    # A path of two slashes would be another host's address.
    path = "/" + scope["path"].lstrip("/")
    answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
    if policy.tokens:
        best = max(offered, key=lambda token: (policy.role_of([token]) or "none") == "operator")
        # Lax, so that a link in a mail or chat opens the page; what changes anything checks the origin too.
        secure = scope.get("scheme") == "https"
        answer.set_cookie(policy.cookie, best, httponly=True, samesite="lax", secure=secure, path="/")
    answer.headers["cache-control"] = "no-store"
    return answer


def _machine_names() -> tuple[str, ...]:
    own = socket.gethostname().lower()
    short = own.partition(".")[0]
    return own, short, f"{short}.local"


def _origin_host(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _host_name(host: str | None) -> str | None:
    if not host or any(character in host for character in "/@?#\\"):
        return None
    try:
        parts = urlsplit(f"//{host}")
        name, _ = parts.hostname, parts.port
    except ValueError:
        return None
    return name.rstrip(".") if name else None


def _address(name: Any) -> _Address | None:
    """The IP address that `name` is, that of IPv4 where it is mapped into IPv6; None for other names."""
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
