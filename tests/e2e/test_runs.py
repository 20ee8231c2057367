"""The list of runs: every state, kept up to date; stop, delete and open."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from runners.plan.launcher import launch, plan_script
from runners.plan.plan import LaunchOptions
from runners.runs import registry
from runners.runs.registry import Run
from tests.e2e.conftest import ROOT, Server, settled, start_server
from tests.e2e.run_page import FAILING, RUN_ADDRESS, SLOW, RunPage, confirm, expect, write_script


def start(folder: Path, name: str, text: str) -> Run:
    return launch(
        plan_script([str(write_script(folder, name, text))], launch=LaunchOptions(python=sys.executable))
    )


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


def test_an_address_names_no_folder_but_a_run_of_the_list(server: Server, page: Any, tmp_path: Path) -> None:
    run = registry.wait(start(tmp_path, "failing", FAILING), 60)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(run.path, elsewhere)
    (elsewhere / "out.log").write_text("what another program wrote\n")
    (server.home / "runs" / "link").symlink_to(elsewhere)
    (ROOT / "out.log").write_text("what another program wrote\n")  # the server's working folder
    try:
        for name in (
            ".",
            "..",
            "link",
            "app",
            str(elsewhere),
            f"../runs/{run.id}",
            run.id[:-1],
            f"{run.id}/",
        ):
            page.goto(f"{server.url}/run?run={quote(name, safe='')}")
            expect(page.get_by_role("heading", name="No such run")).to_be_visible()
            expect(page.get_by_text("what another program wrote")).to_have_count(0)
            assert page.locator("[data-action]").count() == 0
    finally:
        (ROOT / "out.log").unlink()
        (server.home / "runs" / "link").unlink()
    page.goto(f"{server.url}/run?run={run.id}")
    RunPage(page).wait_for_state("failed")


def test_a_long_list_is_searched_sorted_and_paged_by_the_server(
    tf_python: Path, tmp_path: Path, page: Any
) -> None:
    home = tmp_path / "home"
    for number in range(230):
        folder = home / "runs" / f"20260101-0000{number % 60:02d}-r{number:03d}-0000"
        folder.mkdir(parents=True)
        (folder / "spec.json").write_text(json.dumps({"name": f"r{number:03d}"}))
        times = {"started": 10.0, "ended": 11.0 + number}
        (folder / "status.json").write_text(json.dumps({"state": "finished", "exit_code": 0} | times))
    with start_server(home, tmp_path) as server:
        page.goto(f"{server.url}/runs")
        rows = page.locator('[data-testid="table-runs"] tbody tr')
        expect(rows).to_have_count(100)
        expect(page.get_by_text("1 to 100 of 230")).to_be_visible()
        page.get_by_label("Older rows").click()
        expect(page.get_by_text("101 to 200 of 230")).to_be_visible()
        page.get_by_label("Older rows").click()
        expect(page.get_by_text("201 to 230 of 230")).to_be_visible()
        expect(rows).to_have_count(30)
        page.get_by_role("button", name="Duration").click()
        expect(rows.first).to_contain_text("r229")
        search = page.get_by_role("searchbox")
        search.fill("R12")
        expect(rows).to_have_count(10)
        page.wait_for_url("**find=R12**")
        settled(page)
        # A link shows a colleague the same.
        page.reload()
        expect(rows).to_have_count(10)
        expect(rows.first).to_contain_text("r129")
        expect(search).to_have_value("R12")
        search.fill("nothing of the kind")
        expect(page.get_by_text("No run has that in it.")).to_be_visible()


def test_what_changes_in_the_list_draws_no_page_anew(server: Server, page: Any, tmp_path: Path) -> None:
    run = registry.wait(start(tmp_path, "failing", FAILING), 60)
    frames: Counter[str] = Counter()
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda _data: frames.update([urlsplit(socket.url).path])),
    )
    page.goto(f"{server.url}/runs")
    expect(row(page, run)).to_be_visible()
    settled(page)
    before = frames.copy()
    assert before["/hopscope/runs"] in (1, 2)  # the second, where the run's tables came later than its end
    other = registry.wait(start(tmp_path, "second", FAILING), 60)
    expect(row(page, other).locator('[data-badge="failed"]')).to_be_visible()
    more = frames - before
    assert set(more) == {"/hopscope/runs"}


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


def test_viewers_get_no_buttons(server: Server, viewer_page: Any, tmp_path: Path) -> None:
    page = viewer_page
    run = registry.wait(start(tmp_path, "failing", FAILING), 60)
    page.goto(f"{server.url}/runs")
    expect(row(page, run).locator('[data-badge="failed"]')).to_be_visible()
    assert page.locator("[data-action]").count() == 0
    row(page, run).locator("a").click()
    RunPage(page).wait_for_state("failed")
    settled(page)
    assert page.locator("[data-action]").count() == 0
