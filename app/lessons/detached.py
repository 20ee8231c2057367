"""Starting and stopping the driver of lessons from a page: a process of its own that outlives the server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

from app.lessons import batch, catalogue
from app.lessons.batch import Batch
from probes import private_files
from runners.errors import HopscopeError
from runners.plan.plan import ROOT
from runners.runs import registry
from runners.runs.processes import identify, send

LOG_NAME = "batch.log"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
DRIVER_MODULE = "app.lessons.driver"
_START_S = 60.0
_POLL_S = 0.02


def start(programs: Sequence[str] = (), again: bool = False) -> Batch:
    """Run the lessons of these programs that lack a run, `again` all of them, in a process of its own.

    Without `programs`, all lessons. Returns the batch once it has begun, or has ended already. HopscopeError
    where one goes on, or it could not be started.
    """
    lessons = catalogue.chosen(programs)
    words = [lesson.program for lesson in lessons] if programs else []
    with_again = ["--again"] if again else []
    # Told at once; whether it is so the driver's own lock decides.
    now = batch.state()
    if now is not None and now.going_on:
        raise batch.Busy
    log = batch.folder() / LOG_NAME
    try:
        private_files.make_folder(str(log.parent))
        with os.fdopen(private_files.open_file(str(log), _NEW), "wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", DRIVER_MODULE, *words, *with_again],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
    except OSError as error:
        raise HopscopeError(f"the lessons could not be started: {error.strerror}: {error.filename}") from None
    me = identify(process.pid)
    threading.Thread(target=process.wait, name="lessons-driver", daemon=True).start()
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        ended = process.poll() is not None
        now = batch.state()
        if now is not None and now.driver is not None and now.driver == me:
            return now
        if ended:
            break
        time.sleep(_POLL_S)
    lines = log.read_text(errors="replace").strip().splitlines()
    raise HopscopeError(f"the lessons could not be started: {lines[-1] if lines else 'no reason was given'}")


def stop() -> None:
    """Ask the batch to end: its current run is stopped, the rest waits for next time. Returns at once.

    Asked again, the current run is killed. Of an interrupted batch, the run that it left going on is stopped.
    """
    now = batch.state()
    if now is None:
        return
    if now.going_on and now.driver is not None:
        try:
            send(now.driver, signal.SIGTERM)
        except PermissionError:
            raise HopscopeError("the lessons are run by another user, who alone can stop them") from None
        return
    if now.state == batch.INTERRUPTED:
        left = {item.run for item in now.items if item.state == batch.STOPPED and item.run}
        for run in registry.runs():
            if run.id in left and not run.ended:
                registry.request_stop(run)
