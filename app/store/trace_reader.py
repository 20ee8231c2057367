"""One process's trace and counts, read while they grow; the times and keys of its events made the run's."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from app.store.counts import CountsFile
from app.store.device_names import qualified, role_prefix
from app.store.headers import header_fields
from app.store.ids import SHIFT
from app.store.parse import ProcessTrace
from app.store.tail import BLOCK, FileTail
from app.store.traced_devices import TRACE_FOLDER
from probes.trace.rows import Process
from runners.printable import printable
from runners.runs import run_files

ENDING = ".jsonl"
_HEADER_BYTES = 1 << 16


class TraceReader:
    """Follows one process's trace and counts file."""

    def __init__(self, index: int, folder: Path, name: str) -> None:
        """`folder` is the run's, `name` the trace's: ``main.jsonl``."""
        self.index = index
        self.name = printable(name)
        self._stem = name.removesuffix(ENDING)
        self.tail = FileTail(folder, f"{TRACE_FOLDER}/{name}")
        self.counts = CountsFile(folder, f"{TRACE_FOLDER}/{self._stem}.counts")
        self.trace = ProcessTrace()
        self.offset_ns = 0
        """What is added to its times to make them the run's."""
        self.failure: str | None = None

    @property
    def header(self) -> dict[str, Any]:
        """The header with later facts, {} while it is not known."""
        return self.trace.header or {}

    @property
    def prefix(self) -> str:
        """What stands before its devices' names in the run."""
        return role_prefix(self.header)

    def read(self, take: Callable[[pa.Table], None]) -> bool:
        """Read what is new and hand the events on; true when there was anything."""
        changed = False
        try:
            data = self.tail.read()
            while data:
                changed = True
                events = self.trace.feed(data)
                if events is not None:
                    take(self._of_the_run(events))
                # Not to chase a program that writes on meanwhile: what is little can wait for the next time.
                data = self.tail.read() if len(data) > BLOCK // 2 else b""
        except OSError as error:
            changed = changed or self.failure is None
            self.failure = error.strerror or str(error)
        return self.counts.refresh() or changed

    def count(self, key: int) -> int | None:
        """Executions of its own key; None where no counts file says."""
        return self.counts.get(key)

    def _of_the_run(self, events: pa.Table) -> pa.Table:
        key = events.column("key")
        key = pc.if_else(pc.equal(key, 0), 0, pc.add(key, self.index << SHIFT))
        start = pc.add(events.column("ts_ns"), self.offset_ns)
        duration = events.column("dur_ns")
        timed = pc.if_else(pc.greater(duration, 0), events.column("count"), 0)
        return (
            events.set_column(events.schema.get_field_index("key"), "key", key)
            .set_column(events.schema.get_field_index("ts_ns"), "ts_ns", start)
            .append_column("end_ns", pc.add(start, duration))
            .append_column("timed", timed)
        )

    def process(self) -> Process:
        """The row of this process."""
        header = self.header
        devices = header.get("devices")
        device_map = header.get("device_map")
        prefix = self.prefix
        rank, pid = header.get("rank"), header.get("pid")
        return Process(
            index=self.index,
            pid=pid if isinstance(pid, int) else 0,
            name=printable(self._stem),
            framework=_text(header.get("framework")),
            framework_version=_text(header.get("framework_version")),
            role=_text(header.get("role")),
            rank=rank if isinstance(rank, int) else None,
            wall_ns=int(header.get("wall_ns") or 0),
            mono_ns=int(header.get("mono_ns") or 0),
            devices=[qualified(prefix, str(d)) for d in devices] if isinstance(devices, list) else [],
            device_map=(
                {qualified(prefix, d): facts for d, facts in device_map.items() if isinstance(facts, dict)}
                if isinstance(device_map, dict)
                else {}
            ),
            ended=bool(header.get("ended")),
            header=header,
        )


def peek_header(folder: Path, name: str) -> dict[str, Any] | None:
    """The header record of a run's trace.

    {} when its first line is something else, None while that is not whole yet.
    """
    try:
        with run_files.open_file(folder, f"{TRACE_FOLDER}/{name}") as file:
            start = file.read(_HEADER_BYTES)
    except OSError:
        return {}
    line, newline, _ = start.partition(b"\n")
    if b"\0" in line or not newline:
        return None if len(line) < _HEADER_BYTES else {}
    with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
        row = json.loads(line)
        if row[0] == "H" and isinstance(row[-1], dict):
            return header_fields(row[-1])[0]
    return {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
