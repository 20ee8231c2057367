"""Which arrays of MXNet are compared as copies, told by what is made, asked for and written."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy

from probes.mx.replicas_apart import Apart

FLOATS = ("float32", 4)


class Arrays:
    """Two arrays at addresses 1 and 2, on a device each."""

    def __init__(self) -> None:
        self.copies: dict[int, Any] = {}
        self.made_by = {"value": SimpleNamespace(op="broadcast_sub", device="gpu:0")}

    def dtype(self, handle: Any) -> tuple[str, int]:
        return FLOATS

    def shape(self, handle: Any) -> tuple[int, ...]:
        return (2,)

    def sparse(self, handle: Any) -> bool:
        return False

    def device(self, handle: Any) -> str:
        return f"gpu:{handle.value - 1}"

    def mark(self, handle: Any) -> Any:
        return self.made_by[handle.value]


def apart() -> tuple[Apart, Arrays]:
    arrays, recording = Arrays(), SimpleNamespace(sites=SimpleNamespace(current=lambda depth: 3))
    made = Apart(recording, arrays, lambda *_: numpy.array([0.5, -1.0]))  # type: ignore[arg-type]
    for address in (1, 2):
        made.made(address)
    return made, arrays


def array(handle: Any) -> Any:
    return SimpleNamespace(handle=SimpleNamespace(value=handle))


def test_a_difference_that_is_copied_into_an_array_updates_it() -> None:
    found, arrays = apart()
    found.differentiated()
    found.wrote(arrays.copies[1], "_copyto", array("value"), 7)
    assert (arrays.copies[1].updates, arrays.copies[1].parameter.over) == (1, False)


def test_what_another_device_made_is_no_update() -> None:
    found, arrays = apart()
    found.differentiated()
    arrays.made_by["value"].device = "gpu:1"
    found.wrote(arrays.copies[1], "_copyto", array("value"), 7)
    assert (arrays.copies[1].updates, arrays.copies[1].values) == (0, {})


def test_an_array_that_is_assigned_in_every_step_is_not_looked_at_any_longer() -> None:
    found, arrays = apart()
    for _ in range(3):
        found.differentiated()
        found.wrote(arrays.copies[1], "", None, 0)
    assert arrays.copies[1].parameter.over
    found.differentiated()
    assert arrays.copies[1].values == {}


def test_devices_that_one_loss_depends_on_have_parts_of_one_model() -> None:
    found, arrays = apart()
    found.together(frozenset({"gpu:0", "gpu:3"}))
    assert not arrays.copies[1].parameter.over
    found.together(frozenset({"gpu:0", "gpu:1"}))
    assert arrays.copies[1].parameter.over


def test_arrays_have_the_name_of_their_parameter() -> None:
    found, arrays = apart()
    assert arrays.copies[1].parameter.label == "a variable, of shape 2"
    found.named([array(1), array(2), array(9)], "dense0_bias")
    assert arrays.copies[1].parameter.label == "dense0_bias, of shape 2"
