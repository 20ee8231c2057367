"""Who gets in: hosts, origins and tokens."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

pytest.importorskip("starlette")

from app import access
from app.tokens import new_tokens

ELSEWHERE, HERE = "192.168.1.5", "127.0.0.1"


@pytest.fixture
def policy(monkeypatch: pytest.MonkeyPatch) -> Iterator[access.Policy]:
    """That of a server on all addresses of the machine bench."""
    monkeypatch.setattr("socket.gethostname", lambda: "Bench.example.org")
    made = access.Policy(new_tokens())
    access.set_policy(made)
    yield made
    access.set_policy(None)


def token(policy: access.Policy, role: str) -> str:
    return next(known for known, its in policy.tokens.items() if its == role)


def ask(
    kind: str = "http",
    path: str = "/",
    query: str = "",
    *,
    method: str = "GET",
    server: Any = (ELSEWHERE, 8501),
    **headers: str,
) -> list[dict[str, Any]]:
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
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [
            (name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in fields.items()
        ],
        "server": server,
    }
    run(access.AccessCheck(inner)(scope, receive, send))
    return sent


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run what never waits; a browser test in this process may hold the event loop."""
    with pytest.raises(StopIteration):
        coroutine.send(None)


def status(sent: list[dict[str, Any]]) -> int:
    return int(sent[0]["status"]) if sent else 200


@pytest.mark.parametrize("server", [(HERE, 8501), (ELSEWHERE, 8501), ("/run/socket", None), None])
def test_a_token_is_required_wherever_the_connection_comes_to(policy: access.Policy, server: Any) -> None:
    assert policy.role_of([]) is None and policy.role_of(["", "guess", "ä", "\ud800"]) is None
    good = f"{policy.cookie}={token(policy, 'viewer')}"
    assert status(ask(server=server, host="localhost:8501")) == 403
    assert status(ask(server=server, host="localhost:8501", cookie=good)) == 200


@pytest.fixture
def no_policy() -> Iterator[None]:
    access.set_policy(None)
    yield
    access.set_policy(None)


def test_without_tokens_only_loopback_is_answered(no_policy: None) -> None:
    """Judged by the connection, whatever the server was told to listen on."""
    policy = access.Policy({})
    access.set_policy(policy)
    assert policy.role_of([]) == "operator"
    server: Any
    for server in ((HERE, 1), ("127.0.0.2", 1), ("::1", 1), ("::ffff:127.0.0.1", 1)):
        assert status(ask(server=server, host="localhost:8501")) == 200
    for server in ((ELSEWHERE, 1), ("::", 1), ("fe80::1", 1), ("/run/socket", None), None):
        assert status(ask(server=server, host="localhost:8501")) == 403
    for host in ("evil.example", "192.168.1.5:8501", "localhost.evil.example", "user@localhost", ""):
        assert status(ask(server=(HERE, 8501), host=host)) == 403


@pytest.mark.parametrize(
    ("server", "known", "unknown"),
    [
        (
            HERE,
            ["localhost:8501", "127.0.0.1", "[::1]:8501", "LOCALHOST", "127.0.0.2"],
            ["bench", "10.0.0.7"],
        ),
        ("127.0.0.2", ["127.0.0.2:8501", "localhost"], ["bench", "bench.local"]),
        ("::1", ["[::1]:8501", "[::ffff:127.0.0.1]"], ["[fe80::1]"]),
        (ELSEWHERE, ["bench", "bench.example.org:1", "bench.local", "10.0.0.7", "[fe80::1]:1"], []),
        ("::ffff:192.168.1.5", ["192.168.1.5:8501", "[::ffff:192.168.1.5]:8501"], []),
        (None, ["localhost", "bench"], []),
    ],
)
def test_which_names_are_the_servers(
    policy: access.Policy, server: str | None, known: list[str], unknown: list[str]
) -> None:
    assert [host for host in known if not policy.knows_host(host, server)] == []
    foreign = ["evil.example", "bench.evil.example", "localhost:x", "a@localhost", "localhost\\@evil", None]
    assert [host for host in (*unknown, *foreign) if policy.knows_host(host, server)] == []


def test_the_name_that_it_was_told_to_listen_on_is_its_own() -> None:
    policy = access.Policy(new_tokens(), ("gpu-box.lan",))
    assert policy.knows_host("gpu-box.lan:8501", HERE) and policy.knows_host("GPU-box.lan", ELSEWHERE)
    assert access.is_loopback("localhost") and access.is_loopback("::1") and access.is_loopback("127.9.9.9")
    assert not any(map(access.is_loopback, ["0.0.0.0", "::", ELSEWHERE, "no.such.name.invalid"]))


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
    assert cookie.startswith(f"{policy.cookie}={offered};")
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie
    assert status(ask(cookie=f"other=1; {policy.cookie}={offered}")) == 200
    assert status(ask("websocket", "/_stcore/stream", cookie=f"{policy.cookie}={offered}")) == 200


@pytest.mark.parametrize(
    ("site", "kept"), [("cross-site", "operator"), ("none", "viewer"), ("same-origin", "viewer")]
)
def test_a_link_on_another_sites_page_takes_no_right(policy: access.Policy, site: str, kept: str) -> None:
    """One with the viewer's token replaced the operator's cookie."""
    asked = {"accept": "text/html", "sec_fetch_site": site, "sec_fetch_mode": "navigate"}
    held = f"{policy.cookie}={token(policy, 'operator')}"
    query = f"token={token(policy, 'viewer')}"
    (start, *_) = ask(query=query, cookie=held, sec_fetch_dest="document", **asked)
    cookie = dict(start["headers"])[b"set-cookie"].decode()
    assert cookie.startswith(f"{policy.cookie}={token(policy, kept)};")


@pytest.mark.parametrize(
    "foreign",
    [
        "\x01=;;",
        'a="unfinished',
        "b=\xff",
        "c=[]{}(),d",
        "=",
        ";;;",
        "x" * 60_000,
        "k=v;" * 5000,
        "hopscope=",
    ],
)
def test_foreign_cookies_lock_nobody_out(policy: access.Policy, foreign: str) -> None:
    """A browser sends those of all servers of this host together."""
    for role in ("viewer", "operator"):
        own = f"{policy.cookie}={token(policy, role)}"
        for cookie in (f"{foreign}; {own}", f"{own}; {foreign}", f"{policy.cookie}=stale; {own}; {foreign}"):
            assert status(ask(cookie=cookie)) == 200
            assert policy.role_by_cookie([cookie]) == role
        assert policy.role_by_cookie([foreign, own]) == role


def test_servers_of_one_host_have_cookies_of_their_own(policy: access.Policy) -> None:
    """A browser keeps one jar a host, whatever the port: another owner's server must not replace ours."""
    other = access.Policy(new_tokens())
    assert policy.cookie != other.cookie == access.Policy(dict(other.tokens)).cookie
    assert not any(part in policy.cookie for known in policy.tokens for part in (known, known[:6]))


def test_what_changes_anything_is_for_operators(policy: access.Policy) -> None:
    """Streamlit's uploads stay in the server's memory, 200 MB a file."""
    for method in ("PUT", "POST", "DELETE", "PATCH", "MADE-UP"):
        for role, answer in (("viewer", 403), ("operator", 200)):
            cookie = f"{policy.cookie}={token(policy, role)}"
            assert status(ask(path="/_stcore/upload_file/a/b", method=method, cookie=cookie)) == answer


def test_a_browser_that_says_that_another_site_asks_is_believed(policy: access.Policy) -> None:
    """`same-site` is another port of this host, to which the same cookies go."""
    cookie = f"{policy.cookie}={token(policy, 'operator')}"
    for site in ("cross-site", "same-site", "unheard-of"):
        asked = {"cookie": cookie, "sec_fetch_site": site}
        assert status(ask(**asked)) == 403
        assert status(ask(**asked, sec_fetch_mode="no-cors", sec_fetch_dest="image")) == 403
        assert status(ask(**asked, sec_fetch_mode="navigate", sec_fetch_dest="iframe")) == 403
        followed = {**asked, "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
        assert status(ask(**followed)) == 200  # a link in a mail
        assert status(ask(**followed, method="POST")) == 403
        assert ask("websocket", **followed)[0]["type"] == "websocket.close"
    for site in ("same-origin", "none"):
        assert status(ask(cookie=cookie, sec_fetch_site=site)) == 200


def test_every_answer_keeps_other_sites_away(policy: access.Policy) -> None:
    for asked in ({}, {"host": "evil.example"}, {"accept": "text/html"}, {"origin": "null"}):
        headers = {name.decode(): value.decode() for name, value in ask(**asked)[0]["headers"]}
        assert access.RESPONSE_HEADERS.items() <= headers.items()
    error = access.failed(None, ValueError())  # type: ignore[arg-type]  # it looks at neither
    with pytest.raises(StopIteration) as answer:
        error.send(None)
    assert access.RESPONSE_HEADERS.items() <= dict(answer.value.value.headers).items()


def test_the_page_without_a_token_repeats_what_was_asked_as_data(policy: access.Policy) -> None:
    query = "run=%22%3E%3Cscript%3E&token=wrong&$path=$fields"
    (start, body) = ask(path='/a"onload=', query=query, accept="text/html")
    page = body["body"].decode()
    assert start["status"] == 403 and "<script" not in page and '"onload' not in page
    assert 'name="run" value="&#34;&gt;&lt;script&gt;"' in page and "wrong" not in page


def test_a_viewer_is_cut_off_who_sends_too_much_or_comes_too_often(
    policy: access.Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[Any] = [
        {"type": "websocket.receive", "bytes": b"x" * access.VIEWER_MESSAGE_BYTES},
        {"type": "websocket.receive", "text": "ä" * access.VIEWER_MESSAGE_BYTES},
    ]
    sent: list[Any] = []
    got: list[str] = []

    async def inner(_scope: Any, receive: Any, _send: Any) -> None:
        got.extend([(await receive())["type"], (await receive())["type"]])

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    cookie = f"{policy.cookie}={token(policy, 'viewer')}"
    scope = {
        "type": "websocket",
        "path": "/",
        "query_string": b"",
        "headers": [(b"host", b"bench"), (b"cookie", cookie.encode())],
        "server": (ELSEWHERE, 8501),
    }
    run(access.AccessCheck(inner)(scope, receive, send))
    assert got == ["websocket.receive", "websocket.disconnect"]
    assert sent == [{"type": "websocket.close", "code": 1009}]
    monkeypatch.setattr(access, "MOST_VIEWER_SOCKETS", 0)
    assert ask("websocket", cookie=cookie) == [{"type": "websocket.close", "code": 1013}]
    assert ask("websocket", cookie=f"{policy.cookie}={token(policy, 'operator')}") == []


def test_redirect_never_leaves_the_server(policy: access.Policy) -> None:
    (start, *_) = ask(path="//evil.example", query=f"token={token(policy, 'viewer')}", accept="text/html")
    assert dict(start["headers"])[b"location"] == b"/evil.example"


def test_wrong_cookies_are_refused(policy: access.Policy) -> None:
    good = token(policy, "operator")
    for cookie in (f"{policy.cookie}=wrong", f"hopscope-9999={good}", f"x{policy.cookie}={good}", "\x01=;;"):
        assert status(ask(cookie=cookie)) == 403
    assert status(ask(query="token=wrong", accept="text/html")) == 403


def test_other_sites_are_refused_even_with_a_cookie(policy: access.Policy) -> None:
    cookie = f"{policy.cookie}={token(policy, 'operator')}"
    assert status(ask(cookie=cookie, origin="http://bench:8501")) == 200
    for origin in ("http://evil.example", "http://bench:9999", "null", "http://bench:8501.evil.example"):
        assert status(ask(cookie=cookie, origin=origin)) == 403
        assert (
            ask("websocket", "/_stcore/stream", cookie=cookie, origin=origin)[0]["type"] == "websocket.close"
        )


def test_before_a_policy_is_set_nobody_gets_in(no_policy: None) -> None:
    assert status(ask(host="localhost")) == 503
    assert access.role() is None


@pytest.mark.parametrize(("path", "code"), [("/_stcore/stream", 1003), ("/hopscope/machine", None)])
def test_text_ends_the_connection_of_a_page_and_nothing_is_sent_after_that(
    policy: access.Policy, path: str, code: int | None
) -> None:
    """Streamlit takes bytes unasked, so text would end in a traceback in the log."""
    got: list[str] = []
    sent: list[Any] = []

    async def inner(_scope: Any, receive: Any, send: Any) -> None:
        got.append((await receive())["type"])
        await send({"type": "websocket.send", "bytes": b"late"})

    async def receive() -> Any:
        return {"type": "websocket.receive", "text": "no message"}

    async def send(message: Any) -> None:
        sent.append(message)

    for role in ("operator", "viewer"):
        got.clear()
        sent.clear()
        cookie = f"{policy.cookie}={token(policy, role)}"
        headers = [(b"host", b"127.0.0.1:8501"), (b"cookie", cookie.encode())]
        scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers}
        run(access.AccessCheck(inner)({**scope, "server": ("127.0.0.1", 8501)}, receive, send))
        if code is None:
            assert (got, sent) == (["websocket.receive"], [{"type": "websocket.send", "bytes": b"late"}])
        else:
            assert (got, sent) == (["websocket.disconnect"], [{"type": "websocket.close", "code": code}])


def test_what_is_sent_while_the_other_end_closes_is_dropped(policy: access.Policy) -> None:
    """The server raises it as an error of the application, with a traceback in the log."""
    tried: list[str] = []

    async def inner(_scope: Any, _receive: Any, send: Any) -> None:
        for _ in range(3):
            await send({"type": "websocket.send", "text": "late"})

    async def receive() -> Any:
        return {"type": "websocket.disconnect", "code": 1005}

    async def send(message: Any) -> None:
        tried.append(message["type"])
        raise RuntimeError("Unexpected ASGI message 'websocket.send', after sending 'websocket.close'.")

    cookie = f"{policy.cookie}={token(policy, 'viewer')}"
    headers = [(b"host", b"127.0.0.1:8501"), (b"cookie", cookie.encode())]
    scope = {"type": "websocket", "path": "/hopscope/machine", "query_string": b"", "headers": headers}
    run(access.AccessCheck(inner)({**scope, "server": ("127.0.0.1", 8501)}, receive, send))
    assert tried == ["websocket.send"]
