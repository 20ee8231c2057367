"""The keys that a recorder would have noted of a foreseen process, for the ordinary analysis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from app.preflight.dialects.tensorflow.op_flow import Op, Pull, Record, Taken, Tensor
from app.preflight.dialects.tensorflow.op_places import Lies
from app.preflight.dialects.tensorflow.placer import HOST, Place
from probes.trace.hop import hop_fields
from probes.trace.rows import Key


class Keys:
    """Ops, transfers and waits, numbered in the order in which they come."""

    def __init__(self) -> None:
        self.all: list[Key] = []
        self.rules: dict[int, tuple[Place, ...]] = {}
        """By the id of a transfer's key: by which rules consumer and producer were placed."""
        self.early: dict[int, int] = {}
        """By the id of the key of what was over with the first step: how often it happened."""

    def op(self, op: Op, device: str, loc: int, times: int | None) -> None:
        """An op that runs; `times` as `often` has it, None where that is not known, like below."""
        fields = {"op": op.op, "device": device, "requested": op.requested}
        self._key("op", fields | {"loc": loc, "forward_loc": op.forward_loc}, times)

    def hop(
        self,
        tensor: Tensor,
        lies: Lies,
        device: str,
        memory: str,
        times: int | None,
        places: Sequence[Place | None],
        **given: Any,
    ) -> dict[str, Any]:
        """A tensor that goes to a memory for an op on a device, with the rest of the hop's fields as `given`.

        `places` are the consumer's and the producer's, None for one that has none. The fields are returned.
        """
        shape: Iterable[Any] = (
            ("?",) if tensor.shape is None else ("?" if d is None else d for d in tensor.shape)
        )
        given |= {"size": tensor.bytes, "dtype": tensor.dtype, "shape": tuple(shape)}
        given["src_memory"] = "host" if lies.at == HOST else ""
        given["dst_memory"] = "host" if memory == HOST else ""
        fields = hop_fields(lies.device, device, **given)
        if tensor.bytes is None:
            fields["basis"] = "unknown"
        key = self._key("hop", fields, times)
        self.rules[key.id] = tuple(place for place in places if place is not None)
        return fields

    def sync(self, device: str, kind: str, loc: int, size: int | None, times: int | None) -> None:
        """A wait of Python's for a value of `size` bytes."""
        fields = {"device": device, "kind": kind, "loc": loc, "bytes": size, "basis": "estimated"}
        self._key("sync", fields, times)

    def _key(self, kind: str, fields: dict[str, Any], times: int | None) -> Key:
        # What was over with the first step counts as once, which is less than every step.
        count = None if times is None else 1 if times < 0 else times
        key = Key(len(self.all) + 1, kind, fields, count)
        self.all.append(key)
        if times is not None and times < 0:
            self.early[key.id] = -times
        return key


def often(counted: Record | Taken | Pull) -> int:
    """How often in the steps after the first; below 0 where only up to the end of that."""
    return counted.count - counted.early or -counted.count
