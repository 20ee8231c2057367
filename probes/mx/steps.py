"""Marks optimizer applications, what this project calls a step, and tells who wants to know."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Optional

from ..imports import after_import
from ..trace.frames import PASSING, stands_for
from ..trace.recording import Recording

Stepped = Callable[[Any, int], None]
"""Called with the trainer or module that stepped, and the location of the call."""


Updated = Callable[[Sequence[Any], Any, int], None]
"""Called with arrays that an updater of the code's own updated, its optimizer, and the location."""
_MOST_TOLD_APART = 64
_owners: dict[int, int] = {}


def _number(owner: Any) -> int:
    """Tells trainers apart that one line applies: by turns they make a step together."""
    return _owners.setdefault(id(owner), min(len(_owners), _MOST_TOLD_APART))


class _Nesting(threading.local):
    depth = 0
    owner: Any = None
    updaters = 0


_nesting = _Nesting()


def applying() -> bool:
    """Whether an optimizer works now, in this thread."""
    return _nesting.depth + _nesting.updaters > 0


class Pushes:
    """Steps of an optimizer that was given to a kvstore: it updates each key as its gradients are pushed."""

    def __init__(self, recording: Recording, computed: Callable[[Any], bool]) -> None:
        """`computed` says whether an op, or a backward pass, made an array: none else is a gradient."""
        self._recording = recording
        self._computed = computed
        self._on_servers: set[int] = set()
        self._done: dict[int, set[Any]] = {}

    def given(self, kvstore: Any) -> None:
        """An optimizer was given to a store; where servers apply it the store itself keeps none."""
        if kvstore._updater is None:
            self._on_servers.add(id(kvstore))

    def pushed(self, kvstore: Any, keys: Any, values: Any) -> None:
        """Gradients are handed in by a loop of one's own: a step begins where a key comes again."""
        if applying() or not self._optimizes(kvstore) or not any(map(self._computed, _flat(values))):
            return
        several = keys if isinstance(keys, (list, tuple)) else [keys]
        done = self._done.setdefault(id(kvstore), set())
        if not done or not done.isdisjoint(several):
            done.clear()
            self._recording.stepped(loc=self._recording.sites.current(), by=_number(kvstore))
        done.update(several)

    def _optimizes(self, kvstore: Any) -> bool:
        updater = getattr(kvstore, "_updater", None)
        return getattr(updater, "optimizer", None) is not None or id(kvstore) in self._on_servers


def _flat(values: Any) -> Iterator[Any]:
    if isinstance(values, (list, tuple)):
        for one in values:
            yield from _flat(one)
    else:
        yield values


def parameter_name(key: Any) -> str:
    """What people call the parameter that a trainer exchanges under a key, `key 3` where nobody knows."""
    if isinstance(key, int):
        parameters = getattr(_nesting.owner, "_params", None)
        if parameters and key < len(parameters):
            return str(parameters[key].name)
        return f"key {key}"
    return str(key)


def install(recording: Recording, stepped: Stepped, updated: Updated, in_kvstore: Callable[[], bool]) -> None:
    """Wrap gluon's Trainer, the symbolic Modules, and updaters that a loop of one's own calls.

    A call inside another's is the other's step; one that a kvstore makes is told by `Pushes`.
    """

    def trainer(module: Any) -> None:
        for name in ("step", "update"):
            _wrap(recording, module.Trainer, name, stepped)
        name_parameters(module.Trainer, "allreduce_grads")

    def modules(module: Any) -> None:
        for owner in (value for value in vars(module).values() if isinstance(value, type)):
            if "update" in vars(owner) and hasattr(owner, "init_optimizer"):
                _wrap(recording, owner, "update", stepped)

    def updaters(module: Any) -> None:
        _count_rounds(recording, module.Updater, updated, in_kvstore)

    after_import("mxnet.gluon.trainer", trainer)
    after_import("mxnet.optimizer.optimizer", updaters)
    for name in ("module", "bucketing_module", "sequential_module", "python_module"):
        after_import(f"mxnet.module.{name}", modules)


def _wrap(recording: Recording, owner: Any, name: str, stepped: Stepped) -> None:
    original = vars(owner)[name]
    if getattr(original, "__wrapped__", None) is not None:
        return
    guard = recording.guard("steps")

    @stands_for(original)
    def applied(self: Any, *args: Any, **kwargs: Any) -> Any:
        _nesting.depth += 1
        _nesting.owner = self
        try:
            with PASSING:
                result = original(self, *args, **kwargs)
        finally:
            _nesting.depth -= 1
            if _nesting.depth == 0:
                _nesting.owner = None
        if _nesting.depth == 0:
            with guard:
                loc = recording.sites.current()
                recording.stepped(loc=loc, by=_number(self))
                stepped(self, loc)
        return result

    setattr(owner, name, applied)


def name_parameters(owner: Any, name: str) -> None:
    """While a method that is no step runs, parameters are known by its trainer's names."""
    original = vars(owner).get(name)
    if original is None:
        return

    @stands_for(original)
    def exchanging(self: Any, *args: Any, **kwargs: Any) -> Any:
        before, _nesting.owner = _nesting.owner, self
        try:
            with PASSING:
                return original(self, *args, **kwargs)
        finally:
            _nesting.owner = before

    setattr(owner, name, exchanging)


def _count_rounds(recording: Recording, owner: Any, updated: Updated, in_kvstore: Callable[[], bool]) -> None:
    """A loop of one's own updates parameter by parameter: a step begins where an index comes again.

    Of several updaters, one a context, the first one counts; when it is gone, the next one that is called.
    """
    original = owner.__call__
    done: set[Any] = set()
    leading: Optional[weakref.ref[Any]] = None
    guard = recording.guard("steps")

    @stands_for(original)
    def __call__(self: Any, index: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal leading
        with guard:
            first = index[0] if isinstance(index, (list, tuple)) and index else index
            # MXNet itself refuses all others.
            if _nesting.depth == 0 and isinstance(first, Hashable) and not in_kvstore():
                leader = leading() if leading is not None else None
                if leader is None:
                    leader, leading = self, weakref.ref(self)
                    done.clear()
                if leader is self:
                    if not done or first in done:
                        done.clear()
                        recording.stepped(loc=recording.sites.current())
                    done.add(first)
        if applying():
            with PASSING:
                return original(self, index, *args, **kwargs)
        _nesting.updaters += 1
        try:
            with PASSING:
                result = original(self, index, *args, **kwargs)
        finally:
            _nesting.updaters -= 1
        with guard:  # (index, gradients, weights)
            weights = kwargs["weight"] if "weight" in kwargs else args[1]
            several = weights if isinstance(weights, (list, tuple)) else [weights]
            updated(several, self.optimizer, recording.sites.current())
        return result

    owner.__call__ = __call__
