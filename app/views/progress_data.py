"""What the loss and speed curves are drawn from."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Progress:
    """A program's own progress lines, equally long tuples in order of step."""

    steps: tuple[int, ...]
    loss: tuple[float | None, ...]
    rate: tuple[float | None, ...]
    """Steps a second."""
    total: int | None = None
    """Steps that the program means to take."""
