"""Lets CPU contexts play the GPUs that a script names, in a pre-flight on a machine without any.

`mx.gpu(i)` becomes `mx.cpu(i + 1)`: the same arrays lie apart and the same copies are made; only their time
means nothing. The script sees CPU contexts: what it decides by a context's type may be decided otherwise.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from ..trace.frames import PASSING, stands_for
from ..trace.preflight import GPUS_VARIABLE, limit_steps, wanted
from ..trace.recording import Recording


def install(recording: Recording) -> None:
    """Replace the making of GPU contexts and the counting of GPUs, in a pre-flight only."""
    if not wanted():
        return
    limit_steps(recording, before_end=_run_all)
    from mxnet import context

    kept: Any = context.Context
    make = kept.__init__
    guard = recording.guard("GPUs that contexts of the host play")
    played: dict[str, str] = {}
    asked: dict[str, int] = {}

    def tell() -> None:
        recording.fact({"played": dict(played), "asked_for_gpus": dict(asked)})

    @stands_for(make)
    def __init__(self: Any, device_type: Any, device_id: int = 0) -> None:
        if device_type != "gpu":
            with PASSING:
                make(self, device_type, device_id)
            return
        with PASSING:
            make(self, "cpu", device_id + 1)
        name = f"cpu:{device_id + 1}"
        with guard:
            if name not in played:
                played[name] = f"gpu:{device_id}"
                tell()

    kept.__init__ = __init__
    wanted_gpus = int(os.environ.get(GPUS_VARIABLE) or 0) or 1

    def num_gpus() -> int:
        with guard:
            location = recording.sites.current()
            if str(location) not in asked:
                asked[str(location)] = location
                tell()
        return wanted_gpus

    original: Any = context.num_gpus
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("mxnet") and vars(module).get("num_gpus") is original:
            module.num_gpus = num_gpus  # type: ignore[attr-defined]
    tell()


def _run_all() -> None:
    """Wait for what MXNet has yet to run: operators of the script's own take values only then.

    By the library's own function, which the recorder replaced: the script asked for no such wait.
    """
    from mxnet.base import _LIB

    _LIB["MXNDArrayWaitAll"]()
