"""Tells where the arrays lie that MXNet hands to operators written in Python.

An operator's forward and backward pass get arrays that MXNet makes for the call, around memory alone
(src/operator/custom/custom.cc and src/imperative/cached_op of 1.9): of one on any CPU context they say
cpu(0). The operator's own context, which it was created for, is where they are.

A program that ends while such an operator is still to run may hang in MXNotifyShutdown, recorded or not:
that stops the operators' threads before it waits for the engine (src/c_api/c_api.cc). A wait for the last
step's results, before the end, avoids it.
"""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from ..trace.frames import PASSING, stands_for
from ..trace.hop import HANDED_TO_OPERATOR, HOST
from ..trace.sites import Sites
from .arrays import Arrays
from .contexts import context_name
from .marks import Mark
from .silent import remembered

_FOLLOWED = "_hopscope_followed"
_OPERATORS = "operators written in Python"


def _placed(arrays: Arrays, device: str, groups: Iterable[Any], loc: int) -> None:
    device = arrays.named(device)
    mark = Mark(HANDED_TO_OPERATOR, loc, device, total=arrays.totals[device])
    mark.filled = True
    for group in groups:
        for array in group if isinstance(group, (list, tuple)) else (group,):
            handle = getattr(array, "handle", None)
            if handle is not None:
                arrays.marks[handle.value] = mark


def _in_place(arrays: Arrays, device: str, method: Callable[..., Any], loc: int) -> Callable[..., Any]:
    """An operator's method, told before it runs where what it gets lies; it is called by the line `loc`."""
    guard = arrays.recording.guard(_OPERATORS)

    @stands_for(method)
    def run(*args: Any, **kwargs: Any) -> Any:
        with guard:
            _placed(arrays, device, (*args, *kwargs.values()), loc)
        before = getattr(arrays.inside, "device", HOST)
        arrays.inside.device = device
        try:
            with PASSING:
                return method(*args, **kwargs)
        finally:
            if not _of_mxnet():  # whose threads run such operators only, and assign results after them
                arrays.inside.device = before

    return run


def _of_mxnet() -> bool:
    """Whether a thread runs that Python did not start."""
    return isinstance(threading.current_thread(), threading._DummyThread)


def install(arrays: Arrays, sites: Sites) -> None:
    """Follow each operator that a registered class creates, and each autograd function that is called.

    An operator is created where it is called or, in a hybridized block or an executor, first run.
    """
    from mxnet import autograd, operator

    module: Any = operator
    register: Callable[[str], Callable[[Any], Any]] = module.register
    guard = arrays.recording.guard(_OPERATORS)

    @stands_for(register)
    def registering(reg_name: str) -> Callable[[Any], Any]:
        with PASSING:
            do_register = register(reg_name)

        @stands_for(do_register)
        def followed(prop_cls: Any) -> Any:
            with guard:
                create = inspect.getattr_static(prop_cls, "create_operator", None)
                # A static one, say, is called with other arguments.
                if isinstance(create, FunctionType) and not hasattr(create, _FOLLOWED):
                    prop_cls.create_operator = _creating(arrays, create, sites)
                infer = inspect.getattr_static(prop_cls, "infer_shape", None)
                if isinstance(infer, FunctionType) and not hasattr(infer, "__wrapped__"):
                    prop_cls.infer_shape = remembered(infer)
            with PASSING:
                return do_register(prop_cls)

        return followed

    module.register = registering

    function: Any = autograd.Function
    call: Callable[..., Any] = function.__call__

    @stands_for(call)
    def __call__(self: Any, *inputs: Any) -> Any:
        with guard:
            if hasattr(inputs[0] if inputs else None, "handle") and "backward" not in vars(self):
                device = arrays.mark(inputs[0].handle).device
                self.backward = _in_place(arrays, device, self.backward, sites.current())
        with PASSING:
            return call(self, *inputs)

    function.__call__ = __call__


def _creating(arrays: Arrays, create: Callable[..., Any], sites: Sites) -> Callable[..., Any]:
    guard = arrays.recording.guard(_OPERATORS)

    @stands_for(create)
    def create_operator(self: Any, *args: Any, **kwargs: Any) -> Any:
        with PASSING:
            made = create(self, *args, **kwargs)
        # The script may make one itself, and give it no context; a class with slots keeps its methods.
        with guard, contextlib.suppress(AttributeError):
            device, loc = context_name(args[0] if args else kwargs["ctx"]), sites.current()
            made.forward = _in_place(arrays, device, made.forward, loc)
            made.backward = _in_place(arrays, device, made.backward, loc)
        return made

    setattr(create_operator, _FOLLOWED, True)
    return create_operator
