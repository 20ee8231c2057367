"""How what transfers send was made: cut into parts, drawn at random, or created from nothing on the host."""

from __future__ import annotations

import re

from app.facts.devices import is_host
from app.facts.groups import grouped, summed
from app.facts.tables import Tables
from app.facts.transfers.transfer import Made, MadeOnHost, Place
from probes.trace.rows import Key

CUTS = frozenset({"Split", "SplitV", "StridedSlice", "Slice", "GatherV2", "Unpack", "DynamicPartition"})
"""Types of ops whose outputs are parts of their input."""
_DRAW = re.compile(r"(Random|Stateless(Random)?|Stateful)(StandardNormal|Normal|Uniform(Full)?(Int)?)(V\d)?")
_TRUNCATED = re.compile(r"(Stateless|Stateful|Parameterized)?TruncatedNormal(V\d)?")
_SCALING = frozenset({"Mul", "Add", "AddV2", "Cast"})
_RANDOM_MODULE = re.compile(r"/(\w*random\w*)(/|\.py)")
"""A library's part that does nothing else, such as ``stateful_random_ops.py`` or Keras' ``random``."""


def cut_batches(tables: Tables) -> frozenset[Place]:
    """(Graph, location) where the code cuts what lies on the host, a part of it for each of several devices.

    So is data parallelism by hand fed: each part goes once to the device that needs it, and a device scope
    around the cut would only send the whole to one device and parts of it on. Nothing comes for such a cut.
    """
    parts: dict[Place, set[str]] = {}
    fed: set[Place] = set()
    for key in tables.of_kind("hop"):
        if key.count == 0:
            continue
        graph = key.fields.get("graph") or 0
        src, dst = key.fields.get("src"), key.fields.get("dst")
        fed.add((graph, key.fields.get("loc") or 0))
        if key.fields.get("producer_op") in CUTS and isinstance(src, str) and is_host(src):
            parts.setdefault((graph, key.fields.get("producer_loc") or 0), set()).add(str(dst))
    return frozenset(place for place, devices in parts.items() if len(devices) > 1 and place not in fed)


def is_draw(op: str) -> bool:
    """Whether an op makes random numbers out of a shape, and has kernels for GPUs too."""
    return bool(_DRAW.fullmatch(op) or _TRUNCATED.fullmatch(op))


def drawn(tables: Tables) -> frozenset[Made]:
    """What hands out nothing but numbers that eager ops drew at its line: no host has to give those.

    ``tf.random.normal`` is a draw and ops that scale it. At its line may stand such ops of the code's own,
    which add it to a batch, say: where there are more of them than draws, what comes out may be the host's.
    """
    times = summed(((*_made(key), key.fields.get("device") or ""), key.count) for key in tables.eager_ops)
    draws = summed(((loc, device), count) for (op, loc, device), count in times.items() if is_draw(op))
    return frozenset(
        (op, loc, device)
        for (op, loc, device), count in times.items()
        if draws[loc, device]
        if is_draw(op) or (op in _SCALING and (count <= draws[loc, device] or _of_random_module(tables, loc)))
    )


def _of_random_module(tables: Tables, loc: int) -> bool:
    return bool(_RANDOM_MODULE.search(f"/{tables.via(loc) or ''}"))


def made_on_host(tables: Tables) -> dict[tuple[str, int], MadeOnHost]:
    """Arrays that MXNet's code creates from nothing on the host: how often, and whether for a reason.

    By the op and location of what ran there, where transfers of such arrays are recorded at all.
    """
    from_nothing = [key for key in tables.of_kind("hop") if key.fields.get("from_nothing")]
    names = "from_nothing_ops", "from_nothing_locs"
    sent = summed(
        (maker, key.count)
        for key in from_nothing
        for maker in zip(*(key.fields.get(name) or () for name in names), strict=False)
    )
    if not sent:
        return {}
    kept = grouped((_made(key), key.fields.get("how") or "") for key in tables.of_kind("kept"))
    on_host = [key for key in tables.eager_ops if is_host(str(key.fields.get("device") or ""))]
    counts = summed((_made(key), key.count) for key in on_host)
    return {
        made: MadeOnHost(count, frozenset(kept.get(made, ())), sent[made]) for made, count in counts.items()
    }


def _made(key: Key) -> tuple[str, int]:
    return key.fields.get("op") or "", key.fields.get("loc") or 0
