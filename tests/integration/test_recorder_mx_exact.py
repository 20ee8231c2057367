"""Exact lines: what MXNet copies by itself is measured, and agrees with what is inferred without the mode."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.store.run import open_run
from tests.integration.recording import SCRIPTS, Recorded, by, record, written

STEPS = 3
PARAMETERS = 6
"""Of two dense layers and what is trained of a batch normalisation."""
AND_STATISTICS = PARAMETERS + 2
HOST, A, B, C = "cpu:0", "cpu:1", "cpu:2", "cpu:3"
BACK = """
import mxnet as mx
from mxnet import autograd, nd

def back(src, dst):
    x = nd.ones((8, 4), ctx=src)
    x.attach_grad()
    with autograd.record():
        y = (x.as_in_context(dst) * 2).sum()
    y.backward()  # a gradient is copied from dst to src
"""
Run = Callable[..., Recorded]


@pytest.fixture
def run_exact(mx_python: Path, tmp_path: Path, hopscope_home: Path) -> Run:
    """Runs a script of this text."""

    def run(text: str, *args: str, exact: bool = True) -> Recorded:
        script = written(tmp_path, text)
        return record(mx_python, script, *args, framework="mxnet", exact=exact)

    return run


def trained(python: Path, kvstore: str, contexts: str) -> Recorded:
    run = record(python, SCRIPTS / "mx_exact.py", kvstore, contexts, framework="mxnet", exact=True)
    assert run.run.state == "finished", run.log[-2000:]
    return run


def site(comment: str) -> str:
    lines = (SCRIPTS / "mx_exact.py").read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"# {comment}")]
    return f"mx_exact.py:{number}"


def moves(run: Recorded, where: str) -> Counter[tuple[str, str]]:
    """How often something went from one device to another at a line, all of it measured."""
    hops = by(run.report["hops"], site=where)
    assert {hop["basis"] for hop in hops} <= {"measured"}, hops
    found: Counter[tuple[str, str]] = Counter()
    for hop in hops:
        found[hop["src"], hop["dst"]] += hop["count"]
    return found


def unseen(run: Recorded) -> dict[str, Any]:
    return {row["why"]: row["count"] for row in run.report["unseen"]}


@pytest.mark.usefixtures("hopscope_home")
def test_gradients_and_sums_on_the_host_are_measured(mx_python: Path) -> None:
    run = trained(mx_python, "local", "1,2,3")
    assert unseen(run) == {}
    assert moves(run, site("over contexts")) == {(B, A): STEPS}
    summed = {(device, HOST): STEPS * PARAMETERS for device in (B, C)}
    assert moves(run, site("exchange")) == {
        **summed,
        (A, HOST): STEPS * PARAMETERS + AND_STATISTICS,
        **{(HOST, device): STEPS * PARAMETERS + AND_STATISTICS for device in (A, B, C)},
    }
    assert any("NaiveEngine" in str(note) for note in run.report["notes"])


@pytest.mark.usefixtures("hopscope_home")
def test_sums_on_the_devices_are_measured(mx_python: Path) -> None:
    run = trained(mx_python, "device", "1,2")
    found = moves(run, site("exchange"))
    # Each parameter's gradient goes one way, and its sum the other; the weights come from the host.
    assert found[A, B] + found[B, A] >= 2 * STEPS * PARAMETERS
    assert found[HOST, A] + found[HOST, B] == STEPS * PARAMETERS + AND_STATISTICS


@pytest.mark.usefixtures("hopscope_home")
def test_ops_of_a_backward_pass_are_those_that_ran(mx_python: Path) -> None:
    run = trained(mx_python, "local", "1,2")
    store = open_run(run.run.path)
    try:
        sites = {loc: place.site for loc, place in store.locations().items()}
        ops = [key for key in store.keys("op") if sites.get(key.fields["loc"]) == site("over contexts")]
        ran = Counter({(key.fields["op"], key.fields["device"]): key.count or 0 for key in ops})
        (event, *_) = store.query("SELECT count(*) FROM events WHERE kind = 'copies'")
    finally:
        store.close()
    assert ran["_backward_dot", A] == STEPS
    assert ran["_backward_sum", B] == STEPS
    assert not [name for name, _ in ran if name.endswith("(backward)")]
    assert event[0] > 0


def test_memory_is_what_the_allocator_handed_out(run_exact: Run) -> None:
    run = run_exact("import mxnet as mx\nx = mx.nd.ones((256, 1024), ctx=mx.cpu(9))\nx.attach_grad()\n")
    (row,) = by(run.report["memory"], device="cpu:9")
    assert (row["peak_bytes"], row["basis"]) == (2 * 256 * 1024 * 4, "measured")


def gradient_copies(run: Recorded) -> Counter[tuple[str, str, str]]:
    """How often gradients went from one device to another, and on which basis that is told."""
    found: Counter[tuple[str, str, str]] = Counter()
    for hop in run.report["hops"]:
        if hop["op"].endswith("(backward)"):
            found[hop["src"], hop["dst"], hop["basis"]] += hop["count"]
    return found


def test_where_the_profiler_has_no_room_it_stops_and_the_rest_is_inferred(run_exact: Run) -> None:
    run = run_exact(BACK + "back(mx.cpu(1), mx.cpu(2))\nback(mx.cpu(1), mx.cpu(300))\n")
    assert run.run.state == "finished", run.log[-2000:]
    assert unseen(run) == {"MXNet's profiler has room for 128 CPU contexts, not for cpu(300)": 1}
    assert gradient_copies(run) == {(B, A, "inferred"): 1, ("cpu:300", A, "inferred"): 1}


def test_where_no_room_could_be_made_it_stops_at_the_cores(run_exact: Run) -> None:
    cores = len(os.sched_getaffinity(0))
    without = "import _hopscope.mx.room as room\nroom._slot_of = lambda *_: None\n"
    calls = f"back(mx.cpu(0), mx.cpu({cores}))\nback(mx.cpu(0), mx.cpu({cores + 9}))\n"
    run = run_exact(without + BACK + calls)
    assert run.run.state == "finished", run.log[-2000:]
    assert unseen(run) == {f"MXNet's profiler has room for {cores} CPU contexts, not for cpu({cores})": 2}


def test_a_program_may_use_mxnets_profiler_itself(run_exact: Run) -> None:
    run = run_exact(
        BACK
        + """
import json, os
own = os.path.join(os.path.dirname(__file__), "own.json")
back(mx.cpu(1), mx.cpu(2))
mx.profiler.set_config(profile_all=True, filename=own)
mx.profiler.set_state("run")
back(mx.cpu(1), mx.cpu(2))
mx.profiler.set_state("stop")
mx.profiler.dump()
events = json.load(open(own))["traceEvents"]
devices = {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
copies = [event for event in events if event["name"] == "CopyCPU2CPU" and event["ph"] == "B"]
print("ran on", sorted(devices[event["pid"]] for event in copies))
"""
    )
    assert run.run.state == "finished", run.log[-2000:]
    assert "ran on ['cpu/1', 'cpu/2']" in run.log
    assert unseen(run) == {"the program uses MXNet's profiler itself": 1}


def test_a_program_that_chose_the_engine_itself_is_told_to_be_serialised(
    run_exact: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MXNET_ENGINE_TYPE", "NaiveEngine")
    run = run_exact(BACK + "back(mx.cpu(1), mx.cpu(2))\n", exact=False)
    assert gradient_copies(run) == {(B, A, "inferred"): 1}
    assert any("NaiveEngine" in str(note) for note in run.report["notes"])


def test_a_program_that_was_killed_has_what_was_measured_until_then(run_exact: Run) -> None:
    run = run_exact(
        BACK
        + """
import glob, os, signal
for _ in range(20):
    back(mx.cpu(1), mx.cpu(2))
(trace,) = glob.glob(os.environ["HOPSCOPE_RUN_DIR"] + "/trace/*.jsonl")
while b'"copies"' not in open(trace, "rb").read():
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""
    )
    assert run.run.state == "failed"
    assert gradient_copies(run) == {(B, A, "measured"): 20}


def test_a_forked_child_is_recorded_without_the_profiler(run_exact: Run) -> None:
    run = run_exact(
        BACK
        + """
import os, sys
back(mx.cpu(1), mx.cpu(2))
child = os.fork()
if child == 0:
    back(mx.cpu(1), mx.cpu(3))
    sys.exit()
os.waitpid(child, 0)
"""
    )
    assert run.run.state == "finished", run.log[-2000:]
    assert gradient_copies(run) == {(B, A, "measured"): 1, (C, A, "inferred"): 1}
    assert unseen(run) == {"the process was forked from one that MXNet's profiler runs in": 1}
