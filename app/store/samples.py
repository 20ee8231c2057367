"""The samples of a run's devices: read while they are written, and from the sealed tables afterwards."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from app.store.ended import read_json
from app.store.sample_parsing import Numbers, SampleParser, SampleTable, Source
from app.store.tail import FileTail
from runners.runs import run_files
from runners.runs.status import STATUS_NAME
from runners.supervise.run_sampler import SAMPLES_LOST
from runners.supervise.sample_rows import SAMPLES_NAME

PARQUET_NAME = "samples.parquet"
_TIMES = ("wall_s", "mono_s", "every_s")
_FACTS = ("reasons", "unsampled", "nvml", "damaged", "skipped", "lost")


class SampleReader:
    """Follows a run's samples.jsonl. Not thread-safe: the store holds its lock around every call."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the run's; the file may not be there, as in runs of before there were samples."""
        self._folder = folder
        self._tail = FileTail(folder, SAMPLES_NAME)
        self._parser = SampleParser()

    def refresh(self) -> None:
        """Read what was appended."""
        try:
            while data := self._tail.read():
                self._parser.feed(data.split(b"\n"))
        except OSError:
            return

    def table(self, ended: bool) -> SampleTable | None:
        """All samples so far; None where the run was never to be sampled.

        With `ended`, also with what found no room, or was cut short, at the end.
        """
        if not self._parser.rows and not run_files.is_file(self._folder, SAMPLES_NAME):
            return None
        table = self._parser.table()
        if not ended:
            return table
        torn = 0
        with contextlib.suppress(OSError):
            torn = int(self._tail.leftover() > 0)
        return dataclasses.replace(table, damaged=table.damaged + torn, lost=self.lost(ended))

    def lost(self, ended: bool) -> int:
        """How many samples found no room; with `ended`, also those at the end."""
        unwritten = read_json(self._folder / STATUS_NAME).get(SAMPLES_LOST) if ended else 0
        return self._parser.lost + (unwritten if isinstance(unwritten, int) else 0)

    def close(self) -> None:
        """Release the file."""
        self._tail.close()


def samples_table(samples: SampleTable) -> pa.Table:
    """A column a source and field, in the order in which they turned up; all else as the table's metadata."""
    keys = list(samples.columns)
    columns: dict[str, Any] = {name: pa.array(getattr(samples, name), pa.float64()) for name in _TIMES}
    columns |= {str(place): pa.array(samples.columns[key], pa.float64()) for place, key in enumerate(keys)}
    facts = {name: getattr(samples, name) for name in _FACTS}
    facts |= {
        "columns": keys,
        "sources": [dataclasses.asdict(source) for source in samples.sources.values()],
    }
    return pa.table(columns).replace_schema_metadata({"samples": json.dumps(facts)})


def read_samples(folder: Path, name: str) -> SampleTable | None:
    """What `samples_table` was made from; None where the sealed run's file is not there or damaged."""
    try:
        # Not read_table: that loads pandas, which takes longer than all of the reading.
        with run_files.open_file(folder, name) as opened, pq.ParquetFile(opened) as file:
            return _samples_from(file.read())
    except (OSError, ValueError, LookupError, TypeError, pa.ArrowException):
        return None


def _samples_from(table: pa.Table) -> SampleTable:
    facts = json.loads(table.schema.metadata[b"samples"])
    keys = [(source, field) for source, field in facts.pop("columns")]
    sources = [Source(**source) for source in facts.pop("sources")]
    return SampleTable(
        wall_s=_numbers(table, "wall_s"),
        mono_s=_numbers(table, "mono_s"),
        every_s=_numbers(table, "every_s"),
        columns={key: _numbers(table, str(place)) for place, key in enumerate(keys)},
        sources={source.id: source for source in sources},
        reasons=tuple(facts.pop("reasons")),
        **{name: facts[name] for name in _FACTS if name != "reasons"},
    )


def _numbers(table: pa.Table, name: str) -> Numbers:
    return np.asarray(table.column(name).to_numpy(), dtype=np.float64)


def positions(samples: SampleTable, wall_s: float | None, mono_s: float | None = None) -> Numbers:
    """Seconds from the moment that these clocks say to each row; from the first row where neither does.

    By the monotonic clock where both know it, since the other may be set meanwhile.
    """
    if wall_s is None:
        wall_s = float(samples.wall_s[0]) if samples.rows else 0.0
    by_wall = samples.wall_s - wall_s
    if not mono_s:
        return by_wall
    by_mono = samples.mono_s - mono_s
    return np.where(np.isnan(by_mono), by_wall, by_mono)
