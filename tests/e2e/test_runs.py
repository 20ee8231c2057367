"""The list of runs: every state, kept up to date; stop, delete and open."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from runners import registry
from runners.launcher import launch, plan_script
from runners.registry import Run
from tests.e2e.conftest import Server, settled, start_server, wait_until
from tests.e2e.run_page import FAILING, RUN_ADDRESS, SLOW, RunPage, confirm, expect, write_script


def start(folder: Path, name: str, text: str) -> Run:
    return launch(plan_script([str(write_script(folder, name, text))], python=sys.executable))


def row(page: Any, run: Run) -> Any:
    return page.locator(f'[data-testid="table-runs"] tr[data-row="{run.id}"]')


def test_no_run_yet_leads_to_launch(tf_python: Path, tmp_path: Path, page: Any) -> None:
    with start_server(tmp_path, tmp_path) as server:
        page.goto(f"{server.url}/runs")
        expect(page.get_by_text("No run yet.")).to_be_visible()
        page.get_by_role("link", name="Launch the first one").click()
        expect(page.get_by_role("button", name="Launch", exact=True)).to_be_visible()


def test_runs_appear_grow_stop_and_go(server: Server, page: Any, tmp_path: Path) -> None:
    page.clock.install()
    page.goto(f"{server.url}/runs")
    settled(page)
    run = start(tmp_path, "slow", SLOW)
    line = row(page, run)
    expect(line.locator('[data-badge="running"]')).to_be_visible()
    expect(line.locator('[data-column="progress"]')).to_contain_text("/ 100,000")
    expect(line.locator('[data-column="speed"]')).to_have_text("20 steps/s")
    before = line.locator('[data-column="progress"]').inner_text()
    expect(line.locator('[data-column="progress"]')).not_to_have_text(before)

    expect(line.locator('[data-action="delete"]')).to_have_count(0)
    line.locator('[data-action="stop"]').click()
    line.locator('[data-action="stop-no"]').click()
    # A question stays until it is answered, or left.
    line.locator('[data-action="stop"]').click()
    page.clock.fast_forward(600_000)
    expect(line.get_by_text("Stop it?")).to_be_visible()
    page.get_by_role("heading", name="Runs").click()
    expect(line.get_by_text("Stop it?")).to_have_count(0)
    line.locator('[data-action="stop"]').click()
    page.keyboard.press("Escape")
    expect(line.locator('[data-action="stop"]')).to_be_focused()
    expect(line.locator('[data-badge="running"]')).to_be_visible()
    confirm(line, "stop")
    expect(line.locator('[data-badge="stopped"]')).to_be_visible()
    assert run.reload().state == "stopped"

    confirm(line, "delete")
    expect(line).to_have_count(0)
    assert not run.path.exists()


def test_states_reasons_and_broken_folders_are_told(server: Server, page: Any, tmp_path: Path) -> None:
    failed = registry.wait(start(tmp_path, "failing", FAILING), 60)
    lost = start(tmp_path, "lost", SLOW)
    registry.stop(lost)
    status = json.loads((lost.path / "status.json").read_text())
    (lost.path / "status.json").write_text(json.dumps(status | {"state": "running", "supervisor_pid": 2**22}))
    broken = server.home / "runs" / "20260101-000000-broken-0000"
    broken.mkdir(parents=True)
    (broken / "spec.json").write_text("{")

    page.goto(f"{server.url}/runs")
    expect(row(page, failed).locator('[data-badge="failed"]')).to_be_visible()
    expect(row(page, failed).locator('[data-column="run"]')).to_contain_text("exited with status 1")
    expect(row(page, lost).locator('[data-badge="lost"]')).to_be_visible()
    expect(row(page, lost).locator('[data-column="run"]')).to_contain_text("is gone")
    reason = page.locator('[data-testid="table-broken"] tbody tr')
    expect(reason).to_contain_text("spec.json is damaged")
    confirm(reason, "delete")
    expect(page.get_by_test_id("table-broken")).to_have_count(0)
    assert not broken.exists()


def test_opens_a_run_in_the_same_session(server: Server, page: Any, tmp_path: Path) -> None:
    run = registry.wait(start(tmp_path, "failing", FAILING), 60)
    page.goto(f"{server.url}/runs")
    link = row(page, run).locator("a")
    assert RUN_ADDRESS.search(link.get_attribute("href"))
    page.evaluate("window.sameSession = true")
    link.click()
    page.wait_for_url(f"**/run?run={run.id}")
    RunPage(page).wait_for_state("failed")
    assert page.evaluate("window.sameSession") is True


def test_viewers_get_no_buttons(tf_python: Path, server: Server, page: Any, tmp_path: Path) -> None:
    run = registry.wait(start(tmp_path, "failing", FAILING), 60)
    with start_server(server.home, tmp_path, "--listen", "0.0.0.0") as shared:
        wait_until(lambda: shared.printed().count("?token=") == 2, 60, shared.printed)
        (token,) = re.findall(r"\?token=(\S+)  \(viewer", shared.printed())
        page.goto(f"{shared.url}/runs?token={token}")
        expect(row(page, run).locator('[data-badge="failed"]')).to_be_visible()
        assert page.locator("[data-action]").count() == 0
        row(page, run).locator("a").click()
        RunPage(page).wait_for_state("failed")
        settled(page)
        assert page.locator("[data-action]").count() == 0
