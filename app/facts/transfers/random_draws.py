"""Random numbers that the code draws by eager ops: no host has to give those, unlike a program's data.

``tf.random.normal`` is a draw and ops that scale it. At its line may stand such ops of the code's own, which
add it to a batch, say: where there are more of them than draws, what comes out may be data of the host's.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from app.facts.tables import Tables
from app.facts.transfers.transfer import Made

_DRAW = re.compile(r"(Random|Stateless(Random)?|Stateful)(StandardNormal|Normal|Uniform(Full)?(Int)?)(V\d)?")
_TRUNCATED = re.compile(r"(Stateless|Stateful|Parameterized)?TruncatedNormal(V\d)?")
_SCALING = frozenset({"Mul", "Add", "AddV2", "Cast"})
_RANDOM_MODULE = re.compile(r"/(\w*random\w*)(/|\.py)")
"""A library's part that does nothing else, such as ``stateful_random_ops.py`` or Keras' ``random``."""


def is_draw(op: str) -> bool:
    """Whether an op makes random numbers out of a shape, and has kernels for GPUs too."""
    return bool(_DRAW.fullmatch(op) or _TRUNCATED.fullmatch(op))


def drawn(tables: Tables) -> frozenset[Made]:
    """What hands out nothing but numbers that were drawn at its line."""
    ran: Counter[tuple[Any, Any]] = Counter()
    times: Counter[tuple[Any, Any, Any]] = Counter()
    for key in tables.eager_ops:
        op, loc, device = (key.fields.get(name) or "" for name in ("op", "loc", "device"))
        if is_draw(op):
            ran[loc, device] += key.count or 0
        times[op, loc, device] += key.count or 0
    return frozenset(
        (op, loc, device)
        for (op, loc, device), count in times.items()
        if (draws := ran[loc, device])
        if is_draw(op) or (op in _SCALING and (count <= draws or _of_random_module(tables, loc)))
    )


def _of_random_module(tables: Tables, loc: int) -> bool:
    return bool(_RANDOM_MODULE.search(f"/{tables.via(loc) or ''}"))
