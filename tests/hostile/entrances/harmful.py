"""No entrance: each input does one of the harms that must be found, so that the search itself is tested."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable, Iterator

from tests.hostile.ground import Ground, watch

SHARE = 0
CHECKED = "reads what is outside, raises an error, never ends, ends the process"


@contextlib.contextmanager
def opened(ground: Ground) -> Iterator[Callable[[random.Random], None]]:
    """What does one harm after another."""
    watch(ground)

    def read_outside() -> None:
        (ground.outside / "secret.txt").read_text()

    def raise_error() -> None:
        raise ValueError("no input is expected")

    def never_end() -> None:
        while True:
            pass

    def end() -> None:
        os._exit(3)

    harms = iter((read_outside, raise_error, never_end, end))
    yield lambda _rng: next(harms)()
