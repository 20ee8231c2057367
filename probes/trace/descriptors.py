"""Descriptors in a program that may close any number and have it again for a file of its own."""

from __future__ import annotations

import os
from typing import Optional

Identity = tuple[int, int, int]
"""Device, inode and type: what lies behind a number, whichever number it has."""


def identity(descriptor: int) -> Optional[Identity]:
    """What a number stands for now; None where it stands for nothing."""
    try:
        return identity_of(os.fstat(descriptor))
    except OSError:
        return None


def identity_of(known: os.stat_result) -> Identity:
    """What was asked about."""
    return known.st_dev, known.st_ino, known.st_mode >> 12


class Held:
    """A descriptor that stays open between calls; it is used and closed only while it is still the same."""

    def __init__(self, descriptor: int) -> None:
        """Take over a descriptor that was opened right now."""
        self.number = descriptor
        self._identity = identity(descriptor)

    def ours(self) -> bool:
        """Return True if the number still stands for what it stood for at first."""
        return self.number >= 0 and identity(self.number) == self._identity

    def close(self) -> None:
        """Close it, unless the number belongs to somebody else by now."""
        if self.ours():
            os.close(self.number)
        self.number = -1
