"""Errors that pass through a hook: their traceback is the one that they would have without it."""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from probes.trace.frames import PASSING, drop_frame, stands_for

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python keeps a copy of the traceback")


def original(x: int) -> float:
    return 1 / x


def with_block(x: int) -> float:
    with PASSING:
        return original(x)


def with_handler(x: int) -> float:
    try:
        return original(x)
    except BaseException as error:
        drop_frame(error)
        raise


def with_two(x: int) -> float:
    try:
        with PASSING:
            return with_handler(x)
    finally:
        with PASSING:
            original(1)


def fails_itself(x: int) -> float:
    with PASSING:
        return 1 / x


@pytest.mark.parametrize("hook", [with_block, with_handler, with_two])
def test_an_error_shows_no_frame_of_a_hook(hook: Callable[[int], float]) -> None:
    assert functions(hook) == functions(original)


def test_an_error_without_a_frame_below_the_hook_starts_at_its_caller() -> None:
    assert functions(fails_itself) == ["functions"]


def test_what_an_error_came_of_stays_with_it() -> None:
    def chained(x: int) -> float:
        try:
            return with_block(x)
        except ZeroDivisionError as error:
            raise ValueError from error

    with pytest.raises(ValueError) as caught:
        chained(0)
    cause: Any = caught.value.__cause__
    assert [frame.name for frame in traceback.extract_tb(cause.__traceback__)] == ["chained", "original"]


def test_the_end_of_the_program_passes_too() -> None:
    def leave(_: int) -> None:
        with PASSING:
            sys.exit(3)

    with pytest.raises(SystemExit) as caught:
        leave(0)
    assert caught.value.code == 3


def functions(call: Callable[[int], float]) -> list[str]:
    """The functions in the traceback of a call that fails, from the caller on."""
    try:
        call(0)
    except ZeroDivisionError as error:
        return [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    raise AssertionError("it did not fail")


def test_a_hook_looks_like_what_it_stands_before_to_whoever_asks() -> None:
    def kept(self: Any, units: int, *, name: str = "layer") -> None:
        """Make a layer."""

    @stands_for(kept)
    def hook(self: Any, *args: Any, **kwargs: Any) -> None:
        kept(self, *args, **kwargs)

    assert inspect.signature(hook) == inspect.signature(kept)
    assert inspect.getfullargspec(hook) == inspect.getfullargspec(kept)
    assert (hook.__name__, hook.__qualname__, hook.__doc__) == (
        kept.__name__,
        kept.__qualname__,
        kept.__doc__,
    )
    assert inspect.getsource(hook) == inspect.getsource(kept)
    assert stands_for(len)(hook).__name__ == "len"
