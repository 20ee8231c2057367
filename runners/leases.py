"""Who uses which GPU: a locked file a run and card, so that two runs do not take one card unasked.

The supervisor of the run holds the lock. However it ends, the kernel then frees it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

FOLDER_NAME = "leases"
GUARD_NAME = ".guard"


class Held(Exception):
    """A card is in use; `card` and the ids of the `runs` that use it."""

    def __init__(self, card: str, runs: list[str]) -> None:
        super().__init__(card, runs)
        self.card = card
        self.runs = runs


def holders(home: Path, card: str) -> list[str]:
    """Return the ids of the runs that use the card with this UUID now."""
    folder = home / FOLDER_NAME / card
    if not folder.is_dir():
        return []
    with _guard(home):
        return _holders(folder)


def take(home: Path, cards: list[str], run_id: str, share: bool = False) -> list[int]:
    """Lease the cards with these UUIDs to a run and return the descriptors that hold the leases.

    All or none: Held, with nothing taken, when another run uses one of them, unless `share` allows that.
    """
    taken: list[int] = []
    with _guard(home):
        try:
            for card in cards:
                folder = home / FOLDER_NAME / card
                folder.mkdir(parents=True, exist_ok=True)
                users = _holders(folder)
                if users and not share:
                    raise Held(card, users)
                taken.append(os.open(folder / run_id, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644))
                fcntl.flock(taken[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            release(taken)
            raise
    return taken


def release(descriptors: list[int]) -> None:
    """Close this process's share of leases; they are free once no process has them open."""
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _holders(folder: Path) -> list[str]:
    """Return the run ids whose lease file is locked, and remove the others'. Under the guard only."""
    found = []
    for path in sorted(folder.iterdir()):
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            found.append(path.name)
        else:
            path.unlink(missing_ok=True)
        finally:
            os.close(descriptor)
    return found


@contextlib.contextmanager
def _guard(home: Path) -> Iterator[None]:
    """Let one process at a time look at the leases and change them."""
    folder = home / FOLDER_NAME
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / GUARD_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
