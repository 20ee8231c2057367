"""Maps the files that AutoGraph generates back to the lines that the user wrote.

AutoGraph writes a statement of several lines as one, and its own map has one origin for each line. Which of
the lines an op comes from, a call's own or that of a lambda in it, is told by the columns of the two trees.
"""

from __future__ import annotations

import linecache
from typing import Any

from ..trace.frames import PASSING
from ..trace.guard import Guard
from ..trace.recording import Recording
from ..trace.sites import Span


def install(recording: Recording) -> None:
    """Collect the source map of every function that AutoGraph rewrites."""
    from tensorflow.python.autograph.impl import api
    from tensorflow.python.autograph.pyct import origin_info

    transpiler: Any = api._TRANSPILER
    transform, create = transpiler.transform, origin_info.create_source_map
    guard = recording.guard("lines of functions that AutoGraph rewrites")

    def transform_noted(entity: Any, context: Any) -> Any:
        with PASSING:
            result = transform(entity, context)
        with guard:
            _, module, source_map = result
            lines = {
                place.lineno: (origin.loc.filename, origin.loc.lineno, origin.function_name or "")
                for place, origin in source_map.items()
            }
            recording.sites.add_rewritten(module.__file__, lines)
        return result

    def create_source_map(nodes: Any, code: str, filepath: str) -> Any:
        with PASSING:
            source_map = create(nodes, code, filepath)
        with guard:
            recording.sites.add_spans(filepath, _spans(nodes, code))
        return source_map

    transpiler.transform = transform_noted
    origin_info.create_source_map = create_source_map
    _mend_wrappers(origin_info, guard)


def _mend_wrappers(origin_info: Any, guard: Guard) -> None:
    """Of a decorator's wrapper AutoGraph asks for the lines of what it wraps (`functools.wraps`), though it
    rewrites the wrapper: its lines would be told as others, of another file even."""
    resolve_entity = origin_info.resolve_entity

    def resolve_own(node: Any, source: Any, entity: Any) -> None:
        with guard:
            code = getattr(entity, "__code__", None)
            if code is not None and hasattr(entity, "__wrapped__"):
                first = linecache.getline(code.co_filename, code.co_firstlineno)
                indent = len(first) - len(first.lstrip())
                origin_info.resolve(node, source, code.co_filename, code.co_firstlineno, indent)
                return
        with PASSING:
            resolve_entity(node, source, entity)

    origin_info.resolve_entity = resolve_own


def _spans(nodes: Any, code: str) -> dict[Span, int]:
    """Where calls stand in the generated code -> the line that the user wrote them in."""
    import gast
    from tensorflow.python.autograph.pyct import anno, ast_util, parser

    found: dict[Span, int] = {}
    try:
        generated = parser.parse(code, preamble_len=0, single_node=False)
        for before, after in ast_util.parallel_walk(nodes, generated):
            origin = anno.getanno(before, anno.Basic.ORIGIN, default=None)
            if origin is not None and isinstance(
                after, (gast.Call, gast.BinOp, gast.Compare, gast.Subscript)
            ):
                span = after.lineno, after.col_offset, after.end_lineno, after.end_col_offset
                found[span] = origin.loc.lineno
    except ValueError:  # the trees differ: their map has no more than this either
        return {}
    return found
