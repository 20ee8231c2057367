"""What tf-visible-order makes of CUDA's variables, before TensorFlow is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "runners" / "programs" / "tensorflow" / "visible_order"
CODE = """
import os
import train

parser = train.options()
train.tell_cuda(parser, parser.parse_args())
print(os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ.get("CUDA_DEVICE_ORDER"))
"""


def told(*args: str, **variables: str) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_")}
    env = {**kept, **variables, "PYTHONPATH": str(PROGRAM)}
    done = subprocess.run(
        [sys.executable, "-c", CODE, *args], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()[-1].split()


CUDA = ("--by", "cuda-visible-devices")


@pytest.mark.parametrize(
    ("args", "visible", "expected"),
    [
        # The launcher's UUIDs, each device keeping its own.
        (["--devices", "gpu:0,gpu:1", *CUDA], "GPU-a,GPU-b", "GPU-b,GPU-a"),
        (["--devices", "gpu:0,gpu:1", *CUDA, "--order", "forwards"], "GPU-a,GPU-b", "GPU-a,GPU-b"),
        (["--devices", "gpu:0,gpu:1", *CUDA, "--subset", "1"], "GPU-a,GPU-b", "GPU-b"),
        (["--devices", "gpu:2,gpu:0", *CUDA], None, "0,2"),
        # TensorFlow is told, or there are no GPUs in this run: the variable stays.
        (["--devices", "gpu:0,gpu:1"], "GPU-a,GPU-b", "GPU-a,GPU-b"),
        (["--stand-ins", "2", *CUDA], "GPU-a", "GPU-a"),
    ],
)
def test_the_devices_are_named_to_cuda(args: list[str], visible: str | None, expected: str) -> None:
    variables = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    assert told(*args, **variables) == [expected, "None"]


def test_cudas_own_count_is_chosen() -> None:
    assert told("--cuda-device-order", "fastest-first", CUDA_DEVICE_ORDER="PCI_BUS_ID")[1] == "FASTEST_FIRST"
    assert told("--cuda-device-order", "pci-bus-id")[1] == "PCI_BUS_ID"
    assert told(CUDA_DEVICE_ORDER="PCI_BUS_ID")[1] == "PCI_BUS_ID"


def test_without_devices_there_is_nothing_to_put_in_order() -> None:
    with pytest.raises(subprocess.CalledProcessError) as raised:
        told(*CUDA)
    assert raised.value.returncode == 2
    assert "--by cuda-visible-devices needs --devices" in raised.value.stderr
