"""A run that saves itself is killed on its page, and gone on with."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from runners.plan.launcher import launch, plan_program, plan_script
from runners.plan.plan import LaunchOptions
from runners.plan.resuming import last_checkpoint
from runners.runs import registry
from tests.e2e.conftest import Server, wait_until
from tests.e2e.run_page import SLOW, RunPage, confirm, expect, write_script

ENOUGH = 100_000
pytestmark = pytest.mark.timeout(600)  # several waits, of which each may be long on a busy machine


def test_kill_and_resume(server: Server, page: Any) -> None:
    options = {"workers": 2, "checkpoint-every": 20}
    run = launch(plan_program("tf-multiworker-checkpoint", steps=ENOUGH, options=options))
    run_page = RunPage(page)
    run_page.open(server, run.id)
    run_page.wait_for_state("running")
    actions = run_page.fact("actions")
    expect(actions.locator('[data-action="resume"]')).to_have_count(0)
    wait_until(lambda: last_checkpoint(run), 120, lambda: run.log.read_text(errors="replace"))

    confirm(actions, "kill")
    run_page.wait_for_state("stopped")
    assert last_checkpoint(run) is not None
    assert run.reload().status["signal"] == 9

    actions.locator('[data-action="resume"]').click()
    expect(run_page.fact("resumed")).to_contain_text(run.id)
    page.wait_for_url(lambda url: run.id not in url)
    (name,) = re.findall(r"run=([\w.-]+)", page.url)
    resumed = registry.find(name)
    assert resumed.spec["resumed_from"] == run.id
    run_page.wait_for_state("running")
    expect(run_page.fact("progress")).to_contain_text(f"/ {ENOUGH:,}")
    first = int(run_page.fact("progress").inner_text().split("/")[0].replace(",", ""))
    assert first > (last_checkpoint(run) or 0)
    confirm(actions, "kill")
    run_page.wait_for_state("stopped")
    # Back to the one that it went on from.
    run_page.fact("resumed").locator("a").click()
    page.wait_for_url(lambda url: run.id in url)
    expect(actions.locator('[data-action="resume"]')).to_be_visible()


def test_what_saves_nothing_is_not_offered_to_be_resumed(server: Server, page: Any, tmp_path: Path) -> None:
    run = launch(
        plan_script([str(write_script(tmp_path, "slow", SLOW))], launch=LaunchOptions(python=sys.executable))
    )
    run_page = RunPage(page)
    run_page.open(server, run.id)
    run_page.wait_for_state("running")
    actions = run_page.fact("actions")
    expect(actions.locator('[data-action="stop"]')).to_be_visible()
    expect(actions.locator('[data-action="kill"]')).to_have_count(0)
    confirm(actions, "stop")
    run_page.wait_for_state("stopped")
    expect(actions.locator('[data-action="resume"]')).to_have_count(0)
    expect(page.get_by_text("cannot be resumed")).to_have_count(0)
