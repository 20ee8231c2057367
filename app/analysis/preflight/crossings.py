"""The transfers of a foreseen run, as the recorder would have noted them: keys for the ordinary analysis."""

from __future__ import annotations

from app.analysis.preflight.calls import Call
from app.analysis.preflight.eager import Eager
from app.analysis.preflight.keys import Keys
from app.analysis.preflight.origins import Origins
from app.analysis.preflight.placing import Placing


def crossings(placing: Placing) -> Keys:
    """All ops, transfers and waits of one process."""
    keys, origins = Keys(), Origins(placing)
    eager = Eager(placing, origins, keys)
    for record in placing.flow.records:
        placed = placing.functions.get(record.number)
        if placed is not None:
            Call(record, placed, placing.machine, origins, keys).note()
        elif not record.function:
            eager.op(record)
    for pull in placing.flow.pulls:
        eager.pull(pull)
    return keys
