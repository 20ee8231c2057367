"""The example of a cause: code that has it, and the same code after the fix."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Example:
    """A program on one or two GPUs, without the imports; tests/integration/test_examples.py records it."""

    framework: str
    about: str
    """What goes on in it, in one sentence."""
    before: str
    """The line that the finding names ends in ``# <- code``; no line does where it names none."""
    after: str = ""
    """The code after the fix; '' where nothing is wrong."""

    def marked_line(self, code: str) -> int | None:
        """Number of the line that the finding of this code names; None where it names none."""
        marked = [
            number
            for number, line in enumerate(self.before.splitlines(), start=1)
            if line.endswith(f"  # <- {code}")
        ]
        return marked[0] if marked else None
