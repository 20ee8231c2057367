"""The Machine page while all around it changes: servers that are killed, hidden tabs, a driver that hangs."""

from __future__ import annotations

import base64
import io
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Server, free_port, start_server
from tests.e2e.machine_page import MachinePage, expect
from tests.nvml import NvmlDouble

SOCKET = "() => window.hopscopeMachine.get('').socket !== null"
HIDE = """hidden => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event('visibilitychange'));
}"""
TIMES = "() => window.hopscopeMachine.get('').recent.t"


@pytest.fixture(scope="module")
def double(nvml_makeable: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NvmlDouble]:
    with NvmlDouble(tmp_path_factory.mktemp("double"), 4) as double:
        double.animate()
        yield double


@pytest.fixture(scope="module")
def server(tf_python: Path, double: NvmlDouble, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("home")
    with start_server(home, home, environment=double.environment()) as running:
        yield running


def longest_gap(times: list[float]) -> float:
    return max(after - before for before, after in itertools.pairwise(times))


def test_reconnects_after_the_server_was_killed_and_keeps_what_it_had(
    tf_python: Path, double: NvmlDouble, tmp_path: Path, page: Any
) -> None:
    port = free_port()
    environment = double.environment()
    with start_server(tmp_path, tmp_path, port=port, environment=environment) as first:
        machine = MachinePage(page).open(first)
        machine.wait_for_curves()
        machine.wait_for_samples(2)
        page.evaluate("window.samePage = true")
        machine.cards.evaluate_all("cards => cards.forEach((card) => { card.kept = true; })")
        oldest = page.evaluate(TIMES)[0]
        first.kill()
        expect(machine.status).to_have_text("reconnecting")
        expect(machine.cards.first).to_be_visible()
    with start_server(tmp_path, tmp_path, port=port, environment=environment):
        expect(machine.status).to_contain_text("live · 1 Hz")
        page.wait_for_function(f"() => ({TIMES})().length > 3")
        assert page.evaluate(TIMES)[0] == oldest
        assert page.evaluate("window.samePage") is True
        expect(machine.cards).to_have_count(4)
        assert machine.cards.evaluate_all("cards => cards.every((card) => card.kept)")


def test_a_hidden_tab_pauses_and_fills_its_gap(
    server: Server, page: Any, open_page: Callable[..., Any]
) -> None:
    machine = MachinePage(page).open(server)
    watching = MachinePage(open_page()).open(server)
    machine.wait_for_curves()
    page.evaluate(HIDE, True)
    expect(machine.status).to_have_text("paused (tab hidden)")
    assert page.evaluate(SOCKET) is False
    last = machine.seq()
    watching.wait_for_curves()
    watching.wait_for_samples(4)
    assert machine.seq() <= last + 1
    page.evaluate(HIDE, False)
    expect(machine.status).to_contain_text("live · 1 Hz")
    machine.wait_for_samples(1)
    times = page.evaluate(TIMES)
    watching.page.wait_for_function(f"last => ({TIMES})().at(-1) >= last", arg=times[-1])
    watched = watching.page.evaluate(TIMES)
    # On a busy machine samples are late for who always watched, too.
    both = [t for t in times if t >= watched[0]]
    assert longest_gap(both) < max(2.5, longest_gap(watched) + 0.1)


def test_says_when_no_sample_comes_and_goes_on_when_one_does(
    server: Server, double: NvmlDouble, page: Any
) -> None:
    machine = MachinePage(page).open(server)
    used = double.get(3, "memory_used")
    double.set(3, "memory_used", 79 * 2**30)
    full = "of 80 GiB free"
    # What an earlier test left may be told for some minutes beside it.
    expect(machine.alerts.filter(has_text=full)).to_have_count(1)
    expect(machine.head.locator(".stopped")).to_be_hidden()
    double.hang("nvmlDeviceGetUtilizationRates")
    try:
        expect(machine.status).to_contain_text("stale: no sample for")
        expect(machine.head).to_have_attribute("data-phase", "stale")
        expect(machine.head.locator(".stopped")).to_contain_text(
            "said nothing for 5 s: a call into the driver"
        )
        old = machine.head.locator(".frozen .alert-line").filter(has_text=full)
        expect(old).to_have_count(1)
        expect(old).to_have_css("opacity", "0.6")
    finally:
        double.release()
        double.set(3, "memory_used", used)
    expect(machine.status).to_contain_text("live · 1 Hz")
    expect(machine.head).to_have_attribute("data-phase", "live")
    expect(machine.head.locator(".stopped")).to_be_hidden()


def test_gpus_that_go_and_come_are_told_by_the_whole_page(
    server: Server, double: NvmlDouble, page: Any
) -> None:
    machine = MachinePage(page).open(server)
    double.fail_init(9)
    double.reload_driver()
    try:
        expect(machine.head.locator(".problem")).to_contain_text("No GPU to show: no NVIDIA driver is loaded")
        expect(machine.cards).to_have_count(0)
        expect(machine.host).to_be_visible()
        expect(page.get_by_text("Look at another machine")).to_be_visible()
    finally:
        double.fail_init(0)
    expect(machine.cards).to_have_count(4)
    expect(machine.head.locator(".problem")).to_be_hidden()
    expect(page.get_by_text("Look at another machine")).to_be_hidden()


@pytest.mark.parametrize(("gpus", "columns"), [(1, 1), (2, 2), (5, 3), (8, 4), (16, 4)])
def test_any_number_of_gpus_fits(
    nvml_makeable: None, tf_python: Path, tmp_path: Path, page: Any, gpus: int, columns: int
) -> None:
    with NvmlDouble(tmp_path, gpus) as double:
        double.set(0, "utilization_gpu", None)
        double.set(0, "pcie_tx", None)
        if gpus > 1:
            double.set(gpus - 1, "utilization_gpu", 100)
        double.set(gpus - 1, "clocks_event_reasons", 0x40 | 0x4)
        with start_server(tmp_path, tmp_path, environment=double.environment()) as server:
            machine = MachinePage(page).open(server)
            expect(machine.load(0)).to_have_text("unsupported")
            expect(machine.load(gpus - 1)).to_have_text("100" if gpus > 1 else "unsupported")
            machine.wait_for_samples(1, curves=False)
            assert machine.too_wide() == []
            tops = machine.cards.evaluate_all(
                "cards => cards.map((card) => card.getBoundingClientRect().top)"
            )
            assert tops.count(tops[0]) == columns
            last = machine.cards.last.bounding_box()
            assert last["y"] + last["height"] < 900


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_frame_is_blank(server: Server, open_page: Callable[..., Any], scheme: str) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    machine = MachinePage(open_page(color_scheme=scheme)).open(server)
    machine.wait_for_curves()
    box = machine.head.locator(".cards").bounding_box()
    frames: list[str] = []
    client = machine.page.context.new_cdp_session(machine.page)

    def keep(frame: dict[str, Any]) -> None:
        frames.append(frame["data"])
        client.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    client.on("Page.screencastFrame", keep)
    client.send("Page.startScreencast", {"format": "png", "everyNthFrame": 1})
    machine.wait_for_samples(6)
    # The page draws itself anew meanwhile, as any widget makes it.
    machine.page.get_by_role("button", name="Power", exact=True).click()
    machine.wait_for_samples(3)
    while len(frames) < 6:
        machine.wait_for_samples(1)
    client.send("Page.stopScreencast")
    for frame in frames:
        shot = image.open(io.BytesIO(base64.b64decode(frame))).convert("L")
        scale = shot.width / machine.page.viewport_size["width"]
        edges = (box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])
        assert inked(shot.crop(tuple(round(edge * scale) for edge in edges))) > 0.03


def inked(picture: Any) -> float:
    """The share of pixels that are not of the most common shade."""
    shades: list[int] = picture.histogram()
    return 1 - max(shades) / sum(shades)
