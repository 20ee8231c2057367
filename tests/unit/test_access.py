"""Who gets in: hosts, origins and tokens."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

pytest.importorskip("starlette")

from app import access


@pytest.fixture
def policy(monkeypatch: pytest.MonkeyPatch) -> Iterator[access.Policy]:
    """That of a server on all addresses."""
    monkeypatch.setattr("socket.gethostname", lambda: "Bench.example.org")
    made = access.policy_for("0.0.0.0", 8501)
    monkeypatch.setattr(access, "_policy", made)
    yield made


def token(policy: access.Policy, role: str) -> str:
    return next(known for known, its in policy.tokens.items() if its == role)


def ask(kind: str = "http", path: str = "/", query: str = "", **headers: str) -> list[dict[str, Any]]:
    """What the middleware sends back; [] where it hands the request on."""
    sent: list[dict[str, Any]] = []

    async def inner(_scope: Any, _receive: Any, _send: Any) -> None:
        return

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    fields = {"host": "bench:8501", **headers}
    scope = {
        "type": kind,
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in fields.items()],
    }
    run(access.AccessCheck(inner)(scope, receive, send))
    return sent


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run what never waits; a browser test in this process may hold the event loop."""
    with pytest.raises(StopIteration):
        coroutine.send(None)


def status(sent: list[dict[str, Any]]) -> int:
    return int(sent[0]["status"]) if sent else 200


def test_loopback_needs_no_token_and_everybody_operates(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = access.policy_for("127.0.0.1", 8501)
    assert policy.tokens == {} and policy.role_of(None) == "operator"
    monkeypatch.setattr(access, "_policy", policy)
    for host in ("localhost:8501", "127.0.0.1:8501", "[::1]:8501", "LOCALHOST"):
        assert status(ask(host=host)) == 200
    for host in ("evil.example", "192.168.1.5:8501", "localhost.evil.example", "user@localhost", ""):
        assert status(ask(host=host)) == 403


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.5", "bench"])
def test_any_other_address_needs_a_token(address: str) -> None:
    policy = access.policy_for(address, 8501)
    assert sorted(policy.tokens.values()) == ["operator", "viewer"]
    assert all(len(known) >= 32 for known in policy.tokens)
    assert policy.role_of(None) is None and policy.role_of("") is None and policy.role_of("guess") is None


def test_hosts_of_a_server_on_all_addresses(policy: access.Policy) -> None:
    assert all(
        map(policy.knows_host, ["bench", "bench.example.org:8501", "bench.local", "10.0.0.7", "[fe80::1]:1"])
    )
    assert not any(map(policy.knows_host, ["evil.example", "bench.evil.example", None]))


def test_without_a_token_nothing_is_answered(policy: access.Policy) -> None:
    for path in ("/", "/run", "/hopscope/health", "/_stcore/health", "/static/index.js"):
        assert status(ask(path=path)) == 403
    assert ask("websocket", "/_stcore/stream") == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("role", ["operator", "viewer"])
def test_token_moves_from_the_address_into_a_cookie(policy: access.Policy, role: str) -> None:
    offered = token(policy, role)
    (start, *_) = ask(path="/run", query=f"run=a%20b&token={offered}", accept="text/html,*/*")
    headers = dict(start["headers"])
    assert start["status"] == 303
    assert headers[b"location"] == b"/run?run=a+b"
    cookie = headers[b"set-cookie"].decode()
    assert (
        cookie.startswith(f"hopscope-8501={offered};") and "HttpOnly" in cookie and "SameSite=lax" in cookie
    )
    assert status(ask(cookie=f"other=1; hopscope-8501={offered}")) == 200
    assert status(ask("websocket", "/_stcore/stream", cookie=f"hopscope-8501={offered}")) == 200


def test_redirect_never_leaves_the_server(policy: access.Policy) -> None:
    (start, *_) = ask(path="//evil.example", query=f"token={token(policy, 'viewer')}", accept="text/html")
    assert dict(start["headers"])[b"location"] == b"/evil.example"


def test_wrong_or_foreign_cookies_are_refused(policy: access.Policy) -> None:
    good = token(policy, "operator")
    assert status(ask(cookie="hopscope-8501=wrong")) == 403
    assert status(ask(cookie=f"hopscope-9999={good}")) == 403
    assert status(ask(cookie="\x01=;;")) == 403
    assert status(ask(query="token=wrong", accept="text/html")) == 403


def test_other_sites_are_refused_even_with_a_cookie(policy: access.Policy) -> None:
    cookie = f"hopscope-8501={token(policy, 'operator')}"
    assert status(ask(cookie=cookie, origin="http://bench:8501")) == 200
    for origin in ("http://evil.example", "http://bench:9999", "null", "http://bench:8501.evil.example"):
        assert status(ask(cookie=cookie, origin=origin)) == 403
        assert (
            ask("websocket", "/_stcore/stream", cookie=cookie, origin=origin)[0]["type"] == "websocket.close"
        )


def test_before_a_policy_is_set_nobody_gets_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_policy", None)
    assert status(ask(host="localhost")) == 503
    assert access.role() is None
