"""The progress that every program prints: `step 12/100 loss 0.4321 31.2 steps/s`."""

from __future__ import annotations

import time

LINES_A_SECOND = 10


class Progress:
    """Says which steps' losses to read, and prints them, at most ten lines a second.

    Reading a loss makes Python wait for the device, so a program reads only those that are `due`:
    which ones depends on the step's number alone, and two runs read alike however fast they are.
    """

    def __init__(self, steps: int, every: int, done: int = 0) -> None:
        """`done`: how many of the steps another run has done, from whose checkpoint this one goes on."""
        self.steps = steps
        self.every = every
        self.first = done + 1
        self._since = time.monotonic()
        self._printed = done

    def due(self, step: int) -> bool:
        """Whether to read the loss of this step (1-based): the first, each `every`-th, the last."""
        return step in (self.first, self.steps) or step % self.every == 0

    def report(self, step: int, loss: float | None = None) -> None:
        """Print the line of a step, unless the last line is too recent; the last step always prints.

        A program that trains nothing has no loss.
        """
        seconds = time.monotonic() - self._since
        if self.first < step < self.steps and seconds < 1 / LINES_A_SECOND:
            return
        rate = (step - self._printed) / max(seconds, 1e-9)
        told = "" if loss is None else f" loss {loss:.4f}"
        print(f"step {step}/{self.steps}{told} {rate:.1f} steps/s", flush=True)
        self._since += seconds
        self._printed = step
