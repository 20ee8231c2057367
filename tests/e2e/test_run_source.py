"""The Source tab of a run: what ran, with devices, bytes and waits beside the lines."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.reports.run_report import run_report
from app.store.run import open_run
from probes.trace.sources import FOLDER
from runners.plan.launcher import launch, plan_script
from runners.plan.plan import LaunchOptions
from runners.runs import registry
from runners.runs.registry import Run
from tests.e2e.conftest import Server, settled
from tests.e2e.run_page import RunPage, expect, write_script

TWO_FILES = """
import tensorflow as tf
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
from parts import doubled  # <img src=x onerror=alert(1)>
with tf.device("CPU:1"):
    x = tf.ones([8, 16])
    y = tf.matmul(x, x, transpose_b=True)
print(doubled(y).numpy())
"""
PARTS = """
import tensorflow as tf
def doubled(tensor):
    with tf.device("CPU:0"):
        return tensor * 2.0
"""


@pytest.fixture(scope="module")
def finished(server: Server, tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A script of two files, one of which makes what the other fetches from another device."""
    folder = tmp_path_factory.mktemp("scripts")
    write_script(folder, "parts", PARTS)
    script = write_script(folder, "two_files", TWO_FILES)
    run = registry.wait(launch(plan_script([str(script)], launch=LaunchOptions(python=str(tf_python)))), 120)
    assert run.state == "finished", run.log.read_text()
    # What is shown must be what ran, whatever became of it since.
    script.write_text("print('edited')\n")
    yield run


@pytest.fixture
def run_page(page: object) -> RunPage:
    return RunPage(page)


def test_devices_bytes_and_waits_stand_beside_their_lines(
    server: Server, finished: Run, run_page: RunPage
) -> None:
    report = run_report(finished.path)
    (crossed,) = [hop for hop in report["hops"] if hop["site"] == "parts.py:5" and hop["src"] == "cpu:1"]
    assert crossed["producer_site"] == "two_files.py:9" and crossed["bytes"] == 8 * 8 * 4
    run_page.open(server, finished.id, tab="Source")
    page = run_page.page
    source = page.get_by_test_id("source-source")
    lines = TWO_FILES.splitlines()
    expect(source).to_have_attribute("data-lines", str(len(lines)))
    made = source.locator('tr[data-line="9"]')
    expect(made.locator(".code")).to_have_text(lines[8])
    expect(made.locator('[data-device="cpu:1"]')).to_have_count(1)
    expect(made.locator(".leaving")).to_contain_text("256 B")
    expect(source.locator('tr[data-line="10"] .waits .amount')).to_have_text(
        re.compile(r"^[\d.]+ (ns|µs|ms|s)$")
    )
    # The reader's own code is text.
    expect(source.locator('tr[data-line="6"] .code')).to_have_text(lines[5])
    assert page.locator('img[src="x"]').count() == 0

    page.get_by_role("radio", name="parts.py").click()
    expect(page).to_have_url(re.compile("file=parts.py"))
    fetched = source.locator('tr[data-line="5"]')
    expect(fetched.locator(".arriving")).to_contain_text("256 B")
    expect(fetched.locator('[data-device="cpu:0"]')).to_have_count(1)


def test_a_line_filters_the_other_views_and_stays_in_the_address(
    server: Server, finished: Run, run_page: RunPage
) -> None:
    run_page.open(server, finished.id, tab="Source")
    page = run_page.page
    source = page.get_by_test_id("source-source")
    line = source.locator('tr[data-line="9"]')
    line.click()
    expect(page).to_have_url(re.compile(r"line=two_files\.py%3A9"))
    expect(line).to_have_attribute("aria-selected", "true")
    rows = page.get_by_test_id("table-line-hops").locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(page.get_by_test_id("table-line-ops")).to_contain_text("MatMul")
    page.get_by_role("tab", name="Placement").click()
    run_page.expect_hops(1)
    page.reload()
    settled(page)
    run_page.expect_hops(1)
    page.get_by_role("tab", name="Source").click()
    expect(line).to_have_attribute("aria-selected", "true")
    line.focus()
    line.press("Enter")
    expect(line).to_have_attribute("aria-selected", "false")
    expect(page).not_to_have_url(re.compile("line="))

    # The other way round: what is picked elsewhere marks its lines.
    page.goto(f"{server.url}/run?run={finished.id}&tab=Source&file=parts.py&pair=cpu:1>cpu:0")
    expect(source.locator("tr.lit")).to_have_count(1)
    expect(source.locator("tr.lit")).to_have_attribute("data-line", "5")


def test_a_findings_line_leads_to_the_source(server: Server, finished: Run, run_page: RunPage) -> None:
    run_page.open(server, finished.id)
    page = run_page.page
    page.get_by_text(re.compile(r"^\d+ notes?(, \d+ with advice)?$")).click()
    # Others speak of the line too.
    page.get_by_test_id("finding").get_by_role("button", name="parts.py:5").first.click()
    expect(page).to_have_url(re.compile(r"line=parts\.py%3A5.*tab=Source|tab=Source.*line=parts\.py%3A5"))
    line = page.get_by_test_id("source-source").locator('tr[data-line="5"]')
    expect(line).to_have_attribute("aria-selected", "true")


def test_a_run_without_kept_source_says_so(
    server: Server, finished: Run, run_page: RunPage, hopscope_home: Path
) -> None:
    old = hopscope_home / "runs" / "20200101-000000-old-0000"
    # The server may still be at it, since another test has looked; afterwards nobody writes there.
    with contextlib.closing(open_run(finished.path)) as store:
        assert store.seal()
    shutil.copytree(finished.path, old)
    shutil.rmtree(old / "trace" / FOLDER)
    run_page.open(server, old.name, tab="Source")
    page = run_page.page
    expect(page.get_by_test_id("stAlert")).to_contain_text("recorded before the source was kept")
    source = page.get_by_test_id("source-source")
    expect(source.locator('tr[data-line="9"] [data-device="cpu:1"]')).to_have_count(1)
    expect(source.locator("tbody tr .code").first).not_to_be_visible()
