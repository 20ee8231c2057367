"""Findings at marked lines of small sources, and the text that the fix makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from app.diagnosis.causes.host_sync.cause import advice as of_reads
from app.diagnosis.explanation import Recorded, advised, repair
from app.diagnosis.registry import SEVERITY, advice
from app.facts.placement import Op
from app.facts.transfers.hops import Hop
from app.fixes.code.edits import Repair, applied
from app.fixes.executed_ops import Ran
from app.judgments.finding import Finding
from app.judgments.judgment import Judgment
from tests.unit.evidence_records import evidence

MARK = "#!"
"""Stands at the end of the finding's line, and is none of the text."""
MX = "import mxnet as mx\nfrom mxnet import gluon\n"
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
        "count": 1000,
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
    cause = Judgment(code, SEVERITY[code], evidence(code, fields.pop("evidence", {})), blames)
    return Hop(src=src, dst=dst, cause=cause, **known | fields)


def op(line: int, kind: str, device: str, requested: str = "", file: str = "train.py") -> Op:
    """An op at a line."""
    return Op(kind, kind, requested, device, f"{file}:{line}", None)


def proposed(
    code: str,
    marked: str,
    *,
    framework: str = "tensorflow",
    hops: tuple[Hop, ...] = (),
    devices: tuple[str, ...] = DEVICES,
    severity: str | None = None,
    recurs: bool = True,
    ran: tuple[Op, ...] = (),
    others: tuple[Hop, ...] = (),
    files: Mapping[str, str] = MappingProxyType({}),
    **facts: Any,
) -> tuple[str, Repair | None]:
    """The text without its mark, and the fix for the marked line.

    `hops` are the finding's, `others` the run's other ones, `ran` its ops, `files` its other files.
    """
    text, finding = _marked(code, marked, len(hops), facts, severity, recurs)
    texts = {"train.py": text, **files}
    known = Ran(lambda: ran)
    return text, repair(
        finding, Recorded((*hops, *others), texts.get, framework, devices, known, list(texts))
    )


def _marked(
    code: str, marked: str, hops: int, facts: dict[str, Any], severity: str | None, recurs: bool
) -> tuple[str, Finding]:
    line = next(number for number, text in enumerate(marked.splitlines(), 1) if text.endswith(MARK))
    text = marked.replace(f"  {MARK}", "").replace(MARK, "")
    site, waits = f"train.py:{line}", facts.pop("takes", True) is False
    known = evidence(code, facts)
    words = of_reads(known, takes=False) if waits else advice(code, known)
    rows = tuple(range(hops))
    return text, Finding(code, severity or SEVERITY[code], site, "", known, words, rows, recurs)


def said(
    code: str,
    marked: str,
    *,
    framework: str = "tensorflow",
    hops: tuple[Hop, ...] = (),
    devices: tuple[str, ...] = DEVICES,
    ran: tuple[Op, ...] = (),
    others: tuple[Hop, ...] = (),
    files: Mapping[str, str] = MappingProxyType({}),
    **facts: Any,
) -> str | None:
    """The advice in words for the marked line, where no change of the code is proposed."""
    text, finding = _marked(code, marked, len(hops), facts, None, True)
    texts = {"train.py": text, **files}
    known = Ran(lambda: ran)
    return advised(finding, Recorded((*hops, *others), texts.get, framework, devices, known, list(texts)))


def fixed(code: str, marked: str, **more: Any) -> str | None:
    """The text that the fix makes; None where there is no fix."""
    text, found = proposed(code, marked, **more)
    if found is None:
        return None
    assert found.words.endswith(".") and "\n" not in found.words
    assert found.code({"train.py": text}.get).startswith("@@ train.py:")
    return applied(text, found.edits)


def mx_fixed(code: str, text: str, **more: Any) -> str | None:
    """The same of MXNet, without the lines that import it."""
    found = fixed(code, MX + text, framework="mxnet", **more)
    if found is None:
        return None
    assert found.startswith(MX)
    return found.removeprefix(MX)


TRAINER = (
    "from mxnet import gluon\nclass Job:\n    def __init__(self, p):\n        self.t = gluon.Trainer(p, {})\n"
)


def of_trainer(code: str, text: str, arguments: str, **told: Any) -> list[tuple[str, tuple[str, ...]]] | None:
    """What the fix replaces where the Trainer is made in job.py."""
    other = TRAINER.replace("{}", arguments)
    _, found = proposed(code, text, framework="mxnet", files={"job.py": other}, **told)
    return None if found is None else [(edit.file, edit.new) for edit in found.edits]
