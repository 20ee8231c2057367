"""The Machine page without GPUs, with those of a recording, and for those who may only look, or not that."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.views import units
from runners.plan.launcher import launch, plan_script
from runners.plan.plan import LaunchOptions
from tests.e2e.conftest import ROOT, Server, settled, start_server, wait_until
from tests.e2e.machine_page import MachinePage, expect
from tests.e2e.run_page import SLOW, RunPage, write_script
from tests.nvml import NvmlDouble

websockets = pytest.importorskip("websockets.sync.client", reason="websockets is not installed")


@pytest.fixture(scope="module")
def bare(nvml_makeable: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The variables of a machine without a driver."""
    with NvmlDouble(tmp_path_factory.mktemp("bare"), 0) as double:
        yield double.environment(nvml=False, cuda=False)


@pytest.fixture(scope="module")
def server(
    hopscope_home: Path, tf_python: Path, bare: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    with start_server(hopscope_home, tmp_path_factory.mktemp("server"), environment=bare) as running:
        yield running


@pytest.fixture(scope="module")
def recording(nvml_makeable: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of three GPUs, made by the command for that."""
    folder = tmp_path_factory.mktemp("recording")
    file = folder / "bench.jsonl.gz"
    with NvmlDouble(folder, 3) as double:
        double.animate()
        command = [sys.executable, "-m", "app", "devices", "--record", str(file), "--hz", "5", "--for", "3"]
        environment = os.environ | double.environment()
        subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=120, capture_output=True)
    return file


def test_without_a_gpu_it_says_why_and_shows_the_host(server: Server, page: Any, tmp_path: Path) -> None:
    machine = MachinePage(page).open(server)
    expect(machine.head.locator(".problem")).to_contain_text(
        "No GPU to show: no NVIDIA driver is installed: its library libnvidia-ml.so.1 was not found"
    )
    expect(machine.cards).to_have_count(0)
    expect(machine.host.locator(".meter").first).to_contain_text(re.compile(r"CPU\s*\d+ %"))
    expect(machine.host.locator(".meter").last).to_contain_text(re.compile(r"Memory\s*[\d.,]+ / [\d.,]+ GiB"))
    machine.wait_for_curves("cpu")
    machine.wait_for_samples(2)
    newest = "plot => plot.data[0].y.at(-1)"
    wait_until(lambda: machine.history.evaluate(newest) is not None, 60, lambda: "the host has no curve")
    expect(page.locator(".machine-runs .empty")).to_contain_text("No run goes on.")
    run = launch(
        plan_script([str(write_script(tmp_path, "slow", SLOW))], launch=LaunchOptions(python=sys.executable))
    )
    expect(machine.host.get_by_role("link", name="slow")).to_be_visible()
    row = machine.run_processes.filter(has_text="slow.py")
    expect(row).to_have_count(1)
    expect(row.locator('[data-column="cpu"]')).to_contain_text("%")
    expect(row.locator('[data-column="memory"]')).to_contain_text("iB")
    machine.host.get_by_role("link", name="slow").click()
    page.wait_for_url(f"**/run?run={run.id}")
    RunPage(page).wait_for_state("running")


def test_a_recording_is_taken_in_replayed_and_never_taken_for_this_machine(
    server: Server, page: Any, recording: Path
) -> None:
    machine = MachinePage(page).open(server)
    expect(page.get_by_role("tab", name="As text")).to_be_visible()
    page.get_by_text("Look at another machine").click()
    page.locator('input[type="file"]').set_input_files(str(recording))
    expect(page.get_by_text("The recording is taken in as bench.jsonl.gz")).to_be_visible()
    expect(page.get_by_test_id("table-recordings").get_by_role("button", name="Replay")).to_be_visible()
    page.get_by_role("button", name="Replay it now").click()
    page.wait_for_url("**replay=bench.jsonl.gz*")
    expect(machine.status).to_contain_text(re.compile(r"^RECORDING of .+, \d+ \w+ \d{4}$"))
    expect(machine.cards).to_have_count(3)
    label = machine.status.inner_text()
    expect(page.get_by_test_id("recorded")).to_have_text(label)
    machine.wait_for_curves("utilization")
    expect(machine.history.locator(".xtitle")).to_contain_text("in the recording")
    machine.wait_for_samples(3)
    expect(page.get_by_role("button", name="10 Hz")).to_be_hidden()
    page.get_by_role("button", name=f"16{units.TIMES}").click()
    expect(page.get_by_role("button", name=f"16{units.TIMES}")).to_have_attribute("aria-pressed", "true")
    # It goes round and round, and says what it is all the while.
    machine.wait_for_samples(40)
    expect(machine.status).to_have_text(label)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    bar = page.get_by_role("slider", name="Position in the recording")
    bar.fill("0")
    expect(machine.head.locator(".player-where")).to_have_text(re.compile(r"^0:00 / 0:\d\d$"))
    page.evaluate("window.replayed = window.hopscopeMachine.get('bench.jsonl.gz')")
    page.wait_for_function("replayed.snapshot.position === 0 && replayed.snapshot.recording.paused")
    held = page.evaluate("replayed.snapshot.seq")
    page.evaluate("window.former = replayed.socket; former.close()")
    page.wait_for_function("replayed.open && replayed.socket !== former")
    # Whoever comes back finds it as it was left, and so it goes on.
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert page.evaluate("replayed.snapshot.seq") == held
    page.get_by_role("button", name="Resume").click()
    machine.wait_for_samples(2)
    page.reload()
    expect(machine.status).to_have_text(label)
    page.get_by_role("button", name="End the replay").click()
    expect(machine.status).to_contain_text("live · 1 Hz")
    assert "replay" not in urlsplit(page.url).query
    expect(page.get_by_test_id("recorded")).to_have_count(0)


def test_what_is_no_recording_is_refused_in_words(server: Server, page: Any, tmp_path: Path) -> None:
    page.goto(f"{server.url}/?replay=../../etc/passwd")
    settled(page)
    expect(page.get_by_role("alert")).to_contain_text("there is no recording")
    page.get_by_role("button", name="Show this machine").click()
    expect(MachinePage(page).status).to_contain_text("live · 1 Hz")
    false = tmp_path / "false.jsonl"
    false.write_text('{"format": "other"}\n')
    page.get_by_text("Look at another machine").click()
    page.locator('input[type="file"]').set_input_files(str(false))
    expect(page.get_by_role("alert").filter(has_text="not a recording")).to_be_visible()


def connect(server: Server, origin: str | None = None, *, name: str = "127.0.0.1", cookie: str = "") -> Any:
    """A connection to the stream, as another program would make it; `name` is what it calls the server."""
    port = urlsplit(server.url).port
    return websockets.connect(
        f"ws://{name}:{port}/hopscope/machine",
        sock=socket.create_connection(("127.0.0.1", port)),
        origin=origin,
        additional_headers={"Cookie": cookie} if cookie else {},
        open_timeout=60,
        proxy=None,
    )


def refused(server: Server, origin: str | None = None, *, name: str = "127.0.0.1", cookie: str = "") -> bool:
    from websockets.exceptions import InvalidStatus

    try:
        with connect(server, origin, name=name, cookie=cookie):
            return False
    except InvalidStatus as refusal:
        return bool(refusal.response.status_code == 403)


def test_the_stream_refuses_other_sites_and_other_names(server: Server) -> None:
    cookie = server.headers()["Cookie"]
    with connect(server, server.url, cookie=cookie) as stream:
        assert json.loads(stream.recv(60))["live"] is True
    assert refused(server, "http://evil.example", cookie=cookie)
    assert refused(server, server.url.replace("127.0.0.1", "127.0.0.2"), cookie=cookie)
    assert refused(server, name="evil.example", cookie=cookie)


def test_the_stream_wants_a_token_and_an_operator_for_changes(server: Server) -> None:
    assert refused(server)
    assert refused(server, cookie=f"{server.cookie()[0]}=wrong")
    viewer, operator = (server.headers(role)["Cookie"] for role in ("viewer", "operator"))
    asked = json.dumps({"hz": 10, "history": {"span": 60}})

    def rate_after_asking(cookie: str) -> float:
        with connect(server, cookie=cookie) as stream:
            stream.send(asked)
            while "span" not in json.loads(stream.recv(60)):
                continue
        with connect(server, cookie=cookie) as stream:
            return float(json.loads(stream.recv(60))["hz"])

    assert rate_after_asking(viewer) == 1
    assert rate_after_asking(operator) == 10


def test_a_viewer_looks_and_changes_nothing(server: Server, viewer_page: Any) -> None:
    page = viewer_page
    machine = MachinePage(page).open(server)
    expect(machine.status).to_contain_text("live")
    expect(page.get_by_role("button", name="10 Hz")).to_be_hidden()
    page.get_by_text("Look at another machine").click()
    none_yet = page.get_by_text("There is none yet.")
    expect(none_yet.or_(page.get_by_test_id("table-recordings"))).to_be_visible()
    assert page.locator('input[type="file"]').count() == 0
