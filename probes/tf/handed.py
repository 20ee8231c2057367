"""What ``tf.py_function`` is given by graphs: where it lies, which is where the graph has the function's op.

On a GPU the runtime hands over tensors that say so (`MakeArgTuple` in py_func.cc); those of one CPU device
all say that they are the first one's. A graph is read only after its first call: what Python takes in that
one is told then.
"""

from __future__ import annotations

import threading
from typing import Any, Callable

from ..trace.recording import Recording
from .marks import noted
from .names import short_device

_OP = "EagerPyFunc"
_MOST_WAITING = 100
"""Values that wait for the graph of a function; an input pipeline's never comes."""
Tell = Callable[[str], None]
"""Takes the device; '' where the tensor's own word stands."""


class Home:
    """Where the arguments of one Python function lie."""

    def __init__(self, asked: str) -> None:
        self.asked = self.device = asked
        """`asked` is what the code asks for; `device` is '' where nothing tells, or several graphs tell."""
        self.known = bool(asked)
        self._placed: set[str] = set()
        self._waiting: list[Tell] = []
        self._lock = threading.Lock()

    def placed(self, device: str) -> None:
        """A graph has the function's op there."""
        self._placed.add(device)
        if not self.asked:
            self._settle(device if len(self._placed) == 1 else "")

    def later(self, tell: Tell) -> None:
        """Tell when it is known."""
        with self._lock:
            waits = not self.known
            if waits:
                self._waiting.append(tell)
        if not waits:
            tell(self.device)
        elif len(self._waiting) >= _MOST_WAITING:
            self.give_up()

    def give_up(self) -> None:
        """Nothing more will tell for now."""
        if not self.known:
            self._settle("")

    def _settle(self, device: str) -> None:
        with self._lock:
            self.device, self.known = device, True
            waiting, self._waiting = self._waiting, []
        for tell in waiting:
            tell(device)


class Handed:
    """The homes of this process's Python functions."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._homes: dict[bytes, Home] = {}
        self._lines: dict[bytes, int] = {}
        recording.tickers.append(self._at_end)

    def traced(self, op: Any, location: int) -> None:
        """An op of a graph that is traced; `location` is the line that has the graph call the function."""
        if op.type == _OP:
            token = op.get_attr("token")
            self._lines[token] = location
            self._homes[token] = Home(short_device(op.device or ""))

    def placed(self, owner: str, notes: Any, function_graph: Any) -> None:
        """A function's placed graph has come."""
        for part in function_graph.partition_graphs:
            for node in part.node:
                home = self._homes.get(node.attr["token"].s) if node.op == _OP else None
                if home is not None:
                    home.placed(short_device(node.device))

    def line(self, token: bytes) -> int:
        """Where the graph was made to call the function; 0 for one that no graph calls."""
        return self._lines.get(token, 0)

    def home(self, token: bytes) -> Any:
        """The `Home` of a function, None for one that no graph calls."""
        return self._homes.get(token)

    def _at_end(self) -> None:
        if self.recording.ending:
            for home in list(self._homes.values()):
                home.give_up()


class Likeness:
    """What is told of a tensor, without its data."""

    def __init__(self, tensor: Any) -> None:
        self.dtype, self.shape = tensor.dtype, tensor.shape
        self._hopscope = noted(tensor, "_hopscope")
        self._known = tensor._shape_tuple(), tensor._datatype_enum(), tensor._num_elements()

    def _shape_tuple(self) -> Any:
        return self._known[0]

    def _datatype_enum(self) -> Any:
        return self._known[1]

    def _num_elements(self) -> Any:
        return self._known[2]
