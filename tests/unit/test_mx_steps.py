"""By which name a parameter is known that a trainer exchanges, and what steps a kvstore's optimizer makes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from probes.mx import steps


def test_a_trainers_exchange_by_itself_knows_its_parameters_names() -> None:
    class Trainer:
        _params = (SimpleNamespace(name="weight"), SimpleNamespace(name="bias"))

        def allreduce_grads(self, fails: bool) -> list[str]:
            if fails:
                raise ValueError
            return [steps.parameter_name(key) for key in (0, 1, 2, "own")]

    steps.name_parameters(Trainer, "allreduce_grads")
    assert Trainer().allreduce_grads(False) == ["weight", "bias", "key 2", "own"]
    with pytest.raises(ValueError):
        Trainer().allreduce_grads(True)
    assert steps.parameter_name(0) == "key 0"


class Steps:
    """Takes the steps that are told, with their lines."""

    def __init__(self) -> None:
        self.told: list[int] = []
        self.sites = SimpleNamespace(current=lambda: 7)

    def stepped(self, loc: int, by: int) -> None:
        self.told.append(loc)


def told(store: Any, *pushed: Any, given: bool = False, value: Any = "gradient") -> list[int]:
    recording = Steps()
    pushes = steps.Pushes(recording, lambda value: value == "gradient")  # type: ignore[arg-type]  # of a Recording it asks the steps only
    if given:
        pushes.given(store)
    for keys in pushed:
        pushes.pushed(store, keys, value)
    return recording.told


OPTIMIZES = SimpleNamespace(_updater=SimpleNamespace(optimizer="sgd"))


@pytest.mark.parametrize(
    ("pushed", "number"),
    [((0, 1, 0, 1, 0), 3), (([0, 1], [0, 1]), 2), ((["a"], "b", ["b", "a"]), 2), ((0, 1, 2), 1)],
)
def test_a_step_begins_where_a_key_is_pushed_again(pushed: Any, number: int) -> None:
    assert told(OPTIMIZES, *pushed) == [7] * number


def test_what_a_store_only_sums_makes_no_steps() -> None:
    assert told(SimpleNamespace(_updater=None), 0, 0) == []
    assert told(SimpleNamespace(_updater=lambda *_: None), 0, 0) == []


@pytest.mark.parametrize(
    ("value", "number"), [("data", 0), (["data", "data"], 0), ([["data", "gradient"], ["data"]], 2)]
)
def test_what_no_op_computed_is_no_gradient(value: Any, number: int) -> None:
    """Bug: workers that add up figures by a kvstore made a step with each of them."""
    assert len(told(OPTIMIZES, 0, 0, value=value)) == number


def test_servers_apply_an_optimizer_that_was_given_to_the_store() -> None:
    assert told(SimpleNamespace(_updater=None), 0, 0, given=True) == [7, 7]


def test_a_push_of_a_trainers_step_makes_none_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "applying", lambda: True)
    assert told(OPTIMIZES, 0, 0) == []
