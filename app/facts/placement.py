"""Which ops ran where: distinct ops a device, and the list behind the numbers."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from typing import Any

from app.facts.devices import in_order
from app.facts.tables import Tables

BOUNDARY = frozenset({"_Arg", "_Retval"})
"""A call's inputs and outputs: they stand in a graph, but run nothing."""
_CHANGES = ("Assign", "ResourceApply", "ResourceScatter", "ResourceSparseApply")
"""How types of ops begin that change a variable where it lives."""


@dataclasses.dataclass(frozen=True)
class Op:
    """One distinct op: of a traced function, or an eager one at a line."""

    name: str
    type: str
    requested: str
    """'' when the code asked for no device."""
    assigned: str
    site: str | None
    function: str | None
    """The traced function it is in, None for an eager op."""

    def row(self) -> dict[str, Any]:
        """The row as the report has it."""
        return dataclasses.asdict(self)


def op_table(tables: Tables) -> list[Op]:
    """Distinct ops in the order in which they were met.

    A function that was traced again with ops of the same names on the same devices adds none.
    """
    ops: dict[Op, None] = {}
    for graph in tables.own_graphs:
        for node in tables.nodes_of(graph.id):
            if node.op not in BOUNDARY:
                site = tables.site(node.loc)
                ops[Op(node.name, node.op, node.requested, node.assigned, site, graph.name)] = None
    for key in tables.eager_ops:
        fields = key.fields
        kind, site = fields.get("op") or "", tables.site(fields.get("loc"))
        ops[Op(kind, kind, fields.get("requested") or "", fields.get("device") or "", site, None)] = None
    return list(ops)


def changing(ops: Iterable[Op], device: str) -> frozenset[str]:
    """The lines whose ops change variables of a device."""
    return frozenset(
        op.site for op in ops if op.site and op.assigned == device and op.type.startswith(_CHANGES)
    )


def placement(tables: Tables) -> list[dict[str, Any]]:
    """``[{device, ops}]``: the number of distinct ops on each device of the run."""
    numbers = Counter(op.assigned for op in op_table(tables) if op.assigned)
    devices = in_order([*tables.devices, *numbers])
    return [{"device": device, "ops": numbers.get(device, 0)} for device in devices]
