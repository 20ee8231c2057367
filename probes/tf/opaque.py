"""What XLA compiled, whole functions or parts of one: clusters whose ops have no placement of their own."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Optional

from ..trace.recording import Recording
from ..trace.schema import OpaqueFields
from .names import short_device

CLUSTERS = frozenset({"_XlaRun", "XlaLaunch", "XlaLaunchV2"})
"""Ops of a placed graph that run a cluster which the runtime found by itself."""


def compiled_call(
    recording: Recording, label: str, ops: Collection[Any], outputs: Any, made: int, called: int
) -> None:
    """A call of a function that XLA takes whole; `ops` are its ops' notes, `outputs` what it gave."""
    ran_on = sorted({short_device(tensor.device) for tensor in outputs or () if tensor.device})
    _count(recording, label, ran_on, ops, "jit_compile", made or called, called)


def compiled_inside(
    recording: Recording, label: str, device: str, ops: Collection[Any], made: int, called: int
) -> None:
    """A placed graph calls a function that XLA takes whole, as one op on a device; counted once a trace."""
    _count(recording, label, [device], ops, "jit_compile", made or called, called)


def cluster(recording: Recording, label: str, device: str, called: int, number: int) -> None:
    """A placed graph has clusters on a device that the runtime made by itself; counted once a trace."""
    _count(recording, label, [device], None, "auto-clustering", called, called, number)


def _count(
    recording: Recording,
    label: str,
    ran_on: list[str],
    ops: Optional[Collection[Any]],
    how: str,
    loc: int,
    called: int,
    times: int = 1,
) -> None:
    identity = ("opaque", label, tuple(ran_on), how, loc, called)
    key = recording.known_key(identity)
    if key is None:
        fields = OpaqueFields(
            function=label,
            ops=None if ops is None else len(ops),
            asked=sorted({note.requested for note in ops or () if note.requested}),
            devices=ran_on,
            how=how,
            loc=loc,
            called_loc=called,
        )
        key = recording.key(identity, "opaque", fields)
    recording.happened(key, "opaque", times=times)
