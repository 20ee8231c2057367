"""What device names mean for a process."""

from __future__ import annotations

import pytest

from runners.errors import UsageError
from runners.machine.gpus import Gpu, Gpus
from runners.plan.device_choice import choose, parse_device, parse_devices

A = Gpu(0, "GPU-aaaa", "00000000:01:00.0", "Card X", (9, 0))
B = Gpu(1, "GPU-bbbb", "00000000:02:00.0", "Card X", (9, 0))
C = Gpu(2, "GPU-cccc", "00000000:03:00.0", "Card Y", (8, 0))
THREE = Gpus((A, B, C))
NONE = Gpus(problem="no NVIDIA driver is installed")


def test_nvml_indices_become_uuids_in_the_order_named() -> None:
    choice = choose(["gpu:2", "GPU:0"], None, THREE)
    assert choice.problems == []
    assert choice.env == {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": "GPU-cccc,GPU-aaaa"}
    assert choice.own_names == {"gpu:2": "gpu:0", "gpu:0": "gpu:1"}
    assert choice.cards == [C, A]
    assert choice.map()["gpu:0"] == {
        "nvml_index": 2,
        "uuid": "GPU-cccc",
        "pci_bus_id": "00000000:03:00.0",
        "name": "Card Y",
    }


def test_stand_ins_are_as_many_as_are_named() -> None:
    choice = choose(["cpu:1", "cpu:3"], None, NONE)
    assert (choice.stand_ins, choice.env, choice.problems) == (3, {}, [])
    assert choose(None, 2, NONE).names == ["cpu:1", "cpu:2"]
    assert choose(None, 2, NONE).map() == {"cpu:1": {"stand_in": True}, "cpu:2": {"stand_in": True}}


def test_without_a_word_nothing_is_chosen() -> None:
    choice = choose(None, None, THREE)
    assert (choice.names, choice.env, choice.cards) == (None, {}, [])


@pytest.mark.parametrize(
    ("names", "stand_ins", "problem"),
    [
        (["gpu:3"], None, "gpu:3 does not exist here: this machine has gpu:0, gpu:1, gpu:2"),
        (["cpu:3"], 2, "cpu:3 does not exist with --stand-ins 2: they are cpu:1 to cpu:2"),
        (["gpu:0", "gpu:0"], None, "gpu:0 is named twice"),
        (["gpu0"], None, "'gpu0' is not a device; did you mean gpu:0?"),
        (["cuda:1"], None, "'cuda:1' is not a device; did you mean gpu:1?"),
        (["1"], None, "'1' is not a device; did you mean gpu:1?"),
        (["tpu:0"], None, "'tpu:0' is not a device; write gpu:0 for a GPU or cpu:1 for a stand-in"),
        (None, 65, "--stand-ins 65 is not possible: it takes 1 to 64"),
        (["cpu:65"], None, "cpu:65 is not possible: there can be 64 stand-ins"),
    ],
)
def test_what_cannot_be_had_is_told(names: list[str] | None, stand_ins: int | None, problem: str) -> None:
    assert choose(names, stand_ins, THREE).problems == [problem]


def test_without_gpus_the_reason_is_told() -> None:
    assert choose(["gpu:0"], None, NONE).problems == [
        "gpu:0 does not exist here: no NVIDIA driver is installed"
    ]


def test_tensorflows_own_spelling_is_understood() -> None:
    assert parse_device("/device:GPU:0") == "gpu:0"
    assert parse_devices(["/GPU:1", " cpu:2"]) == ["gpu:1", "cpu:2"]
    with pytest.raises(UsageError):
        parse_device("gpu:01x")
