"""Who may look and who may act: the tokens, and the checks that every request passes.

On loopback everybody is an operator. Where the server listens elsewhere, a token is required: the printed
address carries it once, a cookie keeps it, and the address bar is freed of it so that a copied link gives
nobody rights they did not have.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import secrets
import socket
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.tokens import Role, new_tokens

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
TOKEN = "token"


@dataclasses.dataclass(frozen=True)
class Policy:
    """What a server asks of a request. `tokens` maps each token to its role; empty: no token is asked for."""

    port: int
    hosts: tuple[str, ...] = LOOPBACK_NAMES
    any_address: bool = False
    """Any IP address will do as a host: an attacker's web site can take a name for ours, but no number."""
    tokens: Mapping[str, Role] = dataclasses.field(default_factory=dict)

    @property
    def cookie(self) -> str:
        """The cookie's name; servers on other ports of this machine have others."""
        return f"hopscope-{self.port}"

    def role_of(self, token: str | None) -> Role | None:
        """The role that `token` gives, or None. Without tokens everybody is an operator."""
        if not self.tokens:
            return "operator"
        found: Role | None = None
        for known, role in self.tokens.items():
            if token is not None and secrets.compare_digest(known.encode(), token.encode()):
                found = role
        return found

    def knows_host(self, host: str | None) -> bool:
        """Whether a Host header names this server."""
        name = _host_name(host)
        if name is None:
            return False
        return name in self.hosts or (self.any_address and _is_address(name))


def policy_for(address: str, port: int, tokens: Mapping[str, Role] | None = None) -> Policy:
    """For a server listening at `address`; where others reach it, with `tokens`, else with new ones."""
    if is_loopback(address):
        return Policy(port)
    own = socket.gethostname().lower()
    short = own.partition(".")[0]
    names = dict.fromkeys((*LOOPBACK_NAMES, address.lower(), own, short, f"{short}.local"))
    return Policy(port, tuple(names), is_wildcard(address), tokens or new_tokens())


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches a server at `address`."""
    if address == "localhost":
        return True
    return _is_address(address) and ipaddress.ip_address(address).is_loopback


def is_wildcard(address: str) -> bool:
    """Whether `address` stands for all of this machine's addresses."""
    return _is_address(address) and ipaddress.ip_address(address).is_unspecified


_policy: Policy | None = None


def set_policy(policy: Policy) -> None:
    """Use `policy` for every request from now on."""
    global _policy
    _policy = policy


def role() -> Role | None:
    """The role of the viewer whose page runs now; None for one without a valid token."""
    import streamlit

    if _policy is None:
        return None
    return _policy.role_of(streamlit.context.cookies.get(_policy.cookie))


def role_of(connection: HTTPConnection) -> Role | None:
    """The role of who asks on one of our own routes; None for one without a valid token."""
    return _policy.role_of(connection.cookies.get(_policy.cookie)) if _policy else None


class AccessCheck:
    """ASGI middleware: Host, Origin and token of every request, Streamlit's own routes included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that may not pass; hand on the others."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        answer = _refuse(scope, _policy)
        if answer is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            await answer(scope, receive, send)


def _refuse(scope: Scope, policy: Policy | None) -> Response | None:
    """The answer to a request that may not pass, or None for one that may."""
    if policy is None:
        return PlainTextResponse("The server is starting.\n", 503)
    headers = Headers(scope=scope)
    host = headers.get("host")
    if not policy.knows_host(host):
        return PlainTextResponse("This server does not go by that name.\n", 403)
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() != (host or "").lower():
        return PlainTextResponse("Requests from other sites are refused.\n", 403)
    if not policy.tokens:
        return None
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    offered = dict(query).get(TOKEN)
    if offered is not None and policy.role_of(offered):
        return _welcome(scope, policy, offered, query) if _navigates(scope, headers) else None
    if policy.role_of(_cookie(headers, policy.cookie)):
        return None
    return PlainTextResponse(
        "A token is required: open the address that the server printed when it started.\n", 403
    )


def _navigates(scope: Scope, headers: Headers) -> bool:
    return bool(
        scope["type"] == "http" and scope["method"] == "GET" and "text/html" in headers.get("accept", "")
    )


def _welcome(scope: Scope, policy: Policy, token: str, query: list[tuple[str, str]]) -> Response:
    """Keep the token in a cookie and show the same page without it in the address."""
    rest = urlencode([(name, value) for name, value in query if name != TOKEN])
    # A path of two slashes would be another host's address.
    path = "/" + scope["path"].lstrip("/")
    answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
    answer.set_cookie(policy.cookie, token, httponly=True, samesite="lax", path="/")
    answer.headers["cache-control"] = "no-store"
    return answer


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return morsel.value if morsel else None


def _host_name(host: str | None) -> str | None:
    if not host or any(character in host for character in "/@?#"):
        return None
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return None
    return name.rstrip(".") if name else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
