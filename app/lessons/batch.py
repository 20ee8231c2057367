"""A batch of lessons' runs as its state on disk tells it: what is done, what runs, what waits.

One process, the driver, writes the state and holds a lock for as long as it lives. Whoever else wants to know
reads the file, so a batch is seen from every page and terminal, and goes on whatever becomes of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from probes import private_files
from runners.errors import HopscopeError
from runners.runs import run_files
from runners.runs.processes import Identity, identify, is_alive
from runners.runs.registry import home

FOLDER_NAME = "lessons"
STATE_NAME = "batch.json"
LOCK_NAME = "batch.lock"

WAITING, RUNNING, DONE = "waiting", "running", "done"
FAILED, REFUSED, STOPPED = "failed", "refused", "stopped"
STOPPING, FINISHED, INTERRUPTED = "stopping", "finished", "interrupted"


@dataclasses.dataclass(frozen=True)
class Item:
    """One run of a batch."""

    program: str
    variant: str
    state: str = WAITING
    """waiting, running, done, failed, stopped, or refused: this machine cannot run it, `reason` says why."""
    run: str | None = None
    """The run's id, None before it has one."""
    reason: str | None = None
    """Why it is in this state, one line; None where there is nothing to add."""

    @property
    def over(self) -> bool:
        """Whether the batch has dealt with it."""
        return self.state in (DONE, FAILED, REFUSED)


@dataclasses.dataclass(frozen=True)
class Batch:
    """A batch of runs, going on or over."""

    state: str
    """running, stopping, finished (with whatever outcomes), stopped, or interrupted: its driver is gone."""
    items: tuple[Item, ...]
    """In the order in which they are run; those that had a finished run already are not among them."""
    started: float
    """Epoch seconds."""
    ended: float | None = None
    """Epoch seconds; None while it goes on, and where nobody saw its end."""
    reason: str | None = None
    """What it waits for, or why it was stopped; one line."""
    driver: Identity | None = None
    """The process that runs it."""

    @property
    def going_on(self) -> bool:
        """Whether its driver is at work."""
        return self.state in (RUNNING, STOPPING)

    @property
    def over(self) -> int:
        """How many of its items are dealt with."""
        return sum(item.over for item in self.items)

    @property
    def current(self) -> Item | None:
        """The item that is run now; None between two of them."""
        return next((item for item in self.items if item.state == RUNNING), None)

    def count(self, state: str) -> int:
        """How many items are in a state."""
        return sum(item.state == state for item in self.items)

    def row(self) -> dict[str, Any]:
        """The batch as plain data, for JSON."""
        return {
            "state": self.state,
            "reason": self.reason,
            "started": self.started,
            "ended": self.ended,
            "items": [dataclasses.asdict(item) for item in self.items],
        }


def folder() -> Path:
    """Where all that belongs to lessons is kept; it may not exist yet."""
    return home() / FOLDER_NAME


def state() -> Batch | None:
    """Return the batch that goes on, or else the last one; None where there was none, or none can be read."""
    batch = _read()
    if batch is None or not batch.going_on or (batch.driver and is_alive(batch.driver)):
        return batch
    # Its driver writes the end down before it goes: it may have ended since this was read.
    batch = _read()
    if batch is None or not batch.going_on:
        return batch
    items = tuple(
        dataclasses.replace(item, state=STOPPED) if item.state == RUNNING else item for item in batch.items
    )
    reason = "the process that ran the lessons is gone; run them again to go on where it was"
    return dataclasses.replace(batch, state=INTERRUPTED, items=items, reason=reason)


def write(batch: Batch) -> None:
    """Replace the state. The driver alone does so; HopscopeError where the disk is full or refuses."""
    driver = batch.driver or identify(os.getpid())
    value = batch.row() | {"driver": dataclasses.asdict(driver) if driver else None}
    path = folder() / STATE_NAME
    try:
        private_files.make_folder(str(folder()))
        private_files.replace_file(str(path), f"{json.dumps(value, indent=1)}\n".encode())
    except OSError as error:
        raise HopscopeError(
            f"the lessons' state cannot be written to {path}: {error.strerror}; free some space, or set "
            "HOPSCOPE_HOME to another folder"
        ) from None


class Busy(HopscopeError):
    """A batch goes on already: there is one at a time."""

    def __init__(self) -> None:
        super().__init__(
            "lessons are being run already, one after the other so that they do not slow each other; wait for"
            " their end, or stop them first"
        )


@contextlib.contextmanager
def sole_driver() -> Iterator[None]:
    """Be the one driver while this is open. Busy where there is another one."""
    try:
        private_files.make_folder(str(folder()))
        descriptor = private_files.open_file(str(folder() / LOCK_NAME), os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise HopscopeError(
            f"lessons cannot be run: {error.strerror}: {folder()}; HOPSCOPE_HOME may name another folder"
        ) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy from None
        yield
    finally:
        os.close(descriptor)


def _read() -> Batch | None:
    try:
        value = json.loads(run_files.read_file(folder().resolve(), STATE_NAME))
        driver = Identity(**value["driver"]) if value.get("driver") else None
        items = tuple(Item(**item) for item in value["items"])
        reason = None if value["reason"] is None else str(value["reason"])
        ended = None if value["ended"] is None else float(value["ended"])
        return Batch(str(value["state"]), items, float(value["started"]), ended, reason, driver)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def begun(items: tuple[Item, ...]) -> Batch:
    """Return a batch that this process begins to run now."""
    return Batch(RUNNING, items, time.time(), driver=identify(os.getpid()))
