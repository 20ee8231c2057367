"""Maps the files that AutoGraph generates back to the lines that the user wrote."""

from __future__ import annotations

from typing import Any

from ..trace.recording import Recording


def install(recording: Recording) -> None:
    """Collect the source map of every function that AutoGraph rewrites."""
    from tensorflow.python.autograph.impl import api

    transpiler: Any = api._TRANSPILER
    transform = transpiler.transform

    def transform_noted(entity: Any, context: Any) -> Any:
        result = transform(entity, context)
        _, module, source_map = result
        lines = {
            place.lineno: (origin.loc.filename, origin.loc.lineno, origin.function_name or "")
            for place, origin in source_map.items()
        }
        recording.sites.add_rewritten(module.__file__, lines)
        return result

    transpiler.transform = transform_noted
