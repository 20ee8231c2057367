"""From the Launch page to a finished run: the command first, then a real TensorFlow program."""

from __future__ import annotations

import fcntl
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from app.views import units
from runners.environments.virtualenv import VirtualEnvironment
from tests.e2e.conftest import Server, settled, start_server
from tests.e2e.run_page import RunPage, expect

STEPS, BATCH, WIDTH = 20, 64, 256
ACTIVATION = BATCH * WIDTH * 4


def open_launch(page: Any, server: Server, query: str = "") -> None:
    page.goto(f"{server.url}/launch{query}")
    settled(page)


def code(page: Any) -> Any:
    """The block that shows what will run."""
    return page.get_by_test_id("stCode").first


def test_launches_a_real_run_and_shows_what_crossed(server: Server, page: Any) -> None:
    open_launch(page, server)
    page.get_by_text("Layers over devices").click()
    expect(code(page)).to_contain_text("model_parallel/train.py")
    page.get_by_label("Steps").fill(str(STEPS))
    page.get_by_label("Steps").press("Enter")
    expect(code(page)).to_contain_text(f"--stand-ins 3 --steps {STEPS}")
    expect(code(page)).to_contain_text("export HOPSCOPE_TRACE=1")
    page.get_by_role("button", name="Launch", exact=True).click()

    page.wait_for_url("**/run?run=*")
    run = RunPage(page)
    run.wait_for_state("finished")
    expect(run.fact("progress")).to_contain_text(f"{STEPS} / {STEPS}")
    expect(run.fact("devices").locator("[data-device]")).to_have_count(3)
    expect(run.fact("devices")).to_contain_text("stand-in")

    # The loss that the program printed last is the one in the head.
    name = parse_qs(urlsplit(page.url).query)["run"][0]
    log = (server.home / "runs" / name / "out.log").read_text()
    (loss,) = re.findall(rf"step {STEPS}/{STEPS} loss ([\d.]+)", log)
    expect(run.fact("loss")).to_have_text(f"{float(loss):.4g}")

    # The diagram follows the head: its last drawing is awaited, not one of the run as it went on.
    last = f'[data-testid="crossing"][data-src="cpu:3"][data-dst="cpu:2"][data-count="{STEPS}"]'
    expect(run.diagram.locator(last).first).to_be_attached()
    crossings = [
        crossing for crossing in run.crossings() if "cpu:0" not in (crossing["src"], crossing["dst"])
    ]
    neighbours = {("cpu:1", "cpu:2"), ("cpu:2", "cpu:3"), ("cpu:3", "cpu:2"), ("cpu:2", "cpu:1")}
    assert {(crossing["src"], crossing["dst"]) for crossing in crossings} == neighbours
    for crossing in crossings:
        assert (crossing["bytes"], crossing["count"]) == (str(ACTIVATION * STEPS), str(STEPS))

    rows = {(row["way"], row["within"], row["bytes"].split()[0]): row for row in run.hop_rows()}
    for src, dst in neighbours:
        row = rows[f"{src}>{dst}", "train_step", str(ACTIVATION // 1024)]
        assert row["count"] == f"{STEPS}{units.TIMES}"
        assert row["total"] == "1.25 MiB"
        assert re.fullmatch(r"train\.py:\d+", row["site"])
    cells = run.cells()
    assert {pair for pair in cells if "cpu:0" not in pair} == neighbours
    assert cells["cpu:3", "cpu:2"] == f"1.25 MiB {STEPS}{units.TIMES}"


def test_a_prepared_launch_is_in_the_address(server: Server, page: Any) -> None:
    open_launch(page, server, "?program=tf-pin-gradients&gradients=inside&batch=32")
    expect(page.get_by_role("radio", name="Gradients in and out")).to_be_checked()
    expect(code(page)).to_contain_text("pin_gradients/train.py")
    expect(code(page)).to_contain_text("--batch 32 --gradients inside")
    page.get_by_text("A Keras model on one device").click()
    expect(code(page)).to_contain_text("pin_model/train.py")
    expect(page).to_have_url(re.compile("program=tf-pin-model$"))
    page.reload()
    settled(page)
    expect(code(page)).to_contain_text("pin_model/train.py")


def test_what_cannot_work_is_said_and_not_launched(server: Server, page: Any) -> None:
    open_launch(page, server, "?program=tf-mirrored&cross-device-ops=nccl")
    expect(page.get_by_test_id("stAlert")).to_contain_text("nccl needs GPUs")
    expect(page.get_by_role("button", name="Launch", exact=True)).to_be_disabled()
    open_launch(page, server, "?program=tf-model-parallel&split=9,1")
    expect(page.get_by_test_id("stAlert")).to_contain_text("split=9,1")
    expect(page.get_by_role("button", name="Launch", exact=True)).to_be_disabled()
    # The reason stands beside the button, and both over the command, which may be long.
    reason, button = page.get_by_test_id("stAlert"), page.get_by_role("button", name="Launch", exact=True)
    beside, of, below = (found.bounding_box() for found in (reason, button, code(page)))
    assert of["x"] + of["width"] < beside["x"] and beside["y"] < of["y"] + of["height"] / 2 < below["y"]
    assert beside["y"] + beside["height"] < below["y"]
    assert not list((server.home / "runs").glob("*-tf-mirrored-*"))


# As ``rgb(..)``, in whichever way a style names them.
PAINTED = """one => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor].map((color) => {
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = color;
  pen.fillRect(0, 0, 1, 1);
  return `rgb(${[...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)].join(", ")})`;
})"""

# Streamlit mounts the style of `st.html` in an effect, so a moment after the elements that it dresses.
STYLED = """() => [...document.querySelectorAll("style")].some(
  (style) => style.textContent.includes("stBaseButton-primary"))"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_button_is_read_on_its_colour(server: Server, open_page: Callable[..., Any], scheme: str) -> None:
    page = open_page(color_scheme=scheme)
    open_launch(page, server, "")
    button = page.get_by_role("button", name="Launch", exact=True)
    expect(button).to_be_enabled()
    page.wait_for_function(STYLED)
    ink, ground = (luminance(color) for color in button.evaluate(PAINTED))
    assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= 4.5, "WCAG's least contrast of text"


def luminance(color: str) -> float:
    """Relative luminance of an ``rgb(..)``, as WCAG defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.fixture
def installing(tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Environments that some process is installing, TensorFlow's first; call it to tell how far it is."""
    folder = tmp_path / "envs"
    folder.mkdir()

    # An update of long ago would be told as one that its installer left behind.
    def tell(**progress: Any) -> None:
        (folder / "tensorflow.json").write_text(
            json.dumps({"build": "cpu", "reason": None, "step": None, "fraction": None, **progress})
        )

    with (
        (folder / "tensorflow.lock").open("w") as lock,
        VirtualEnvironment(folder / "mxnet", folder, "mxnet").in_queue(),
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        tell(state="installing", step="pip gets tensorflow", fraction=0.25, updated=time.time() + 600)
        tell.release = lambda: fcntl.flock(lock, fcntl.LOCK_UN)  # type: ignore[attr-defined]
        yield tell


def test_an_install_shows_how_far_it_is_and_why_it_failed(
    tmp_path: Path, page: Any, installing: Callable[..., None]
) -> None:
    (tmp_path / "envs" / "tensorflow.log").write_text("Collecting tensorflow\nERROR: disk is full\n")
    variables = {"HOPSCOPE_ENVS": str(tmp_path / "envs"), "HOPSCOPE_TENSORFLOW": "", "HOPSCOPE_MXNET": ""}
    with start_server(tmp_path / "home", tmp_path, environment=variables) as server:
        open_launch(page, server)
        panel = page.locator(".st-key-environment")
        expect(panel).to_contain_text("TensorFlow is being installed")
        expect(panel).to_contain_text("pip gets tensorflow")
        expect(page.get_by_role("button", name="Launch", exact=True)).to_be_disabled()
        expect(page.get_by_text("Launch waits for TensorFlow's environment")).to_be_visible()
        expect(page.get_by_test_id("stAlert")).to_have_count(0)
        installing(state="installing", step="pip unpacks", fraction=0.75, updated=time.time() + 600)
        expect(panel).to_contain_text("pip unpacks")
        expect(panel.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "75")
        installing(state="failed", reason="the disk is full: free 1.8 GB", updated=time.time() + 600)
        installing.release()  # type: ignore[attr-defined]
        expect(panel).to_contain_text("the disk is full: free 1.8 GB")
        expect(panel).to_contain_text("ERROR: disk is full")
        expect(panel.get_by_role("button", name="Install TensorFlow again")).to_be_visible()
        expect(page.get_by_role("button", name="Launch", exact=True)).to_be_disabled()


def test_each_framework_has_its_programs_and_its_environment(
    tmp_path: Path, page: Any, installing: Callable[..., None]
) -> None:
    folder = tmp_path / "envs"
    variables = {"HOPSCOPE_ENVS": str(folder), "HOPSCOPE_TENSORFLOW": "", "HOPSCOPE_MXNET": ""}
    with start_server(tmp_path / "home", tmp_path, environment=variables) as server:
        open_launch(page, server)
        panel = page.locator(".st-key-environment")
        expect(panel).to_contain_text("TensorFlow is being installed")
        expect(code(page)).to_contain_text("programs/tensorflow/")

        page.get_by_role("radio", name="MXNet").click()
        expect(code(page)).to_contain_text("programs/mxnet/")
        expect(code(page)).to_contain_text(str(folder / "mxnet" / "bin" / "python"))
        expect(page).to_have_url(re.compile("program=mx-"))
        expect(page.get_by_role("button", name="Launch", exact=True)).to_be_disabled()
        expect(page.get_by_text("Launch waits for MXNet's environment")).to_be_visible()
        expect(panel).to_contain_text("waits for TensorFlow, which is installed first")
        in_short = page.get_by_text("TensorFlow is being installed · pip gets tensorflow")
        expect(in_short).to_be_visible()
        installing(state="installing", step="pip unpacks", fraction=0.75, updated=time.time() + 600)
        expect(page.get_by_text("TensorFlow is being installed · pip unpacks")).to_be_visible()
        page.reload()
        settled(page)
        expect(page.get_by_role("radio", name="MXNet")).to_be_checked()
        expect(code(page)).to_contain_text("programs/mxnet/")


def test_viewers_only_look(server: Server, viewer_page: Any) -> None:
    open_launch(viewer_page, server)
    expect(viewer_page.get_by_text("launching takes the operator's address")).to_be_visible()
    expect(viewer_page.get_by_role("button", name="Launch", exact=True)).to_have_count(0)


def test_operators_read_what_they_may_do(server: Server, page: Any) -> None:
    open_launch(page, server)
    expect(page.get_by_text("An operator can run any code as")).to_be_visible()


OWN = """
import os, sys
import mxnet as mx
print(sys.argv[1:], os.getcwd(), os.environ["MINE"])
x = mx.nd.ones((4,), ctx=mx.cpu(1))
for _ in range(3):
    x.as_in_context(mx.cpu(2)).asnumpy()
"""


@pytest.fixture
def own_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    folder.mkdir()
    (folder / "train.py").write_text(OWN)
    (tmp_path / "secret.py").write_text("print('secret')")
    (folder / "leak.py").symlink_to(tmp_path / "secret.py")
    return folder


def test_a_script_of_ones_own(tmp_path: Path, own_folder: Path, mx_python: Path, page: Any) -> None:
    home = tmp_path / "home"
    with start_server(home, tmp_path, "--scripts", str(own_folder)) as server:
        open_launch(page, server, "?own=script")
        expect(page.get_by_text("no script is chosen")).to_be_visible()
        script = page.get_by_label("Script", exact=True)
        script.click()
        expect(page.get_by_role("option")).to_have_text(["train.py"])
        script.fill("../secret.py")
        script.press("Enter")
        expect(page.get_by_text("leads to no folder whose scripts may be launched")).to_be_visible()
        expect(page.get_by_role("button", name="Launch", exact=True)).to_have_count(0)
        script.click()
        script.fill("train.py")
        script.press("Enter")
        expect(code(page)).to_contain_text("train.py")
        page.get_by_label("Arguments", exact=True).fill("--epochs 3 'two words'")
        page.get_by_label("Arguments", exact=True).press("Enter")
        expect(page.get_by_text("3 arguments: --epochs 3 'two words'")).to_be_visible()

        python = page.get_by_label("Interpreter", exact=True)
        python.click()
        python.fill(str(tmp_path))
        python.press("Enter")
        expect(page.get_by_test_id("stAlert")).to_contain_text("is a folder, not an interpreter")
        expect(page.get_by_role("button", name="Launch", exact=True)).to_be_disabled()
        python.click()
        python.fill(str(mx_python))
        python.press("Enter")
        expect(page.get_by_text(re.compile(r"^\S+ ?Python 3\.\d+\.\d+ with MXNet [\d.]+$"))).to_be_visible()

        page.get_by_label("Environment variables", exact=True).fill("MINE=a b")
        page.get_by_label("Environment variables", exact=True).press("Control+Enter")
        expect(code(page)).to_contain_text("export MINE='a b'")
        expect(code(page)).to_contain_text(f"cd '{own_folder}'")
        expect(code(page)).to_contain_text(f"{mx_python} '{own_folder}/train.py' --epochs 3 'two words'")
        expect(page.get_by_test_id("stAlert")).to_have_count(0)
        page.get_by_role("button", name="Launch", exact=True).click()
        page.wait_for_url("**/run?run=*")
        RunPage(page).wait_for_state("finished")
        (run,) = (home / "runs").iterdir()
        assert (run / "out.log").read_text() == f"['--epochs', '3', 'two words'] {own_folder} a b\n"

        # Another browser finds it as it was launched last.
        page.context.clear_cookies()
        open_launch(page, server, "?own=script")
        expect(code(page)).to_contain_text(f"{mx_python} '{own_folder}/train.py' --epochs 3 'two words'")
        expect(page.get_by_label("Environment variables", exact=True)).to_have_value("MINE=a b")

        # The same script, to foresee a machine with two GPUs.
        page.get_by_label(re.compile("GPUs of that machine")).fill("2")
        page.get_by_label(re.compile("GPUs of that machine")).press("Enter")
        page.get_by_role("button", name="Pre-flight", exact=True).click()
        page.wait_for_url("**/run?run=*")
        RunPage(page).wait_for_state("finished")
        expect(RunPage(page).fact("kind")).to_have_text("pre-flight")
        expect(
            page.get_by_text("Foreseen for cpu:1 and cpu:2 as cards (the script names no GPU)")
        ).to_be_visible()
        expect(page.get_by_text(re.compile(r"^Not foreseen: \d+$"))).to_be_visible()


def test_without_a_named_folder_no_own_script_is_offered(server: Server, page: Any) -> None:
    open_launch(page, server, "?own=script")
    expect(page.get_by_text("No folder was named")).to_be_visible()
    expect(page.get_by_role("button", name="Launch", exact=True)).to_have_count(0)
    expect(page.get_by_label("Interpreter", exact=True)).to_have_count(0)


def test_viewers_see_nothing_of_own_scripts(tmp_path: Path, own_folder: Path, viewer_page: Any) -> None:
    page = viewer_page
    with start_server(tmp_path / "home", tmp_path, "--scripts", str(own_folder)) as server:
        open_launch(page, server, "?own=script")
        expect(
            page.get_by_text("launching scripts of one's own takes the operator's address")
        ).to_be_visible()
        expect(page.get_by_role("button", name="Launch", exact=True)).to_have_count(0)
        expect(page.get_by_role("combobox")).to_have_count(0)
        expect(page.get_by_role("textbox")).to_have_count(0)
        assert str(own_folder) not in page.content()
