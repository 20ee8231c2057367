"""The DuckDB side of a run: its tables in memory while it grows, or the sealed Parquet files."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy.typing as npt
import pyarrow as pa

from runners.errors import HopscopeError
from runners.printable import encodable
from runners.runs import registry, removal

LONG_NS = 100_000_000
"""Events longer than this are kept apart, so that a window need not look further back than this."""
COMPRESS_EVERY = 500_000
_EVENT_COLUMNS = "key, kind, ts_ns, dur_ns, count, step, value, thread"


_SPILL = "spill"
_STALE_S = 86_400.0
_numbers = itertools.count()


def _spill() -> str:
    """Where a database puts what memory does not hold: DuckDB makes the folder then, and removes it."""
    _remove_stale(registry.home())
    return encodable(str(registry.home() / f"{_SPILL}-{os.getpid()}-{next(_numbers)}"))


@functools.cache
def _remove_stale(home: Path) -> None:
    """Remove what processes left that were killed; by age too, as another container's are not seen."""
    for folder in home.glob(f"{_SPILL}-*-*"):
        with contextlib.suppress(OSError, HopscopeError):
            pid = folder.name.split("-")[1]
            if (
                pid.isdigit()
                and not Path("/proc", pid).exists()
                and time.time() - folder.lstat().st_mtime > _STALE_S
            ):
                removal.remove(home, folder.name)


class Database:
    """One connection a run; every question gets a cursor of its own, so viewers don't wait for each other.

    Writing is for one thread at a time (the store's lock).
    """

    def __init__(self) -> None:
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": "1GB",
                "temp_directory": _spill(),
                "preserve_insertion_order": False,
            },
        )
        self._uncompressed = 0
        run = self._connection.execute
        run("ATTACH ':memory:' AS live (COMPRESS)")
        run(
            "CREATE TABLE live.events (key BIGINT, kind VARCHAR, ts_ns BIGINT, dur_ns BIGINT, count BIGINT,"
            " step BIGINT, value BIGINT, thread BIGINT)"
        )
        run(f"CREATE VIEW events_short AS SELECT * FROM live.events WHERE dur_ns <= {LONG_NS}")
        run(f"CREATE VIEW events_long AS SELECT * FROM live.events WHERE dur_ns > {LONG_NS}")
        run(f"CREATE VIEW events AS SELECT (key >> 32) AS process, {_EVENT_COLUMNS} FROM live.events")

    def add_events(self, table: pa.Table) -> None:
        """Append events with the run's ids and times."""
        self._connection.register("incoming", table)
        try:
            self._connection.execute(f"INSERT INTO live.events SELECT {_EVENT_COLUMNS} FROM incoming")
        finally:
            self._connection.unregister("incoming")
        self._uncompressed += table.num_rows
        if self._uncompressed >= COMPRESS_EVERY:
            # While a viewer's question is under way it can't be done; the next append tries again.
            with contextlib.suppress(duckdb.Error):
                self._connection.execute("CHECKPOINT live")
                self._uncompressed = 0

    def use_files(self, short: Path, long: Path) -> None:
        """Answer from sealed files from now on and forget the events in memory."""
        run = self._connection.execute
        for view, path in (("events_short", short), ("events_long", long)):
            run(f"CREATE OR REPLACE VIEW {view} AS SELECT * FROM read_parquet({quoted(path)})")
        run(
            f"CREATE OR REPLACE VIEW events AS SELECT (key >> 32) AS process, {_EVENT_COLUMNS}"
            " FROM (FROM events_short UNION ALL FROM events_long)"
        )
        run("DELETE FROM live.events")
        with contextlib.suppress(duckdb.Error):
            run("CHECKPOINT live")

    def put(self, name: str, table: pa.Table) -> None:
        """Make or replace a small table."""
        self._connection.register("incoming", table)
        try:
            self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM incoming")
        finally:
            self._connection.unregister("incoming")

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a question; any thread may ask. Raises duckdb.Error."""
        with contextlib.closing(self._connection.cursor()) as cursor:
            return cursor.execute(sql, list(params)).fetchall()

    def ask(self, sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows of a question with named parameters; any thread may ask."""
        used = {name: value for name, value in params.items() if f"${name}" in sql}
        with contextlib.closing(self._connection.cursor()) as cursor:
            return cursor.execute(sql, used).fetchall()

    def arrays(self, sql: str, params: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
        """The columns of a question with named parameters, none of them null; any thread may ask."""
        used = {name: value for name, value in params.items() if f"${name}" in sql}
        with contextlib.closing(self._connection.cursor()) as cursor:
            columns: dict[str, npt.NDArray[Any]] = cursor.execute(sql, used).fetchnumpy()
            return columns

    def table(self, sql: str, params: Sequence[Any] = ()) -> pa.Table:
        """All rows of a question as an Arrow table; any thread may ask."""
        with contextlib.closing(self._connection.cursor()) as cursor:
            return cursor.sql(sql, params=list(params)).to_arrow_table()

    def close(self) -> None:
        """Free the memory."""
        self._connection.close()


def quoted(path: Path) -> str:
    """A file's name as SQL has it: nothing in it is read as a pattern."""
    # A view can't take parameters; brackets and stars would be read as patterns.
    text = "".join(f"[{char}]" if char in "*?[" else char for char in str(path.absolute()))
    return "'" + text.replace("'", "''") + "'"
