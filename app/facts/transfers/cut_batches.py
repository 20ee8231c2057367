"""Lines at which the code cuts what lies on the host, a part of it for each of several devices.

So is data parallelism by hand fed: each part goes once to the device that needs it, and a device scope
around the cut would only send the whole to one device and parts of it on.
"""

from __future__ import annotations

from app.facts.devices import is_host
from app.facts.tables import Tables
from app.facts.transfers.transfer import Place

CUTS = frozenset({"Split", "SplitV", "StridedSlice", "Slice", "GatherV2", "Unpack", "DynamicPartition"})
"""Types of ops whose outputs are parts of their input."""


def cut_batches(tables: Tables) -> frozenset[Place]:
    """(Graph, location) of each such cut: parts go to two devices or more, and nothing came for it."""
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
