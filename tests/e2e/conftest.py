"""A real server and a real browser.

Tests wait on conditions (Playwright's `expect`, `wait_for_function`, `settled`), never for a fixed time.
"""

from __future__ import annotations

import contextlib
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

from runners.ports import free_ports
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

    def printed(self) -> str:
        return self.log.read_text(errors="replace")

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
) -> Iterator[Server]:
    """`python -m app serve ARGUMENTS`, once it answers; stopped at the end. It prints into `folder`."""
    port = port or free_port()
    log = folder / f"server-{port}-{time.monotonic_ns()}.log"
    variables = {**os.environ, "HOPSCOPE_HOME": str(home), **(environment or {})}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--port", str(port), *arguments],
            cwd=ROOT,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(f"http://127.0.0.1:{port}", home, process, log)
    try:
        wait_until(
            lambda: _answers(server), _START_S, lambda: f"the server did not answer:\n{server.printed()}"
        )
        yield server
    finally:
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

    `page.errors` collects errors thrown in it, `page.outside` requests that leave this machine; the test
    fails at its end where there are any.
    """
    pages: list[Any] = []

    def new(color_scheme: str = "light", width: int = 1400, height: int = 900) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=color_scheme, reduced_motion="reduce"
        )
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.errors = []
        page.outside = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("request", lambda request: _note_outside(page, request.url))
        pages.append(page)
        return page

    yield new
    for page in pages:
        page.context.close()
    assert [error for page in pages for error in page.errors] == []
    assert [url for page in pages for url in page.outside] == []


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
    """A light page of 1400 x 900."""
    return open_page()


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
