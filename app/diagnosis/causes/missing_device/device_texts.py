"""Where the code names a device that does not exist."""

from __future__ import annotations

import ast

from app.diagnosis.causes.missing_device.evidence import Evidence
from app.fixes.code.device_notation import alone, tf_named
from app.fixes.situation import Situation
from app.views.naming import each, some_of


def named_at(situation: Situation, said: str) -> str:
    """The advice with the lines that name the missing device, if any do."""
    missing = alone(each(situation.evidence(Evidence).missing))
    if missing is None or situation.framework != "tensorflow":
        return said
    texts = [
        (file, node.lineno)
        for file, source in situation.sources
        for node in sorted(source.every(ast.Constant), key=lambda node: node.lineno)
        if isinstance(node.value, str) and tf_named(node) == missing
        if not isinstance(source.parents.get(node), ast.Expr)
    ]
    places = [f"{file}:{line}" for file, line in texts]
    return f"{said} {missing} is named at {some_of(places, 'lines')}." if places else said
