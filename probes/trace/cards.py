"""Which card a framework's GPU number is, as far as this process can tell.

CUDA's driver knows, once the framework has started it; nothing here ever starts it. Before that, and without
it, there is what the environment says.
"""

from __future__ import annotations

import os
from typing import Optional, cast

from ..cuda.driver import CudaError, Driver
from .schema import DeviceFacts

DRIVER, ENVIRONMENT = "the CUDA driver", "CUDA_VISIBLE_DEVICES"
"""Who told which card it is."""
VARIABLES = ("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES")


def cuda_environment() -> dict[str, Optional[str]]:
    """The variables that CUDA counts by, as this process has them now; None: not set."""
    return {name: os.environ.get(name) for name in VARIABLES}


def card_facts(ordinal: Optional[int], sliced: bool = False) -> DeviceFacts:
    """What is known of the GPU that CUDA counts as `ordinal` in this process: None where that is not known.

    With `sliced` it is a part of that card, which then is its parent.
    """
    facts: DeviceFacts = {"stand_in": sliced}
    if ordinal is None:
        return facts
    facts["cuda_ordinal"] = ordinal
    identity = _asked(ordinal)
    if identity:
        facts["source"] = DRIVER
    else:
        identity = _named(ordinal)
        if identity:
            facts["source"] = ENVIRONMENT
    if sliced and "uuid" in identity:
        identity["parent_uuid"] = identity.pop("uuid")
    return {**facts, **identity}


def _asked(ordinal: int) -> DeviceFacts:
    driver = Driver.of_this_process()
    if driver is None:
        return {}
    try:
        return cast(DeviceFacts, driver.identity(ordinal))
    except CudaError:
        return {}  # not started yet, or no such device


def _named(ordinal: int) -> DeviceFacts:
    """By the place in the list, where that is made of UUIDs, as the launcher's are."""
    entries = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    named = entries[ordinal].strip() if ordinal < len(entries) else ""
    return {"uuid": named} if named.startswith(("GPU-", "MIG-")) else {}
