"""Starts the harness of the views for the browser tests."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.e2e.conftest import ROOT, free_port, wait_until


@contextlib.contextmanager
def harness_server(log: Path, *arguments: str) -> Iterator[str]:
    """The harness on a free port, printing into `log`; gives its address."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests/e2e/views_harness.py"), str(port), *arguments],
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def answers() -> bool:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
                return True
        except OSError:
            return False

    try:
        wait_until(answers, 120, lambda: f"no answer:\n{log.read_text()}")
        yield url
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


EVENTS = """window.hopscopeEvents = () => {
  const node = document.querySelector('[data-testid="stCode"] code');
  return node?.textContent ? JSON.parse(node.textContent) : [];
};"""
"""A script for the page: the events that reached Python, at most the last six."""


def last_event(page: Any, count: int) -> dict[str, Any]:
    """The newest of the events that reached Python, once there are `count`."""
    page.wait_for_function("count => window.hopscopeEvents().length >= count", arg=count)
    events: list[dict[str, Any]] = page.evaluate("window.hopscopeEvents()")
    return events[-1]
