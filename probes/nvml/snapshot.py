"""Snapshots and the messages between them: only what changed is said again.

A message is ``{"seq", "t", "full", <changed top-level keys>, "gpus": [{"index", <changed fields>}],
"host": {<changed fields>}}``; `t` is epoch seconds. Merged in order, messages give the snapshot that
`devices --json` prints.
"""

from __future__ import annotations

from typing import Any, Optional

from .missing import is_missing

Snapshot = dict[str, Any]
Message = dict[str, Any]

HISTORY_FIELDS = (
    "utilization_gpu_percent",
    "memory_used_bytes",
    "power_watts",
    "temperature_celsius",
    "clock_sm_mhz",
    "pcie_tx_bytes_per_second",
    "pcie_rx_bytes_per_second",
    "nvlink_tx_bytes_per_second",
    "nvlink_rx_bytes_per_second",
)
"""Fields of a GPU that are worth a curve."""
HISTORY_HOST_FIELDS = ("cpu_percent", "memory_used_bytes")

__all__ = ["HISTORY_FIELDS", "HISTORY_HOST_FIELDS", "Message", "Snapshot", "change", "is_missing", "merge"]


def merge(snapshot: Optional[Snapshot], message: Message) -> Snapshot:
    """Return the snapshot after a message; a new one, that shares what did not change with the old."""
    if message.get("full") or snapshot is None:
        return {key: value for key, value in message.items() if key != "full"}
    result = dict(snapshot)
    for key, value in message.items():
        if key == "gpus":
            result[key] = _merge_gpus(snapshot.get(key, []), value)
        elif key == "host":
            result[key] = {**snapshot.get(key, {}), **value}
        elif key != "full":
            result[key] = value
    return result


def _merge_gpus(known: list[dict[str, Any]], changed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    news = {gpu["index"]: gpu for gpu in changed}
    merged = [{**gpu, **news.pop(gpu["index"])} if gpu["index"] in news else gpu for gpu in known]
    return [*merged, *news.values()]


def change(before: Optional[Snapshot], after: Snapshot) -> Message:
    """Return the message that leads from one snapshot to the next; the whole where GPUs came or went."""
    if before is None or _indices(before) != _indices(after):
        return {**after, "full": True}
    message: Message = {"seq": after["seq"], "t": after["t"], "full": False}
    for key, value in after.items():
        if key in ("gpus", "host", "seq", "t") or value == before.get(key):
            continue
        message[key] = value
    gpus = []
    for old, new in zip(before["gpus"], after["gpus"]):
        if old is new:
            continue
        news = {key: value for key, value in new.items() if key not in old or old[key] != value}
        if news:
            gpus.append({"index": new["index"], **news})
    if gpus:
        message["gpus"] = gpus
    host, known = after.get("host", {}), before.get("host", {})
    news = {key: value for key, value in host.items() if known.get(key) != value}
    if news:
        message["host"] = news
    return message


def _indices(snapshot: Snapshot) -> list[int]:
    return [gpu["index"] for gpu in snapshot["gpus"]]
