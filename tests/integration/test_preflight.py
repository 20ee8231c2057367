"""A pre-flight of real scripts: what it foresees is held to what the same runs record on devices here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from app.facts.kernels.kernel_table import read_table, shipped_table
from app.facts.syncs import sync_table
from app.preflight.dialects.tensorflow.placer import Machine
from app.preflight.dialects.tensorflow.prediction import foresee_on
from app.preflight.merged_processes import Foreseen
from app.reports.prediction_report import preflight_report
from app.reports.run_report import run_report
from app.store.dataflow import own_kernels, parse_flow, read_dataflow
from probes.tf.kernel_table import KernelTable
from probes.trace.preflight_notes import Flow
from runners.plan.launcher import launch
from runners.plan.plan import ROOT, LaunchOptions
from runners.plan.preflight_plan import Extent, plan_preflight
from runners.runs import registry
from tests.integration.recording import SCRIPTS

LIMIT_S = 120
STEPS = 4
TINY = 4
"""Bytes of a scalar that TensorFlow sends from Python by itself and keeps; they are not foreseen."""
XLA_TABLE = """
import gzip, json, sys
import tensorflow as tf
from probes.tf import kernel_registry
with tf.device("/device:XLA_CPU:0"):
    tf.add(tf.ones([2]), 1.0)  # from now on its kernels are registered
kernel_registry.KINDS = ("CPU", "XLA_CPU", "DEFAULT")
with gzip.open(sys.argv[1], "wt") as file:
    json.dump(kernel_registry.whole_table(), file)
"""

FIT = """
import tensorflow as tf
class Noisy(tf.keras.layers.Layer):
    def call(self, x):
        return x + 0.1 * tf.random.shuffle(x)
cell = tf.keras.layers.LSTM(5, activation="relu")
model = tf.keras.Sequential([tf.keras.Input((20,)), Noisy(), tf.keras.layers.Reshape((5, 4)), cell])
model.compile("sgd", "mse", jit_compile=False)
class Watch(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        self.norm = float(tf.norm(self.model.layers[2].cell.kernel))
x, y = tf.random.normal([256, 20]), tf.random.normal([256, 5])
model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(16), epochs=9, verbose=0, callbacks=[Watch()])
"""

SEVERAL = """
import tensorflow as tf
values = [tf.Variable(tf.random.normal([8, 8]), name=name) for name in ("first", "second")]
@tf.function
def step():
    with tf.device("/CPU:0"): return tf.add_n([tf.reduce_sum(value) for value in values])
for _ in range(9):
    step()
"""

BY_TURNS = """
import tensorflow as tf
with tf.device("/CPU:0"):
    first, second = tf.Variable(tf.ones([64, 64])), tf.Variable(tf.ones([64, 64]))
one, other = tf.keras.optimizers.SGD(0.1), tf.keras.optimizers.SGD(0.1)
@tf.function
def train(variable, x):
    with tf.GradientTape() as tape, tf.device("/GPU:0"):
        loss = tf.reduce_sum(x @ variable)
    return loss, tape.gradient(loss, variable)
for _ in range(30):
    x = tf.random.normal([64, 64])
    loss, gradient = train(first, x)
    one.apply_gradients([(gradient, first)])
    loss, gradient = train(second, x)
    other.apply_gradients([(gradient, second)])
    print(float(loss))
"""

Way = tuple[str, str, str | None, int | None]


class Flown(NamedTuple):
    path: Path
    flow: Flow
    report: dict[str, Any]
    """What was recorded here."""
    log: str


def fly(python: Path, script: Path, home: Path) -> Flown:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(home))
        known = shipped_table().source
        plan = plan_preflight(
            [str(script)],
            extent=Extent(steps=STEPS, kernels=known),
            framework="tensorflow",
            launch=LaunchOptions(python=python),
        )
        run = registry.wait(launch(plan), LIMIT_S)
    log = run.log.read_text(errors="replace")
    assert (run.state, run.exit_code) == ("finished", 0), log[-3000:]
    [notes] = read_dataflow(run.path)[0]
    return Flown(run.path, parse_flow(notes), run_report(run.path), log)


@pytest.fixture(scope="module")
def flown(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Flown:
    return fly(tf_python, SCRIPTS / "foreseen.py", tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def lacking(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Flown:
    return fly(tf_python, SCRIPTS / "no_kernel_type.py", tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def xla_table(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> KernelTable:
    path = tmp_path_factory.mktemp("table") / "xla.json.gz"
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_XLA_FLAGS": "--tf_xla_enable_xla_devices"}
    words = [str(tf_python), "-c", XLA_TABLE, str(path)]
    subprocess.run(words, cwd=ROOT, env=os.environ | quiet, check=True, capture_output=True)
    return read_table(path)


def ways(hops: list[dict[str, Any]]) -> set[Way]:
    return {
        (hop["src"], hop["dst"], hop["site"], hop["bytes"])
        for hop in hops
        if not (hop["producer"] == "Python" and hop["bytes"] == TINY and hop["op"] != "Const")
    }


def foreseen_here(flown: Flown, table: KernelTable, devices: dict[str, str]) -> Foreseen:
    return foresee_on(flown.flow, Machine(tuple(devices), table, devices))


def test_on_devices_that_are_here_all_is_foreseen_that_is_recorded_and_nothing_else(flown: Flown) -> None:
    devices = {"cpu:0": "CPU", "cpu:1": "CPU", "cpu:2": "CPU"}
    foreseen = foreseen_here(flown, shipped_table(), devices)
    recorded = ways(flown.report["hops"])
    assert len(recorded) > 15
    assert ways([hop.row() for hop in foreseen.hops]) == recorded
    taken = {(sync["kind"], sync["site"]) for sync in flown.report["syncs"]}
    assert {(sync.kind, sync.site) for sync in sync_table(foreseen.tables)} == taken
    assert {"float", "numpy"} & {kind for kind, _ in taken}


def test_on_a_device_that_lacks_kernels_the_same_ops_fall_to_the_host(
    lacking: Flown, xla_table: KernelTable
) -> None:
    foreseen = foreseen_here(lacking, xla_table, {"cpu:0": "CPU", "xla_cpu:0": "XLA_CPU"})

    def fallen(hops: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
        return {(hop["src"], hop["dst"], hop["site"]) for hop in hops if hop["cause"] == "no-kernel"}

    recorded = fallen(lacking.report["hops"])
    assert len(recorded) == 4
    assert fallen([hop.row() for hop in foreseen.hops]) == recorded
    assert {row["op"] for row in foreseen.report["no_kernel"]} == {"Cumsum"}


def test_a_build_with_other_gpu_kernels_brings_its_own_table(flown: Flown) -> None:
    known = own_kernels(flown.path)
    if not flown.flow.has_gpu_kernels:
        assert known is None
    elif flown.flow.kernels in shipped_table().source:
        assert known is None  # the same
    else:
        assert known is not None
        assert read_table(known).source == flown.flow.kernels


def test_the_script_ends_by_itself_after_the_steps(flown: Flown) -> None:
    assert f"pre-flight: ended after {STEPS + 1} steps" in flown.log
    assert flown.flow.steps == STEPS
    assert json.loads((flown.path / "spec.json").read_text())["preflight"]["steps"] == STEPS


def test_what_keras_takes_for_its_callbacks_is_no_warning(
    tf_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    script = tmp_path_factory.mktemp("script") / "fit.py"
    script.write_text(FIT)
    report = preflight_report(fly(tf_python, script, tmp_path_factory.mktemp("home")).path)
    warned = {(row["code"], row["site"]) for row in report["findings"] if row["severity"] != "info"}
    assert warned == {("host-sync", "fit.py:11"), ("no-kernel", "fit.py:5")}
    [layer] = report["libraries"]
    assert (layer["severity"], layer["site"], layer["confidence"]) == ("warning", "fit.py:6", "high")
    assert "will not use cuDNN's kernel" in layer["what"]
    assert "activation is relu, not tanh" in layer["what"]
    told = {row["what"] for row in report["unforeseen"]}
    assert "fit and evaluate of Keras" not in told  # with jit_compile=False it stays as it is
    assert not any(what.startswith("inside") for what in told)


def test_each_variable_that_one_line_makes_is_named_where_they_are_read(
    tf_python: Path, tmp_path: Path
) -> None:
    script = tmp_path / "several.py"
    script.write_text(SEVERAL)
    report = preflight_report(fly(tf_python, script, tmp_path / "home").path)
    [found] = [row for row in report["findings"] if row["code"] == "variable-home"]
    assert found["summary"].startswith(
        "first and second live on gpu:0 and are read on cpu:0 at several.py:6: "
    )


def test_two_optimizers_that_take_turns_make_one_step_together(tf_python: Path, tmp_path: Path) -> None:
    script = tmp_path / "turns.py"
    script.write_text(BY_TURNS)
    run = fly(tf_python, script, tmp_path / "home")
    report = preflight_report(run.path)
    assert f"pre-flight: ended after {STEPS + 1} steps" in run.log
    assert (report["steps"], report["steps_made"], run.report["steps"]) == (STEPS, STEPS + 1, STEPS + 1)
    told = {(row["code"], row["site"]): row for row in report["findings"] if row["severity"] == "warning"}
    assert {("variable-home", "turns.py:9"), ("host-sync", "turns.py:17")} <= told.keys()
    assert all(" each step" in row["summary"] for row in told.values())
    assert not any("these steps" in row["summary"] for row in told.values())
    read = [hop for hop in report["hops"] if (hop["src"], hop["site"]) == ("cpu:0", "turns.py:9")]
    assert sum(hop["bytes"] * hop["each"] for hop in read) == 2 * 64 * 64 * 4  # both variables, each step


def test_a_script_without_steps_runs_to_its_end_and_says_so(lacking: Flown) -> None:
    assert "sums (8, 8) (8, 8)" in lacking.log
    told = preflight_report(lacking.path)["unforeseen"]
    assert [row for row in told if row["what"] == "steps"]


def test_on_a_gpu_what_nobody_placed_goes_there_and_what_crosses_is_told(flown: Flown) -> None:
    report = preflight_report(flown.path)
    assert report["gpus"] == 1
    unasked = {row["device"]: row["nobody_asked"] for row in report["placement"]}
    assert unasked["gpu:0"] > unasked["cpu:0"]
    told = {(row["code"], row["site"]) for row in report["findings"]}
    assert ("host-sync", "foreseen.py:58") in told
    assert ("variable-home", "foreseen.py:44") in told
    assert all(row["confidence"] in ("high", "medium", "low") and row["rules"] for row in report["findings"])


def test_the_command_prints_one_object_and_exits_as_the_script(
    tf_python: Path, tmp_path: Path, hopscope_home: Path
) -> None:
    script = tmp_path / "short.py"
    script.write_text(
        "import tensorflow as tf\n"
        "with tf.device('/GPU:1'):\n"
        "    found = tf.unique(tf.cast(tf.random.uniform([100]) * 9, tf.int64))[0]\n"
        "    shuffled = tf.random.shuffle(tf.random.uniform([100]))\n"
        "    print(float(tf.reduce_sum(shuffled)))\n"
        "raise SystemExit(3)\n"
    )
    words = [
        sys.executable,
        "-m",
        "app",
        "preflight",
        "--json",
        "--python",
        str(tf_python),
        "--",
        str(script),
    ]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr[-2000:]
    report = json.loads(done.stdout)
    assert (report["gpus"], report["gpus_named"], report["exit_code"]) == (2, 2, 3)
    assert [(row["op"], row["site"]) for row in report["no_kernel"]] == [("RandomShuffle", "short.py:4")]
    assert ("no-kernel", "short.py:4") in {(row["code"], row["site"]) for row in report["findings"]}


@pytest.fixture(scope="module")
def played(mx_python: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        script = str(SCRIPTS / "played_gpus.py")
        plan = plan_preflight(
            [script],
            extent=Extent(steps=STEPS, gpus=2),
            framework="mxnet",
            launch=LaunchOptions(python=mx_python),
        )
        run = registry.wait(launch(plan), LIMIT_S)
    log = run.log.read_text(errors="replace")
    assert (run.state, run.exit_code) == ("finished", 0), log[-3000:]
    return preflight_report(run.path), log


def test_mxnets_gpus_are_played_by_contexts_of_the_host(played: tuple[dict[str, Any], str]) -> None:
    report, log = played
    assert f"pre-flight: ended after {STEPS + 1} steps" in log
    assert "[cpu(1), cpu(2)]" in log
    assert (report["gpus"], report["gpus_named"], report["steps"]) == (2, 2, STEPS + 1)
    assert [row["device"] for row in report["placement"] if row["ops"]] == ["cpu:0", "gpu:0", "gpu:1"]
    loaded = {(hop["src"], hop["dst"]) for hop in report["hops"] if hop["site"] == "played_gpus.py:16"}
    assert loaded == {("cpu:0", "gpu:0"), ("cpu:0", "gpu:1")}


def test_what_raises_on_gpus_is_an_error_and_no_time_is_told(played: tuple[dict[str, Any], str]) -> None:
    report, _ = played
    told = {(row["severity"], row["code"], row["site"]) for row in report["findings"]}
    assert ("error", "mixed-context", "played_gpus.py:21") in told
    assert ("warning", "host-sync", "played_gpus.py:22") in told
    assert all(row["wait_ns"] is None for row in report["syncs"])
    assert "waitall" not in {row["kind"] for row in report["syncs"]}  # the pre-flight's own, at its end
    assert not any(" waited" in row["summary"] for row in report["findings"])
    what = [row["what"] for row in report["unforeseen"]]
    assert {"kernels", "waits", "the script asks how many GPUs there are"} <= set(what)


def test_mxnets_own_tables_tell_which_devices_an_op_has_kernels_for(mx_python: Path) -> None:
    words = (
        "import mxnet.libinfo, sys\n"
        "from probes.mx.kernel_registry import Registry\n"
        "registry = Registry(mxnet.libinfo.find_lib_path()[0])\n"
        "assert len(registry.names) > 1000\n"
        "ops = ['khatri_rao', 'dot', 'Custom']\n"
        "print([registry.has(op, kind) for op in ops for kind in ('cpu', 'gpu')])\n"
    )
    done = subprocess.run([mx_python, "-c", words], cwd=ROOT, capture_output=True, text=True, check=True)
    # This build has no GPU kernels; Python's own operators are run for both.
    assert done.stdout.split("\n")[0] == "[True, False, True, False, True, True]"
