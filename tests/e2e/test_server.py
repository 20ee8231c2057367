"""The server as a browser meets it: how it starts, who gets in, and that nothing leaves this machine."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.e2e.conftest import ROOT, Server, free_port, settled, start_server, wait_until

UPGRADE = (
    b"GET /hopscope/machine HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)

ADDRESS = re.compile(r"^Hopscope: (\S+)(?:  \((operator|viewer): .*\))?$", re.MULTILINE)


def fetch(url: str, **headers: str) -> tuple[int, bytes, Any]:
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


@pytest.fixture(scope="module")
def shared_server(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that others reach, so that it asks for a token."""
    folder = tmp_path_factory.mktemp("shared")
    with start_server(folder, folder, "--listen", "0.0.0.0") as running:
        wait_until(lambda: len(ADDRESS.findall(running.printed())) == 2, 60, running.printed)
        yield running


def with_token(server: Server, role: str, path: str = "/") -> str:
    """The printed address, at loopback."""
    (printed,) = [address for address, its in ADDRESS.findall(server.printed()) if its == role]
    return f"{server.url}{path}?{urlsplit(printed).query}"


def test_prints_its_address_and_answers(server: Server) -> None:
    assert ADDRESS.findall(server.printed()) == [(server.url, "")]
    code, body, _ = fetch(f"{server.url}/hopscope/health")
    assert (code, json.loads(body)) == (200, {"ok": True})
    code, body, headers = fetch(f"{server.url}/hopscope/plotly.min.js")
    assert code == 200 and b"plotly.js" in body[:200] and "max-age" in headers["Cache-Control"]


def test_refuses_other_names_and_other_sites(server: Server) -> None:
    for path in ("/", "/hopscope/health", "/_stcore/health"):
        assert fetch(server.url + path, Host="evil.example")[0] == 403
        assert fetch(server.url + path, Origin="http://evil.example")[0] == 403


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


def test_without_a_token_nothing_is_shown(shared_server: Server, page: Any) -> None:
    answer = page.goto(shared_server.url)
    assert answer.status == 403
    assert "token" in page.inner_text("body")
    assert fetch(f"{shared_server.url}/hopscope/health")[0] == 403


@pytest.mark.parametrize("role", ["operator", "viewer"])
def test_token_opens_the_page_and_leaves_the_address(
    shared_server: Server, open_page: Callable[..., Any], role: str
) -> None:
    page = open_page()
    page.goto(with_token(shared_server, role, "/runs"))
    settled(page)
    assert page.url == f"{shared_server.url}/runs"
    page.reload()
    settled(page)
    stranger = open_page()
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
        viewer.sendall(UPGRADE)
        assert viewer.recv(12) == b"HTTP/1.1 101"
        viewer.settimeout(5)
        wish = b'{"history": {"span": 3600, "fields": []}}'
        with contextlib.suppress(TimeoutError):
            while True:  # until nothing more is taken from it either
                viewer.sendall(bytes([0x81, 0x80 | len(wish)]) + bytes(4) + wish)
        running.process.terminate()
        running.process.wait(60)
        assert "Traceback" not in running.printed()


def test_failed_install_is_retried_at_the_next_start_and_does_not_stop_the_server(tmp_path: Path) -> None:
    """Without a network the environment fails with its reason, and the dashboard serves all the same."""
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
    for _ in range(2):
        with start_server(tmp_path, tmp_path, environment=variables):
            wait_until(
                lambda: progress.exists() and json.loads(progress.read_text())["state"] == "failed", 120, str
            )
        assert "no network" in json.loads(progress.read_text())["reason"]
        progress.write_text(json.dumps({"state": "interrupted", "updated": 0, "build": "cpu"}))


def test_killed_server_leaves_its_port_to_the_next(tf_python: Path, tmp_path: Path) -> None:
    port = free_port()
    with start_server(tmp_path, tmp_path, port=port) as first:
        first.kill()
    with start_server(tmp_path, tmp_path, port=port) as second, socket.create_connection(("127.0.0.1", port)):
        assert os.getpgid(second.process.pid) == second.process.pid
