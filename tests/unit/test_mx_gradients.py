"""What the code wrote to a gradient holds until a backward pass reaches it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from probes.mx.arrays import Arrays
from probes.mx.gradients import Before, Gradients

ARRAY, GRADIENT = 1, 11


class Library:
    """MXNet's marks of arrays that got gradients, by the address of the array."""

    def __init__(self, fresh: bool) -> None:
        self.fresh = {ARRAY: fresh}

    def get(self, handle: Any, state: Any) -> int:
        state._obj.value = self.fresh[handle.value]
        return 0

    def set(self, handle: Any, state: Any) -> int:
        self.fresh[handle.value] = bool(state.value)
        return 0


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("reached", [False, True])
def test_a_backward_pass_takes_back_what_it_reaches(fresh: bool, reached: bool) -> None:
    library, made = Library(fresh), {}
    arrays = SimpleNamespace(
        rewritten={GRADIENT: "room"},
        gradients={GRADIENT: ARRAY},
        wanted={ARRAY},
        made=lambda handle, mark: made.update({handle.value: mark}),
    )
    gradients, before = Gradients(cast(Arrays, arrays), library.get, library.set), cast(list[Before], [])
    gradients.asked(before)
    if reached:
        library.fresh[ARRAY] = True
    gradients.done(before)
    assert made == ({GRADIENT: "room"} if reached else {})
    assert arrays.rewritten == ({} if reached else {GRADIENT: "room"})
    assert library.fresh == {ARRAY: fresh or reached}


def test_a_gradient_of_a_freed_array_is_forgotten() -> None:
    arrays = SimpleNamespace(rewritten={GRADIENT: "room"}, gradients={GRADIENT: ARRAY}, wanted=set())
    library, before = Library(fresh=False), cast(list[Before], [])
    Gradients(cast(Arrays, arrays), library.get, library.set).asked(before)
    assert (before, arrays.rewritten) == ([], {})
