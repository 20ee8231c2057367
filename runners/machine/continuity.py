"""What a new sampler does not know, but its predecessors told: which card a lost one is, and past XID errors.

Samplers are replaced when a driver hangs or is reloaded, and then there is most to remember.
"""

from __future__ import annotations

from typing import Any

from probes.nvml.missing import is_missing
from probes.nvml.snapshot import Message, Snapshot

_IDENTITY = ("uuid", "pci_bus_id", "name", "serial", "memory_total_bytes")
_MOST_XIDS = 16


class Continuity:
    """What earlier samplers told of each card, by its NVML index."""

    def __init__(self) -> None:
        self._identities: dict[int, dict[str, Any]] = {}
        self._past: dict[int, list[dict[str, Any]]] = {}

    def complete(self, before: Snapshot | None, message: Message) -> Message:
        """Return a message with what was known before it; `before` is the snapshot that it changes.

        A card that cannot be read keeps its identity, unless another card has that now. XID errors are added
        to those of earlier samplers: a whole message is the first of a new one.
        """
        gpus = message.get("gpus")
        if not gpus:
            return message
        if message.get("full") and before is not None:
            self._past = {gpu["index"]: gpu["xid"] for gpu in before["gpus"] if gpu["xid"]}
        told = {gpu["uuid"] for gpu in gpus if isinstance(gpu.get("uuid"), str)}
        return {**message, "gpus": [self._complete(gpu, told) for gpu in gpus]}

    def _complete(self, gpu: dict[str, Any], told: set[str]) -> dict[str, Any]:
        index, result = gpu["index"], dict(gpu)
        known = self._identities.get(index, {})
        if is_missing(gpu.get("uuid")) and known.get("uuid") not in told:
            result |= {name: known[name] for name in known if is_missing(gpu.get(name))}
        elif isinstance(gpu.get("uuid"), str):
            self._identities[index] = {
                name: gpu[name] for name in _IDENTITY if name in gpu and not is_missing(gpu[name])
            }
        past = self._past.get(index)
        if past and isinstance(past, list) and "xid" in gpu:
            now = gpu["xid"] if isinstance(gpu["xid"], list) else []
            result["xid"] = [*(event for event in past if event not in now), *now][-_MOST_XIDS:]
        return result
