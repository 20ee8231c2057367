"""How a pre-flight ends its script: nothing of the interpreter's end is left to go wrong, and it says why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.preflight.provenance import nothing_foreseen
from probes.boot import NOT_RECORDED
from runners.plan.launcher import launch
from runners.plan.plan import LaunchOptions
from runners.plan.preflight_plan import Extent, plan_preflight
from runners.runs import registry
from runners.runs.run import Run
from tests.integration.recording import written

pytestmark = pytest.mark.usefixtures("hopscope_home")
LIMIT_S = 120

STEPS = """
import atexit, os, sys
from mxnet import autograd, gluon, nd


class Late:
    '''Deleted while the interpreter ends, as threads that come back from the framework find it.'''

    def __init__(self, abort=os.abort):
        self.abort = abort

    def __del__(self):
        self.abort()


late = Late()
kept = open(os.environ["KEPT"], "w")
kept.write("still in a buffer\\n")
atexit.register(print, "the script's own", flush=True)
net = gluon.nn.Dense(1)
net.initialize()
trainer = gluon.Trainer(net.collect_params(), "sgd")
try:
    while True:
        with autograd.record():
            loss = net(nd.ones((2, 2))).sum()
        loss.backward()
        trainer.step(2)
finally:
    print("cleaned up", flush=True)
"""


def fly(python: Path, script: Path, seconds: float = 60.0) -> Run:
    plan = plan_preflight(
        [str(script)],
        extent=Extent(steps=2, seconds=seconds),
        framework="mxnet",
        launch=LaunchOptions(python=python),
    )
    return registry.wait(launch(plan), LIMIT_S)


def test_it_ends_after_the_scripts_own_ends_and_before_the_interpreters(
    mx_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEPT", str(tmp_path / "kept"))
    run = fly(mx_python, written(tmp_path, STEPS))
    log = run.log.read_text()
    assert (run.state, run.exit_code) == ("finished", 0), log
    assert log.index("ended after 3 steps") < log.index("cleaned up") < log.index("the script's own")
    assert (tmp_path / "kept").read_text() == "still in a buffer\n"


def test_an_error_while_it_cleans_up_is_its_status(mx_python: Path, tmp_path: Path) -> None:
    text = STEPS.replace('print("cleaned up", flush=True)', "1 / 0").replace(
        'os.environ["KEPT"]', "os.devnull"
    )
    run = fly(mx_python, written(tmp_path, text))
    assert (run.state, run.exit_code) == ("failed", 1)
    assert "ZeroDivisionError" in run.log.read_text()


def test_one_without_steps_is_ended_in_time_and_says_what_it_waited_for(
    mx_python: Path, tmp_path: Path
) -> None:
    text = "from mxnet import nd\nwhile True:\n    (nd.ones((2, 2)) * 2).asnumpy()\n"
    run = fly(mx_python, written(tmp_path, text), seconds=12)
    log = run.log.read_text()
    assert (run.state, run.exit_code) == ("finished", 0), log
    made = "0 of 3 steps (no optimizer was applied) were made"
    waits = rf"{re.escape(made)} after 1\d s; it goes on until they are, at most 12 s \(--seconds\)"
    assert re.search(rf"hopscope: pre-flight: {waits}\n", log), log
    assert f"hopscope: pre-flight: ended: {made} in 12 s; --seconds gives it more time\n" in log


def test_one_that_ends_by_itself_says_how_many_steps_it_made(mx_python: Path, tmp_path: Path) -> None:
    run = fly(mx_python, written(tmp_path, "from mxnet import nd\nnd.ones((2, 2)).asnumpy()\n"))
    ended = "the script ended by itself: 0 of 3 steps (no optimizer was applied) were made"
    assert f"hopscope: pre-flight: {ended}\n" in run.log.read_text()


def test_one_that_cannot_be_recorded_ends_before_it_does_anything(mx_python: Path, tmp_path: Path) -> None:
    """It would train to its end, and write what it writes."""
    (tmp_path / "mxnet.py").write_text("")  # no MXNet that the recorder knows
    script = written(tmp_path, "import mxnet\nopen('trained', 'w').close()\n")
    run = fly(mx_python, script)
    assert (run.state, run.exit_code) == ("failed", NOT_RECORDED), run.log.read_text()
    assert "so this pre-flight ends before the first step" in run.log.read_text()
    assert not list(tmp_path.rglob("trained"))
    assert "could not be recorded" in str(nothing_foreseen(run))
