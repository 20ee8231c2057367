"""A run's page: all views agree with the report and with one another, and the address holds the view."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.reports.run_report import run_report
from runners.plan.launcher import launch, plan_program, plan_script
from runners.plan.plan import LaunchOptions
from runners.runs import registry
from runners.runs.registry import Run
from tests.e2e.conftest import Server, drag, settled
from tests.e2e.run_page import FAILING, MARKUP, SLOW, RunPage, confirm, expect, write_script

STEPS = 30


@pytest.fixture(scope="module")
def finished(server: Server) -> Iterator[Run]:
    """A finished run of a real program whose gradients are computed outside their scope."""
    run = launch(plan_program("tf-pin-gradients", stand_ins=2, steps=STEPS))
    run = registry.wait(run, 120)
    assert run.state == "finished", run.log.read_text()
    yield run


@pytest.fixture
def run_page(page: Any) -> RunPage:
    return RunPage(page)


def test_matrix_diagram_and_table_agree_with_the_report(
    server: Server, finished: Run, run_page: RunPage
) -> None:
    report = run_report(finished.path)
    moved: dict[tuple[str, str], int] = {}
    for hop in report["hops"]:
        pair = hop["src"], hop["dst"]
        moved[pair] = moved.get(pair, 0) + hop["bytes"] * hop["count"]
    run_page.open(server, finished.id)
    run_page.expect_hops(len(report["hops"]))
    cells = run_page.cells()
    assert set(cells) == set(moved)
    assert len(run_page.hop_rows()) == len(report["hops"])
    assert {row["way"] for row in run_page.hop_rows()} == {">".join(pair) for pair in moved}

    # In the training step: backward ops on the host, so what the diagram draws goes there and back.
    outside = [one for one in run_page.crossings() if one["cause"] == "gradient-outside-scope"]
    assert {(one["src"], one["dst"]) for one in outside} == {("cpu:2", "cpu:0"), ("cpu:0", "cpu:2")}
    told = sum(
        hop["bytes"] * hop["count"] for hop in report["hops"] if hop["cause"] == "gradient-outside-scope"
    )
    assert sum(int(one["bytes"]) for one in outside) == told


def test_findings_come_first_and_filter(server: Server, finished: Run, run_page: RunPage) -> None:
    run_page.open(server, finished.id)
    page = run_page.page
    finding = page.locator('[data-testid="finding"][data-code="gradient-outside-scope"]')
    expect(finding).to_contain_text("train.py:")
    expect(finding).to_contain_text("Fix")
    expect(page.locator('[data-testid="finding"][data-severity="info"]').first).not_to_be_visible()
    show = finding.locator('[data-action="show"]')
    (number,) = re.findall(r"Show (\d+) hops", show.inner_text())
    show.click()
    expect(page).to_have_url(re.compile("finding=gradient-outside-scope"))
    expect(page.get_by_role("button", name="Clear filter")).to_be_visible()
    run_page.expect_hops(int(number))
    assert {row["cause"] for row in run_page.hop_rows()} == {"gradient-outside-scope"}
    # The proof stands open: what was asked for, and what the ops got.
    ways = finding.get_by_test_id("ways")
    expect(ways).to_be_visible()
    expect(ways).to_contain_text("no device")
    expect(ways).to_contain_text("the default")
    expect(finding.get_by_test_id("facts")).to_contain_text("Forward op")

    # Its link shows the same to others, and going back closes it.
    link = finding.locator('[data-action="link"]').get_attribute("href")
    page.goto(f"{server.url}{link}")
    expect(finding.get_by_test_id("ways")).to_be_in_viewport()
    run_page.expect_hops(int(number))
    note = page.locator('[data-testid="finding"][data-severity="info"]').first
    page.locator(".fold summary").first.click()
    note.locator('[data-action="link"]').click()
    expect(note.get_by_text("Evidence", exact=True)).to_be_visible()
    expect(page).not_to_have_url(re.compile("finding=gradient-outside-scope"))
    page.go_back()
    expect(page).to_have_url(re.compile("finding=gradient-outside-scope"))
    expect(finding).to_have_class(re.compile(r"\bon\b"))


def test_a_cell_filters_everything_and_the_address_shows_it_again(
    server: Server, finished: Run, run_page: RunPage
) -> None:
    run_page.open(server, finished.id)
    page = run_page.page
    everything = len(run_page.hop_rows())
    run_page.click_cell("cpu:2", "cpu:0")
    expect(page).to_have_url(re.compile("pair=cpu%3A2%3Ecpu%3A0"))
    expect(page.locator(".st-key-filter")).to_contain_text("cpu:2 → cpu:0")

    def check() -> None:
        expect(run_page.hops).not_to_have_attribute("data-rows", str(everything))
        assert {row["way"] for row in run_page.hop_rows()} == {"cpu:2>cpu:0"}
        expect(run_page.diagram.locator(".crossing.selected").first).to_be_visible()
        lit = [one for one in run_page.crossings() if one["lit"] == "true"]
        assert {(one["src"], one["dst"]) for one in lit} == {("cpu:2", "cpu:0")}

    check()
    page.reload()
    settled(page)
    check()
    page.get_by_role("button", name="Clear filter").click()
    run_page.expect_hops(everything)
    expect(page).not_to_have_url(re.compile("pair="))
    page.go_back()
    check()


def test_a_row_and_a_group_are_picked(server: Server, finished: Run, run_page: RunPage) -> None:
    run_page.open(server, finished.id)
    page = run_page.page
    first = run_page.hops.locator("tbody tr").first
    name = first.get_attribute("data-row")
    first.click()
    expect(page).to_have_url(re.compile(rf"hop={name}\b"))
    expect(first).to_have_attribute("aria-selected", "true")
    expect(run_page.diagram.locator(".crossing.selected")).to_have_count(1)
    first.click()
    expect(page).not_to_have_url(re.compile("hop="))

    group = run_page.diagram.locator('[data-testid="group"][data-kind="op"][data-hops="1"]').first
    scope = group.get_attribute("data-scope")
    group.locator(".bar").click()
    expect(page).to_have_url(re.compile("group="))
    members = page.locator('[data-testid="table-members"] tbody tr')
    expect(members).to_have_count(1)
    expect(members).to_contain_text(scope)
    run_page.expect_hops(1)


def test_tabs_and_the_window_of_the_timeline_are_in_the_address(
    server: Server, finished: Run, run_page: RunPage
) -> None:
    run_page.open(server, finished.id)
    page = run_page.page
    page.get_by_role("tab", name="Timeline").click()
    expect(page).to_have_url(re.compile("tab=Timeline"))
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_test_id("stPopoverBody")).to_contain_text(f"run?run={finished.id}&tab=Timeline")
    page.keyboard.press("Escape")
    page.wait_for_selector('[data-testid="figure-overview"][data-drawn]')
    settled(page)
    area = page.locator('[data-testid="figure-overview"] .nsewdrag').first
    width = area.bounding_box()["width"]
    drag(area, {"x": width * 0.6, "y": 20}, {"x": width * 0.8, "y": 30})
    page.wait_for_url(re.compile(r"[?&]t=[\d.]+-[\d.]+"))
    t0, t1 = map(float, re.search(r"[?&]t=([\d.]+)-([\d.]+)", page.url).groups())  # type: ignore[union-attr]
    page.wait_for_function(
        "t => Math.abs(document.querySelector('[data-testid=\"figure-window\"]')"
        "?._fullLayout?.xaxis.range[0] - t) < 1e-3",
        arg=t0,
    )
    assert t0 < t1
    for name, drawn in (("Memory", "figure-memory"), ("Training", "figure-progress")):
        page.get_by_role("tab", name=name).click()
        page.wait_for_selector(f'[data-testid="{drawn}"][data-drawn]')
    page.get_by_role("tab", name="Log").click()
    expect(page.locator(".st-key-log")).to_contain_text(f"step {STEPS}/{STEPS} loss")
    page.reload()
    expect(page.locator(".st-key-log")).to_contain_text(f"step {STEPS}/{STEPS} loss")


def test_the_exact_command_is_kept(server: Server, finished: Run, run_page: RunPage) -> None:
    run_page.open(server, finished.id)
    page = run_page.page
    page.get_by_role("tab", name="Command").click()
    code = page.get_by_test_id("stCode").first
    expect(code).to_contain_text(f"--stand-ins 2 --steps {STEPS}")
    expect(code).to_contain_text(f"export HOPSCOPE_RUN_DIR={finished.path}")
    version = finished.spec["versions"]["tensorflow"]
    expect(page.get_by_text("Versions python")).to_contain_text(f"tensorflow {version}")
    devices = page.locator('[data-testid="table-device-map"] tbody tr')
    expect(devices).to_have_count(2)
    expect(devices.first).to_contain_text("stand-in")


def test_a_running_run_is_stopped_from_its_page(server: Server, run_page: RunPage, tmp_path: Path) -> None:
    run = launch(
        plan_script([str(write_script(tmp_path, "slow", SLOW))], launch=LaunchOptions(python=sys.executable))
    )
    run_page.open(server, run.id)
    run_page.wait_for_state("running")
    expect(run_page.fact("progress")).to_contain_text("/ 100,000")
    before = run_page.fact("progress").inner_text()
    expect(run_page.fact("progress")).not_to_have_text(before)
    confirm(run_page.fact("actions"), "stop")
    run_page.wait_for_state("stopped")
    assert run.reload().state == "stopped"
    expect(run_page.fact("actions").locator('[data-action="stop"]')).to_have_count(0)
    confirm(run_page.fact("actions"), "delete")
    run_page.page.wait_for_url("**/runs")
    assert not run.path.exists()


def test_a_failed_run_says_why_and_its_output_stays_text(
    server: Server, run_page: RunPage, tmp_path: Path
) -> None:
    run = launch(
        plan_script(
            [str(write_script(tmp_path, "failing", FAILING))], launch=LaunchOptions(python=sys.executable)
        )
    )
    registry.wait(run, 60)
    run_page.open(server, run.id)
    run_page.wait_for_state("failed")
    page = run_page.page
    said = f"ValueError: the loss is not a number: {MARKUP}"
    expect(page.get_by_test_id("stAlert")).to_contain_text("exited with status 1")
    expect(page.get_by_test_id("stAlert")).to_contain_text(f"failing.py:3: {said}")
    last = page.get_by_test_id("stCode").first
    expect(last).to_contain_text(said)
    expect(last).not_to_contain_text(f"{MARKUP}\nTraceback")
    assert page.locator('img[src="x"]').count() == 0
    expect(page.get_by_test_id("diagram-empty")).to_contain_text("Nothing was recorded")


def test_an_unknown_run_is_said_to_be_one(server: Server, finished: Run, run_page: RunPage) -> None:
    page = run_page.page
    for name in ("20990101-000000-nothing-0000", str(finished.path)):
        page.goto(f"{server.url}/run?run={name}")
        expect(page.get_by_test_id("stAlert")).to_contain_text("there is no run")
    page.get_by_role("link", name="All runs").click()
    page.wait_for_url("**/runs")
    expect(page.locator(f'[data-row="{finished.id}"]')).to_be_visible()
