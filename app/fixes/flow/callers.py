"""Who calls a function, and whether a tape watches it."""

from __future__ import annotations

import ast

from app.fixes.code.device_notation import blocks_around
from app.fixes.code.names import called
from app.fixes.code.parsed_source import Source
from app.fixes.situation import Situation


def taped_by_caller(situation: Situation, stmt: ast.stmt) -> bool:
    """Whether a tape around a call of the statement's function watches it.

    The gradients are computed where the call is: were only the forward ops moved, all that the gradients need
    of them would come back to the default device.
    """
    function = situation.source.function_of(stmt)
    return function is not None and any(
        called(node) == function.name and _in_tape(source, node)
        for _, source in situation.sources
        for node in ast.walk(source.tree)
    )


def _in_tape(source: Source, node: ast.AST) -> bool:
    return any(
        called(item.context_expr) == "GradientTape"
        for block in blocks_around(source, node)
        for item in block.items
    )
