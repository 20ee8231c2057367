"""What was sampled of a run, under its timeline: in each device's hue, live and afterwards."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.components.shared.palette import PALETTES
from app.reports.run_report import run_report
from app.store.run import open_run
from runners.machine import gpus
from runners.plan.launcher import launch, plan_program, plan_script
from runners.plan.plan import LaunchOptions
from runners.runs import registry
from runners.runs.run import Run
from runners.supervise.sample_rows import SAMPLES_NAME
from tests.e2e.conftest import Server, settled, wait_until
from tests.e2e.run_page import SLOW, RunPage, expect, write_script
from tests.nvml import NvmlDouble, why_not

STEPS = 5000
"""About ten seconds, so that there are samples of the training."""

# The lines of a figure by name, with their hue; what stands beside its rows; what it shows of its axis.
_FIGURE = """(name) => {
  const plot = document.querySelector(`[data-testid="figure-${name}"]`);
  if (!plot?.data) return null;
  const lines = {};
  for (const trace of plot.data) {
    if (trace.mode !== 'lines+markers') continue;
    lines[trace.name] = { x: trace.x, y: trace.y, color: trace.line.color };
  }
  const text = (html) => new DOMParser().parseFromString(html, 'text/html').body.innerText;
  return {
    lines,
    rows: plot.layout.yaxis.ticktext.map((html) => html.split('<br>').map(text)),
    range: plot._fullLayout.xaxis.range.map(Number),
    notes: (plot.layout.annotations ?? []).map((note) => note.text),
  };
}"""


@pytest.fixture
def run_page(page: Any) -> RunPage:
    return RunPage(page)


@pytest.fixture(scope="module")
def finished(server: Server) -> Iterator[Run]:
    run = registry.wait(launch(plan_program("tf-model-parallel", stand_ins=2, steps=STEPS)), 180)
    assert run.state == "finished", run.log.read_text()
    yield run


def figure(page: Any, name: str = "overview") -> dict[str, Any]:
    """A figure of an ended run's timeline, once it is drawn."""
    page.wait_for_selector(f'[data-testid="figure-{name}"][data-drawn]')
    settled(page)
    found: dict[str, Any] = page.evaluate(_FIGURE, name)
    return found


def points(line: dict[str, Any]) -> int:
    return sum(y is not None for y in line["y"])


def live_points(page: Any) -> int:
    """How many samples of memory are shown; of a run that goes on the page may never come to rest."""
    shown = page.evaluate(_FIGURE, "overview")
    line = shown["lines"].get("run memory used") if shown else None
    return points(line) if line else 0


def test_without_gpus_there_are_cpu_and_memory_under_the_lanes(
    server: Server, finished: Run, run_page: RunPage
) -> None:
    run_page.open(server, finished.id, tab="Timeline")
    shown = figure(run_page.page)
    names = [row[0] for row in shown["rows"]]
    assert names[-2:] == ["CPU", "memory used"]
    assert len(names) > 2, "the lanes are gone"
    assert any(note.startswith("sampled once a second") for note in shown["notes"])
    assert "100 %" in shown["notes"]
    samples = run_report(finished.path)["samples"]
    assert samples["count"] >= 3
    assert set(shown["lines"]) == {"run CPU", "machine CPU", "run memory used"}
    assert points(shown["lines"]["run memory used"]) == samples["count"]
    assert points(shown["lines"]["run CPU"]) == samples["count"] - 1


def test_a_stretch_that_is_long_enough_has_its_own_and_a_short_one_its_nearest(
    server: Server, finished: Run, run_page: RunPage
) -> None:
    run_page.open(server, finished.id, tab="Timeline")
    times = [t for t in figure(run_page.page)["lines"]["run memory used"]["x"] if t > 0.2]
    assert len(times) >= 4
    long = f"{times[0] - 0.1:.3f}-{times[-1] + 0.1:.3f}"
    run_page.open(server, finished.id, tab="Timeline", t=long)
    shown = figure(run_page.page, "window")
    assert [row[0] for row in shown["rows"]][-2:] == ["CPU", "memory used"]
    assert shown["range"] == pytest.approx([times[0] - 0.1, times[-1] + 0.1], abs=0.01)
    # At the end it may take its leave for seconds, without an op to show.
    middle = times[len(times) // 2]
    short = f"{middle - 0.02:.3f}-{middle + 0.02:.3f}"
    run_page.open(server, finished.id, tab="Timeline", t=short)
    expect(run_page.page.get_by_text("Sampled at").first).to_contain_text("run: CPU")
    assert "run CPU" not in figure(run_page.page, "window")["lines"]


def test_a_run_of_before_there_were_samples_says_so(server: Server, finished: Run, run_page: RunPage) -> None:
    old = registry.runs_folder() / f"{finished.id}-old"
    # The server may still be at it, since another test has looked; afterwards nobody writes there.
    with contextlib.closing(open_run(finished.path)) as store:
        assert store.seal()
    shutil.copytree(finished.path, old)
    (old / SAMPLES_NAME).unlink()
    shutil.rmtree(old / "tables", ignore_errors=True)
    try:
        run_page.open(server, old.name, tab="Timeline")
        expect(run_page.page.get_by_text("were not sampled in this run")).to_be_visible()
        assert figure(run_page.page)["lines"] == {}
    finally:
        shutil.rmtree(old)


def test_while_a_run_goes_on_its_samples_come_in(server: Server, run_page: RunPage, tmp_path: Path) -> None:
    script = write_script(tmp_path, "slow", SLOW)
    run = launch(plan_script([str(script)], launch=LaunchOptions(python=sys.executable)))
    try:
        run_page.open(server, run.id, tab="Timeline")
        page = run_page.page
        wait_until(lambda: live_points(page), 100, lambda: "no sample was shown")
        first = live_points(page)
        wait_until(lambda: live_points(page) >= first + 3, 100, lambda: "no sample came in")
    finally:
        registry.stop(run, grace_s=0)


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_cards_have_the_hues_of_the_runs_own_numbers(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_page: Callable[..., Any]
) -> None:
    gpus.recent_gpus.cache_clear()
    with NvmlDouble(tmp_path, gpus=4) as double, monkeypatch.context() as patch:
        for name, value in double.environment().items():
            patch.setenv(name, value)
        double.set(3, "utilization_gpu", 100)
        double.set(1, "utilization_gpu", 0)
        double.set(1, "power", None)
        script = write_script(tmp_path, "on-cards", SLOW)
        run = launch(
            plan_script(
                [str(script)], launch=LaunchOptions(python=sys.executable), devices=["gpu:3", "gpu:1"]
            )
        )
        try:
            wait_until(
                lambda: ((run_report(run.path)["samples"] or {}).get("count") or 0) >= 3,
                120,
                lambda: "no sample came",
            )
        finally:
            registry.stop(run, grace_s=0)
    gpus.recent_gpus.cache_clear()
    for scheme in ("light", "dark"):
        page = open_page(color_scheme=scheme)
        RunPage(page).open(server, run.id, tab="Timeline")
        shown = figure(page)
        assert shown["rows"][0] == ["utilisation", "■ gpu:0 (GPU 3) ■ gpu:1"]
        assert [row[0] for row in shown["rows"]] == ["utilisation", "memory used", "power", "CPU"]
        busy, idle = shown["lines"]["gpu:0 utilisation"], shown["lines"]["gpu:1 utilisation"]
        assert (busy["color"], idle["color"]) == (PALETTES[scheme]["hue0"], PALETTES[scheme]["hue1"])
        # 3 in nvidia-smi is 0 here; higher on the page is less.
        assert max(y for y in busy["y"] if y is not None) < min(y for y in idle["y"] if y is not None)
        assert "gpu:0 power" in shown["lines"]
        assert "gpu:1 power" not in shown["lines"]
        expect(page.get_by_text("No power of gpu:1: NVML_ERROR_NOT_SUPPORTED")).to_be_visible()
