"""A cluster that a page launched, while the server that launched it is ended and another one takes over."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from runners.runs import registry
from runners.runs.processes import Identity, is_alive
from runners.runs.run import Run
from tests.e2e.conftest import settled, start_server, wait_until
from tests.e2e.run_page import RunPage, expect
from tests.integration.leftovers import all_processes, assert_nothing_is_left

PROGRAM = "program=tf-parameter-server&ps=1&workers=1&width=16&log-every=1"
ENOUGH = 100_000
LONG_S = 120
pytestmark = pytest.mark.timeout(600)  # several waits, of which each may be long on a busy machine


def steps(run: Run) -> int:
    """How many steps it has told."""
    return max(map(int, re.findall(r"\| step ([0-9]+)/", run.log.read_text(errors="replace"))), default=0)


def goes_on(run: Run) -> None:
    """Wait until it has done more steps than it has now."""
    now = steps(run)
    wait_until(lambda: steps(run) > now, LONG_S, lambda: run.log.read_text(errors="replace"))
    assert run.reload().state == "running"


def test_it_goes_on_and_is_found_again_and_leaves_nothing(
    hopscope_home: Path, tf_python: Path, tmp_path: Path, page: Any
) -> None:
    with start_server(hopscope_home, tmp_path) as first:
        page.goto(f"{first.url}/launch?{PROGRAM}")
        settled(page)
        page.get_by_label("Steps").fill(str(ENOUGH))
        page.get_by_label("Steps").press("Enter")
        expect(page.get_by_test_id("stCode").first).to_contain_text(f"--steps {ENOUGH}")
        expect(page.get_by_text("listen on all addresses of this machine without a password")).to_be_visible()
        page.get_by_role("button", name="Launch", exact=True).click()
        page.wait_for_url("**/run?run=*")
        run = registry.find(parse_qs(urlsplit(page.url).query)["run"][0])
        goes_on(run)
        # A server, a worker and the chief; what watches them, what samples them, and its sampler.
        before: list[Identity] = []

        def all_there() -> bool:
            # One look decides and is kept: another could meet what comes for a moment only.
            before[:] = all_processes(run)
            return len(before) == 6

        wait_until(all_there, LONG_S, lambda: str(before))
        first.stop()  # SIGTERM
    page.goto("about:blank")
    goes_on(run)
    assert all(map(is_alive, before))

    with start_server(hopscope_home, tmp_path) as second:
        run_page = RunPage(page)
        run_page.open(second, run.id)
        run_page.wait_for_state("running")
        expect(run_page.fact("progress")).to_contain_text(f"/ {ENOUGH:,}")
        # With its whole process group, as a crash or a closed terminal would.
        second.kill()
    page.goto("about:blank")
    goes_on(run)
    assert all(map(is_alive, before))

    # From anywhere, as `stop` in a terminal does.
    run = registry.stop(run)
    assert (run.state, run.reason) == ("stopped", "stopped on request")
    assert_nothing_is_left(run, before)
