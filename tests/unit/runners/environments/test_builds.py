"""Which build of a framework suits which cards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runners.environments import builds
from runners.environments.frameworks import FRAMEWORKS
from runners.machine import gpus
from runners.machine.gpus import Gpu, Gpus

TENSORFLOW, MXNET = FRAMEWORKS["tensorflow"], FRAMEWORKS["mxnet"]


def card(index: int, capability: tuple[int, int] | None) -> Gpu:
    return Gpu(index, f"GPU-{index}", f"0:{index}", "Card X", capability)


OLD, HOPPER, BLACKWELL, UNTOLD = card(0, (8, 6)), card(1, (9, 0)), card(2, (12, 0)), card(3, None)
ALL = (OLD, HOPPER, BLACKWELL, UNTOLD)


def test_mxnet_has_no_code_from_capability_9_on() -> None:
    assert builds.usable_cards(MXNET, ALL) == [OLD, UNTOLD]
    first, second = builds.refusals(MXNET, ALL)
    assert first.startswith("gpu:1 (Card X) has compute capability 9.0, and MXNet's CUDA 11.2 build has")
    assert "no PTX" in first and second.startswith("gpu:2 (Card X) has compute capability 12.0")


def test_tensorflow_is_only_warned_of() -> None:
    assert builds.usable_cards(TENSORFLOW, ALL) == list(ALL)
    assert builds.refusals(TENSORFLOW, ALL) == []
    (warning,) = builds.warnings(TENSORFLOW, ALL)
    assert warning.startswith("gpu:2 (Card X) has compute capability 12.0, and TensorFlow's builds")


@pytest.mark.parametrize(
    ("cards", "tensorflow", "mxnet"),
    [
        ((), ("cpu", "no GPU: no driver"), ("cpu", "no GPU: no driver")),
        ((OLD,), ("gpu", "NVML reports 1 GPU for it"), ("gpu", "NVML reports 1 GPU for it")),
        ((OLD, HOPPER), ("gpu", "NVML reports 2 GPUs for it"), ("gpu", "NVML reports 1 GPU for it")),
        ((HOPPER,), ("gpu", "NVML reports 1 GPU for it"), ("cpu", builds.refusals(MXNET, [HOPPER])[0])),
    ],
)
def test_the_build_follows_nvml_and_what_the_build_can_use(
    monkeypatch: pytest.MonkeyPatch,
    cards: tuple[Gpu, ...],
    tensorflow: tuple[str, str],
    mxnet: tuple[str, str],
) -> None:
    monkeypatch.setattr(gpus, "list_gpus", lambda: Gpus(cards, None if cards else "no driver"))
    monkeypatch.setattr(builds, "driver_found", lambda: True)
    assert builds.choose_build(TENSORFLOW) == tensorflow
    assert builds.choose_build(MXNET) == mxnet


def test_cards_without_the_drivers_library_are_no_use_to_mxnet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "list_gpus", lambda: Gpus((OLD,)))
    monkeypatch.setattr(builds, "driver_found", lambda: False)
    build, why = builds.choose_build(MXNET)
    assert build == "cpu" and "libcuda.so.1" in why
    assert builds.choose_build(TENSORFLOW)[0] == "gpu"


@pytest.fixture
def asked_anew() -> Iterator[None]:
    builds.driver_found.cache_clear()
    yield
    builds.driver_found.cache_clear()


def test_the_drivers_library_is_looked_for_by_the_loader(
    asked_anew: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builds, "DRIVER_LIBRARY", "libc.so.6")
    assert builds.driver_problem(MXNET) is None
    builds.driver_found.cache_clear()
    monkeypatch.setattr(builds, "DRIVER_LIBRARY", "libno-such-thing.so.1")
    assert "libno-such-thing.so.1, which this machine lacks" in (builds.driver_problem(MXNET) or "")
