"""Functions that a coordinator has other processes run: their graphs, and what each call hands over.

The call is seen here, the graph is written by the worker (server_graphs.py) and read here, where the lines
are known. So the hops between a worker and the parameter servers are told once, by the coordinator, and
happen once a call. How often those inside loops and branches happen over there is not seen.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple, Optional

from ..trace.guard import is_own
from ..trace.hop import HopConsumer, HopProducer, HopTensor, hop_key
from ..trace.left_graphs import ENDING, remove_graphs
from ..trace.recording import Recording, clock
from .dumped import Dumps
from .marks import noted
from .names import short_device, tensor_bytes
from .placed import GraphCall, read_placed

_HANDLES = ("resource", "variant", "string")
_NO_GRAPH = "the process that ran it left no graph in the run's folder; run it with --exact to have one"
_PATIENCE_NS = 1_000_000_000
"""A graph's files are looked for this long at every tick, then only once in a while."""


class Argument:
    """What a graph's reader asks of an eager argument; the tensor itself is let go."""

    def __init__(self, tensor: Any) -> None:
        self.shape = tensor.shape
        self._handle_data = getattr(tensor, "_handle_data", None)
        self._hopscope = noted(tensor, "_hopscope")


class _Waiting(NamedTuple):
    number: int
    name: str
    task: str
    arguments: list[Argument]
    location: int
    since: int


class Remote:
    """The graphs of other processes' parts of the program."""

    def __init__(self, recording: Recording, notes: dict[str, Any]) -> None:
        """`notes`: runtime name -> FunctionNote, of the functions traced here."""
        self.recording = recording
        self.notes = notes
        self._dumps = Dumps(recording.folder, ENDING)
        self._numbers: dict[tuple[str, str], int] = {}
        self._waiting: list[_Waiting] = []
        self._tasks: dict[str, str] = {"": ""}
        self._ticks = 0
        self._lock = threading.Lock()
        recording.tickers.append(self.read)

    def task(self, ctx: Any) -> str:
        """The task that the current device scope names, where it is another process's; '' for our own."""
        server = getattr(ctx, "_server_def", None)
        if server is None:
            return ""
        device = ctx.device_name or ""
        known = self._tasks.get(device)
        if known is None:
            task = device.partition("/device:")[0]
            own = f"/job:{server.job_name}/replica:0/task:{server.task_index}"
            elsewhere = task.startswith("/job:") and "/task:" in task and task != own
            known = self._tasks[device] = task if elsewhere else ""
        return known

    def called(self, name: str, task: str, inputs: Any, location: int) -> int:
        """A call of a function by the process `task`: count what is handed over, give its graph."""
        self._handed_over(name, task, inputs, location)
        number = self._numbers.get((name, task))
        if number is None:  # a worker's calls all come from one thread
            note = self.notes.get(name)
            number = self._numbers[(name, task)] = self.recording.graph(
                name=note.label if note else name,
                function=name,
                loc=location,
                step_marks=note.steps if note else 0,
                partial=_NO_GRAPH,
            )
            if note is not None:
                arguments = [Argument(tensor) for tensor in inputs]
                self._waiting.append(_Waiting(number, name, task, arguments, location, clock()))
        return number

    def read(self) -> None:
        """Read the graphs that have been written by now."""
        with self._lock:  # the process may end while the last tick is still at it
            self._read()

    def _read(self) -> None:
        self._ticks += 1
        for one in list(self._waiting):
            if clock() - one.since > _PATIENCE_NS and self._ticks % 16 and not self.recording.ending:
                continue
            placed = self._dumps.take(one.name, one.task)
            if placed is not None:
                self._waiting.remove(one)
                self._write(one, placed)
        if self.recording.ending:
            for one in self._waiting:
                self._untold(one, _NO_GRAPH)
            self._waiting.clear()
            if self._numbers:
                remove_graphs(self.recording.folder)

    def _write(self, one: _Waiting, placed: Any) -> None:
        notes, arguments, process = self.notes, one.arguments, _process(one.task)
        try:
            call = GraphCall(arguments, one.location, one.number, process)
            graph = read_placed(self.recording, placed, one.name, notes, call)
        except Exception as error:
            if not is_own(error):
                raise
            self._untold(one, f"the graph of it cannot be read: {type(error).__name__}")
            return
        if graph.observe:
            self.recording.unseen(
                "executions of hops inside loops and branches",
                "the log that tells is read in the process that starts the call only",
                len(graph.observe),
            )

    def _untold(self, one: _Waiting, why: str) -> None:
        note, where = self.notes[one.name], _process(one.task).rstrip("/")
        self.recording.unseen(f"ops inside {note.label}, run by {where}", why, len(note.ops))

    def _handed_over(self, name: str, task: str, inputs: Any, location: int) -> None:
        """Arguments that live elsewhere are sent to the worker, which keeps what it was sent."""
        for tensor in inputs:
            source = tensor.device
            if source.startswith(task) or tensor.dtype.name in _HANDLES:
                continue
            mirrors = noted(tensor, "_hopscope_mirrors")
            if mirrors is None:
                mirrors = tensor._hopscope_mirrors = []
            if task in mirrors:
                continue
            mirrors.append(task)
            self.recording.happened(self._argument_key(name, task, tensor, location), "hop")

    def _argument_key(self, name: str, task: str, tensor: Any, location: int) -> int:
        src, dst = short_device(tensor.device), short_device(f"{task}/device:CPU:0")
        mark = noted(tensor, "_hopscope") or ("Python", location, "", "", "")
        shape = tensor.shape
        identity = ("handed over", name, src, dst, mark[0], mark[1], location, tensor.dtype, tuple(shape))
        key: Optional[int] = self.recording.known_key(identity)
        if key is None:
            note = self.notes.get(name)
            fields = hop_key(
                HopProducer(src, mark[0], mark[1], mark[2], mark[3]),
                HopConsumer(dst, note.label if note else name, location, requested=dst),
                # Inferred: TensorFlow's rule for remote calls; no record of it shows the copy.
                HopTensor(tensor_bytes(tensor), tensor.dtype.name, shape, "inferred"),
                "copy",
            )
            key = self.recording.key(identity, "hop", fields)
        return key


def _process(task: str) -> str:
    """``worker:1/`` of ``/job:worker/replica:0/task:1``."""
    return short_device(f"{task}/device:CPU:0").rpartition("/")[0] + "/"
