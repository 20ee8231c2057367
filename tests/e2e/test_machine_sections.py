"""Which card is which, measuring copies, choosing cards for a launch: in a browser, on three unlike GPUs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Server, settled, start_server
from tests.e2e.machine_page import expect
from tests.nvml import NvmlDouble


@pytest.fixture(scope="module")
def double(nvml_makeable: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NvmlDouble]:
    """Three idle cards, of which CUDA finds the last one the fastest."""
    with NvmlDouble(tmp_path_factory.mktemp("double"), 3) as double:
        for index in range(3):
            double.set(index, "name", f"Card {index}")
            double.set(index, "cuda_speed", index)
            double.set(index, "utilization_gpu", 0)
        yield double


@pytest.fixture(scope="module")
def server(tf_python: Path, double: NvmlDouble, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("home")
    variables = {"CUDA_VISIBLE_DEVICES": "0,2", "CUDA_DEVICE_ORDER": ""}
    with start_server(home, home, environment={**double.environment(), **variables}) as running:
        yield running


def rows(page: Any, table: str) -> Any:
    return page.locator(f'[data-testid="table-{table}"] tbody tr')


def cell(row: Any, column: str) -> Any:
    return row.locator(f'[data-column="{column}"]')


def open_tab(page: Any, server: Server, name: str, query: str = "") -> None:
    page.goto(f"{server.url}/{query}")
    settled(page)
    page.get_by_role("tab", name=name).click()


def test_each_card_has_its_number_in_every_count(server: Server, page: Any) -> None:
    open_tab(page, server, "Which card is which")
    cards = rows(page, "order")
    expect(cards).to_have_count(3)
    # CUDA counts from the last card; 0 and 2 of that are visible here.
    shown = {
        0: ("0", "2", "/GPU:1", "gpu(1)"),
        1: ("1", "1", "hidden", "hidden"),
        2: ("2", "0", "/GPU:0", "gpu(0)"),
    }
    for index, texts in shown.items():
        for column, text in zip(("pci", "fastest", "tensorflow", "mxnet"), texts, strict=True):
            expect(cell(cards.nth(index), column)).to_have_text(text)
    expect(page.get_by_text("measured: asked of the driver")).to_be_visible()


def test_a_value_is_explained_entry_by_entry_and_its_address_shows_it_again(
    server: Server, open_page: Callable[..., Any]
) -> None:
    page = open_page()
    open_tab(page, server, "Which card is which")
    page.get_by_text("Set to", exact=True).click()
    box = page.get_by_label("The value")
    expect(box).to_be_enabled()
    box.fill("1abc,0,GPU-1,2")
    box.press("Enter")
    expect(page.get_by_text("2 GPUs are visible.")).to_be_visible()
    expect(page).to_have_url(re.compile("visible-devices=1abc"))

    other = open_page()
    other.goto(page.url)
    settled(other)
    for shown in (page, other):
        entries = rows(shown, "visible")
        expect(entries).to_have_count(4)
        expect(cell(entries.nth(0), "card")).to_have_text("GPU 1 · Card 1")
        expect(cell(entries.nth(0), "verdict")).to_contain_text("read as 1")
        expect(cell(entries.nth(1), "tensorflow")).to_have_text("/GPU:1")
        expect(cell(entries.nth(2), "seen")).to_have_text("no")
        expect(cell(entries.nth(2), "verdict")).to_contain_text("ends the list")
        expect(cell(entries.nth(3), "verdict")).to_contain_text("not looked at")


def test_copies_are_measured_with_their_progress(server: Server, page: Any, double: NvmlDouble) -> None:
    open_tab(page, server, "What a hop costs")
    expect(page.get_by_text("Not measured yet")).to_be_visible()
    expect(page.get_by_text("slows down")).to_be_visible()
    double.hang("cuStreamSynchronize")
    try:
        page.get_by_role("button", name="Measure copies").click()
        expect(page.get_by_test_id("stProgress")).to_contain_text("of 21 pairs")
    finally:
        double.release()
    expect(rows(page, "costs")).to_have_count(5)
    expect(rows(page, "costs").first).to_contain_text("GiB/s")
    expect(page.get_by_role("button", name="Measure copies")).to_be_visible()


def test_every_framework_has_a_line(server: Server, page: Any) -> None:
    open_tab(page, server, "Would it work here?")
    lines = rows(page, "fitness")
    expect(lines).to_have_count(2)
    expect(cell(lines.first, "text")).to_contain_text("works")


def test_a_busy_card_is_warned_of_where_it_is_chosen(server: Server, page: Any, double: NvmlDouble) -> None:
    page.goto(
        f"{server.url}/launch?program=tf-mirrored&on=GPUs&devices-tf-mirrored=gpu:2&devices-tf-mirrored=gpu:0"
    )
    settled(page)
    cards = rows(page, "loads")
    expect(cards).to_have_count(3)
    expect(cell(cards.nth(0), "card")).to_have_text("gpu:2")
    expect(cell(cards.nth(0), "becomes")).to_have_text("gpu:0")
    expect(cell(cards.nth(1), "card")).to_have_text("gpu:0")
    expect(page.get_by_text("Nothing speaks against these cards now.")).to_be_visible()
    double.set(2, "utilization_gpu", 90)
    expect(page.get_by_text("gpu:2 is 90 % busy.")).to_be_visible()
    double.set(2, "utilization_gpu", 0)
    expect(page.get_by_text("Nothing speaks against these cards now.")).to_be_visible()
    uuids = ",".join(str(double.get(index, "uuid")) for index in (2, 0))
    expect(page.get_by_test_id("stCode").first).to_contain_text(f"export CUDA_VISIBLE_DEVICES={uuids}")
