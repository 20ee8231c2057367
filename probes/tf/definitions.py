"""Which line made a traced function one: the decorator's, or that of the call of ``tf.function``."""

from __future__ import annotations

from typing import Any

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
    # By the id of what is traced, which AutoGraph has rewritten by then; kept, so that no id comes again.
    lines: dict[int, tuple[Any, int]] = {}
    guard = recording.guard("lines that made functions")

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        with guard:
            self._hopscope_made = recording.sites.current()

    def _generate_tracing_options(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = options(self, *args, **kwargs)
        with guard:
            line = getattr(self, "_hopscope_made", 0)
            if line:
                lines[id(made.python_function)] = (made.python_function, line)
        return made

    def func_graph_from_py_func(name: Any, python_func: Any, *args: Any, **kwargs: Any) -> Any:
        graph = trace(name, python_func, *args, **kwargs)
        with guard:
            known = lines.get(id(python_func))
            if known is not None:
                graph._hopscope_made = known[1]
        return graph

    function.__init__ = __init__
    function._generate_tracing_options = _generate_tracing_options
    func_graph.func_graph_from_py_func = func_graph_from_py_func
