"""What XLA compiled, whole functions or parts of one: clusters whose ops have no placement of their own."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Optional

from ..trace.recording import Recording
from ..trace.schema import OpaqueFields
from .names import short_device

CLUSTERS = frozenset({"_XlaRun", "XlaLaunch", "XlaLaunchV2"})
"""Ops of a placed graph that run a cluster which the runtime found by itself."""


_Identity = tuple[str, str, tuple[str, ...], str, int, int]
"""(``opaque``, function's label, devices, how it was compiled, line that made it, line that called it)."""


def compiled_call(
    recording: Recording, label: str, ops: Collection[Any], outputs: Any, made: int, called: int
) -> None:
    """A call of a function that XLA takes whole; `ops` are its ops' notes, `outputs` what it gave."""
    ran_on = tuple(sorted({short_device(tensor.device) for tensor in outputs or () if tensor.device}))
    _count(recording, ("opaque", label, ran_on, "jit_compile", made or called, called), ops)


def compiled_inside(
    recording: Recording, label: str, device: str, ops: Collection[Any], made: int, called: int
) -> None:
    """A placed graph calls a function that XLA takes whole, as one op on a device; counted once a trace."""
    _count(recording, ("opaque", label, (device,), "jit_compile", made or called, called), ops)


def cluster(recording: Recording, label: str, device: str, called: int, number: int) -> None:
    """A placed graph has clusters on a device that the runtime made by itself; counted once a trace."""
    _count(recording, ("opaque", label, (device,), "auto-clustering", called, called), None, number)


def _count(recording: Recording, identity: _Identity, ops: Optional[Collection[Any]], times: int = 1) -> None:
    key = recording.known_key(identity)
    if key is None:
        _, label, devices, how, loc, called = identity
        fields = OpaqueFields(
            function=label,
            ops=None if ops is None else len(ops),
            asked=sorted({note.requested for note in ops or () if note.requested}),
            devices=list(devices),
            how=how,
            loc=loc,
            called_loc=called,
        )
        key = recording.key(identity, "opaque", fields)
    recording.happened(key, "opaque", times=times)
