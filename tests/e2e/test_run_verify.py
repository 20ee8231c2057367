"""A finding's fix tried from the page: a copy is changed, run again, and held against the run before."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.plan.launcher import launch, plan_script
from runners.plan.plan import LaunchOptions
from runners.plan.preflight_plan import Extent, as_preflight
from runners.plan.trials import plan_trial
from runners.runs import registry
from runners.runs.registry import Run
from tests.e2e.conftest import Server
from tests.e2e.run_page import RunPage, expect, write_script

DETOUR = (
    "# What a long script says first.\n" * 60
    + """
import mxnet as mx
first, second = mx.cpu(1), mx.cpu(2)
x = mx.nd.ones((64, 64), ctx=first)  # <img src=x onerror=alert(1)>
for step in range(6):
    h = mx.nd.dot(x, x)
    y = mx.nd.array(h.asnumpy(), ctx=second)
mx.nd.waitall()
"""
)

FLOWN = """
import os
import mxnet as mx
first, second = mx.gpu(0), mx.gpu(1)
x = mx.nd.ones((64, 64), ctx=first)
for step in range(int(os.environ["ROUNDS"])):
    h = mx.nd.dot(x, x)
    y = mx.nd.array(h.asnumpy(), ctx=second)
mx.nd.waitall()
"""


@pytest.fixture(scope="module")
def finished(server: Server, mx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    script = write_script(tmp_path_factory.mktemp("scripts"), "detour", DETOUR)
    plan = plan_script([str(script)], framework="mxnet", launch=LaunchOptions(python=str(mx_python)))
    run = registry.wait(launch(plan), 120)
    assert run.state == "finished", run.log.read_text()
    yield run
    assert script.read_text() == DETOUR


@pytest.fixture
def run_page(page: object) -> RunPage:
    return RunPage(page)


def test_a_finding_stands_beside_its_lines_and_a_fix(
    server: Server, finished: Run, run_page: RunPage
) -> None:
    run_page.open(server, finished.id)
    card = run_page.page.get_by_test_id("finding").first
    expect(card).to_have_attribute("data-code", "bounce")
    expect(card.locator("tr.here .code")).to_have_text(DETOUR.splitlines()[66])
    expect(card.get_by_test_id("change").locator(".removed")).to_contain_text("h.asnumpy()")
    expect(card.get_by_test_id("change").locator(".added")).to_contain_text("as_in_context")
    # The notes are folded away.
    assert run_page.page.locator(".fold").get_attribute("open") is None


def test_the_proposed_copy_is_run_and_the_finding_is_gone(
    server: Server, finished: Run, run_page: RunPage
) -> None:
    """WHEN the proposed fix is run THEN its page says that the finding is gone and what both runs moved."""
    run_page.open(server, finished.id)
    page = run_page.page
    page.get_by_test_id("finding").first.get_by_role("button", name="Fix and verify").click()
    dialog = page.get_by_role("dialog")
    copy = dialog.get_by_role("textbox")
    expect(copy).to_have_value(re.compile("as_in_context"))
    expect(page).to_have_url(re.compile("verify=bounce"))
    # It opens at the finding's line, which the reader need not look for.
    expect(dialog.get_by_test_id("editor").locator(".mark")).to_be_in_viewport(ratio=1)
    assert copy.evaluate("area => area.scrollTop") > 0

    # What is no Python is refused before anything runs.
    good = copy.input_value()
    copy.fill(good + "\ndef broken(:\n")
    copy.press("Control+Enter")
    expect(dialog.get_by_text("the edited text is no Python at line")).to_be_visible()
    expect(dialog.get_by_role("button", name="Run again")).to_be_disabled()
    copy.fill(good)
    copy.press("Control+Enter")
    again = dialog.get_by_role("button", name="Run again")
    expect(again).to_be_enabled()
    again.click()

    expect(page.get_by_text("bounce at detour.py:67 is gone")).to_be_visible()
    sides = page.get_by_test_id("table-sides")
    expect(sides.locator("tr", has_text="Bytes of this finding")).to_contain_text("192 KiB")
    expect(sides.locator("tr", has_text="Bytes of this finding")).to_contain_text("all gone")
    expect(page.get_by_test_id("stMain").locator(".change .added").first).to_contain_text(
        "y = h.as_in_context"
    )
    assert page.locator('img[src="x"]').count() == 0
    (tried,) = [run for run in registry.runs() if run.spec.get("trial", {}).get("of") == finished.id]
    assert tried.state == "finished"
    page.goto(f"{server.url}/runs")
    line = page.locator(f'[data-testid="table-runs"] tr[data-row="{tried.id}"]')
    expect(line.locator(".kind")).to_have_text("tries a fix")
    line.get_by_role("link", name=finished.id).click()
    expect(page).to_have_url(re.compile(rf"run={finished.id}&finding=bounce"))
    page.get_by_test_id("finding").first.get_by_role("link", name=tried.id).click()
    expect(page).to_have_url(re.compile(rf"run={tried.id}$"))


def test_closing_leaves_the_address_as_it_was_and_keeps_the_edited_copy(
    server: Server, finished: Run, run_page: RunPage
) -> None:
    run_page.open(server, finished.id)
    page = run_page.page
    opening = page.get_by_test_id("finding").first.get_by_role("button", name="Fix and verify")
    opening.click()
    dialog = page.get_by_role("dialog")
    copy = dialog.get_by_role("textbox")
    copy.press("ArrowDown")
    copy.press_sequentially("# mine\n")
    page.keyboard.press("Escape")  # at once, before the typed text was told by itself
    expect(dialog).to_have_count(0)
    expect(page).not_to_have_url(re.compile("verify="))
    opening.click()
    expect(copy).to_have_value(re.compile("\n# mine\n"))
    dialog.get_by_role("button", name="Start over").click()
    expect(copy).not_to_have_value(re.compile("# mine"))
    expect(copy).to_have_value(re.compile("as_in_context"))


def test_a_copy_that_fails_says_so_instead_of_a_verdict(
    server: Server, finished: Run, run_page: RunPage
) -> None:
    text = DETOUR.replace("y = mx.nd.array(h.asnumpy(), ctx=second)", "y = int(h)")
    script = str(finished.spec["command"][-1])
    plan = plan_trial(finished, "bounce@detour.py:67", edits={script: text})
    tried = registry.wait(launch(plan), 120)
    assert tried.state == "failed"
    run_page.open(server, tried.id)
    verdict = run_page.page.locator(".st-key-verified").get_by_test_id("stAlert").first
    expect(verdict).to_contain_text(
        "With this change the program fails at detour.py:67, a line of the change:"
    )
    expect(verdict).to_contain_text("Error")
    expect(run_page.page.get_by_text("is gone")).to_have_count(0)


def test_a_preflights_finding_is_gone_in_the_preflight_of_the_proposed_copy(
    server: Server, mx_python: Path, tmp_path: Path, run_page: RunPage
) -> None:
    """WHEN a foreseen finding's fix is tried THEN what both pre-flights foresee stands side by side."""
    script, more = write_script(tmp_path, "flown", FLOWN), {"ROUNDS": "6"}
    plan = plan_script(
        [str(script)],
        framework="mxnet",
        devices=["cpu:0"],
        launch=LaunchOptions(python=str(mx_python)),
        variables=more,
    )
    flown = registry.wait(launch(as_preflight(plan, extent=Extent(gpus=2))), 120)
    assert flown.state == "finished", flown.log.read_text()
    page = run_page.page
    page.set_viewport_size({"width": 1280, "height": 420})
    run_page.open(server, flown.id)
    card = page.get_by_test_id("finding").first
    expect(card).to_have_attribute("data-code", "bounce")
    expect(page.get_by_role("button", name="Fix and verify")).to_have_count(1)  # not of the host's steps too
    card.get_by_role("button", name="Fix and verify").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("textbox")).to_have_value(re.compile("as_in_context"))
    dialog.get_by_role("button", name="Pre-flight again").click()

    gone = page.get_by_text("bounce at flown.py:8 is gone: it is not foreseen any more")
    expect(gone).to_be_visible()
    # However far down the button was.
    expect(page.get_by_text("Fix and verify what both")).to_be_in_viewport()
    sides = page.get_by_test_id("table-sides")
    expect(sides.locator("tr", has_text="of them gpu:0 → cpu:0")).to_contain_text("all gone")
    expect(sides.locator("tr", has_text="of them gpu:0 → gpu:1")).to_contain_text("new")
    expect(sides.locator("tr", has_text="Python stood still")).to_have_count(0)
    expect(page.get_by_text("No times are compared")).to_be_visible()
    (tried,) = [run for run in registry.runs() if run.spec.get("trial", {}).get("of") == flown.id]
    assert (tried.spec["preflight"], tried.spec["env"]["ROUNDS"]) == (flown.spec["preflight"], "6")
    assert script.read_text() == FLOWN


def test_nothing_of_a_received_run_runs_before_its_command_was_confirmed(
    server: Server, finished: Run, run_page: RunPage, viewer_page: Any, mx_python: Path, tmp_path: Path
) -> None:
    """A folder from somebody else names an interpreter, which opening the dialog must not start."""
    sprung, trap = tmp_path / "sprung", tmp_path / "python"
    trap.write_text(f'#!/bin/sh\ntouch {sprung}\nexec {mx_python} "$@"\n')
    trap.chmod(0o755)
    folder = finished.path.with_name("20260101-000000-received-abcd")
    shutil.copytree(finished.path, folder)
    command = [str(trap), *finished.spec["command"][1:]]
    (folder / "spec.json").write_text(json.dumps({**finished.spec, "command": command}))

    RunPage(viewer_page).open(server, folder.name, verify="bounce@detour.py:67")
    expect(viewer_page.get_by_role("dialog")).to_have_count(0)

    run_page.open(server, folder.name)
    page = run_page.page
    page.get_by_test_id("finding").first.get_by_role("button", name="Fix and verify").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("This run was not launched from here")).to_be_visible()
    expect(dialog.get_by_test_id("stCode")).to_contain_text(str(trap))
    expect(dialog.get_by_test_id("stCode")).to_contain_text("export HOPSCOPE_TRACE=1")
    expect(dialog.get_by_role("button", name="Run again")).to_have_count(0)
    assert not sprung.exists()
    dialog.get_by_text("I have read this, and it may run as").click()
    expect(dialog.get_by_role("button", name="Run again")).to_be_enabled()
    dialog.get_by_role("button", name="Run again").click()
    expect(page.get_by_text("bounce at detour.py:67 is gone")).to_be_visible()
    assert sprung.exists()
