"""The keys that the recorder would have noted of a foreseen process, for the ordinary analysis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.preflight.op_flow import Pull, Record, Taken, Tensor
from app.preflight.placer import Place
from probes.trace.rows import Key


class Keys:
    """Ops, transfers and waits, numbered in the order in which they come."""

    def __init__(self) -> None:
        self.all: list[Key] = []
        self.rules: dict[int, tuple[Place, ...]] = {}
        """By the id of a transfer's key: by which rules consumer and producer were placed."""
        self.early: dict[int, int] = {}
        """By the id of the key of what was over with the first step: how often it happened."""

    def op(self, op: str, device: str, requested: str, loc: int, forward: int, times: int | None) -> None:
        """An op that runs; `times` as `often` has it, None where that is not known, like below."""
        fields = {"op": op, "device": device, "requested": requested, "loc": loc, "forward_loc": forward}
        self._key("op", fields, times)

    def hop(self, fields: dict[str, Any], times: int | None, *places: Place | None) -> None:
        """A transfer; `places` are its consumer's and its producer's, None for one that has none."""
        if fields["bytes"] is None:
            fields["basis"] = "unknown"
        key = self._key("hop", fields, times)
        self.rules[key.id] = tuple(place for place in places if place is not None)

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


def about(tensor: Tensor) -> dict[str, Any]:
    """What `hop_fields` takes of a tensor."""
    shape: Iterable[Any] = ("?",) if tensor.shape is None else ("?" if d is None else d for d in tensor.shape)
    return {"size": tensor.bytes, "dtype": tensor.dtype, "shape": tuple(shape)}
