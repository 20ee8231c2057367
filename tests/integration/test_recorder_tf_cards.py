"""Which card TensorFlow's gpu:i is, with TensorFlow's real build for GPUs on a double of NVIDIA's driver.

It takes that build, which the tests' own environment does not have: then this is skipped. CUDA's other
libraries are empty ones, which is enough for TensorFlow to list its devices; it cannot compute on them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.environments.environments import build_in
from runners.environments.frameworks import FRAMEWORKS
from tests.nvml import NvmlDouble
from tests.nvml.missing import compiler

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("scripts") / "tf_cards.py"
LIBRARIES = (
    "libcudart.so.12",
    "libcublas.so.12",
    "libcublasLt.so.12",
    "libcufft.so.11",
    "libcusolver.so.11",
    "libcusparse.so.12",
    "libcudnn.so.9",
)


@pytest.fixture(scope="module")
def gpu_python(tf_python: Path) -> Path:
    """The Python of a TensorFlow that can use GPUs."""
    if build_in(tf_python, FRAMEWORKS["tensorflow"]) != "gpu":
        pytest.skip("TensorFlow's environment is a CPU build, which lists no GPU")
    return tf_python


@pytest.fixture(scope="module")
def libraries(nvml_makeable: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Empty libraries by the names of CUDA's."""
    folder = tmp_path_factory.mktemp("libraries")
    source = folder / "empty.c"
    source.write_text("int empty;\n")
    command = compiler()
    assert command is not None
    for name in LIBRARIES:
        words = [*command, "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", str(folder / name), str(source)]
        subprocess.run(words, check=True)
    return folder


@pytest.fixture
def double(nvml_makeable: None, tmp_path: Path) -> Iterator[NvmlDouble]:
    """Three cards, of which CUDA finds the last one the fastest."""
    with NvmlDouble(tmp_path, 3) as double:
        for index in range(3):
            double.set(index, "name", f"Card {index}")
            double.set(index, "cuda_speed", index)
        yield double


@pytest.fixture
def listed(gpu_python: Path, libraries: Path, double: NvmlDouble) -> Any:
    """Runs the script in an environment and returns what it told."""

    def run(*arguments: str, **variables: str) -> dict[str, Any]:
        env = {**os.environ, **double.environment(), **variables, "PYTHONPATH": str(ROOT)}
        env["LD_LIBRARY_PATH"] += f":{libraries}"
        done = subprocess.run(
            [gpu_python, SCRIPT, *arguments],
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        told: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        return told

    return run


def check(told: dict[str, Any], double: NvmlDouble, *indices: int) -> None:
    """The GPUs in order are these cards, by TensorFlow's names of them and by the driver's UUIDs."""
    assert [facts["uuid"] for facts in told["facts"]] == [double.get(index, "uuid") for index in indices]
    names = dict(zip(told["physical"], told["names"], strict=True))
    assert [names[card] for card in told["cards"]] == [f"Card {index}" for index in indices]
    assert {facts["source"] for facts in told["facts"]} == {"the CUDA driver"}


def test_cuda_counts_the_fastest_first(listed: Any, double: NvmlDouble) -> None:
    check(listed(), double, 2, 1, 0)


def test_the_launchers_variables_hold(listed: Any, double: NvmlDouble) -> None:
    uuids = ",".join(str(double.get(index, "uuid")) for index in (0, 2))
    told = listed(CUDA_DEVICE_ORDER="PCI_BUS_ID", CUDA_VISIBLE_DEVICES=uuids)
    check(told, double, 0, 2)


def test_a_weak_card_is_left_out_and_the_others_keep_cudas_numbers(listed: Any, double: NvmlDouble) -> None:
    double.set(2, "multiprocessors", 4)
    told = listed()
    assert told["physical"] == ["/physical_device:GPU:1", "/physical_device:GPU:2"]
    check(told, double, 1, 0)


def test_what_the_program_leaves_visible_is_numbered_anew(listed: Any, double: NvmlDouble) -> None:
    # The order in which they are named is not kept.
    check(listed("2,1"), double, 1, 0)
