"""Which line made a traced function one: the decorator's, or that of the call of ``tf.function``."""

from __future__ import annotations

import weakref
from typing import Any

from ..trace.frames import PASSING, stands_for
from ..trace.recording import Recording


def made_at(graph: Any) -> int:
    """Location of the line that made the function of a graph; 0 where a library made it."""
    location: int = getattr(graph, "_hopscope_made", 0)
    return location


def install(recording: Recording) -> None:
    """Note the line at which a function is made, and hand it to each graph that is traced from it."""
    from tensorflow.python.eager.polymorphic_function import polymorphic_function
    from tensorflow.python.framework import func_graph

    function: Any = polymorphic_function.Function
    init, options = function.__init__, function._generate_tracing_options
    trace = func_graph.func_graph_from_py_func
    # By what is traced, which AutoGraph has rewritten by then; with it goes all that it holds, a model say.
    lines: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
    guard = recording.guard("lines that made functions")

    @stands_for(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        with PASSING:
            init(self, *args, **kwargs)
        with guard:
            self._hopscope_made = recording.sites.current()

    @stands_for(options)
    def _generate_tracing_options(self: Any, *args: Any, **kwargs: Any) -> Any:
        with PASSING:
            made = options(self, *args, **kwargs)
        with guard:
            line = getattr(self, "_hopscope_made", 0)
            if line:
                lines[made.python_function] = line
        return made

    @stands_for(trace)
    def func_graph_from_py_func(name: Any, python_func: Any, *args: Any, **kwargs: Any) -> Any:
        with PASSING:
            graph = trace(name, python_func, *args, **kwargs)
        with guard:
            known = lines.get(python_func)
            if known is not None:
                graph._hopscope_made = known
        return graph

    function.__init__ = __init__
    function._generate_tracing_options = _generate_tracing_options
    func_graph.func_graph_from_py_func = func_graph_from_py_func
