"""The programs about missing kernels, syncs and input pipelines, recorded on stand-ins.

What a verdict about time says depends on the machine and is not asserted. On stand-ins it is always that the
claim cannot be tested there.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE
from tests.integration.programs import LIMIT_S, STEPS, demo, verdicts
from tests.integration.recording import SCRIPTS, Recorded

PROGRAMS = Path(__file__).parents[2] / "runners" / "programs" / "tensorflow"
SERVER = Path(__file__).with_name("script_server.py")
FIGURE = r"[\d.,e+-]+"
SPREAD = rf"{FIGURE} times \({FIGURE}\.\.{FIGURE}\)"


@pytest.fixture(autouse=True)
def home(hopscope_home: Path, tf_python: Path) -> Iterator[None]:
    yield


def op(ran: Recorded, kind: str) -> set[tuple[str, str]]:
    """Where the ops of a type were asked for, and where they ran."""
    return {(row["requested"], row["assigned"]) for row in ran.report["ops"] if row["type"] == kind}


def each_step(ran: Recorded, cause: str) -> list[tuple[str, str, int, int]]:
    """The hops that were made in each step, for this reason."""
    rows = [row for row in ran.report["hops"] if row["cause"] == cause and row["count"] == STEPS]
    return sorted((row["src"], row["dst"], row["bytes"] or 0, row["count"]) for row in rows)


def test_on_a_device_that_lacks_kernels_the_op_and_its_gradient_go_to_the_host() -> None:
    ran = demo("tf-no-kernel", op="fractional-max-pool", scope="xla-cpu", jit_compile="on", device="cpu:1")
    moved = {("xla_cpu:0", "cpu:0")}
    assert op(ran, "FractionalMaxPool") == op(ran, "FractionalMaxPoolGrad") == moved
    convolved = 64 * 8 * 8 * 8 * 4
    pooled = 64 * 5 * 5 * 8 * 4
    sizes = {size for src, _, size, _ in each_step(ran, "no-kernel") if src == "xla_cpu:0"}
    assert convolved in sizes
    back = {size for src, _, size, _ in each_step(ran, "no-kernel") if src == "cpu:0"}
    assert back == {convolved, pooled}
    findings = [row for row in ran.report["findings"] if row["code"] == "no-kernel"]
    assert any("FractionalMaxPoolGrad has kernels for CPU" in row["summary"] for row in findings)
    assert all(row["site"].startswith("train.py:") for row in findings)
    placed = [verdict for verdict in verdicts(ran) if "asked for on xla_cpu:0" in verdict.text]
    assert [verdict.verdict for verdict in placed] == [HOLDS, HOLDS]


def test_between_stand_ins_no_op_moves() -> None:
    ran = demo("tf-no-kernel", op="angle", width=32, batch=16)
    assert op(ran, "Angle") == {("cpu:2", "cpu:2")}
    assert each_step(ran, "no-kernel") == []
    table, mixed, placed = verdicts(ran)
    assert re.match(
        r"that Angle has no GPU kernel: the kernel table .* has it for CPU( and GPU)?$", table.text
    ) or (table.verdict == UNTESTABLE)
    assert table.verdict == (FAILS if table.text.endswith("and GPU") else table.verdict)
    assert mixed.verdict == HOLDS
    assert "raises InvalidArgumentError by itself" in mixed.text
    assert "and TypeError in a tf.function" in mixed.text
    assert placed.verdict == UNTESTABLE
    assert placed.text.startswith("cpu:2 is a CPU device and has all kernels of the host")


def test_every_option_is_taken(tf_python: Path) -> None:
    """Unrecorded, in one process that has imported TensorFlow."""
    shared = "--stand-ins 2 --devices cpu:2,cpu:1 --device cpu:1 --steps 2 --batch 8 --width 8 --seed 3"
    asked = {
        "no_kernel --op unique --scope device --log-every 1 --jit-compile on": "UniqueV2 in a",
        "no_kernel --op string-to-number --scope xla-cpu": "StringToNumber in a network on xla_cpu:0",
        "host_sync --variant metric --repeats 2": "metric alone has nothing to be compared with",
        "host_sync --variant every-n --every 1 --repeats 1": "every-n: ",
        "input_pipeline --pipeline numpy --repeats 2 --jit-compile on": "numpy alone has nothing to be",
        "input_pipeline --pipeline resident --repeats 1": "resident: ",
    }
    scripts = [
        [str(PROGRAMS / script / "train.py"), *more.split(), *shared.split()]
        for script, _, more in map(_cut, asked)
    ]
    scripts.append([str(SCRIPTS / "untuned_pipelines.py")])
    done = subprocess.run(
        [tf_python, SERVER, "tensorflow"],
        input=json.dumps(scripts) + "\n",
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    *results, (_, untuned, errors) = json.loads(done.stdout)
    # A part that is tuned is let go now and then only up to a minute later.
    assert untuned == "[[0, 2], [4, 6]] of 2 parts, tuned: [False, False]\n", errors[-3000:]
    for (status, out, err), words in zip(results, asked.values(), strict=True):
        assert status == 0, err[-3000:]
        assert words in out
        assert re.search(r"step (\d+)/\1 ", out), "the last step is always printed"


def _cut(command: str) -> tuple[str, str, str]:
    return command.partition(" ")


def test_each_way_of_following_the_loss_has_its_syncs() -> None:
    ran = demo("tf-host-sync", every=2, repeats=2, width=16, jit_compile="on")
    measured, recorded = verdicts(ran)
    assert measured.verdict == UNTESTABLE
    assert re.search(
        rf"A step took {SPREAD} as long with loss\.numpy\(\) in each, and {SPREAD}", measured.text
    )
    assert re.search(rf"the call takes {FIGURE} ms \(\S+\) and numpy\(\) {FIGURE} ms", measured.text)
    assert recorded.verdict == HOLDS
    # In the recorded stage each way runs once: every loss; the second and the last of three.
    reads = [row["count"] for row in ran.report["syncs"] if row["device"] == "cpu:2"]
    assert sorted(reads, reverse=True)[:3] == [STEPS, 1, 1]
    assert f"took {STEPS} values from cpu:2" in recorded.text


def test_what_each_input_pipeline_sends_in_a_step() -> None:
    ran = demo("tf-input-pipeline", repeats=2, batch=32, width=16)
    measured, recorded = verdicts(ran)
    assert measured.verdict == UNTESTABLE
    assert len(re.findall(SPREAD, measured.text)) == 3
    batch = [("cpu:0", "cpu:2", 32 * 8, STEPS), ("cpu:0", "cpu:2", 32 * 64 * 4, STEPS)]
    assert each_step(ran, "host-upload") == batch
    assert each_step(ran, "colocation") == batch, "tf.data's batches, made beside its iterator on the host"
    assert recorded.verdict == HOLDS
    assert "in 2 transfers and 8,448 bytes a step, and tf.data's batches in 2 transfers" in recorded.text
