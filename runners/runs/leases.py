"""Who uses which GPU: a locked file a run and card, so that two runs do not take one card unasked.

The supervisor of the run holds the lock, and with it the companion that stays where the supervisor is killed.
However both end, the kernel then frees it; a run that left processes running without them keeps its cards.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from probes import private_files
from runners.runs.leftovers import left_running

FOLDER_NAME = "leases"
GUARD_NAME = ".guard"
RUNS_FOLDER = "runs"


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
        return _holders(home, card)


def take(home: Path, cards: list[str], run_id: str, share: bool = False) -> list[int]:
    """Lease the cards with these UUIDs to a run and return the descriptors that hold the leases.

    All or none: Held, with nothing taken, when another run uses one of them, unless `share` allows that.
    """
    taken: list[int] = []
    with _guard(home):
        try:
            for card in cards:
                folder = home / FOLDER_NAME / card
                private_files.make_folder(str(folder))
                users = _holders(home, card)
                if users and not share:
                    raise Held(card, users)
                taken.append(private_files.open_file(str(folder / run_id), os.O_RDWR | os.O_CREAT))
                fcntl.flock(taken[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            release(taken)
            raise
    return taken


def give_back(descriptors: list[int]) -> None:
    """Free leases at the end of their run, whichever process still has them open."""
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            # A file that stays behind unlocked is that of a run whose end nobody saw.
            Path(f"/proc/self/fd/{descriptor}").readlink().unlink(missing_ok=True)
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    release(descriptors)


def release(descriptors: list[int]) -> None:
    """Close this process's share of leases; they are free once no process has them open."""
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _holders(home: Path, card: str) -> list[str]:
    """Return the ids of the runs that use a card, and remove the files of others. Under the guard only."""
    found = []
    for path in sorted((home / FOLDER_NAME / card).iterdir()):
        try:
            descriptor = _opened(path)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            found.append(path.name)
            continue
        finally:
            os.close(descriptor)
        if left_running(home / RUNS_FOLDER / path.name):
            found.append(path.name)
        else:
            # In a home that cannot be written it stays, and says nothing.
            with contextlib.suppress(OSError):
                path.unlink()
    return found


def _opened(path: Path, flags: int = 0) -> int:
    """Open a file to lock it: for writing, which a network's locks need, unless the disk is read-only."""
    try:
        return private_files.open_file(str(path), os.O_RDWR | flags)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        return private_files.open_file(str(path), os.O_RDONLY)


@contextlib.contextmanager
def _guard(home: Path) -> Iterator[None]:
    """Let one process at a time look at the leases and change them."""
    folder = home / FOLDER_NAME
    private_files.make_folder(str(folder))
    descriptor = _opened(folder / GUARD_NAME, os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
