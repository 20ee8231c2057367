"""First calls of traced functions, one after the other.

The runtime collects the placed graphs of one context in one place and does not say whose they are: of two
functions that threads run for the first time at once, two models' `train_step` say, the ops have the same
names, and their graphs can't be told apart. So a thread's first call waits for that of another thread: not
for ever, as that may wait for this one, and not in a thread that TensorFlow calls Python from, whose graph
is at work outside of it. Nobody else takes out meanwhile what the runtime has collected.
"""

from __future__ import annotations

import threading

LONGEST_S = 2.0


class FirstCalls:
    """Which functions' graphs have come, and which thread makes the next ones."""

    def __init__(self) -> None:
        """No function was called yet."""
        self.settled: set[str] = set()
        """Runtime names: looked up before each call; for the others `begin` and `end` are to be called."""
        self.holder = 0
        """The thread whose first call others wait for; 0 for none."""
        self._lock = threading.Lock()

    def begin(self, name: str) -> bool:
        """Before a call; whether it holds up others until `end`."""
        me = threading.get_ident()
        if self.holder == me or not _of_python(me) or not self._lock.acquire(timeout=LONGEST_S):
            return False
        if name in self.settled:  # it came meanwhile
            self._lock.release()
            return False
        self.holder = me
        return True

    def end(self, name: str, held: bool) -> None:
        """After it, when what the runtime made for it has been read."""
        self.settled.add(name)
        if held:
            self.holder = 0
            self._lock.release()

    def others(self) -> bool:
        """Whether another thread is at its first call: what the runtime collects is that one's to read."""
        return self.holder != 0 and self.holder != threading.get_ident()


def _of_python(ident: int) -> bool:
    """Whether Python started this thread."""
    dummy = getattr(threading, "_DummyThread", ())
    return any(one.ident == ident and not isinstance(one, dummy) for one in threading.enumerate())
