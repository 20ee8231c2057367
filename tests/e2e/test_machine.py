"""The Machine page with GPUs, those of a double of NVIDIA's driver: it moves, fails and heals in place."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.views import units
from probes.nvml.processes import in_initial_namespace
from tests.e2e.conftest import Server, start_server, wait_until
from tests.e2e.machine_page import MachinePage, expect
from tests.nvml import NvmlDouble

GIB = 2**30
FAR_PID = 4_000_000
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def double(nvml_makeable: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NvmlDouble]:
    with NvmlDouble(tmp_path_factory.mktemp("double"), 4) as double:
        yield double


@pytest.fixture(scope="module")
def server(tf_python: Path, double: NvmlDouble, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("home")
    with start_server(home, home, environment=double.environment()) as running:
        yield running


@pytest.fixture
def machine(server: Server, page: Any) -> MachinePage:
    return MachinePage(page).open(server)


def test_cards_follow_the_gpus_without_being_made_anew(machine: MachinePage, double: NvmlDouble) -> None:
    expect(machine.cards).to_have_count(4)
    machine.cards.evaluate_all("cards => cards.forEach((card) => { card.kept = true; })")
    double.set(1, "utilization_gpu", 57)
    double.set(1, "memory_used", 61 * GIB)
    double.set(1, "power", 312_400)
    double.set(1, "temperature", 71)
    double.set(1, "clocks_event_reasons", 0x40)
    expect(machine.load(1)).to_have_text("57")
    expect(machine.card(1).locator(".memory .line .v")).to_have_text("61.0 / 80.0 GiB")
    expect(machine.fact(1, "power")).to_have_text("312 / 400 W")
    expect(machine.fact(1, "temperature")).to_have_text("71 °C · 41 °C")
    expect(machine.fact(1, "sm")).to_have_text("1,275 / 1,410 MHz")
    expect(machine.fact(1, "pcie")).to_have_text(f"4 {units.TIMES}16")
    expect(machine.fact(1, "nvlink")).to_have_text("4 of 4 up")
    expect(machine.fact(1, "throttle")).to_contain_text("thermal")
    expect(machine.card(1).locator(".name")).to_have_text("NVIDIA A100-SXM4-80GB")
    double.set(1, "utilization_gpu", 8)
    expect(machine.load(1)).to_have_text("8")
    double.set(1, "clocks_event_reasons", 0)
    expect(machine.fact(1, "throttle")).to_have_text("no")
    assert machine.cards.evaluate_all("cards => cards.every((card) => card.kept)")


def test_what_has_no_value_says_why_and_is_never_zero(machine: MachinePage, double: NvmlDouble) -> None:
    fan = machine.fact(0, "fan").locator(".v")
    expect(fan).to_have_text("unsupported")
    assert "NVML_ERROR_NOT_SUPPORTED" in fan.get_attribute("title")
    double.fail("nvmlDeviceGetTemperature", 4, gpu=0)
    double.fail("nvmlDeviceGetTemperatureV", 4, gpu=0)
    try:
        expect(machine.fact(0, "temperature")).to_have_text("denied")
    finally:
        double.heal()
    expect(machine.fact(0, "temperature")).to_contain_text("35 °C")


def test_a_gpu_lost_while_running_keeps_its_card_says_why_and_heals(
    machine: MachinePage, double: NvmlDouble
) -> None:
    uuid = double.get(2, "uuid")
    machine.card(2).evaluate("card => { card.kept = true; }")
    height = machine.card(2).bounding_box()["height"]
    double.lose(2)
    try:
        expect(machine.card(2).locator(".why")).to_contain_text("Cannot be read: NVML_ERROR_GPU_IS_LOST")
        expect(machine.card(2).locator(".why")).to_contain_text(uuid)
        expect(machine.card(2).locator(".name")).to_have_text("NVIDIA A100-SXM4-80GB")
        expect(machine.load(2)).to_be_hidden()
        expect(machine.alerts.filter(has_text=re.compile("gpu:2|GPU 2"))).to_have_count(1)
        # Nothing jumps; a pixel may go as the other cards of its row are laid out anew.
        assert machine.card(2).bounding_box()["height"] == pytest.approx(height, abs=2)
        expect(machine.load(3)).to_be_visible()
    finally:
        double.lose(2, 0)
    expect(machine.card(2).locator(".why")).to_be_hidden()
    expect(machine.load(2)).to_have_text("25")
    assert machine.card(2).evaluate("card => card.kept") is True
    expect(machine.alerts).to_have_count(0)


def test_processes_are_told_as_text_and_stay_in_their_rows(machine: MachinePage, double: NvmlDouble) -> None:
    loaded = "import ctypes; ctypes.CDLL('libnvidia-ml.so.1'); input()"
    with subprocess.Popen(
        [sys.executable, "-c", loaded, HOSTILE], stdin=subprocess.PIPE, env=double.environment()
    ) as child:
        assert child.stdin is not None
        double.add_process(0, child.pid, memory=3 * GIB, sm=31)
        double.add_process(1, FAR_PID, "C+G", memory=None, sm=None)
        try:
            rows = machine.gpu_processes
            expect(rows).to_have_count(2)
            own = rows.filter(has_text=str(child.pid))
            expect(own).to_contain_text(HOSTILE)
            expect(own.locator('[data-column="memory"]')).to_have_text("3.0 GiB")
            expect(own.locator('[data-column="sm"]')).to_have_text("31 %")
            assert machine.page.locator("img").count() == 0
            other = rows.filter(has_text=str(FAR_PID))
            words = "has ended" if in_initial_namespace() else f"PID {FAR_PID} of another container"
            expect(other.locator('[data-column="command"]')).to_have_text(words)
            expect(other.locator('[data-column="user"]')).to_have_text("unknown")
            own.evaluate("row => { row.kept = true; }")
            machine.page.get_by_role("button", name="GPU memory").click()
            double.set(0, "utilization_gpu", 6)
            machine.wait_for_samples(2)
            assert own.evaluate("row => row.kept") is True
        finally:
            double.remove_process(0, child.pid)
            double.remove_process(1, FAR_PID)
            child.stdin.close()
    expect(machine.page.locator(".machine-gpus .empty")).to_have_text("No process uses a GPU.")
    double.deny_processes(gpu=3)
    try:
        expect(machine.page.locator(".machine-gpus .quiet-note")).to_contain_text(
            "GPU 3: no permission to read it"
        )
    finally:
        double.deny_processes(0, gpu=3)


def test_processes_are_counted_and_the_largest_of_each_gpu_come_first(
    machine: MachinePage, double: NvmlDouble
) -> None:
    held = {(0, FAR_PID): 1, (0, FAR_PID + 1): 9, (1, FAR_PID + 2): 2, (1, FAR_PID + 1): 20}
    for (gpu, pid), size in held.items():
        double.add_process(gpu, pid, memory=size * GIB)
    try:
        expect(machine.gpu_processes).to_have_count(4)
        memory = machine.gpu_processes.locator('[data-column="memory"]')
        expect(memory).to_have_text(["9.0 GiB", "1.0 GiB", "20.0 GiB", "2.0 GiB"])
        expect(machine.page.locator(".machine-gpus h2 .number")).to_have_text("3 processes")
    finally:
        for gpu, pid in held:
            double.remove_process(gpu, pid)
    expect(machine.gpu_processes).to_have_count(0)


def test_alerts_come_and_are_over(machine: MachinePage, double: NvmlDouble) -> None:
    used = double.get(3, "memory_used")
    double.set(3, "memory_used", 79 * GIB)
    try:
        expect(machine.alerts).to_have_count(1)
        expect(machine.alerts).to_contain_text("3 has")
        expect(machine.card(3)).to_have_attribute("data-alert", "warning")
    finally:
        double.set(3, "memory_used", used)
    expect(machine.head.locator(".alert-line.over")).to_have_count(1)
    expect(machine.card(3)).to_have_attribute("data-alert", "")
    expect(machine.head.locator(".alert-line")).to_have_count(0)


def test_many_alerts_leave_the_cards_in_sight(machine: MachinePage, double: NvmlDouble) -> None:
    top = machine.cards.first.bounding_box()["y"]
    used = [double.get(gpu, "memory_used") for gpu in range(4)]
    for gpu in range(4):
        double.set(gpu, "memory_used", 79 * GIB)
        double.set(gpu, "pcie_width", 8)
    try:
        expect(machine.alerts).to_have_count(8)
        expect(machine.alerts.locator("visible=true")).to_have_count(2)
        # A line is kept for them, so that two move what is below by one.
        assert machine.cards.first.bounding_box()["y"] <= top + 40
        machine.page.get_by_role("button", name="6 more").click()
        expect(machine.alerts.locator("visible=true")).to_have_count(8)
        machine.page.get_by_role("button", name="Fewer").click()
        expect(machine.alerts.locator("visible=true")).to_have_count(2)
    finally:
        for gpu in range(4):
            double.set(gpu, "memory_used", used[gpu])
            double.set(gpu, "pcie_width", 16)
    expect(machine.head.locator(".alert-line")).to_have_count(0)


def test_severities_are_told_apart_and_only_an_error_has_a_red_card(
    machine: MachinePage, double: NvmlDouble
) -> None:
    plain = machine.card(0).evaluate("card => getComputedStyle(card).borderLeftColor")
    border = "card => getComputedStyle(card).borderLeftColor"
    double.set(1, "clocks_event_reasons", 0x40)
    double.lose(2)
    try:
        expect(machine.alerts).to_have_count(2)
        expect(machine.alerts.locator(".sign")).to_have_text(["Error", "Warning"])
        tones = machine.alerts.locator(".sign").evaluate_all(
            "all => all.map((one) => getComputedStyle(one).color)"
        )
        assert len(set(tones)) == 2
        assert machine.card(1).evaluate(border) == plain != machine.card(2).evaluate(border)
        machine.page.set_viewport_size({"width": 420, "height": 900})
        machine.wait_for_samples(1, curves=False)
        words = machine.alerts.locator(".alert-words")
        inside = "all => all.length && all.every((one) => one.getBoundingClientRect().right <= innerWidth)"
        wait_until(lambda: words.evaluate_all(inside), 60, lambda: str(machine.too_wide()))
    finally:
        double.set(1, "clocks_event_reasons", 0)
        double.lose(2, 0)
    expect(machine.head.locator(".alert-line")).to_have_count(0)
    expect(machine.head.locator(".calm-line")).to_be_visible()


def test_why_clocks_are_held_down_is_not_cut(machine: MachinePage, double: NvmlDouble) -> None:
    double.set(0, "clocks_event_reasons", 0x40 | 0x4 | 0x80 | 0x20)
    try:
        words = machine.fact(0, "throttle")
        expect(words).to_contain_text("power cap")
        expect(words).to_contain_text("thermal")
        assert words.evaluate(
            "all => all.scrollHeight <= all.clientHeight && all.scrollWidth <= all.clientWidth"
        )
    finally:
        double.set(0, "clocks_event_reasons", 0)
    expect(machine.fact(0, "throttle")).to_have_text("no")


def test_a_curve_that_fills_its_place_has_no_word_in_it(machine: MachinePage) -> None:
    label = machine.card(0).locator(".spark-span")
    # The server may have run for longer than the curve is.
    machine.page.evaluate("window.hopscopeMachine.get('').recent.clear()")
    machine.wait_for_samples(2)
    expect(label).to_be_visible()
    machine.page.evaluate("""() => {
      const { recent } = window.hopscopeMachine.get('');
      recent.fill({ t: [recent.t.at(-1) - 115], gpus: {}, host: {} });
    }""")
    machine.wait_for_samples(1)
    expect(label).to_be_hidden()


def test_what_only_has_to_wait_or_is_not_told_is_no_error(machine: MachinePage) -> None:
    words = machine.page.evaluate("""() => {
      const stream = window.hopscopeMachine.get('');
      stream.drop();
      const told = { state: 'error', reason: 'a rate needs two samples' };
      const failed = { state: 'error', reason: 'NVML_ERROR_UNKNOWN' };
      stream.hear({ seq: 10 ** 6, t: stream.snapshot.t + 1, full: false,
        gpus: [{ index: 0, power_watts: told, encoder_percent: failed }] });
    }""")
    assert words is None
    power = machine.fact(0, "power").locator(".v")
    expect(power).to_have_text("\N{EN DASH}")
    expect(power).to_have_attribute("title", "a rate needs two samples")
    expect(machine.fact(0, "encoder").locator(".v")).to_have_text("error")


def test_zoom_is_kept_while_samples_arrive(machine: MachinePage) -> None:
    machine.wait_for_curves()
    machine.wait_for_samples(2)
    following = machine.ranges()
    wait_until(lambda: machine.ranges() != following, 60, lambda: "the curves do not follow")
    machine.zoom(0.5, 0.9)
    # Plotly's own hint would lie over the page's corner.
    assert machine.page.locator(".plotly-notifier .notifier-note").count() == 0
    expect(machine.page.get_by_role("button", name="Back to now")).to_be_visible()
    zoomed = machine.ranges()
    assert zoomed[0] > following[0] and zoomed[3] < following[3]
    newest = "plot => Number(new Date(plot.data[0].x.at(-1)))"
    before = machine.history.evaluate(newest)
    machine.wait_for_samples(3)
    assert machine.ranges() == zoomed
    assert machine.history.evaluate(newest) > before
    # Points that came since are still at times of day.
    ticks = machine.history.locator(".xtick text").all_text_contents()
    assert ticks and all(re.match(r"\d\d:\d\d(:\d\d)?", tick) for tick in ticks)
    machine.page.get_by_role("button", name="Back to now").click()
    wait_until(lambda: machine.ranges()[2:] == following[2:], 60, lambda: str(machine.ranges()))


def test_metric_and_window_are_chosen_and_stand_in_the_address(machine: MachinePage) -> None:
    machine.wait_for_curves("utilization")
    machine.page.get_by_role("button", name="Power", exact=True).click()
    machine.page.get_by_role("button", name="10 min").click()
    machine.page.wait_for_url("**metric=power*")
    machine.page.wait_for_url("**span=600*")
    machine.wait_for_curves("power")
    expect(machine.history.locator(".ytitle")).to_have_text("Power drawn, W")
    colors = machine.history.evaluate("plot => plot.data.map((trace) => [trace.name, trace.line.color])")
    assert [name for name, _ in colors] == ["GPU 0", "GPU 1", "GPU 2", "GPU 3"]
    assert len({color for _, color in colors}) == 4
    machine.page.reload()
    machine.wait_for_curves("power")
    span = "plot => plot._fullLayout.xaxis.range.map((end) => new Date(end).getTime())"
    first, last = machine.history.evaluate(span)
    assert last - first == 600_000


def test_rate_is_everybodys(server: Server, machine: MachinePage, open_page: Callable[..., Any]) -> None:
    other = MachinePage(open_page()).open(server)
    machine.page.get_by_role("button", name="5 Hz").click()
    try:
        expect(other.status).to_contain_text("live · 5 Hz")
        expect(machine.page.get_by_role("button", name="5 Hz")).to_have_attribute("aria-pressed", "true")
    finally:
        machine.page.get_by_role("button", name="1 Hz", exact=True).click()
    expect(other.status).to_contain_text("live · 1 Hz")


def test_at_ten_a_second_the_past_stays_after_opening_anew(machine: MachinePage) -> None:
    recent = "() => window.hopscopeMachine.get('').recent.t.length"
    machine.page.get_by_role("button", name="10 Hz").click()
    try:
        machine.wait_for_samples(30)
        machine.page.reload()
        machine.page.wait_for_function(f"() => window.hopscopeMachine?.size && ({recent})() > 5")
        opened = machine.page.evaluate(recent)
        machine.page.wait_for_function(f"least => ({recent})() >= least + 5", arg=opened)
    finally:
        machine.page.get_by_role("button", name="1 Hz", exact=True).click()
    expect(machine.status).to_contain_text("live · 1 Hz")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 1000])
def test_nothing_reaches_beyond_the_window(
    server: Server, double: NvmlDouble, open_page: Callable[..., Any], scheme: str, width: int
) -> None:
    for gpu in range(4):
        for way in ("tx", "rx"):
            double.set(gpu, f"pcie_{way}", 987_000)
    machine = MachinePage(open_page(color_scheme=scheme, width=width)).open(server)
    machine.wait_for_curves()
    machine.wait_for_samples(2)
    assert machine.too_wide() == []


def test_the_newest_sample_is_served_as_json_and_as_text(machine: MachinePage, server: Server) -> None:
    request = urllib.request.Request(f"{server.url}/hopscope/devices.json", headers=server.headers())
    with urllib.request.urlopen(request, timeout=60) as answer:
        snapshot = json.load(answer)
    assert [gpu["index"] for gpu in snapshot["gpus"]] == [0, 1, 2, 3]
    machine.page.get_by_role("tab", name="nvidia-smi as text").click()
    text = machine.page.get_by_test_id("machine-text")
    text.scroll_into_view_if_needed()
    expect(text).to_contain_text("NVIDIA A100-SXM4-80GB")
