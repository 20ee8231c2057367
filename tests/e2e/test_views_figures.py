"""The live Plotly figures in a real browser, on made-up data (views_harness.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.e2e.conftest import drag, settled
from tests.e2e.views_server import EVENTS, harness_server, last_event

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with harness_server(tmp_path_factory.mktemp("harness") / "log") as url:
        yield url


def drawn(page: Any, url: str, scene: str, key: str) -> Any:
    page.add_init_script(EVENTS)
    page.goto(f"{url}/?scene={scene}")
    settled(page)
    page.wait_for_selector(f'[data-testid="figure-{key}"][data-drawn]')
    return page.locator(f'[data-testid="figure-{key}"]')


def pixel(plot: Any, x: float, y: float) -> dict[str, float]:
    """Where a point of the axes is in the figure."""
    found: dict[str, float] = plot.evaluate(
        """(plot, [x, y]) => {
            const { _size: size, xaxis, yaxis } = plot._fullLayout;
            return { x: size.l + xaxis.l2p(x), y: size.t + yaxis.l2p(y) };
        }""",
        [x, y],
    )
    return found


def test_a_cell_of_the_matrix_is_read_and_clicked(page: Any, harness: str) -> None:
    plot = drawn(page, harness, "matrix", "matrix")
    texts = plot.locator(".textpoint").evaluate_all("nodes => nodes.map((node) => node.textContent)")
    assert len(texts) == 7
    assert "18.8 MiB300\N{MULTIPLICATION SIGN}" in texts
    assert "≥ 1.46 MiB?\N{MULTIPLICATION SIGN}" in texts
    plot.click(position=pixel(plot, 1, 0))
    event = last_event(page, 1)
    assert (event["type"], event["customdata"]) == ("click", ["cpu:1", "cpu:2"])
    settled(page)
    page.wait_for_function(
        """() => {
            const [shape] = document.querySelector('[data-testid="figure-matrix"]').layout.shapes;
            return shape && shape.x0 === 0.5 && shape.y0 === -0.5;
        }"""
    )


def test_a_box_in_the_overview_chooses_a_window(page: Any, harness: str) -> None:
    plot = drawn(page, harness, "timeline", "overview")
    drag(plot, pixel(plot, 15, 2), pixel(plot, 20, 2))
    event = last_event(page, 1)
    assert event == {"type": "select", "x0": pytest.approx(15, abs=0.2), "x1": pytest.approx(20, abs=0.2)}


def test_a_bar_of_the_window_hands_back_its_key(page: Any, harness: str) -> None:
    plot = drawn(page, harness, "timeline", "window")
    plot.click(position=pixel(plot, 20.01, 0.5))
    event = last_event(page, 1)
    assert (event["type"], event["customdata"]) == ("click", [11, "call||train_step"])


def test_new_data_keeps_the_zoom_and_the_plot(page: Any, harness: str) -> None:
    plot = drawn(page, harness, "curves", "memory")
    plot.evaluate("(plot) => { plot.marked = true; }")
    drag(plot, pixel(plot, 10, 40), pixel(plot, 20, 90))
    event = last_event(page, 1)
    assert event == {"type": "range", "x0": pytest.approx(10, abs=0.2), "x1": pytest.approx(20, abs=0.2)}
    before = plot.evaluate("(plot) => [plot._fullLayout.xaxis.range, plot.data[0].x.length]")
    page.get_by_role("button", name="Grow").click()
    page.wait_for_function(
        "length => document.querySelector('[data-testid=\"figure-memory\"]').data[0].x.length > length",
        arg=before[1],
    )
    assert plot.evaluate("(plot) => plot._fullLayout.xaxis.range") == before[0]
    assert plot.evaluate("(plot) => plot.marked") is True


def test_colours_follow_the_page(page: Any, harness: str) -> None:
    plot = drawn(page, harness, "curves", "memory")
    colors = "(plot) => [plot.layout.font.color, plot.data[0].line.color]"
    assert plot.evaluate(colors) == ["#31333f", "#164bb3"]
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        """() => document.querySelector('[data-testid="figure-memory"]').layout.font.color === "#fafafa" """
    )
    assert plot.evaluate(colors) == ["#fafafa", "#4a83fa"]


def test_without_plotly_it_says_so(
    open_page: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with harness_server(tmp_path_factory.mktemp("bare") / "log", "--without-plotly") as url:
        page = open_page()
        page.goto(f"{url}/?scene=matrix")
        settled(page)
        playwright.expect(page.locator(".hopscope-plot-message")).to_contain_text(
            "This figure can't be drawn: /hopscope/plotly.min.js did not arrive"
        )
        page.errors.clear()  # what answered instead was no script
