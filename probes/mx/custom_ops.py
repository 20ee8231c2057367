"""Tells where the arrays lie that MXNet hands to operators written in Python.

An operator's forward and backward pass get arrays that MXNet makes for the call, around memory alone
(src/operator/custom/custom.cc and src/imperative/cached_op of 1.9): of one on any CPU context they say
cpu(0). The operator's own context, which it was created for, is where they are.

A program that ends while such an operator is still to run may hang in MXNotifyShutdown, recorded or not:
that stops the operators' threads before it waits for the engine (src/c_api/c_api.cc). A wait for the last
step's results, before the end, avoids it.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from typing import Any

from ..trace.hop import HANDED_TO_OPERATOR, HOST
from ..trace.sites import Sites
from .arrays import Arrays
from .contexts import context_name
from .marks import Mark


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

    @functools.wraps(method)
    def run(*args: Any, **kwargs: Any) -> Any:
        _placed(arrays, device, (*args, *kwargs.values()), loc)
        before = getattr(arrays.inside, "device", HOST)
        arrays.inside.device = device
        try:
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

    @functools.wraps(register)
    def registering(reg_name: str) -> Callable[[Any], Any]:
        do_register = register(reg_name)

        @functools.wraps(do_register)
        def followed(prop_cls: Any) -> Any:
            create = prop_cls.create_operator
            if not hasattr(create, "__wrapped__"):
                prop_cls.create_operator = _creating(arrays, create, sites)
            return do_register(prop_cls)

        return followed

    module.register = registering

    function: Any = autograd.Function
    call: Callable[..., Any] = function.__call__

    @functools.wraps(call)
    def __call__(self: Any, *inputs: Any) -> Any:
        if inputs and "backward" not in vars(self):
            device = arrays.mark(inputs[0].handle).device
            self.backward = _in_place(arrays, device, self.backward, sites.current())
        return call(self, *inputs)

    function.__call__ = __call__


def _creating(arrays: Arrays, create: Callable[..., Any], sites: Sites) -> Callable[..., Any]:
    @functools.wraps(create)
    def create_operator(self: Any, ctx: Any, *args: Any, **kwargs: Any) -> Any:
        made = create(self, ctx, *args, **kwargs)
        device, loc = context_name(ctx), sites.current()
        try:
            made.forward = _in_place(arrays, device, made.forward, loc)
            made.backward = _in_place(arrays, device, made.backward, loc)
        except AttributeError:  # a class with slots keeps its methods
            pass
        return made

    return create_operator
