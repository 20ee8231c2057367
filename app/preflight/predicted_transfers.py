"""The transfers of a foreseen run, as the recorder would have noted them: keys for the ordinary analysis."""

from __future__ import annotations

from app.preflight.eager_ops import Eager
from app.preflight.function_calls import Call
from app.preflight.op_places import Placing
from app.preflight.trace_keys import Keys
from app.preflight.transfer_origins import Origins


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
