"""What is asked again only after a while: `functools.cache` for answers that get old."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Remembered(Generic[P, T]):
    """A function whose answers are given again for some seconds; several threads may ask."""

    def __init__(self, ask: Callable[P, T], seconds: float) -> None:
        functools.update_wrapper(self, ask)
        self._ask = ask
        self._seconds = seconds
        self._known: dict[Hashable, tuple[float, T]] = {}
        self._guard = threading.Lock()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the answer, at most so many seconds old."""
        asked = (args, tuple(kwargs.items()))
        now = time.monotonic()
        with self._guard:
            known = self._known.get(asked)
        if known is not None and now - known[0] <= self._seconds:
            return known[1]
        answer = self._ask(*args, **kwargs)
        with self._guard:
            self._known[asked] = (now, answer)
        return answer

    def cache_clear(self) -> None:
        """Forget all answers."""
        with self._guard:
            self._known.clear()


def remembered(seconds: float) -> Callable[[Callable[P, T]], Remembered[P, T]]:
    """Decorate a function whose answers hold for so many seconds."""
    return lambda ask: Remembered(ask, seconds)
