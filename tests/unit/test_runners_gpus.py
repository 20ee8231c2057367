"""Listing GPUs, with NVML's own Python module over a library that answers as told."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from runners.gpus import Gpu, list_gpus


def fail_with(error: Exception) -> Any:
    def call(*_arguments: object) -> None:
        raise error

    return call


@pytest.fixture
def two_cards(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlShutdown", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCount", lambda: 2)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByIndex", lambda index: index)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetUUID", lambda handle: f"GPU-{handle}")
    monkeypatch.setattr(
        pynvml, "nvmlDeviceGetPciInfo", lambda handle: SimpleNamespace(busId=b"00000000:0%d:00.0" % handle)
    )
    monkeypatch.setattr(pynvml, "nvmlDeviceGetName", lambda _handle: b"Card X")
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCudaComputeCapability", lambda _handle: (9, 0))
    return monkeypatch


@pytest.mark.usefixtures("two_cards")
def test_cards_are_listed_as_nvml_numbers_them() -> None:
    found = list_gpus()
    assert found.problem is None
    assert found.cards[1] == Gpu(1, "GPU-1", "00000000:01:00.0", "Card X", (9, 0))
    assert found.cards[1].device == "gpu:1"


def test_a_card_that_cannot_be_read_does_not_hide_the_other(two_cards: pytest.MonkeyPatch) -> None:
    def handle(index: int) -> int:
        if index == 0:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
        return index

    two_cards.setattr(pynvml, "nvmlDeviceGetHandleByIndex", handle)
    found = list_gpus()
    assert [card.index for card in found.cards] == [1]
    assert found.problem is not None
    assert found.problem.startswith("gpu:0 cannot be read: NVML: GPU is lost")


def test_a_capability_that_is_not_told_is_none(two_cards: pytest.MonkeyPatch) -> None:
    missing = pynvml.NVMLError(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
    two_cards.setattr(pynvml, "nvmlDeviceGetCudaComputeCapability", fail_with(missing))
    assert [card.compute_capability for card in list_gpus().cards] == [None, None]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (pynvml.NVMLError(pynvml.NVML_ERROR_DRIVER_NOT_LOADED), "no NVIDIA driver is loaded"),
        (pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND), "no NVIDIA driver is installed"),
        (pynvml.NVMLError(pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH), "differ in version"),
        (pynvml.NVMLError(pynvml.NVML_ERROR_UNKNOWN), "Unknown Error"),
        (pynvml.NVMLLibraryMismatchError("Unversioned function called"), "Unversioned function called"),
    ],
)
def test_why_there_are_none(two_cards: pytest.MonkeyPatch, error: Exception, words: str) -> None:
    two_cards.setattr(pynvml, "nvmlInit", fail_with(error))
    found = list_gpus()
    assert found.cards == ()
    assert found.problem is not None
    assert words in found.problem


@pytest.mark.usefixtures("two_cards")
def test_no_cards_and_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCount", lambda: 0)
    assert list_gpus().problem == "NVML reports no GPU"
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert "nvidia-ml-py is not installed" in str(list_gpus().problem)
