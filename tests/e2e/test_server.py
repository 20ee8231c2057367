"""The server as a browser meets it: how it starts, who gets in, and that nothing leaves this machine."""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from app import access
from app.opening import owner
from app.slow_requests import MOST
from tests.e2e.conftest import ROOT, Server, free_port, settled, start_server, wait_until

websockets = pytest.importorskip("websockets.sync.client", reason="websockets is not installed")

ADDRESS = re.compile(r"^Hopscope: (\S+)$", re.MULTILINE)


def upgrade(server: Server, **headers: str) -> bytes:
    """The request for the Machine page's stream, as a browser would make it that has signed in."""
    fields = {"Host": "127.0.0.1", **server.headers("viewer"), **headers}
    lines = [
        "GET /hopscope/machine HTTP/1.1",
        *(f"{name}: {value}" for name, value in fields.items()),
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def fetch(
    url: str, headers: Mapping[str, str] | None = None, *, method: str = "GET", body: bytes | None = None
) -> tuple[int, bytes, Any]:
    request = urllib.request.Request(url, body, dict(headers or {}), method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


def test_prints_its_address_and_answers(server: Server) -> None:
    assert ADDRESS.findall(server.printed()) == [server.url]
    code, body, _ = fetch(f"{server.url}/hopscope/health", server.headers("viewer"))
    assert (code, json.loads(body)) == (200, {"ok": True})
    code, body, headers = fetch(f"{server.url}/hopscope/plotly.min.js", server.headers("viewer"))
    assert code == 200 and b"plotly.js" in body[:200] and "max-age" in headers["Cache-Control"]


def test_a_token_never_stands_in_a_log(server: Server) -> None:
    printed = server.printed()
    assert not any(token in printed for token in server.tokens().values())
    assert f"`python3 -m app token` prints the address that has it, from {server.home}/tokens.json" in printed
    assert (server.home / "tokens.json").stat().st_mode & 0o777 == 0o600


def test_the_command_for_that_prints_the_addresses(server: Server) -> None:
    done = command("token", server.home)
    assert done.stdout.splitlines() == [
        f"Hopscope: {server.link()}  (operator: may run any code as {owner()})",
        f"Hopscope: {server.link(role='viewer')}  (viewer: may look)",
    ]


def test_a_terminal_is_shown_the_addresses(tmp_path: Path) -> None:
    """Standard output that is a terminal has somebody who reads it, and no journal behind."""
    primary, secondary = pty.openpty()
    port = free_port()
    with subprocess.Popen(
        [sys.executable, "-m", "app", "--port", str(port)],
        cwd=ROOT,
        env=os.environ | {"HOPSCOPE_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=secondary,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(secondary)
        shown = b""
        while shown.count(b"?token=") < 2:
            shown += os.read(primary, 4096)
        process.terminate()
    os.close(primary)
    for token in json.loads((tmp_path / "tokens.json").read_text()).values():
        assert f"http://127.0.0.1:{port}/?token={token}".encode() in shown


def command(name: str, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", name, *words],
        cwd=ROOT,
        env=os.environ | {"HOPSCOPE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_refuses_other_names_and_other_sites(server: Server) -> None:
    signed_in = server.headers()
    for path in ("/", "/hopscope/health", "/_stcore/health"):
        assert fetch(server.url + path, {**signed_in, "Host": "evil.example"})[0] == 403
        assert fetch(server.url + path, {**signed_in, "Origin": "http://evil.example"})[0] == 403


def test_no_answer_may_be_framed_or_read_by_another_site(server: Server) -> None:
    for path in ("/", "/launch", "/hopscope/health", "/_stcore/health", "/no/such/page", "/static/none.js"):
        for who in (server.headers(), {}):
            headers = fetch(server.url + path, who)[2]
            assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
            assert (headers["X-Frame-Options"], headers["X-Content-Type-Options"]) == ("DENY", "nosniff")
            assert headers["Referrer-Policy"] == headers["Cross-Origin-Opener-Policy"] == "same-origin"
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_a_page_of_another_site_gets_no_click_on_ours(
    server: Server, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    """The page of another port of this host, to which a browser sends our cookie, frames the Launch page."""
    (tmp_path / "index.html").write_text(
        f'<title>hostile</title><iframe src="{server.url}/launch" width="1000" height="800"></iframe>'
    )
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as hostile:
        threading.Thread(target=hostile.serve_forever, daemon=True).start()
        page = open_page()
        page.goto(server.url)  # signed in
        with page.expect_event("requestfailed"):
            page.goto(f"http://127.0.0.1:{hostile.server_port}/")
        assert page.frames[1].locator("text=Launch").count() == 0
        hostile.shutdown()


UPLOAD = "/_stcore/upload_file/SESSION/FILE"


def test_viewers_may_not_upload_anything(server: Server) -> None:
    """Streamlit would keep what they send in memory, 200 MB a file, wherever a page shows no upload."""
    for method in ("PUT", "POST", "DELETE", "PATCH"):
        code, body, _ = fetch(server.url + UPLOAD, server.headers("viewer"), method=method, body=b"x")
        assert (code, body) == (403, b"Only operators may send anything to this server.\n")
    # An operator's goes on to Streamlit, which misses its XSRF cookie.
    assert fetch(server.url + UPLOAD, server.headers(), method="PUT", body=b"x")[0] == 403


def test_a_viewer_who_sends_much_is_cut_off(server: Server) -> None:
    from websockets.exceptions import ConnectionClosed

    address = f"ws{server.url.removeprefix('http')}/hopscope/machine"
    for role, size in (("viewer", access.VIEWER_MESSAGE_BYTES + 1), ("operator", 9 << 20)):
        with websockets.connect(
            address, additional_headers=server.headers(role), open_timeout=60, proxy=None
        ) as stream:
            with pytest.raises(ConnectionClosed):
                stream.send("x" * size)
                while True:
                    stream.recv(60)
            # Where the rest of the message was still on its way, it ends without a word: 1006.
            assert stream.close_code in (1009, 1006)


@pytest.mark.parametrize(
    "foreign",
    ['a="unfinished', "c=[]{}(),;d", "=", "x" * 60_000, ";".join(["k=v"] * 5000)],
)
def test_foreign_cookies_lock_nobody_out(server: Server, foreign: str) -> None:
    own = "=".join(server.cookie("viewer"))
    for cookie in (f"{foreign}; {own}", f"{own}; {foreign}"):
        with raw(server) as connection:
            head = f"GET /hopscope/health HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n"
            connection.sendall(head.encode("latin-1"))
            assert connection.recv(12) == b"HTTP/1.1 200"
        with raw(server) as connection:
            connection.sendall(upgrade(server, Cookie=cookie))
            assert connection.recv(12) == b"HTTP/1.1 101"


@contextlib.contextmanager
def raw(server: Server) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", urlsplit(server.url).port), timeout=60) as connection:
        yield connection


def test_requests_that_never_come_whole_are_few_and_do_not_stay(server: Server) -> None:
    """Without a token: each sends half a megabyte of a request's head, and no more."""
    with contextlib.ExitStack() as held:
        unfinished = []
        for _ in range(MOST + 5):
            unfinished.append(held.enter_context(raw(server)))
            with contextlib.suppress(OSError):
                unfinished[-1].sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 500_000)
        for connection in unfinished[:5]:
            with contextlib.suppress(ConnectionError):
                assert connection.recv(1) == b""
        assert fetch(server.link("/hopscope/health"))[0] == 200
        # The last one is closed by time.
        with contextlib.suppress(ConnectionError):
            assert unfinished[-1].recv(1) == b""


STREAMLIT = ("-m", "streamlit", "run", "app/server.py", "--server.port", "PORT")
UVICORN = ("-m", "uvicorn", "app.server:app", "--host", "0.0.0.0", "--port", "PORT")


@pytest.mark.parametrize("words", [STREAMLIT, UVICORN], ids=["streamlit", "uvicorn"])
def test_a_token_is_required_however_it_is_started(
    words: tuple[str, ...], tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    port = free_port()
    with started([word.replace("PORT", str(port)) for word in words], tmp_path, port) as running:
        assert fetch(f"{running.url}/")[0] == 403
        assert "`python3 -m app token` prints the address" in running.printed()
        page = open_page(role=None)
        page.goto(running.link("/launch"))
        settled(page)
        assert page.url == f"{running.url}/launch"
        assert str(port) in command("token", tmp_path).stdout
        assert fetch(running.link("/metrics", role="viewer"))[0] == 200
        token = running.tokens()["viewer"]
        for mistyped in (f"/metrics?Token={token}", f"/token={token}", f"/metrics?x;token={token}"):
            assert fetch(running.url + mistyped)[0] == 403
        printed = running.printed()
        assert words is STREAMLIT or '"GET /metrics HTTP/1.1" 200' in printed
        assert not any(token in printed for token in running.tokens().values())


@pytest.mark.parametrize(
    ("listen", "at", "name"),
    [
        ("127.0.0.2", "127.0.0.2", "127.0.0.2"),
        ("::1", "::1", "[::1]"),
        ("0.0.0.0", "127.0.0.3", "127.0.0.3"),
        ("::", "127.0.0.1", "[::ffff:127.0.0.1]"),
        ("localhost", "127.0.0.1", "localhost"),
    ],
)
def test_it_answers_to_the_address_that_it_listens_on(
    listen: str, at: str, name: str, tmp_path: Path
) -> None:
    port = free_port()
    words = ["-m", "app", "serve", "--port", str(port), "--listen", listen]
    with started(words, tmp_path, port, at=at) as running:
        host, health = f"{name}:{port}", f"{running.url}/hopscope/health"
        assert fetch(health, {**running.headers("viewer"), "Host": host})[0] == 200
        assert fetch(health, {"Host": host})[0] == 403
        for other in ("evil.example", f"rebound.example:{port}"):
            code, body, _ = fetch(health, {**running.headers(), "Host": other})
            assert (code, body) == (403, b"This server does not go by that name.\n")


@contextlib.contextmanager
def started(words: list[str], home: Path, port: int, at: str = "127.0.0.1") -> Iterator[Server]:
    """A server that is started in another way, or listens elsewhere, once it answers."""
    log = home / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT,
            env=os.environ | {"HOPSCOPE_HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    running = Server(f"http://{f'[{at}]' if ':' in at else at}:{port}", home, process, log)

    def answers() -> bool:
        assert process.poll() is None, running.printed()
        try:
            return fetch(f"{running.url}/hopscope/health")[0] == 403
        except OSError:
            return False

    try:
        wait_until(answers, 120, running.printed)
        yield running
    finally:
        running.stop()


def test_without_tokens_by_request_only_and_said_so(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    with start_server(tmp_path, tmp_path, "--no-token") as running:
        page = open_page(role=None)
        page.goto(running.url)
        settled(page)
        assert "every user and every program of this machine can run any code as" in running.printed()
        assert fetch(running.url, {"Host": "evil.example"})[0] == 403
        assert fetch(running.url, {"Origin": "http://evil.example"})[0] == 403
    refused = command("serve", tmp_path, "--no-token", "--listen", "0.0.0.0")
    assert refused.returncode == 2 and "--no-token is not possible with --listen 0.0.0.0" in refused.stderr


def test_port_in_use_is_one_line(server: Server) -> None:
    port = urlsplit(server.url).port
    done = subprocess.run(
        [sys.executable, "-m", "app", "serve", "--port", str(port)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"hopscope: port {port} on 127.0.0.1 is in use; ") and "--port" in line


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_open_and_fetch_nothing_from_outside(
    server: Server, open_page: Callable[..., Any], scheme: str
) -> None:
    page = open_page(color_scheme=scheme)
    for path, title in (("/", "Machine"), ("/launch", "Launch"), ("/runs", "Runs"), ("/run", "Run")):
        page.goto(server.url + path)
        settled(page)
        page.wait_for_function("title => document.title === title", arg=f"{title} · Hopscope")
        assert page.locator('[data-testid="stException"]').count() == 0


def test_without_a_token_nothing_is_shown_and_one_can_be_given(
    server: Server, open_page: Callable[..., Any]
) -> None:
    """On loopback too: any other user of the machine could open it."""
    page = open_page(role=None)
    assert page.goto(f"{server.url}/runs?tab=a%22b").status == 403
    assert fetch(f"{server.url}/hopscope/health")[0] == 403
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Open").click()
    page.wait_for_url("**token=wrong")
    page.get_by_label("Token").fill(server.tokens()["viewer"])
    page.get_by_role("button", name="Open").click()
    settled(page)
    assert page.url == f"{server.url}/runs?tab=a%22b"


@pytest.mark.parametrize("role", ["operator", "viewer"])
def test_token_opens_the_page_and_leaves_the_address(
    server: Server, open_page: Callable[..., Any], role: str
) -> None:
    page = open_page(role=None)
    page.goto(server.link("/runs", role))
    settled(page)
    assert page.url == f"{server.url}/runs"
    (cookie,) = [one for one in page.context.cookies() if one["name"] == server.cookie()[0]]
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    page.reload()
    settled(page)
    stranger = open_page(role=None)
    assert stranger.goto(page.url).status == 403


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stops_at_once_while_a_page_is_open(
    tf_python: Path, tmp_path: Path, page: Any, number: signal.Signals
) -> None:
    with start_server(tmp_path, tmp_path) as running:
        page.goto(running.url)
        settled(page)
        running.process.send_signal(number)
        running.process.wait(60)
        assert "Traceback" not in running.printed()


def test_stops_although_connections_came_while_it_closed(tf_python: Path, tmp_path: Path) -> None:
    """A browser that connects again at that moment once kept the server from ending."""
    with start_server(tmp_path, tmp_path) as running, contextlib.ExitStack() as late:
        address = ("127.0.0.1", urlsplit(running.url).port)
        running.process.terminate()
        with contextlib.suppress(OSError):
            while running.process.poll() is None:
                late.enter_context(socket.create_connection(address, timeout=5))
        running.process.wait(60)
        assert "Traceback" not in running.printed()


def test_stops_although_a_viewer_reads_no_more(tf_python: Path, tmp_path: Path) -> None:
    """A laptop that went to sleep with the page open: what is sent to it is never taken."""
    with start_server(tmp_path, tmp_path) as running, socket.socket() as viewer:
        viewer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        viewer.connect(("127.0.0.1", urlsplit(running.url).port))
        viewer.settimeout(60)
        viewer.sendall(upgrade(running))
        assert viewer.recv(12) == b"HTTP/1.1 101"
        viewer.settimeout(5)
        wish = b'{"history": {"span": 3600, "fields": []}}'
        with contextlib.suppress(TimeoutError):
            while True:  # until nothing more is taken from it either
                viewer.sendall(bytes([0x81, 0x80 | len(wish)]) + bytes(4) + wish)
        running.process.terminate()
        running.process.wait(60)
        assert "Traceback" not in running.printed()


def test_nothing_is_installed_unless_asked_and_the_first_lines_say_so(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    """Without a network the install that the page was asked for fails with its reason; it serves on."""
    variables = {
        "HOPSCOPE_ENVS": str(tmp_path / "envs"),
        "HOPSCOPE_TENSORFLOW": "",
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_FIND_LINKS": "",
        "PIP_RETRIES": "1",
    }
    # The dashboard's own environment is this one, wherever the frameworks' are.
    (tmp_path / "envs").mkdir()
    progress = tmp_path / "envs" / "tensorflow.json"
    with start_server(tmp_path, tmp_path, environment=variables) as running:
        wait_until(lambda: "not installed" in running.printed(), 60, running.printed)
        assert "`python3 -m app setup`" in running.printed()
        page = open_page()
        page.goto(f"{running.url}/launch")
        settled(page)
        page.get_by_text("TensorFlow is not installed").wait_for()
        assert str(tmp_path / "envs") in page.inner_text(".st-key-environment")
        assert not progress.exists()
        page.get_by_role("button", name="Install TensorFlow").click()
        wait_until(
            lambda: progress.exists() and json.loads(progress.read_text())["state"] == "failed", 120, str
        )
        assert "no network" in json.loads(progress.read_text())["reason"]
    assert not (tmp_path / "envs" / "mxnet.json").exists()


def test_killed_server_leaves_its_port_to_the_next(tf_python: Path, tmp_path: Path) -> None:
    port = free_port()
    with start_server(tmp_path, tmp_path, port=port) as first:
        first.kill()
    with start_server(tmp_path, tmp_path, port=port) as second, socket.create_connection(("127.0.0.1", port)):
        assert os.getpgid(second.process.pid) == second.process.pid
