"""A real server and a real browser.

Tests wait on conditions (Playwright's `expect`, `wait_for_function`, `settled`), never for a fixed time.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.access import Policy
from runners.supervise.ports import free_ports
from tests.conftest import stop_runs

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
# A busy machine takes its time; a condition that holds is not waited for.
playwright.expect.set_options(timeout=120_000)

ROOT = Path(__file__).resolve().parents[2]
_START_S = 120.0
_STOP_S = 60.0
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass
class Server:
    """A running dashboard: `url` without a path, the runs' `home`, what it has printed so far."""

    url: str
    home: Path
    process: subprocess.Popen[bytes]
    log: Path
    no_token: bool = False

    def printed(self) -> str:
        return self.log.read_text(errors="replace")

    def tokens(self) -> dict[str, str]:
        """The token of each role, from the file that only the server's owner may read."""
        return {
            role: str(token) for role, token in json.loads((self.home / "tokens.json").read_text()).items()
        }

    def link(self, path: str = "/", role: str = "operator") -> str:
        """The address of a path that carries a role's token."""
        return f"{self.url}{path}{'&' if '?' in path else '?'}token={self.tokens()[role]}"

    def cookie(self, role: str = "operator") -> tuple[str, str]:
        """Name and value of the cookie by which the server knows a role."""
        tokens = self.tokens()
        policy = Policy(
            {token: "operator" if its == "operator" else "viewer" for its, token in tokens.items()}
        )
        return policy.cookie, tokens[role]

    def headers(self, role: str = "operator") -> dict[str, str]:
        """What a program sends that has signed in."""
        return {"Cookie": "=".join(self.cookie(role))}

    def kill(self) -> None:
        """SIGKILL to the server and its process group, as a crash would be."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(_STOP_S)

    def stop(self) -> int:
        """SIGTERM, and its exit status; SIGKILL where that was not enough."""
        self.process.terminate()
        try:
            return self.process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise


_serving: list[Server] = []
"""The servers that run now."""


def sign_in(context: Any, url: str, role: str) -> None:
    """Give a browser's context the cookie of the server at `url`, as its address with a token would."""
    server = next((one for one in _serving if url.startswith(one.url)), None)
    if server is not None and not server.no_token:
        name, value = server.cookie(role)
        context.add_cookies([{"name": name, "value": value, "url": server.url, "httpOnly": True}])


def free_port() -> int:
    """A port that no outgoing connection takes before its server does."""
    return free_ports(["server"])["server"]


@contextlib.contextmanager
def start_server(
    home: Path,
    folder: Path,
    *arguments: str,
    port: int | None = None,
    environment: dict[str, str] | None = None,
    root: Path = ROOT,
) -> Iterator[Server]:
    """`python -m app serve ARGUMENTS`, once it answers; stopped at the end. It prints into `folder`.

    `root` is the tree that is served, this one by default.
    """
    port = port or free_port()
    log = folder / f"server-{port}-{time.monotonic_ns()}.log"
    variables = {**os.environ, "HOPSCOPE_HOME": str(home), **(environment or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--port", str(port), *arguments],
            cwd=root,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(f"http://127.0.0.1:{port}", home, process, log, "--no-token" in arguments)
    _serving.append(server)
    try:
        wait_until(
            lambda: _answers(server), _START_S, lambda: f"the server did not answer:\n{server.printed()}"
        )
        yield server
    finally:
        _serving.remove(server)
        if process.poll() is None:
            server.stop()


def _answers(server: Server) -> bool:
    assert server.process.poll() is None, f"the server ended:\n{server.printed()}"
    try:
        with urllib.request.urlopen(f"{server.url}/hopscope/health", timeout=5):
            return True
    except urllib.error.HTTPError as error:
        return error.code == 403  # it asks for a token
    except OSError:
        return False


def wait_until(condition: Callable[[], Any], seconds: float, problem: Callable[[], str]) -> None:
    """Return once `condition` is true; fail with what `problem` says after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, problem()
        time.sleep(0.05)


@pytest.fixture(scope="module")
def hopscope_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty $HOPSCOPE_HOME for the module's server and for this process."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(home))
        yield home
        stop_runs()


@pytest.fixture(scope="module")
def server(
    hopscope_home: Path, tf_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A dashboard on a free port, whose TensorFlow environment is ready; one a module."""
    with start_server(hopscope_home, tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    found = next((path for path in map(shutil.which, _BROWSERS) if path), None)
    with playwright.sync_playwright() as driver:
        own = driver.chromium.executable_path
        if found is None and not Path(own).exists():
            pytest.skip("no Chromium on this machine: install the package chromium for the browser tests")
        chromium = driver.chromium.launch(
            executable_path=found or own, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """`open_page(color_scheme="dark", width=1400, height=900)`: a page such as another viewer would have.

    `role="viewer"` is one who may look; `role=None` a stranger, to whom no token was given.
    `page.errors` collects errors thrown in it, `page.outside` requests that leave this machine; the test
    fails at its end where there are any.
    """
    pages: list[Any] = []

    def new(
        color_scheme: str = "light", width: int = 1400, height: int = 900, role: str | None = "operator"
    ) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=color_scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.errors = []
        page.outside = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("request", lambda request: _note_outside(page, request.url))
        if role is not None:
            page.goto = functools.partial(_goto, page, page.goto, role)
        pages.append(page)
        return page

    yield new
    for page in pages:
        page.context.close()
    assert [error for page in pages for error in page.errors] == []
    assert [url for page in pages for url in page.outside] == []


def _goto(page: Any, go: Callable[..., Any], role: str, url: str, **options: Any) -> Any:
    sign_in(page.context, url, role)
    return go(url, **options)


def _note_outside(page: Any, url: str) -> None:
    inside = (
        "http://127.0.0.1:",
        "ws://127.0.0.1:",
        "http://localhost:",
        "ws://localhost:",
        "data:",
        "blob:",
    )
    if not url.startswith(inside):
        page.outside.append(url)


@pytest.fixture
def page(open_page: Callable[..., Any]) -> Any:
    """A light page of 1400 x 900, of an operator."""
    return open_page()


@pytest.fixture
def viewer_page(open_page: Callable[..., Any]) -> Any:
    """The same of somebody who may only look."""
    return open_page(role="viewer")


def drag(area: Any, start: dict[str, float], end: dict[str, float]) -> None:
    """Draw a box in an element, from one place in it to another, once it stands still."""
    mouse = area.page.mouse
    area.hover(position=start)
    box = area.bounding_box()
    mouse.down()
    mouse.move(box["x"] + end["x"], box["y"] + end["y"], steps=8)
    mouse.up()


# Components draw what they were given a moment after React has; when a font comes, what was measured moves.
_DRAWN = """() => document.fonts.ready.then(() => new Promise((drawn) => {
  requestAnimationFrame(() => requestAnimationFrame(() => drawn()));
}))"""


def settled(page: Any) -> None:
    """Wait until the page is connected, its script has run to its end, and what came is drawn."""
    page.wait_for_selector('[data-testid="stApp"][data-test-connection-state="CONNECTED"]', state="attached")
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', state="attached")
    page.evaluate(_DRAWN)
