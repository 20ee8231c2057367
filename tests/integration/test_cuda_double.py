"""The double of CUDA's driver: which devices it shows in which order, and that memory is copied."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.nvml import NvmlDouble

SCRIPTS = Path(__file__).with_name("scripts")
NO_DEVICE = 100
U = [f"GPU-{0xA1B2C300 + gpu:08x}-{gpu:04x}-4d5e-8f60-0123456789ab" for gpu in range(8)]


def _run(double: NvmlDouble, script: str, **variables: str) -> Any:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_")}
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / script)],
        env=clean | double.environment() | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def _shown(double: NvmlDouble, **variables: str) -> list[int]:
    """The GPUs that a process sees, by NVML's index."""
    answer = _run(double, "cuda_devices.py", **variables)
    assert answer["status"] == (0 if answer["devices"] else NO_DEVICE)
    return [(int(bus.split(":")[1], 16) - 7) // 8 for bus, _uuid in answer["devices"]]


def test_order(nvml_double: NvmlDouble) -> None:
    """The fastest come first, equals by bus; PCI_BUS_ID is NVML's order; lists count in that in force."""
    assert _shown(nvml_double) == list(range(8))
    nvml_double.set(5, "cuda_speed", 300)
    nvml_double.set(2, "cuda_speed", 200)
    assert _shown(nvml_double) == [5, 2, 0, 1, 3, 4, 6, 7]
    assert _shown(nvml_double, CUDA_DEVICE_ORDER="PCI_BUS_ID") == list(range(8))
    assert _shown(nvml_double, CUDA_VISIBLE_DEVICES="1,0") == [2, 5]
    assert _shown(nvml_double, CUDA_VISIBLE_DEVICES="1,0", CUDA_DEVICE_ORDER="PCI_BUS_ID") == [1, 0]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("", []),
        ("2,1", [2, 1]),
        ("0,2,-1,1", [0, 2]),
        ("0,0", []),
        ("0,8,1", [0]),
        ("0,1,-1,0", [0, 1]),
        ("1abc", [1]),
        ("abc", []),
        (" 3, 1", [3, 1]),
        ("0,,1", [0]),
        (U[3], [3]),
        (f"{U[3][:12]},{U[1]}", [3, 1]),
        ("GPU-a1b2c3", []),
        (f"{U[3]},GPU-ffff,{U[1]}", [3]),
        (f"{U[3]},{U[3]}", []),
        (f"0,{U[1]},2", [0]),
        (f"{U[1]},0", [1]),
        ("none", []),
    ],
)
def test_visible_devices(nvml_double: NvmlDouble, value: str, wanted: list[int]) -> None:
    assert _shown(nvml_double, CUDA_VISIBLE_DEVICES=value) == wanted


def test_instances(nvml_double: NvmlDouble) -> None:
    """Of MIG's instances one is seen, and nothing beside it."""
    nvml_double.mig(2, [{}, {"gpu_instance": 5}])
    first, second = (f"00020{number:03}555555555555" for number in range(2))

    def seen(value: str) -> list[str]:
        answer = _run(nvml_double, "cuda_devices.py", CUDA_VISIBLE_DEVICES=value)
        return [uuid[:20] for _bus, uuid in answer["devices"]]

    assert seen("2") == [first]
    assert seen("MIG-00020001-5555-5555-5555-0123456789ab,0") == [second]
    assert seen(f"MIG-{U[2]}/5/0") == [second]
    assert seen(f"MIG-{U[2]}/6/0") == []
    assert [uuid[:20] for _bus, uuid in _run(nvml_double, "cuda_devices.py")["devices"]] == [first]


def test_lost_gpu(nvml_double: NvmlDouble) -> None:
    nvml_double.lose(1)
    assert _shown(nvml_double) == [0, 2, 3, 4, 5, 6, 7]
    nvml_double.fail("cuInit", 803)
    assert _run(nvml_double, "cuda_devices.py")["status"] == 803


def test_copies(nvml_double: NvmlDouble) -> None:
    """Bytes arrive; what lacks a context, room or permission is refused with the driver's own status."""
    assert _run(nvml_double, "cuda_copies.py") == {
        "before": 3,
        "no context": 201,
        "peer": 1,
        "enabled": [0, 704],
        "same": True,
        "took time": True,
        "too long": 1,
        "too much": 2,
        "freed twice": 1,
        "destroyed": 709,
    }
    nvml_double.p2p(1, 0, 3)
    said = _run(nvml_double, "cuda_copies.py")
    assert (said["peer"], said["enabled"], said["same"]) == (0, [217, 217], True)
