"""Measuring what copies cost on this machine: a process that does it, one at a time, for all who look on."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from probes import private_files
from probes.cuda.bandwidth import LIMIT_S, SIZE_BYTES
from probes.nvml.missing import is_missing
from runners.errors import HopscopeError
from runners.machine import monitor
from runners.machine.copy_costs import FOLDER_NAME, Costs, from_json, save
from runners.machine.gpus import gpus_of
from runners.runs.registry import home

ROOT = Path(__file__).resolve().parents[2]
PROBE = "probes.cuda.bandwidth"
LEAST_FREE_BYTES = 1 << 30
"""A card with less free memory is left alone: the context alone takes several hundred MiB of it."""
SLACK_S = 30.0
"""For CUDA's start and the contexts, beyond the time for measuring."""
_LOCK_NAME = ".measuring"

Tell = Callable[[int, int, str], None]
"""Is told how many pairs are done, of how many, and which one is next."""


def measure(tell: Tell | None = None, snapshot: Mapping[str, Any] | None = None) -> Costs:
    """Measure between all GPUs and the host, keep it and return it; takes up to a minute.

    HopscopeError says why it cannot be done: no GPU, none with free memory, somebody else is measuring.
    """
    snapshot = monitor.read_once(between_s=0.0) if snapshot is None else snapshot
    found = gpus_of(snapshot)
    if not found.cards:
        raise HopscopeError(f"there is nothing to measure: {found.problem or 'NVML reports no GPU'}")
    refused = refusals(snapshot)
    chosen = [card.uuid for card in found.cards if card.uuid not in refused]
    if not chosen:
        raise HopscopeError(f"nothing can be measured now: {'; '.join(refused.values())}")
    with _alone():
        answer = _ask(chosen, tell or _quiet)
    names = {card.uuid: card.device for card in found.cards}
    if "problem" in answer:
        raise HopscopeError(f"nothing could be measured: {_named(str(answer['problem']), names)}")
    left_out = [{"src": uuid, "dst": None, "reason": reason} for uuid, reason in refused.items()]
    driver = snapshot.get("driver")
    answer |= {"driver": driver if isinstance(driver, str) else None, "host": socket.gethostname()}
    costs = from_json(answer | {"skipped": [*answer.get("skipped", ()), *left_out]})
    if costs is None:
        raise HopscopeError("nothing could be measured: the measuring process said what makes no sense")
    save(costs)
    return costs


def refusals(snapshot: Mapping[str, Any]) -> dict[str, str]:
    """Return which cards are left alone and why, by UUID."""
    found: dict[str, str] = {}
    for gpu in snapshot.get("gpus", ()):
        uuid, free, mode = gpu.get("uuid"), gpu.get("memory_free_bytes"), gpu.get("compute_mode")
        if not isinstance(uuid, str):
            continue
        name = f"gpu:{gpu['index']}"
        if gpu.get("unreadable"):
            found[uuid] = f"{name} cannot be read: {gpu['unreadable']['reason']}"
        elif gpu.get("mig_mode") == "on":
            found[uuid] = f"{name} is in MIG mode"
        elif isinstance(mode, str) and mode != "default":
            found[uuid] = f"{name} is in {mode} mode"
        elif not is_missing(free) and isinstance(free, int) and free < LEAST_FREE_BYTES:
            found[uuid] = f"{name} has only {free >> 20} MiB free"
    return found


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Let one process of this machine measure at a time: two would time each other."""
    folder = home() / FOLDER_NAME
    private_files.make_folder(str(folder))
    descriptor = private_files.open_file(str(folder / _LOCK_NAME), os.O_RDWR | os.O_CREAT)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HopscopeError("somebody is measuring this machine now: wait until that is done") from None
        yield
    finally:
        os.close(descriptor)


def _ask(uuids: list[str], tell: Tell) -> dict[str, Any]:
    """Run the process that measures these cards; its answer, or the problem."""
    environment = os.environ | {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": ",".join(uuids),
    }
    words = [sys.executable, "-E", "-m", PROBE, "--bytes", str(SIZE_BYTES), "--limit", str(LIMIT_S)]
    child = subprocess.Popen(
        words,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    # A call into the driver may never return.
    late = threading.Event()
    limit = LIMIT_S + SLACK_S

    def end() -> None:
        late.set()
        child.kill()

    clock = threading.Timer(limit, end)
    clock.start()
    try:
        assert child.stdout is not None
        answer = _follow(child.stdout, tell)
    finally:
        clock.cancel()
        child.kill()
        child.communicate()
    if late.is_set():
        return {"problem": f"the NVIDIA driver did not answer within {limit:.0f} s"}
    return answer or {"problem": "the measuring process ended without an answer"}


def _follow(lines: Iterator[str] | Any, tell: Tell) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for line in lines:
        with contextlib.suppress(ValueError):
            message = json.loads(line)
            if "done" in message:
                tell(int(message["done"]), int(message["of"]), str(message["text"]))
            else:
                answer = message
    return answer


def _named(text: str, names: Mapping[str, str]) -> str:
    for uuid, name in names.items():
        text = text.replace(uuid, name)
    return text


def _quiet(_done: int, _of: int, _text: str) -> None:
    pass


class Measuring:
    """A measurement in the background, and how far it is; one for all who look on."""

    def __init__(self) -> None:
        self.progress: tuple[int, int, str] | None = None
        """Pairs done, of how many, and which is next; None while none is measured."""
        self.problem: str | None = None
        """Why the last one came to nothing."""
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Begin, where it does not go on already."""
        with self._guard:
            if self.running:
                return
            self.progress, self.problem = (0, 0, "CUDA starts"), None
            self._thread = threading.Thread(target=self._run, name="measuring", daemon=True)
            self._thread.start()

    def wait(self, timeout_s: float | None = None) -> None:
        """Return when it is over."""
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        try:
            measure(self._tell)
        except (HopscopeError, OSError) as error:
            self.problem = str(error)
        finally:
            self.progress = None

    def _tell(self, done: int, of: int, text: str) -> None:
        self.progress = (done, of, text)


_shared = Measuring()


def shared() -> Measuring:
    """This process's measurement."""
    return _shared
