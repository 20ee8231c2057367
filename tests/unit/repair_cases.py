"""Findings at marked lines of small sources, and the text that the fix makes of them."""

from __future__ import annotations

from typing import Any

from app.analysis.causes import Cause
from app.analysis.finding import Finding
from app.analysis.hops import Hop
from app.analysis.repairs.edits import Repair, applied
from app.analysis.repairs.repair import repair
from app.analysis.severity import SEVERITY

MARK = "#!"
"""Stands at the end of the finding's line, and is none of the text."""
DEVICES = ("cpu:0", "gpu:0", "gpu:1")


def hop(code: str, src: str = "gpu:0", dst: str = "cpu:0", **fields: Any) -> Hop:
    known: dict[str, Any] = {
        "src_memory": "device",
        "dst_memory": "device",
        "tensor": "x:0",
        "op": "MatMul",
        "producer": "x",
        "consumers": ("y",),
        "bytes": 4,
        "count": 100,
        "site": None,
        "producer_site": None,
        "forward_site": None,
        "via": None,
        "basis": "estimated",
        "kind": "pull" if code == "host-sync" else "copy",
        "producer_op": "Mean",
        "dtype": "float32",
        "shape": "",
        "keys": (1,),
        "graphs": (0,),
    }
    blames = fields.pop("blames", "consumer")
    cause = Cause(code, SEVERITY[code], {}, blames)
    return Hop(src=src, dst=dst, cause=cause, **known | fields)


def proposed(
    code: str,
    marked: str,
    *,
    framework: str = "tensorflow",
    hops: tuple[Hop, ...] = (),
    devices: tuple[str, ...] = DEVICES,
    severity: str | None = None,
    recurs: bool = True,
    **evidence: Any,
) -> tuple[str, Repair | None]:
    """The text without its mark, and the fix for the marked line."""
    line = next(number for number, text in enumerate(marked.splitlines(), 1) if text.endswith(MARK))
    text = marked.replace(f"  {MARK}", "").replace(MARK, "")
    finding = Finding(
        code,
        severity or SEVERITY[code],
        f"train.py:{line}",
        "",
        evidence,
        None,
        tuple(range(len(hops))),
        recurs,
    )
    return text, repair(finding, hops, {"train.py": text}.get, framework, devices)


def fixed(code: str, marked: str, **more: Any) -> str | None:
    """The text that the fix makes; None where there is no fix."""
    text, found = proposed(code, marked, **more)
    if found is None:
        return None
    assert found.words.endswith(".") and "\n" not in found.words
    assert found.code({"train.py": text}.get).startswith("@@ train.py:")
    return applied(text, found.edits)
