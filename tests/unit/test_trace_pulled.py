"""Arrays that Python took from a device: known again as long as nothing changed them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from probes.trace.fingerprints import fingerprint
from probes.trace.pulled import Pulled, PulledArrays

FROM = Pulled("gpu:0", 7)
CHANGED = Pulled("gpu:0", 7, changed=True)


def taken(*shape: int) -> tuple[PulledArrays, Any]:
    known = PulledArrays()
    array = np.random.default_rng(1).standard_normal(shape).astype("f4")
    known.took(array, FROM.device, FROM.loc)
    return known, array


@pytest.mark.parametrize("shape", [(6, 5), (64, 1024), (3, 5, 1001)])
def test_an_array_is_known_while_its_values_are_what_was_taken(shape: tuple[int, ...]) -> None:
    known, array = taken(*shape)
    assert known.origin(array) == FROM
    assert known.origin(array) == FROM, "sent twice, it came from there both times"
    array.setflags(write=False)
    assert known.origin(array) == FROM
    assert known.origin(array.copy()) is None


def scaled(array: Any) -> None:
    array *= 0.99


def clipped(array: Any) -> None:
    np.clip(array, -0.5, 0.5, out=array)


def one_set(array: Any) -> None:
    array.reshape(-1)[array.size // 2] = 0


def last_set(array: Any) -> None:
    array[-1, -1] += 1


def rows_shuffled(array: Any) -> None:
    np.random.default_rng(2).shuffle(array)


def flipped(array: Any) -> None:
    array[:] = array[:, ::-1].copy()


def sorted_rows(array: Any) -> None:
    array.sort()


@pytest.mark.parametrize("shape", [(6, 5), (64, 1024), (7, 1001), (600, 1000)])
@pytest.mark.parametrize(
    "change",
    [scaled, clipped, one_set, last_set, rows_shuffled, flipped, sorted_rows],
    ids=lambda one: one.__name__,
)
def test_an_array_that_was_changed_in_place_is_told_apart(
    change: Callable[[Any], None], shape: tuple[int, ...]
) -> None:
    """Bug: an array was known by its identity alone, and told to have come back unchanged."""
    known, array = taken(*shape)
    before = array.copy()
    change(array)
    assert known.origin(array) == CHANGED
    assert known.origin(array.reshape(-1)) == CHANGED
    array[:] = before
    assert known.origin(array) == FROM


def test_a_view_is_all_of_what_was_taken_or_something_else() -> None:
    known, array = taken(6, 5)
    assert known.origin(array.reshape(5, 6)) == FROM
    assert known.origin(array.T) == FROM
    assert known.origin(array[None].squeeze(0)) == FROM
    assert known.origin(array[1:]) is None
    assert known.origin(array[::-1]) is None
    array[1:][0] = 3
    assert known.origin(array.reshape(5, 6)) == CHANGED, "by a view of it"


def test_what_was_taken_anew_is_known_by_its_new_values() -> None:
    known, array = taken(6, 5)
    array += 1
    known.took(array, "gpu:1", 8)
    assert known.origin(array) == Pulled("gpu:1", 8)


def test_scalars_and_pythons_objects_are_not_remembered() -> None:
    known = PulledArrays()
    scalar, words = np.zeros(4), np.array([b"a word"] * 20, dtype=object)
    known.took(scalar, FROM.device, FROM.loc)
    known.took(words, FROM.device, FROM.loc)
    assert known.origin(scalar) is None
    assert known.origin(words) is None


def test_scalars_are_remembered_where_what_they_do_is_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: a bounce of a few numbers was allowed where bounces are forbidden."""
    monkeypatch.setattr(PulledArrays, "above", PulledArrays.above)
    PulledArrays.remember_scalars(True)
    known, array = taken(2)
    assert known.origin(array) == FROM
    array += 1
    assert known.origin(array) == CHANGED
    PulledArrays.remember_scalars(False)
    known, array = taken(2)
    assert known.origin(array) is None


def test_an_array_that_is_gone_is_not_taken_for_a_new_one_in_its_place() -> None:
    known, array = taken(6, 5)
    del array
    assert known.origin(np.zeros((6, 5), "f4")) is None


@pytest.mark.parametrize("dtype", ["u1", "f2", "i8", "c16", "?"])
def test_arrays_of_any_length_have_a_fingerprint(dtype: str) -> None:
    for length in (65, 8191, 8193, 20001):
        array = np.zeros(length, dtype)
        before = fingerprint(array)
        array[-1] = 1
        assert before is not None
        assert fingerprint(array) not in (None, before)
