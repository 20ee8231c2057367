"""Which steps are recorded in full: the first ones, and from then on a few of every hundred.

What a program does in each step it soon has done often. Between two windows only steps and calls of traced
functions are counted. All else counts as it did, on average, in the steps of the last window. Something new
ends the pause at once: a new key, a traced function, a step that does not come.
"""

from __future__ import annotations

import array
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Callable, Optional, Protocol

FIRST = 200
"""Steps that are recorded in full at first; as many executions of a key are events of their own."""
AFTER_NEW = 20
"""Steps that are recorded in full after something new."""
WINDOW = 4
"""Steps of a window."""
PAUSE = 92
"""Steps between a window and the one step that comes before the next one. With them it makes a prime number:
what happens every ten steps, say, is not met in each window, or in none."""
PAUSE_NS = 5_000_000_000
"""No pause is longer, however slow the steps are."""
_TAIL = 100
"""So many of the first steps stand for others too: what comes before them is the program's beginning."""
_KEPT = 0.95
"""Part of what earlier windows found that counts beside the next one."""
_MISSING_NS = 500_000_000
_MISSING_STEPS = 4
"""A pause ends where no step came for so long, and for as long as so many steps take."""
_MANY = 1 << 40
RARE = 16
"""What fewer than one in so many steps do is rare: it ends a pause, and is counted itself."""
_SHORT = 3 * AFTER_NEW
_SHORT_PAUSES, _MOST_SHORT = 4, 16
"""Where so many pauses, less those that were long, were shorter than `_SHORT` steps, what is rare happens too
often to end one: its count follows from the windows, too."""
WHY = "their counts follow from the steps of the windows; record with --exact to count each"

_FULL, _WINDOW, _PAUSED, _SETTLING = range(4)
"""Phases. The step before a window only settles: what it makes has a known origin again, and counts as
little as the pause."""


class Counters(Protocol):
    """What counts executions by key: a recording."""

    counts: memoryview
    """What hooks count in: `kept_counts`, or others that nobody reads."""
    hooked: list[int]
    """The keys whose executions hooks count; 0 for one that is counted otherwise now."""

    @property
    def kept_counts(self) -> memoryview:
        """The counts that are written."""


class Amount:
    """How much of one kind of thing a step does: eager ops, say. Hooks count it, also in a pause."""

    __slots__ = ("_found", "most", "now")

    def __init__(self) -> None:
        """Nothing was done."""
        self.now = 0
        """Since the last step."""
        self.most = 0
        """In a step that does nothing rare, at most."""
        self._found: deque[int] = deque(maxlen=128)
        """In the last steps of windows."""

    def stepped(self, in_window: bool) -> None:
        """A step is over."""
        if in_window:
            self._found.append(self.now)
        self.now = 0

    def settle(self, rare: int) -> None:
        """Take for rare what fewer than one in `rare` steps of windows did; nothing if that is 0."""
        found = sorted(self._found, reverse=True)
        self.most = found[len(found) // rare if rare else 0] if found else 0


class StepWindows:
    """The phases of a recording; told of each step and of what is new."""

    def __init__(self, counters: Counters) -> None:
        """All steps are recorded in full until `allow` is called."""
        self.paused = False
        """Hooks of what runs often may do no more now than count it and mark what is made as unrecorded."""
        self.uncounted = False
        """What hooks count goes nowhere: in a pause, and in the step after it."""
        self.on_pause: list[Callable[[bool], None]] = []
        """Called where a pause begins, and where it ends: for hooks that cost something even then."""
        self._counters = counters
        self._allowed = False
        self._amounts: list[Amount] = []
        self._unkept = memoryview(b"").cast("q")
        self.reset()

    def allow(self) -> None:
        """Let windows begin once the first steps are over."""
        self._allowed = True

    def amount(self) -> Amount:
        """Count one more kind of thing: a pause ends with a step that does more of it than steps do."""
        self._amounts.append(Amount())
        return self._amounts[-1]

    def unexpected(self, key: int) -> bool:
        """Return True if a key that is executed now has no part in what steps do."""
        return not self._rates.has(key, self._rare)

    def watch(self, key: int) -> None:
        """Executions of this key go by way of `unexpected`, between windows, too."""
        self._rates.watched.add(key)

    def forbid(self) -> None:
        """Record all from now on."""
        self.new()
        self._allowed = False

    def reset(self) -> None:
        """Begin anew with the first steps, as a forked child does."""
        # A signal handler of the program's may come in between, and run what hooks look at.
        self._lock = threading.RLock()
        self._pause(False)
        self.uncounted = False
        self._phase, self._left = _FULL, FIRST
        self._before: Optional[memoryview] = None
        """The counts when the window began."""
        self._steps = 0
        """Steps of the window so far."""
        self._owed = 0
        """Steps that were not recorded since the last window."""
        self._unadded = 0
        self._unadded_executions: dict[int, int] = {}
        """All steps that were not recorded, and what they come to, that are to be added to the counts."""
        self._rates = Rates()
        self._short = 0
        """Short pauses, less the others."""
        self._rare = RARE
        self._until = self._last = 0
        self._mean_ns = 0.0

    def stepped(self, times: int) -> bool:
        """So many steps are over. Returns True where a pause begins."""
        if not self._allowed:
            return False
        now = time.monotonic_ns()
        if self.paused and self._left > times and now < self._until:
            # In nearly all steps, and as little as can be: what runs once a step runs slowly.
            self._left -= times
            self._owed += times
            self._last = now
            for amount in self._amounts:
                amount.now = 0
            return False
        with self._lock:
            if self._last:
                self._mean_ns += ((now - self._last) / times - self._mean_ns) / 16
            self._last = now
            self._left -= times
            for amount in self._amounts:
                amount.stepped(self._before is not None)
            if self._phase in (_PAUSED, _SETTLING):
                self._owed += times
            elif self._before is not None:
                self._steps += times
            elif self._left <= _TAIL:
                self._open()
            if self._left <= 0 or (self.paused and now >= self._until):
                self._next(now)
                return self.paused
            return False

    def new(self) -> None:
        """Something happened that did not happen before: record some steps in full."""
        if not self._allowed:
            return
        with self._lock:
            self._add_up()
            if self._phase != _FULL:
                self._phase, self._left, self._before = _FULL, AFTER_NEW, None
            self._left = max(self._left, AFTER_NEW)
            self._pause(False)
            self.uncounted = False
            self._counters.counts = self._counters.kept_counts

    def resume(self) -> None:
        """End a pause, if there is one: more happens than in other steps."""
        if self.paused:
            short = PAUSE - self._left < _SHORT
            self._short = min(_MOST_SHORT, self._short + 1) if short else max(0, self._short - 1)
            self.new()

    def look(self) -> None:
        """End a pause in which steps fail to come: an evaluation, say. Called four times a second."""
        since = time.monotonic_ns() - self._last
        if self.paused and since > max(_MISSING_NS, _MISSING_STEPS * self._mean_ns):
            self.new()

    def take_unrecorded(self, ending: bool) -> tuple[int, list[tuple[int, int]]]:
        """Add the executions of steps that were not recorded to the counts.

        Returns the number of these steps, and of each key what was added. While hooks count in the same
        counters nothing is added, unless the program is `ending`.
        """
        with self._lock:
            if self._phase in (_FULL, _WINDOW) and not ending:
                return 0, []
            self._add_up()
            steps, self._unadded = self._unadded, 0
            executions, self._unadded_executions = self._unadded_executions, {}
            counts, hooked = self._counters.kept_counts, set(self._counters.hooked)
            added = [(key, more) for key, more in executions.items() if key in hooked]
            for key, more in added:
                counts[key] += more
            return steps, added

    def _next(self, now: int) -> None:
        if self._phase == _PAUSED:
            self._short = max(0, self._short - 1)
            self._phase, self._left = _SETTLING, 1
            self._pause(False)
        elif self._phase == _SETTLING:
            self._phase, self._left = _WINDOW, WINDOW
            self.uncounted = False
            self._counters.counts = self._counters.kept_counts
            self._open()
        else:
            self._close()
            self._rare = RARE if self._short < _SHORT_PAUSES else 0
            for amount in self._amounts:
                amount.settle(self._rare)
            self._phase, self._left, self._until = _PAUSED, PAUSE, now + PAUSE_NS
            self._pause(True)
            self.uncounted = True
            self._counters.counts = self._uncounting()

    def _pause(self, on: bool) -> None:
        if on is not self.paused:
            self.paused = on
            for hook in self.on_pause:
                hook(on)

    def _add_up(self) -> None:
        """Let the steps since the last window be like those of that window."""
        steps, self._owed = self._owed, 0
        self._unadded += steps
        for key, more in self._rates.executions(steps, self._rare) if steps else ():
            self._unadded_executions[key] = self._unadded_executions.get(key, 0) + more

    def _open(self) -> None:
        self._before = memoryview(bytes(self._counters.kept_counts)).cast("q")
        self._steps = 0

    def _close(self) -> None:
        if self._before is not None and self._steps:
            now, before = self._counters.kept_counts, self._before
            found = {
                key: now[key] - before[key]
                for key in self._counters.hooked
                if key < len(before) and now[key] != before[key]
            }
            self._add_up()
            self._rates.add(found, self._steps)
        self._before = None

    def _uncounting(self) -> memoryview:
        """Counters that nobody reads, so high that no execution counts as one of a key's first."""
        if len(self._unkept) != len(self._counters.kept_counts):
            self._unkept = memoryview(array.array("q", [_MANY]) * len(self._counters.kept_counts))
        return self._unkept


class Rates:
    """How often each key happens in a step, from the windows so far: later ones weigh more.

    What happens once in a while is met in one window and not in the next: the average of all tells. Where a
    window is far from that, the program does something else now, and the window alone tells. What was met
    once only stands for nothing but itself.
    """

    def __init__(self) -> None:
        """No window was seen."""
        self._sums: dict[int, float] = {}
        self._once: set[int] = set()
        self.watched: set[int] = set()
        """Keys whose executions between windows are noticed, at least where they are more than usual."""
        self._steps = 0.0
        self._rates: dict[int, float] = {}
        self._parts: dict[int, float] = {}
        """What was not yet a whole execution."""

    def add(self, found: Mapping[int, int], steps: int) -> None:
        """Executions of keys in a window of so many steps."""
        self._steps = _KEPT * self._steps + steps
        self._rates = {}
        first = {key for key, here in found.items() if here == 1 and key not in self._sums} - self._once
        self._once |= first
        for key in {*self._sums, *found} - first:
            here = found.get(key, 0)
            self._sums[key] = _KEPT * self._sums.get(key, 0.0) + here
            usual = self._sums[key] / self._steps
            changed = abs(here - usual * steps) > steps / 2
            self._rates[key] = here / steps if changed else usual
            if changed:
                self._sums[key] = here / steps * self._steps

    def has(self, key: int, rare: int) -> bool:
        """Return True if windows met this key more than once, and it is not rare.

        Rare is what is watched, and fewer than one in `rare` steps do; nothing if that is 0.
        """
        if key not in self._sums or not rare or key not in self.watched:
            return key in self._sums
        return self._sums[key] * rare >= self._steps

    def executions(self, steps: int, rare: int) -> Iterator[tuple[int, int]]:
        """What so many more steps come to, of each key that is not rare."""
        for key, rate in self._rates.items():
            if not self.has(key, rare):
                continue
            exact = self._parts.get(key, 0.0) + rate * steps
            whole = round(exact)
            self._parts[key] = exact - whole
            if whole:
                yield key, whole
