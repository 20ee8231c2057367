"""The TensorFlow programs that place ops and replicas, on stand-ins: recorded, and their claims judged.

One recorded run of three steps each: what the report says of it, and the verdict that follows.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runners import catalogue
from runners.plan.fitting import program_problems
from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE
from tests.integration.programs import STEPS, demo, verdicts
from tests.integration.recording import Recorded

BATCH, PIXELS, WIDTH = 64, 64, 256
PARAMETERS = 4 * (PIXELS * WIDTH + WIDTH + WIDTH * WIDTH + WIDTH + WIDTH * 10 + 10)
"""Bytes of the weights, and of their gradients."""
PROGRAMS = Path(__file__).parents[2] / "runners" / "programs" / "tensorflow"
SCRIPT = Path(__file__).with_name("scripts") / "tf_visible_order.py"


@pytest.fixture(autouse=True)
def home(hopscope_home: Path, tf_python: Path) -> Path:
    return hopscope_home


def found(recorded: Recorded) -> list[tuple[str, str]]:
    """Code and severity of the findings that a user would act upon."""
    rows = recorded.report["findings"]
    return sorted((row["code"], row["severity"]) for row in rows if row["severity"] != "info")


def devices_of(recorded: Recorded) -> set[str]:
    """The devices that ops ran on."""
    return {row["device"] for row in recorded.report["placement"] if row["ops"]}


def test_default_placement_spreads_nothing() -> None:
    recorded = demo("tf-default-placement")
    assert devices_of(recorded) == {"cpu:0"}
    assert recorded.report["steps"] == STEPS
    assert recorded.report["hops"] == []
    assert found(recorded) == []
    spread, gpus = verdicts(recorded)
    assert (spread.verdict, gpus.verdict) == (FAILS, UNTESTABLE)
    assert re.match(
        r"of stand-ins this is so: of (\d+) ops that name no device \1 ran on cpu:0, and none on cpu:1 and "
        r"cpu:2; cpu:0 is the default device here",
        spread.text,
    )


def test_visible_order_cannot_be_told_from_stand_ins() -> None:
    recorded = demo("tf-visible-order", by="cuda-visible-devices", cuda_device_order="pci-bus-id")
    assert devices_of(recorded) - {"cpu:0"} == {"cpu:1"}
    per_step = recorded.hops("src", "dst", "bytes", count=STEPS)
    assert per_step == [("cpu:0", "cpu:1", BATCH * PIXELS * 4), ("cpu:0", "cpu:1", BATCH * 4)]
    assert found(recorded) == []
    [verdict] = verdicts(recorded)
    assert verdict.verdict == UNTESTABLE
    assert verdict.text == (
        "cpu:1, cpu:2 are parts of 1 CPU, and an order takes two GPUs. "
        "TensorFlow's set_visible_devices answered ValueError"
    )
    assert "ValueError: Unrecognized device to those backwards" in recorded.log
    assert "RuntimeError: Visible devices cannot be modified after being initialized to none" in recorded.log


def test_central_storage_reads_all_from_the_host_each_step() -> None:
    recorded = demo("tf-central-storage")
    every = [row for row in recorded.report["hops"] if row["count"] == STEPS]

    def total(cause: str, **ends: str) -> int:
        rows = (row for row in every if row["cause"] == cause)
        return sum(row["bytes"] for row in rows if all(row[end] == ends[end] for end in ends))

    counter = 8  # the optimizer's, which the first replica reads and writes
    assert total("variable-home", src="cpu:0", dst="cpu:1") == PARAMETERS + counter
    assert total("variable-home", src="cpu:0", dst="cpu:2") == PARAMETERS
    for device in ("cpu:1", "cpu:2"):
        assert total("reduce-on-host", src=device, dst="cpu:0") == PARAMETERS
    assert {code for code, _ in found(recorded)} == {"reduce-on-host", "variable-home"}
    kept = [one for one in recorded.report["findings"] if one["code"] == "variable-home" and one["fix"]]
    assert {one["evidence"]["kept_by"] for one in kept} == {"CentralStorageStrategy"}
    assert all(one["fix"].startswith("CentralStorageStrategy keeps its variables") for one in kept)
    assert "weights: 6 on cpu:0" in recorded.log
    [verdict] = verdicts(recorded)
    assert verdict.verdict == HOLDS
    assert f"{4 * PARAMETERS + counter:,} bytes in all (estimated)" in verdict.text


def test_gradients_that_xla_made_are_summed_on_the_host_as_others_are() -> None:
    recorded = demo("tf-central-storage", jit_compile="on")
    assert ("reduce-on-host", "warning") in found(recorded)


def test_pin_replica_gradients_keeps_each_on_its_device() -> None:
    recorded = demo("tf-pin-replica-gradients", stand_ins=3)
    ends = {(row["src"], row["dst"]) for row in recorded.report["hops"]}
    devices = ["cpu:1", "cpu:2", "cpu:3"]
    assert ends == {(src, dst) for name in devices for src, dst in ((name, "cpu:0"), ("cpu:0", name))}
    assert recorded.report["steps"] == STEPS, "three optimizers at one line of a traced step make one step"
    parts = [len(range(place, BATCH, 3)) for place in range(3)]
    slices = [
        ("cpu:0", name, 4 * n * size) for name, n in zip(devices, parts, strict=True) for size in (1, 64)
    ]
    assert sorted(recorded.hops("src", "dst", "bytes", count=STEPS, cause="host-upload")) == sorted(slices)
    # As the program says itself at its end: nothing exchanges the gradients.
    assert found(recorded) == [("replica-drift", "error")]
    [verdict] = verdicts(recorded)
    assert (verdict.verdict, "; 0 bytes cross because of it and 0 between" in verdict.text) == (HOLDS, True)
    assert re.search(r"weights differ between replicas by up to [1-9][\d.]*%", recorded.log)


def test_mirrored_uneven_measures_who_waits() -> None:
    recorded = demo("tf-mirrored-uneven", repeats=2)
    told = {
        name: (shares, [float(wait) for wait in re.findall(r"cpu:\d ([\d.]+) ms", waits)])
        for name, shares, waits in re.findall(
            r"^(no slow one|equal|weighted): (.*) images; .* a step, loss [\d.]+; waits (.*)$",
            recorded.log,
            re.M,
        )
    }
    assert {name: shares for name, (shares, _) in told.items()} == {
        "no slow one": "32, 32",
        "equal": "32, 32",
        "weighted": "48, 16",
    }
    assert "injected: each sleeps 300 us an image, cpu:2 3 times as long" in recorded.log
    assert all(len(waits) == 2 for _, waits in told.values())
    judged = verdicts(recorded)
    assert len(judged) == 2
    assert all("an injected pause of 300 us an image" in verdict.text for verdict in judged)
    assert all("nothing of how fast such devices are" in verdict.text for verdict in judged)
    ring = [row for row in recorded.report["collectives"] if row["payload_bytes"] == PARAMETERS]
    assert sum(row["count"] for row in ring) == recorded.report["steps"] == 3 * STEPS
    assert found(recorded) == []


def test_pin_model_is_all_on_its_device() -> None:
    recorded = demo("tf-pin-model")
    placed, growth = verdicts(recorded)
    assert devices_of(recorded) == {"cpu:0", "cpu:2"}
    assert placed.verdict == HOLDS
    assert re.match(r"of (\d+) ops of the model \1 ran on cpu:2: ", placed.text)
    assert growth.verdict == UNTESTABLE


def test_tensorflow_ignores_the_order_of_visible_devices(tf_python: Path) -> None:
    """By what it hands to its runtime; and the program says what TensorFlow answers."""
    env = {**os.environ, "PYTHONPATH": str(PROGRAMS / "visible_order")}
    done = subprocess.run(
        [tf_python, SCRIPT], env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    first, *lines = done.stdout.splitlines()
    assert json.loads(first) == "0,2", "set_visible_devices was given 2 and 0"
    assert "GPU:0 is device: 2, name: X" in lines
    assert [line.partition(":")[0] for line in lines if line.startswith("verdict")] == [
        "verdict holds",
        "verdict does not hold",
        "verdict not testable here",
        "verdict not testable here",
        "verdict not testable here",
    ]


WRONG = [
    # What the catalogue is asked, the script's command line and its message.
    ("tf-mirrored-uneven", {"slowdown": 1}, "--slowdown 1", "--slowdown 1 makes both splits the same"),
    (
        "tf-mirrored-uneven",
        {"batch": 2, "slowdown": 8},
        "--batch 2 --slowdown 8",
        "--batch 2 leaves a replica without an image: 2 for cpu:1, 0 for cpu:2",
    ),
    ("tf-central-storage", {"batch": 1}, "--batch 1", "--batch 1 is too small for 2 replicas"),
    ("tf-pin-replica-gradients", {"batch": 1}, "--batch 1", "--batch 1 is too small for 2 replicas"),
    (
        "tf-default-placement",
        {"visible": 3},
        "--visible 3",
        "--visible 3 is more than the 2 devices there are",
    ),
    ("tf-visible-order", {"subset": 3}, "--subset 3", "--subset 3 is more than the 2 devices there are"),
]


@pytest.mark.parametrize(("name", "options", "args", "message"), WRONG)
def test_what_cannot_work_is_refused_before_and_by_the_script(
    tf_python: Path, name: str, options: dict[str, Any], args: str, message: str
) -> None:
    program = catalogue.program(name)
    values = {option.name: option.default for option in program.options}
    [problem] = program_problems(program, ["cpu:1", "cpu:2"], values | options)
    assert all(f"{key}=" in problem for key in list(options)[:1])
    # The script and the launch say the same of whose share is too small.
    assert message.partition(": ")[2] in problem
    assert program_problems(program, ["cpu:1", "cpu:2"], values) == []
    done = subprocess.run(
        [tf_python, program.script, "--stand-ins", "2", *args.split()],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    told = [line for line in done.stderr.splitlines() if line.startswith(f"{name}: ")]
    assert told
    assert message in told[0]


def test_devices_of_two_kinds_and_one_device_are_refused() -> None:
    for name in ("tf-central-storage", "tf-mirrored-uneven", "tf-default-placement", "tf-visible-order"):
        program = catalogue.program(name)
        values = {option.name: option.default for option in program.options}
        [problem] = program_problems(program, ["gpu:0", "cpu:1"], values)
        assert problem == f"{name} needs devices of one kind, and gpu:0, cpu:1 are not"
    alone = program_problems(catalogue.program("tf-pin-replica-gradients"), ["cpu:1"], {"batch": 64})
    assert alone == ["tf-pin-replica-gradients needs at least 2 devices, not 1"]
