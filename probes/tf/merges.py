"""Charges what replicas do together to the line where the first of them asked for it.

A replica of a mirrored strategy runs in a thread of its own; `merge_call`, by which optimizers sum gradients,
hands a function over to the main thread, which stands at `strategy.run` meanwhile.
"""

from __future__ import annotations

from typing import Any

from ..trace.frames import PASSING, stands_for
from ..trace.recording import Recording
from .steps import applying, while_applying


def install(recording: Recording) -> None:
    """Wrap the hand-over of mirrored replicas' threads."""
    from tensorflow.python.distribute import mirrored_run

    replica: Any = getattr(mirrored_run, "_MirroredReplicaContext", None)
    if replica is None:
        return
    merge = replica._merge_call
    guard = recording.guard("the line at which replicas meet")

    @stands_for(merge)
    def _merge_call(self: Any, fn: Any, args: Any, kwargs: Any) -> Any:
        with guard:
            location = recording.sites.current()
            if applying():
                fn = while_applying(fn)
            if location:
                fn = recording.sites.charged(fn, location)
        with PASSING:
            return merge(self, fn, args, kwargs)

    replica._merge_call = _merge_call
