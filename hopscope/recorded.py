"""`with hopscope.record() as run:` makes a run of a block."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Optional

from .clone import clone, recorder


class RecordedRun:
    """The run that a block makes."""

    def __init__(self, path: str, address: str) -> None:
        """By its folder and its page's address."""
        self.path = path
        """Its folder, which holds all of it."""
        self.address = address
        """Where the dashboard shows it, while one is served."""

    @property
    def id(self) -> str:
        """Its id, for `python3 -m app report ID`."""
        return os.path.basename(self.path)

    def __repr__(self) -> str:
        return f"<hopscope run {self.id}>"


@contextlib.contextmanager
def record(name: Optional[str] = None, *, quiet: bool = False) -> Iterator[RecordedRun]:
    """Record what TensorFlow or MXNet do in a block, as a run of that `name` (by default the script's).

    Before or after the framework is imported, and as often as you like; between two blocks nothing is kept.
    An exception passes through, and the run is then a failed one. Where this process is recorded already,
    by `run` or by a block around this one, that goes on and its run is given; under `run --no-record` nothing
    is recorded. Unless `quiet`, the address
    is told on standard error.
    """
    launched = os.environ.get("HOPSCOPE_RUN_DIR")
    if launched and os.environ.get("HOPSCOPE_TRACE") == "0":
        yield _described(launched)
        return
    block = recorder("attach.block")
    outer = block.whole_run()
    if outer is not None:
        yield _described(outer)
        return
    made = block.open_block(name)
    run = _described(made.path)
    if not quiet:
        sys.stderr.write(f"hopscope: recording {run.id}: {_where(run)}\n")
    try:
        yield run
    except BaseException as error:
        made.end(type(error), error)
        raise
    made.end()


def _described(path: str) -> RecordedRun:
    dashboards = recorder("attach.dashboards")
    return RecordedRun(path, f"{dashboards.address()}/run?run={os.path.basename(path)}")


def _where(run: RecordedRun) -> str:
    if recorder("attach.dashboards").serving():
        return run.address
    return f"{run.address} (once python3 {os.path.join(clone(), 'app')} serves)"
