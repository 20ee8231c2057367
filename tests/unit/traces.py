"""Makes run folders with traces, through the recorders' own writer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from probes.trace.schema import OpFields
from probes.trace.writer import TraceWriter

SECOND = 1_000_000_000


class Trace:
    """One process's trace, written record by record."""

    def __init__(self, folder: Path, name: str = "main", **header: Any) -> None:
        self.folder = folder
        self.name = name
        (folder / "trace").mkdir(parents=True, exist_ok=True)
        facts: dict[str, Any] = {"run": folder.name, "host": "elsewhere", "pid": 1, "process": "main"}
        facts |= {
            "role": None,
            "rank": None,
            "framework": "tensorflow",
            "wall_ns": 5 * SECOND,
            "mono_ns": 1000,
        }
        self.writer = TraceWriter(str(folder / "trace"), [name], facts | header)
        self._strings: dict[str, int] = {"": 0}
        self._next = {"L": 1, "K": 1, "G": 1}

    @property
    def path(self) -> Path:
        return Path(self.writer.path)

    def string(self, text: str) -> int:
        if text not in self._strings:
            self._strings[text] = len(self._strings)
            self.writer.append(["S", self._strings[text], text])
        return self._strings[text]

    def _number(self, tag: str) -> int:
        self._next[tag] += 1
        return self._next[tag] - 1

    def location(self, site: str, function: str = "main", via: str = "") -> int:
        number = self._number("L")
        file, line = site.rsplit(":", 1)
        parts = [self.string(text) for text in (site, via, f"/src/{file}")]
        self.writer.append(["L", number, *parts, int(line), self.string(function)])
        return number

    def key(self, kind: str, count: int | None = None, /, **fields: Any) -> int:
        """Define a key; `count` is what the counts file says of it."""
        number = self._number("K")
        self.writer.append(["K", number, kind, fields])
        if count is not None:
            self.writer.counts[number] = count
        return number

    def graph(self, name: str = "step", **fields: Any) -> int:
        number = self._number("G")
        facts = {"name": name, "function": f"__inference_{name}_{number}", "loc": 0, "step_marks": 0}
        self.writer.append(["G", number, {**facts, "partial": None, **fields}])
        return number

    def node(
        self,
        graph: int,
        node: int,
        name: str,
        op: str,
        assigned: str,
        requested: str = "",
        loc: int = 0,
        forward_loc: int = 0,
    ) -> None:
        parts = [self.string(text) for text in (name, op, requested, assigned)]
        self.writer.append(["N", graph, node, *parts, loc, forward_loc])

    def edge(self, graph: int, src: int, dst: int, size: int | None = 4, shape: str = "1") -> None:
        parts = [self.string("float32"), self.string(shape)]
        self.writer.append(["E", graph, src, 0, dst, 0, size, *parts])

    def event(
        self,
        kind: str,
        ts: int,
        key: int,
        dur: int = 0,
        count: int = 1,
        step: int | None = None,
        value: int | None = None,
        thread: int = 77,
    ) -> None:
        self.writer.append(["e", kind, ts, dur, key, count, step, value, thread])

    def facts(self, **facts: Any) -> None:
        self.writer.append(["I", 0, facts])

    def unseen(self, what: str, count: int, why: str) -> None:
        self.writer.append(["U", what, count, why])

    def close(self) -> None:
        """The process ends properly."""
        self.facts(ended=True)
        self.writer.close()


def op_fields(op: str, device: str = "cpu:0") -> OpFields:
    """An op key's fields."""
    return OpFields(op=op, device=device, requested="", loc=0, forward_loc=0)


def hop_fields(src: str, dst: str, **fields: Any) -> dict[str, Any]:
    """A hop key's fields, with everything that a test does not care about filled in."""
    facts: dict[str, Any] = {
        "src": src,
        "dst": dst,
        "src_memory": "host" if src == "cpu:0" else "device",
        "dst_memory": "host" if dst == "cpu:0" else "device",
        "tensor": "t:0",
        "op": "MatMul",
        "producer": "t",
        "producer_op": "Relu",
        "consumers": ["m"],
        "bytes": 100,
        "dtype": "float32",
        "shape": "25",
        "loc": 0,
        "producer_loc": 0,
        "forward_loc": 0,
        "kind": "copy",
        "basis": "estimated",
        "graph": 0,
        "per_call": None,
        "in": None,
        "requested": "",
        "assigned": dst,
        "producer_requested": "",
        "facts": {},
    }
    return facts | fields


def write_status(folder: Path, state: str = "finished", **fields: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "status.json").write_text(json.dumps({"state": state, "exit_code": 0, **fields}))
    spec = {"run": folder.name, "kind": "script", "name": "train", "framework": "tensorflow"}
    (folder / "spec.json").write_text(json.dumps(spec))
