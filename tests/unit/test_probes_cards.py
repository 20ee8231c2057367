"""Which card a framework's GPU number is, told inside the run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from probes.cuda.driver import NOT_INITIALIZED, CudaError, Driver
from probes.mx import devices as mx_devices
from probes.tf import devices as tf_devices
from probes.trace.cards import card_facts

A, B, C = "GPU-aaaa", "GPU-bbbb", "GPU-cccc"


class Cuda:
    """A driver that this process has loaded: cards by CUDA's number, once it was started."""

    def __init__(self, *uuids: str, started: bool = True) -> None:
        self.uuids = uuids
        self.started = started

    def identity(self, ordinal: int) -> dict[str, str]:
        if not self.started or ordinal >= len(self.uuids):
            raise CudaError("cuDeviceGet", NOT_INITIALIZED)
        return {"uuid": self.uuids[ordinal], "pci_bus_id": f"00000000:0{ordinal}:00.0"}


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts a driver into this process."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def loads(driver: Cuda | None) -> Cuda | None:
        monkeypatch.setattr(Driver, "of_this_process", lambda: driver)
        return driver

    loads(None)
    return loads


def test_the_driver_says_which_card_it_is(cuda: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # The script may have changed the variable after CUDA was started.
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", f"{A},{B}")
    cuda(Cuda(C, A))
    assert card_facts(1) == {
        "stand_in": False,
        "cuda_ordinal": 1,
        "source": "the CUDA driver",
        "uuid": A,
        "pci_bus_id": "00000000:01:00.0",
    }
    assert card_facts(0, sliced=True)["parent_uuid"] == C
    assert "uuid" not in card_facts(0, sliced=True)


@pytest.mark.parametrize("driver", [None, Cuda(A, started=False)])
def test_before_cuda_starts_the_launchers_list_is_what_there_is(
    driver: Cuda | None, cuda: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda(driver)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", f"{A}, {B}")
    assert card_facts(1) == {
        "stand_in": False,
        "cuda_ordinal": 1,
        "source": "CUDA_VISIBLE_DEVICES",
        "uuid": B,
    }
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0")
    assert card_facts(1) == {"stand_in": False, "cuda_ordinal": 1}
    assert card_facts(None) == {"stand_in": False}


class Context:
    """TensorFlow's eager context, as far as devices go."""

    _server_def: Any = None

    def __init__(self, *physical: int) -> None:
        """`physical` are the CUDA numbers of the cards that TensorFlow takes: it skips weak ones."""
        names = [f"/physical_device:GPU:{number}" for number in physical]
        self.cards = [SimpleNamespace(name=name) for name in names]
        self.visible = list(self.cards)
        self.cut: dict[int, list[Any]] = {}

    def list_physical_devices(self, _kind: str) -> list[Any]:
        return list(self.cards)

    def get_visible_devices(self, _kind: str) -> list[Any]:
        return list(self.visible)

    def get_logical_device_configuration(self, card: Any) -> list[Any] | None:
        return self.cut.get(self.cards.index(card))

    def get_device_details(self, card: Any) -> dict[str, str]:
        return {"device_name": f"Card {card.name[-1]}"}

    def mapped(self, *names: str) -> dict[str, Any]:
        self._logical_devices = [SimpleNamespace(name=f"/device:{name.upper()}") for name in names]
        facts = tf_devices.facts_of(self)
        assert facts["devices"] == list(names)
        return dict(facts["device_map"])


def test_tensorflow_numbers_the_visible_cards_anew(cuda: Any) -> None:
    cuda(Cuda(A, B, C))
    context = Context(0, 1, 2)
    # The order in which they are named to set_visible_devices is not kept.
    context.visible = [context.cards[2], context.cards[1]]
    mapped = context.mapped("cpu:0", "gpu:0", "gpu:1")
    assert [mapped[name].get("uuid") for name in mapped] == [None, B, C]
    assert [mapped[name].get("cuda_ordinal") for name in mapped] == [None, 1, 2]
    assert mapped["gpu:1"]["name"] == "Card 2"
    assert mapped["cpu:0"] == {"stand_in": False}


def test_tensorflow_skips_weak_cards(cuda: Any) -> None:
    cuda(Cuda(A, B, C))
    mapped = Context(0, 2).mapped("gpu:0", "gpu:1")
    assert [facts["uuid"] for facts in mapped.values()] == [A, C]


def test_a_card_that_is_cut_is_the_parent_of_its_parts(cuda: Any) -> None:
    cuda(Cuda(A, B))
    context = Context(0, 1)
    part = SimpleNamespace(experimental_device_ordinal=None)
    context.cut = {0: [part, part], 1: [part]}
    mapped = context.mapped("cpu:0", "cpu:1", "gpu:0", "gpu:1", "gpu:2")
    assert [mapped[f"gpu:{index}"].get("parent_uuid") for index in range(3)] == [A, A, None]
    assert [mapped[f"gpu:{index}"]["stand_in"] for index in range(3)] == [True, True, False]
    assert mapped["gpu:2"]["uuid"] == B
    assert mapped["cpu:1"] == {"stand_in": True}


def test_parts_may_be_numbered_by_hand(cuda: Any) -> None:
    cuda(Cuda(A, B))
    context = Context(0, 1)
    context.cut = {
        0: [SimpleNamespace(experimental_device_ordinal=number) for number in (1, 2)],
        1: [SimpleNamespace(experimental_device_ordinal=number) for number in (0, 1)],
    }
    mapped = context.mapped(*(f"gpu:{index}" for index in range(4)))
    assert [facts["parent_uuid"] for facts in mapped.values()] == [B, A, B, A]


def test_where_the_numbers_do_not_add_up_nothing_is_guessed(cuda: Any) -> None:
    cuda(Cuda(A, B))
    assert Context(0, 1).mapped("gpu:0") == {"gpu:0": {"stand_in": False}}


def test_another_process_of_the_cluster_has_cards_that_this_one_does_not_know(cuda: Any) -> None:
    cuda(Cuda(A))
    context = Context(0)
    context._server_def = SimpleNamespace(job_name="worker", task_index=1)
    full = [f"/job:worker/replica:0/task:{task}/device:GPU:0" for task in (0, 1)]
    context._logical_devices = [SimpleNamespace(name=name) for name in full]
    facts = tf_devices.facts_of(context)
    assert facts["device_map"]["worker:0/gpu:0"] == {"stand_in": False}
    assert facts["device_map"]["worker:1/gpu:0"]["uuid"] == A


class Heard:
    """A recording that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.tickers: list[Any] = []

    def fact(self, facts: dict[str, Any]) -> None:
        self.told.append(facts)


class TurnsUp:
    """MXNet's arrays, which turn up on devices."""

    def __init__(self) -> None:
        self.new_device: list[Any] = []

    def named(self, device: str) -> None:
        for tell in self.new_device:
            tell(device)


def test_mxnet_is_asked_again_until_it_has_started_cuda(cuda: Any) -> None:
    driver = Cuda(A, B, started=False)
    cuda(driver)
    heard: Any = Heard()
    arrays: Any = TurnsUp()
    mx_devices.install(heard, arrays)
    assert heard.told == [{"devices": ["cpu:0"], "device_map": {"cpu:0": {"stand_in": False}}}]
    arrays.named("gpu:1")
    assert heard.told[-1]["device_map"]["gpu:1"] == {"stand_in": False, "cuda_ordinal": 1}
    (tick,) = heard.tickers
    tick()
    assert len(heard.told) == 2
    driver.started = True
    tick()
    assert heard.told[-1]["device_map"]["gpu:1"]["uuid"] == B
    assert heard.told[-1]["cuda_environment"]["CUDA_VISIBLE_DEVICES"] is None
    tick()
    assert len(heard.told) == 3


def test_mxnet_is_not_asked_for_ever(cuda: Any) -> None:
    cuda(None)
    heard: Any = Heard()
    arrays: Any = TurnsUp()
    mx_devices.install(heard, arrays)
    arrays.named("gpu:0")
    for _ in range(1000):
        heard.tickers[0]()
    driver = Cuda(A)
    cuda(driver)
    heard.tickers[0]()
    assert "uuid" not in heard.told[-1]["device_map"]["gpu:0"]
