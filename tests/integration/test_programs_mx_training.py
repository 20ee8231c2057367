"""The catalogued MXNet programs that train, on stand-ins: all their options, and their verdicts."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from runners import catalogue
from runners.plan.fitting import program_problems
from runners.programs.helpers.shared.slices import cut

PROGRAMS = Path(__file__).parents[2] / "runners" / "programs" / "mxnet"
STEP = re.compile(r"step (\d+)/(\d+) loss (\d+\.\d+) (\d+\.\d) steps/s")
PIXELS, WIDTH, BATCH = 64, 256, 64
PARAMETERS = 4 * (PIXELS * WIDTH + WIDTH + WIDTH * WIDTH + WIDTH + WIDTH * 10 + 10)
"""Bytes of the weights of the network of two hidden layers, and of their gradients."""
LONG = 60
"""Steps after which a program must have learned something."""


class Ran(NamedTuple):
    """What a program printed."""

    lines: list[str]
    losses: list[float]
    verdicts: list[str]


def execute(command: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(command), capture_output=True, text=True, timeout=120, check=False)


def train(python: Path, program: str, args: str, steps: int = 3) -> Ran:
    """Run a program that must succeed, and return what it printed."""
    done = execute([python, PROGRAMS / program / "train.py", *args.split(), "--steps", str(steps)])
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    matches = [match for match in map(STEP.fullmatch, lines) if match]
    assert matches[0][1] == "1"
    assert matches[-1][1] == matches[-1][2] == str(steps), "the last step is always printed"
    assert [match[1] for match in matches].count("1") == 1, "a second training prints no steps"
    [accuracy] = [
        match for match in (re.match(r"accuracy (\d\.\d+) on 299 held", line) for line in lines) if match
    ]
    losses = [float(match[3]) for match in matches]
    if steps == LONG:
        assert losses[-1] < losses[0] * 0.8
        assert float(accuracy[1]) > 0.5
    verdicts = [line.removeprefix("verdict ") for line in lines if line.startswith("verdict ")]
    assert lines[-len(verdicts) :] == [f"verdict {verdict}" for verdict in verdicts], "verdicts come last"
    return Ran(lines, losses, verdicts)


def test_module_is_on_its_one_context(mx_python: Path) -> None:
    ran = train(mx_python, "module", "--stand-ins 2 --log-every 7", LONG)
    assert "model on cpu:2; 1498 UCI 8x8 digits" in ran.lines
    assert any(
        re.match(r"Epoch\[0\] Batch \[0-50\]\tSpeed: [\d.]+ samples/sec\tcross-ent", line)
        for line in ran.lines
    )
    assert ran.verdicts == [
        "holds: one context holds it all: arguments (8 arrays) on cpu:2, gradients (6 arrays) on cpu:2, "
        "outputs (1 arrays) on cpu:2"
    ]


def test_module_with_every_option_gives_the_same_weights_twice(mx_python: Path) -> None:
    args = "--stand-ins 3 --devices cpu:3,cpu:1 --device cpu:3 --batch 16 --width 32 --seed 7 --log-every 1"
    first, second, other = (train(mx_python, "module", f"{args} {more}", 10) for more in ("", "", "--seed 8"))
    sums = [next(line for line in ran.lines if line.startswith("checksum")) for ran in (first, second, other)]
    assert sums[0] == sums[1] != sums[2]
    assert "arguments (8 arrays) on cpu:3" in first.verdicts[0]


@pytest.mark.parametrize(
    ("args", "sizes", "summed"),
    [
        ("", "32, 32 for cpu:1, cpu:2", [("cpu:0", PARAMETERS)]),
        ("--work-load-list 3,1 --kvstore local", "48, 16 for cpu:1, cpu:2", [("cpu:0", PARAMETERS)]),
        (
            "--work-load-list 3,1 --kvstore device --devices cpu:2,cpu:1",
            "48, 16 for cpu:2, cpu:1",
            # The largest gradient on one, all others on the other.
            [(r"cpu:[12]", 4 * WIDTH * WIDTH), (r"cpu:[12]", PARAMETERS - 4 * WIDTH * WIDTH)],
        ),
    ],
)
def test_module_data_parallel_equals_one_device(
    mx_python: Path, args: str, sizes: str, summed: list[tuple[str, int]]
) -> None:
    steps = 3 if args else LONG
    ran = train(mx_python, "module_data_parallel", f"--stand-ins 2 {args}", steps)
    told = [line for line in ran.lines if line.startswith("gradients summed on")]
    found = sorted((int(line.split(": ")[1].split()[0].replace(",", "")), line) for line in told)
    for (device, size), (bytes_, line) in zip(sorted(summed, key=lambda pair: pair[1]), found, strict=True):
        assert bytes_ == size
        assert re.match(rf"gradients summed on {device}: ", line)
    [verdict] = ran.verdicts
    name = sizes.rpartition(" for ")[2].partition(",")[0]
    match = re.fullmatch(
        rf"holds: 64 images are cut into {sizes}; after {steps} steps the weights differ from those of "
        rf"{name} alone by at most (\d\.\de-\d\d|0\.0e\+00) of the largest in dense\d_(weight|bias)",
        verdict,
    )
    assert match
    assert float(match[1]) < 1e-5


def test_module_data_parallel_with_a_batch_that_does_not_divide(mx_python: Path) -> None:
    ran = train(
        mx_python, "module_data_parallel", "--stand-ins 3 --batch 20 --width 16 --work-load-list 1,2,3"
    )
    assert ran.verdicts[0].startswith("holds: 20 images are cut into 3, 7, 10 for cpu:1, cpu:2, cpu:3;")


def test_slices_are_cut_as_module_cuts_them(mx_python: Path) -> None:
    cases = [
        (batch, loads) for batch in (7, 64, 100) for loads in ([1, 1], [3, 1], [1, 1, 1], [5, 2, 4], [1, 9])
    ]
    code = (
        "import json, sys\nfrom mxnet.executor_manager import _split_input_slice as split\n"
        "print(json.dumps([[s.stop - s.start for s in split(*case)] for case in json.loads(sys.argv[1])]))"
    )
    done = execute([mx_python, "-c", code, json.dumps(cases)])
    assert json.loads(done.stdout) == [cut(*case) for case in cases]


@pytest.mark.parametrize("kvstore", ["local", "device"])
def test_gluon_data_parallel_keeps_the_copies_together(mx_python: Path, kvstore: str) -> None:
    steps = LONG if kvstore == "local" else 5
    ran = train(mx_python, "gluon_data_parallel", f"--stand-ins 2 --kvstore {kvstore}", steps)
    summed, together, *memory = ran.verdicts
    match = re.fullmatch(rf"holds: kvstore {kvstore} summed the gradients of a step: (.*)", summed)
    assert match
    sums = [place.split(" bytes on ") for place in match[1].split(", ") if " on " in place]
    places = {device: size for size, device in sums}
    if kvstore == "local":
        assert match[1] == f"{PARAMETERS:,} bytes on cpu:0"
        assert not memory
    else:
        assert set(places) == {"cpu:1", "cpu:2"}
        assert memory[0].startswith("not testable here: more memory on the devices? stand-ins share the")
        # Each sum has two buffers: its own, and one for the other copy's gradient.
        assert f"{2 * 4 * WIDTH * WIDTH:,} bytes on cpu:" in memory[0]
    assert together.startswith(f"holds: with kvstore {kvstore} the copies stay the same: 0 of 6 parameters")
    assert together.endswith(f"0.00% after step {steps // 2}, 0.00% after step {steps}")


def test_gluon_data_parallel_without_a_kvstore_drifts(mx_python: Path) -> None:
    args = "--stand-ins 3 --devices cpu:3,cpu:1,cpu:2 --kvstore none --batch 31 --width 64"
    ran = train(mx_python, "gluon_data_parallel", args, 10)
    [verdict] = ran.verdicts
    match = re.fullmatch(
        r"holds: with no kvstore the copies drift: 6 of 6 parameters differ at the end; relative difference "
        r"of the copies on cpu:3, cpu:1, cpu:2: 0\.00% at the start, (\d+\.\d\d)% after step 1, "
        r"(\d+\.\d\d)% after step 5, (\d+\.\d\d)% after step 10, most in dense\d_weight",
        verdict,
    )
    assert match
    assert 0 < float(match[1]) < float(match[2]) < float(match[3])


@pytest.mark.parametrize(
    ("args", "boundaries", "weights"),
    [
        ("--stand-ins 2", 1, ["8 on cpu:1", "10 on cpu:2"]),
        (
            "--stand-ins 3 --devices cpu:3,cpu:1,cpu:2 --layers 3 --split 1,2 --width 16 --batch 8",
            2,
            ["4 on cpu:3", "4 on cpu:1", "6 on cpu:2"],
        ),
    ],
)
def test_lstm_copies_only_what_layers_hand_on(
    mx_python: Path, args: str, boundaries: int, weights: list[str]
) -> None:
    ran = train(mx_python, "model_parallel_lstm", args, LONG if boundaries == 1 else 3)
    size = 64 * 64 * 4 if boundaries == 1 else 8 * 16 * 4
    many = "1 boundary" if boundaries == 1 else f"{boundaries} boundaries"
    assert [line.removeprefix("weights: ") for line in ran.lines if line.startswith("weights: ")] == weights
    assert ran.verdicts == [
        f"holds: a training step copies {8 * boundaries} arrays forward and {8 * boundaries} back over "
        f"{many} and 8 time steps, {size:,} bytes each"
    ]


def test_lstm_without_the_identity_sends_parts_of_gradients_too(mx_python: Path) -> None:
    ran = train(mx_python, "model_parallel_lstm", "--stand-ins 2 --boundary direct --layers 2 --width 16")
    assert ran.verdicts == [
        "does not hold: a training step copies 8 arrays forward and 15 back over 1 boundary and 8 time "
        "steps, 4,096 bytes each; 7 of them (lstm0_t7_h2h_backward, ..) are a part of a gradient that the "
        "layer itself needs, sent to the next device to be added up there"
    ]


def test_lstm_learns_the_same_however_it_is_split(mx_python: Path) -> None:
    args = "--stand-ins 3 --layers 3 --width 16 --batch 16 --log-every 1"
    splits = ("--devices cpu:1,cpu:2 --split 1", "--devices cpu:3,cpu:1 --split 2", "", "--boundary direct")
    ran = [train(mx_python, "model_parallel_lstm", f"{args} {split}", 5) for split in splits]
    assert len({one.losses[-1] for one in ran}) == 1


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("module --steps 0", "argument --steps: '0' is not a whole number of at least 1"),
        ("module --batch 1499 --stand-ins 1", "--batch 1499 is more than the 1498 images to train on"),
        (
            "module --stand-ins 2 --devices cpu:1 --device cpu:2",
            "--device cpu:2 is not one of the devices",
        ),
        ("module --devices cpu:1", "there is no device cpu:1: MXNet has cpu:0; --stand-ins N makes"),
        ("module_data_parallel --stand-ins 1", "needs at least 2 devices, and cpu:1 is 1"),
        (
            "module_data_parallel --stand-ins 2 --work-load-list 3,1,1",
            "--work-load-list has 3 shares, and there are 2 devices: cpu:1, cpu:2",
        ),
        (
            "module_data_parallel --work-load-list 3,x",
            "argument --work-load-list: 'x' is not a whole number",
        ),
        (
            "module_data_parallel --stand-ins 2 --work-load-list 99,1 --batch 8",
            "--batch 8 leaves a device without an image: 8 for cpu:1, 0 for cpu:2",
        ),
        ("module_data_parallel --stand-ins 2 --kvstore nccl", "--kvstore nccl works on GPUs only"),
        ("gluon_data_parallel --kvstore nccl", "argument --kvstore: invalid choice: 'nccl'"),
        ("gluon_data_parallel --stand-ins 4 --batch 3", "--batch 3 is too small for 4 devices"),
        ("model_parallel_lstm --stand-ins 2 --layers 1", "1 layers are too few for 2 devices"),
        ("model_parallel_lstm --stand-ins 3 --split 2", "--split needs 2 points for 3 devices, and has 1"),
        ("model_parallel_lstm --split 2,2", "argument --split: '2,2' does not rise from each point"),
        ("model_parallel_lstm --data mnist", "there is no MNIST at"),
    ],
)
def test_what_cannot_work_is_told_in_one_line(
    mx_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, message: str
) -> None:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    program, *args = command.split()
    done = execute([mx_python, PROGRAMS / program / "train.py", *args])
    assert done.returncode == 2
    assert done.stdout == ""
    [told] = done.stderr.splitlines()
    assert told.startswith(f"mx-{program.replace('_', '-')}: ")
    assert message in told


@pytest.mark.parametrize(
    ("name", "devices", "options", "problem"),
    [
        (
            "mx-module-data-parallel",
            2,
            {"work-load-list": "3"},
            "work-load-list=3 has 1 shares, and 2 devices need 2",
        ),
        (
            "mx-module-data-parallel",
            2,
            {"work-load-list": "99,1", "batch": 8},
            "batch=8 leaves a device without an image: 8 for cpu:1, 0 for cpu:2",
        ),
        (
            "mx-module-data-parallel",
            2,
            {"kvstore": "nccl"},
            "kvstore=nccl needs GPUs: NCCL has no kernel for CPU devices, which cpu:1, cpu:2 are",
        ),
        (
            "mx-gluon-data-parallel",
            3,
            {"batch": 2},
            "batch=2 leaves some of 3 devices without an image",
        ),
        ("mx-model-parallel-lstm", 3, {"layers": 2}, "layers=2 are too few for 3 devices"),
        ("mx-module-data-parallel", 3, {"work-load-list": "1,2,3", "kvstore": "device"}, None),
    ],
)
def test_what_cannot_work_is_told_before_launch(
    name: str, devices: int, options: dict[str, str | int], problem: str | None
) -> None:
    program = catalogue.program(name)
    values = {option.name: option.default for option in program.options} | options
    names = [f"cpu:{index}" for index in range(1, devices + 1)]
    assert program_problems(program, names, values) == ([problem] if problem else [])
