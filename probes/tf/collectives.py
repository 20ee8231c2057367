"""Reductions across devices that TensorFlow builds from ordinary ops, named while they are built.

Collective ops (CollectiveReduceV2) are found in the placed graph; ReductionToOneDevice,
HierarchicalCopy and NCCL are calls of Python classes, noted here, and so are collective ops that run eagerly.
"""

from __future__ import annotations

import inspect
from typing import Any, Optional

from ..trace.frames import PASSING, stands_for
from ..trace.recording import Recording
from ..trace.schema import CollectiveFields
from .collective_kinds import algorithm_of, kind_of, wire_bytes
from .names import short_device, tensor_bytes
from .steps import applying

_ALGORITHMS = {
    "ReductionToOneDevice": "reduction-to-one-device",
    "HierarchicalCopyAllReduce": "hierarchical-copy",
    "NcclAllReduce": "nccl",
}


def install(recording: Recording) -> None:
    """Wrap the classes' implementations."""
    from tensorflow.python.distribute import cross_device_ops

    guard = recording.guard("what replicas reduce")

    def wrap(owner: Any, method: str, values_of: Any) -> None:
        original = vars(owner)[method]
        named = list(inspect.signature(original).parameters)[2]

        @stands_for(original)
        def reduced(self: Any, *args: Any, **kwargs: Any) -> Any:
            with guard:
                values = values_of(args[1] if len(args) > 1 else kwargs[named])
                _note(recording, _ALGORITHMS.get(type(self).__name__, type(self).__name__), values)
            with PASSING:
                return original(self, *args, **kwargs)

        setattr(owner, method, reduced)

    _watch_eager(recording)
    wrap(cross_device_ops.ReductionToOneDevice, "reduce_implementation", lambda value: [value])
    wrap(cross_device_ops.AllReduceCrossDeviceOps, "_batch_all_reduce", list)


_EAGER = {
    "all_reduce": "CollectiveReduce",
    "all_reduce_v2": "CollectiveReduceV2",
    "all_gather": "CollectiveGather",
    "all_gather_v2": "CollectiveGatherV2",
    "all_to_all_v2": "CollectiveAllToAllV2",
    "broadcast_send": "CollectiveBcastSend",
    "broadcast_send_v2": "CollectiveBcastSendV2",
    "broadcast_recv": "CollectiveBcastRecv",
    "broadcast_recv_v2": "CollectiveBcastRecvV2",
}
"""Function of collective_ops -> the op that it makes."""


def _watch_eager(recording: Recording) -> None:
    from tensorflow.python.ops import collective_ops

    guard = recording.guard("eager collectives")

    def wrap(name: str, op: str) -> None:
        original = getattr(collective_ops, name, None)
        if original is None:
            return
        parameters = list(inspect.signature(original).parameters)

        @stands_for(original)
        def collective(*args: Any, **kwargs: Any) -> Any:
            with PASSING:
                result = original(*args, **kwargs)
            if hasattr(result, "_numpy"):  # none of a graph's: the placed graph tells those
                with guard:
                    _happened(recording, op, {**dict(zip(parameters, args)), **kwargs}, result)
            return result

        setattr(collective_ops, name, collective)

    for name, op in _EAGER.items():
        wrap(name, op)


def _happened(recording: Recording, op: str, given: dict[str, Any], result: Any) -> None:
    """Count an eager collective; each execution has an instance key of its own, so the line identifies it."""
    payload = tensor_bytes(result)
    members = int(given["group_size"])
    if payload is not None and op.startswith("CollectiveGather"):
        payload //= members  # the result holds what all contributed
    group, hint = str(int(given["group_key"])), str(given.get("communication_hint", "auto"))
    device, location = short_device(result.device), recording.sites.current(3)
    key = recording.key(
        ("collective", op, device, location, payload, group, members, hint),
        "collective",
        CollectiveFields(
            op=kind_of(op),
            devices=[device],
            tensors=1,
            payload_bytes=payload,
            wire_bytes=wire_bytes(op, payload, members),
            algorithm=algorithm_of(op, hint),
            loc=location,
            basis="estimated",
            graph=0,
            per_call=None,
            members=members,
            group=group,
        ),
    )
    recording.happened(key, "collective")


def _note(recording: Recording, algorithm: str, values: list[Any]) -> None:
    replicas = [tuple(getattr(value, "values", ()) or (value,)) for value in values]
    devices = sorted({short_device(tensor.device) for tensors in replicas for tensor in tensors})
    if len(devices) < 2:
        return
    sizes = [_bytes(tensors[0]) for tensors in replicas]
    payload: Optional[int] = None if None in sizes else sum(size for size in sizes if size is not None)
    first = replicas[0][0]
    graph = getattr(first, "graph", None) if not hasattr(first, "_numpy") else None
    location = recording.sites.current(3)
    row = CollectiveFields(
        op="AllReduce",
        devices=devices,
        tensors=len(replicas),
        payload_bytes=payload,
        wire_bytes=_wire(algorithm, payload, len(devices)),
        algorithm=algorithm,
        loc=location,
        gradients=applying(),
        basis="estimated",
        graph=0,
        per_call=None,
    )
    if graph is None:
        identity = ("reduction", algorithm, location, tuple(devices), payload, row["gradients"])
        recording.happened(recording.key(identity, "collective", row), "collective")
        return
    rows: Optional[list[CollectiveFields]] = getattr(graph, "_hopscope_collectives", None)
    if rows is None:
        rows = graph._hopscope_collectives = []
    for known in rows:
        if _what(known) == _what(row):
            known["tensors"] += row["tensors"]
            known["payload_bytes"] = _sum(known["payload_bytes"], row["payload_bytes"])
            known["wire_bytes"] = _sum(known["wire_bytes"], row["wire_bytes"])
            return
    rows.append(row)


def _what(row: CollectiveFields) -> tuple[Any, ...]:
    """What a line's reductions of several tensors have in common."""
    return row["op"], row["devices"], row["algorithm"], row["loc"], row["gradients"]


def _sum(first: Optional[int], second: Optional[int]) -> Optional[int]:
    return None if first is None or second is None else first + second


def _bytes(tensor: Any) -> Optional[int]:
    count = tensor.shape.num_elements()
    return None if count is None else int(count) * int(tensor.dtype.size)


def _wire(algorithm: str, payload: Optional[int], devices: int) -> Optional[int]:
    """Bytes that leave a device: to one device and back, or around a ring twice less one share."""
    if payload is None or algorithm not in ("reduction-to-one-device", "nccl"):
        return None
    return 2 * (devices - 1) * payload
