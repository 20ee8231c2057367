"""Writes the collectives of a placed graph: those of one line and group are one, of all their tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Callable, Optional

from ..trace.recording import Recording
from ..trace.schema import CollectiveFields
from .collective_kinds import COLLECTIVES, Collective, of_node, receives, wire_bytes

Size = Callable[[Any], Optional[int]]
"""Bytes of the tensor that a collective node moves."""


def write_collectives(
    recording: Recording,
    number: int,
    location: int,
    nodes: Iterable[tuple[Any, str, int]],
    protos: Mapping[str, Any],
    arguments: Optional[Any],
    size: Size,
) -> None:
    """Define the keys; `nodes` are (node, its device, its line), `protos` all nodes of the graph by name.

    `arguments` are the tensors of the graph's first call: there a strategy hands in a new instance key each
    time, by the same count in all processes.

    A process has the members on its own devices only; `members` says how many there are in all, `group` is
    the same in all processes.
    """
    found: dict[tuple[str, str, str, Optional[int], int], dict[str, list[tuple[Any, Collective]]]] = {}
    for node, device, loc in nodes:
        if node.op in COLLECTIVES:
            one = of_node(node, lambda text: _number(protos.get(text.split(":")[0]), arguments))
            place = (one.op, one.algorithm, one.group.partition(":")[0], one.members, loc)
            found.setdefault(place, {}).setdefault(device, []).append((node, one))
    for (op, algorithm, group, members, loc), by_device in found.items():
        devices = sorted(by_device)
        first = by_device[devices[0]]
        sizes = [size(node) for node, _ in first]
        known = [part for part in sizes if part is not None]
        payload = sum(known) if len(known) == len(sizes) else None
        instances = sorted(one.group.partition(":")[2] for _, one in first)
        recording.key(
            ("collective", number, op, algorithm, group, members, loc),
            "collective",
            CollectiveFields(
                op=op,
                devices=devices,
                tensors=len(first),
                payload_bytes=payload,
                wire_bytes=wire_bytes(op, payload, members or len(devices)),
                algorithm=algorithm,
                loc=loc or location,
                basis="estimated",
                graph=number,
                per_call=1,
                members=members or len(devices),
                group=f"{group}:{','.join(instances)}" if all(instances) else "",
            ),
        )


def moved_tensor(node: Any) -> tuple[str, int]:
    """(node, output slot) of the tensor that a collective node moves."""
    if receives(node.op):
        return node.name, 0
    name, _, slot = node.input[0].partition(":")
    return name, int(slot or 0)


def _number(node: Any, arguments: Optional[Any]) -> Optional[int]:
    """The number that a constant holds, or that was handed in at the first call."""
    if node is None:
        return None
    if node.op == "Const":
        from tensorflow.python.framework import tensor_util

        value = tensor_util.MakeNdarray(node.attr["value"].tensor)
    elif node.op in ("_Arg", "_DeviceArg") and arguments is not None:
        index = node.attr["index"].i
        tensor: Any = arguments[index] if index < len(arguments) else None
        # Not by numpy(), which would be told as the program's own taking of a value.
        value = tensor._numpy_internal() if hasattr(tensor, "_numpy_internal") else None
    else:
        return None
    return int(value) if value is not None and value.size == 1 else None
