"""Small reports of TensorFlow runs, as the checks of claims read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runners.judging import judge
from runners.programs.evidence import Shown

Row = dict[str, Any]


def op(
    name: str,
    assigned: str,
    kind: str = "",
    requested: str = "",
    line: int = 1,
    function: str | None = "train_step",
) -> Row:
    return {
        "name": name,
        "type": kind or name,
        "requested": requested,
        "assigned": assigned,
        "site": f"script.py:{line}",
        "function": function,
    }


def eager(kind: str, assigned: str, requested: str = "", line: int = 1) -> Row:
    return op(kind, assigned, kind, requested, line, None)


def hop(
    src: str,
    dst: str,
    size: int | None,
    count: int | None = 3,
    cause: str = "explicit",
    line: int = 1,
    forward_site: str | None = None,
) -> Row:
    return {
        "src": src,
        "dst": dst,
        "bytes": size,
        "count": count,
        "cause": cause,
        "site": f"script.py:{line}",
        "forward_site": forward_site,
    }


def collective(
    payload: int | None, wire: int | None, devices: Sequence[str], algorithm: str = "ring", count: int = 3
) -> Row:
    return {
        "devices": list(devices),
        "payload_bytes": payload,
        "wire_bytes": wire,
        "algorithm": algorithm,
        "count": count,
        "site": "script.py:1",
        "basis": "estimated",
    }


def shown(
    variant: str = "default",
    options: Mapping[str, Any] | None = None,
    given: tuple[str, ...] = ("cpu:1", "cpu:2"),
    **report: Any,
) -> dict[str, Shown]:
    """One run on these devices; `report` has what differs from that of one that did nothing."""
    nothing: Row = {"verdicts": [], "steps": 3, "ops": [], "hops": [], "collectives": [], "samples": None}
    gpus = any(name.startswith("gpu:") for name in given)
    nothing["devices"] = ["cpu:0", *given]
    nothing["placement"] = [{"device": device, "ops": 0} for device in nothing["devices"]]
    nothing["device_map"] = {}
    return {variant: Shown(variant, options or {}, given, None if gpus else len(given), nothing | report)}


def verdicts(program: str, runs: Mapping[str, Shown]) -> list[tuple[str, str]]:
    return [(found.verdict, found.text) for found in judge(program, runs)]
