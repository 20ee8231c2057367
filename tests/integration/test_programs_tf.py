"""The catalogued TensorFlow programs on stand-ins: they train, take every option, and say what cannot work.

What crosses between devices is read from TensorFlow's own partitions of the graphs that ran, so these
tests hold the programs to what their docstrings promise, without Hopscope's recorder.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.integration.forks import Forks

PROGRAMS = Path(__file__).parents[2] / "runners" / "programs" / "tensorflow"
PARTITIONS = Path(__file__).with_name("tf_partitions.py")
STEP = re.compile(r"step (\d+)/(\d+) loss (\d+\.\d+) (\d+\.\d) steps/s")
PIXELS = 64
LONG = 60
"""Steps after which a program must have learned something."""

Hop = tuple[str, str, int | None]


class Ran(NamedTuple):
    """What a program printed, and the largest of the graphs that it ran: its training step."""

    lines: list[str]
    losses: list[float]
    ops: list[list[str]]
    hops: Counter[Hop]
    """Source, destination and bytes of each transfer in one step."""


def execute(command: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(command), capture_output=True, text=True, timeout=120, check=False)


Execute = Callable[[Sequence[str | Path]], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def forks(tf_python: Path) -> Iterator[Forks]:
    """A process that has imported TensorFlow and Keras."""
    with Forks(tf_python, "tensorflow,keras") as forks:
        yield forks


@pytest.fixture
def forked(forks: Forks) -> Execute:
    """Runs a script in a fork that has imported TensorFlow and Keras."""
    return forks.execute


@pytest.fixture
def alone(tf_python: Path) -> Execute:
    """Runs a script in a process of its own, for what is decided while TensorFlow or Keras is imported."""
    return lambda words: execute([tf_python, *words])


def train(by: Execute, out: Path, program: str, *args: str, steps: int = 3) -> Ran:
    """Run a program that must succeed, and return what it did."""
    done = by([PARTITIONS, out, PROGRAMS / program / "train.py", *args, "--steps", str(steps)])
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    matches = [match for match in map(STEP.fullmatch, lines) if match]
    assert matches[0][1] == "1"
    assert matches[-1][1] == matches[-1][2] == str(steps), "the last step is always printed"
    accuracy = next(
        re.match(r"accuracy (\d\.\d+) on 299 held-out", line) for line in lines if "accuracy" in line
    )
    assert accuracy
    losses = [float(match[3]) for match in matches]
    if steps == LONG:
        assert losses[-1] < losses[0] * 0.8
        assert float(accuracy[1]) > 0.7
    step: dict[str, Any] = max(json.loads(out.read_text()), key=lambda graph: len(graph["ops"]))
    hops = Counter((src, dst, size) for src, dst, _, size in step["hops"])
    return Ran(lines, losses, step["ops"], hops)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "placed.json"


@pytest.fixture(scope="module")
def keras(tf_python: Path) -> str:
    """The Keras that this TensorFlow comes with: 3, or 2 up to TensorFlow 2.15."""
    code = "from importlib.metadata import version; print(version('keras').partition('.')[0])"
    return execute([tf_python, "-c", code]).stdout.strip()


def test_model_parallel_hops_are_between_neighbours_only(forked: Execute, out: Path) -> None:
    ran = train(forked, out, "model_parallel", "--stand-ins", "3", steps=LONG)
    activation = 64 * 256 * 4
    assert ran.hops == Counter(
        [
            ("cpu:0", "cpu:1", 64 * PIXELS * 4),
            ("cpu:0", "cpu:3", 64 * 4),
            ("cpu:1", "cpu:2", activation),
            ("cpu:2", "cpu:1", activation),
            ("cpu:2", "cpu:3", activation),
            ("cpu:3", "cpu:2", activation),
        ]
    )


def test_model_parallel_with_devices_in_any_order(forked: Execute, out: Path) -> None:
    args = "--stand-ins 3 --devices cpu:3,cpu:1 --layers 4 --split 1 --width 32 --batch 16 --seed 7"
    ran = train(forked, out, "model_parallel", *args.split(), "--log-every", "2")
    activation = 16 * 32 * 4
    assert ran.hops == Counter(
        [
            ("cpu:0", "cpu:1", 16 * 4),
            ("cpu:0", "cpu:3", 16 * PIXELS * 4),
            ("cpu:1", "cpu:3", activation),
            ("cpu:3", "cpu:1", activation),
        ]
    )
    updates = [device for _, op, _, device in ran.ops if op == "AssignSubVariableOp"]
    assert sorted(updates) == ["cpu:1"] * 6 + ["cpu:3"] * 2, "kernels and biases of three layers, and of one"


def test_model_parallel_compiled_has_the_same_hops(forked: Execute, out: Path) -> None:
    ran = train(forked, out, "model_parallel", "--stand-ins", "2", "--jit-compile", "on")
    ends = sorted((src, dst) for src, dst, _ in ran.hops)
    assert ends == [("cpu:0", "cpu:1"), ("cpu:0", "cpu:2"), ("cpu:1", "cpu:2"), ("cpu:2", "cpu:1")]


@pytest.mark.parametrize("jit", ["off", "on"])
def test_pin_gradients_differ_in_the_gradient_ops_only(forked: Execute, out: Path, jit: str) -> None:
    args = ["--stand-ins", "2", "--device", "cpu:2", "--jit-compile", jit]
    steps = LONG if jit == "off" else 3
    inside = train(forked, out, "pin_gradients", *args, "--gradients", "inside", steps=steps)
    outside = train(forked, out, "pin_gradients", *args, "--gradients", "outside", steps=steps)
    # Between the first and the last step a line is printed now and then: by time.
    ends = [(ran.losses[0], ran.losses[-1]) for ran in (inside, outside)]
    assert ends[0] == ends[1], "where the gradients are computed changes no result"

    batch = [("cpu:0", "cpu:2", 64 * 4), ("cpu:0", "cpu:2", 64 * PIXELS * 4)]
    assert inside.hops == Counter(batch)

    def devices(ran: Ran) -> dict[str, str]:
        return {name: device for name, _, _, device in ran.ops}

    assert devices(inside).keys() == devices(outside).keys()
    moved = {name for name, device in devices(inside).items() if devices(outside)[name] != device}
    assert all(devices(inside)[name] == "cpu:2" and devices(outside)[name] == "cpu:0" for name in moved)
    if jit == "on":
        # The two backward functions, one of the layers and one of the loss, and the 1.0 they begin with.
        assert (
            sorted(op for name, op, *_ in outside.ops if name in moved) == ["Const"] + ["PartitionedCall"] * 2
        )
        return
    assert moved == {name for name in devices(inside) if name.startswith("gradient_tape/")}
    hidden = 64 * 256 * 4
    kernels = [PIXELS * 256 * 4, 256 * 256 * 4, 256 * 10 * 4]
    biases = [256 * 4, 256 * 4, 10 * 4]
    to_host = [hidden, hidden, *kernels[1:], 64 * 10 * 4]
    expected = [("cpu:2", "cpu:0", size) for size in to_host] + [
        ("cpu:0", "cpu:2", size) for size in kernels + biases
    ]
    assert outside.hops == Counter(batch + expected)


def test_pin_model_keeps_all_on_its_device(alone: Execute, out: Path, keras: str) -> None:
    args = ["--stand-ins", "2", "--keras", keras, "--memory-growth", "off"]
    ran = train(alone, out, "pin_model", *args, steps=LONG)
    assert "weights: 6 on cpu:2" in ran.lines
    slots = next(line for line in ran.lines if line.startswith("optimizer variables: "))
    assert re.fullmatch(r"optimizer variables: \d+ on cpu:2", slots), "slots, counter and rate on one device"
    assert ran.hops == Counter([("cpu:0", "cpu:2", 64 * 4), ("cpu:0", "cpu:2", 64 * PIXELS * 4)])
    assert {name for name, _, _, device in ran.ops if device != "cpu:2"} == {"iterator", "IteratorGetNext"}


def test_pin_model_with_legacy_keras_compiled(alone: Execute, out: Path) -> None:
    args = "--stand-ins 2 --devices cpu:2,cpu:1 --device cpu:2 --keras 2 --memory-growth on --jit-compile on"
    ran = train(alone, out, "pin_model", *args.split())
    assert "model on cpu:2, Keras 2; 1498 UCI 8x8 digits" in ran.lines
    assert "weights: 6 on cpu:2" in ran.lines
    assert ran.hops.total() == 2


GRADIENTS = [PIXELS * 256 * 4, 256 * 4, 256 * 256 * 4, 256 * 4, 256 * 10 * 4, 10 * 4]
"""Bytes of each gradient of the mirrored model."""


def expected_sums(how: str) -> Counter[Hop]:
    """The hops between cpu:2, the first replica, and cpu:1 that summing the gradients makes."""
    sizes = {"reduction-to-one-device": GRADIENTS, "hierarchical-copy": [sum(GRADIENTS)]}.get(how, [])
    ends = (("cpu:1", "cpu:2"), ("cpu:2", "cpu:1"))
    return Counter((*pair, size) for size in sizes for pair in ends)


@pytest.mark.parametrize(
    ("loop", "how", "steps"),
    [
        ("fit", "default", LONG),
        ("fit", "reduction-to-one-device", 3),
        ("custom", "hierarchical-copy", 3),
        ("custom", "reduction-to-one-device", LONG),
    ],
)
def test_mirrored_sums_the_gradients(forked: Execute, out: Path, loop: str, how: str, steps: int) -> None:
    args = ["--stand-ins", "2", "--devices", "cpu:2,cpu:1", "--loop", loop, "--cross-device-ops", how]
    ran = train(forked, out, "mirrored", *args, steps=steps)
    sums = Counter({hop: count for hop, count in ran.hops.items() if "cpu:0" not in hop})
    sums -= Counter([("cpu:2", "cpu:1", 8)])  # the step counter of the first replica, where it is copied
    assert sums == expected_sums(how)
    to_host = [hop for hop in ran.hops if hop[1] == "cpu:0"]
    assert {size for *_, size in to_host} <= {4}, "nothing but the losses"
    collectives = [device for _, op, _, device in ran.ops if op == "CollectiveReduceV2"]
    assert sorted(collectives) == (["cpu:1", "cpu:2"] if how == "default" else [])


def test_mirrored_shares_any_batch_and_compiles_the_replicas(forked: Execute, out: Path) -> None:
    args = "--stand-ins 3 --loop custom --batch 65 --jit-compile on"
    ran = train(forked, out, "mirrored", *args.split())
    assert "replicas on cpu:1, cpu:2, cpu:3, 21 images each a step; 1498 UCI 8x8 digits" in ran.lines
    assert {device for _, op, _, device in ran.ops if op == "StatefulPartitionedCall"} == {
        "cpu:1",
        "cpu:2",
        "cpu:3",
    }


def test_mnist_of_the_user(
    alone: Execute, tf_python: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "keras" / "datasets" / "mnist.npz"
    file.parent.mkdir(parents=True)
    code = (
        "import sys, numpy as np; draw = np.random.default_rng(0).integers; "
        "part = lambda n: (draw(0, 256, (n, 28, 28), 'uint8'), draw(0, 10, n, 'uint8')); "
        "(a, b), (c, d) = part(1500), part(294); "
        "np.savez(sys.argv[1], x_train=a, y_train=b, x_test=c, y_test=d)"
    )
    assert execute([tf_python, "-c", code, file]).returncode == 0
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    ran = train(alone, out, "pin_gradients", "--stand-ins", "1", "--gradients", "inside", "--data", "mnist")
    assert ran.hops == Counter([("cpu:0", "cpu:1", 64 * 4), ("cpu:0", "cpu:1", 64 * 28 * 28 * 4)])


@pytest.mark.parametrize(
    ("command", "message"),
    [
        # Told before TensorFlow is imported.
        ("model_parallel --steps 0", "argument --steps: '0' is not a whole number of at least 1"),
        (
            "model_parallel --split 3,2",
            "argument --split: '3,2' does not rise from each point to the next",
        ),
        ("pin_gradients --gradients sideways", "invalid choice: 'sideways'"),
        ("pin_gradients --devices cpu:1,cpu:1", "cpu:1 is named twice in 'cpu:1,cpu:1'"),
        ("pin_model --device tpu:0", "'tpu:0' is not a device; write cpu:1 or gpu:0"),
        ("pin_model --seed -1", "'-1' is not a whole number from 0 to"),
        ("mirrored --data mnist", "there is no MNIST at"),
        # Told once the devices are known.
        ("model_parallel --stand-ins 1", "needs at least 2 devices, and cpu:1 is 1"),
        ("model_parallel --stand-ins 3 --split 2", "--split needs 2 points for 3 devices, and has 1"),
        ("model_parallel --stand-ins 2 --split 6", "--split names layer 6, and the layers are 0 to 5"),
        ("pin_gradients --devices cpu:9", "there is no device cpu:9: TensorFlow has cpu:0"),
        (
            "pin_gradients --stand-ins 2 --devices cpu:1 --device cpu:2",
            "--device cpu:2 is not one of the devices",
        ),
        ("mirrored --stand-ins 2 --cross-device-ops nccl", "nccl works on GPUs only"),
        ("mirrored --stand-ins 3 --cross-device-ops hierarchical-copy", "needs an even number of devices"),
        ("mirrored --stand-ins 2 --jit-compile on", "--jit-compile on works in --loop fit on GPUs only"),
        ("mirrored --stand-ins 4 --batch 3", "--batch 3 is too small for 4 replicas"),
    ],
)
def test_what_cannot_work_is_told_in_one_line(
    forks: Forks, tmp_path: Path, command: str, message: str
) -> None:
    program, *args = command.split()
    done = forks.execute(
        [PROGRAMS / program / "train.py", *args], KERAS_HOME=str(tmp_path), CUDA_VISIBLE_DEVICES=""
    )
    assert done.returncode == 2
    assert done.stdout == ""
    name = "tf-" + program.replace("_", "-")
    told = [line for line in done.stderr.splitlines() if line.startswith(f"{name}: ")]
    assert len(told) == 1
    assert message in told[0]
    assert "Traceback" not in done.stderr
