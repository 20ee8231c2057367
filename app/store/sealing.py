"""Writes a finished run's tables once, whole or not at all, and tells a whole set from a half one."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import shutil
import stat
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from app.store.database import Database
from probes import private_files
from runners.runs import run_files

FOLDER = "tables"
MANIFEST = "seal.json"
FORMAT = 1
SHORT, LONG = "events.parquet", "events_long.parquet"
ROW_GROUP = 1 << 16
SLICE = 1 << 20
"""Events sorted and written at a time: bounds the memory."""
_SMALL = ("keys", "graphs", "locations", "processes", "unseen", "nodes", "edges", "overview")
_ALWAYS = {SHORT, LONG, *(f"{name}.parquet" for name in _SMALL)}
"""Files of each set. What the manifest does not list was not checked, and is never opened."""
_TEMPORARY = ".tables-"
_MOST_MANIFEST = 1 << 20


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a run's sealed tables; None when they are missing, half-written or otherwise made."""
    try:
        manifest = json.loads(run_files.read_file(folder, f"{FOLDER}/{MANIFEST}", _MOST_MANIFEST))
        files = manifest["files"]
        whole = manifest["format"] == FORMAT and all(
            run_files.is_plain(name) and run_files.facts(folder, f"{FOLDER}/{name}").st_size == size
            for name, size in files.items()
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return manifest if whole and files.keys() >= _ALWAYS else None


def write_seal(
    folder: Path, database: Database, small: Mapping[str, pa.Table], facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Write all tables of a run and return the manifest; an already whole set is left as it is.

    `small` are the tables by file name without its ending; `facts` go into the manifest. Other processes
    may do the same at the same time. Raises OSError (read-only folder, full disk); nothing is left then.
    """
    with _locked(folder):
        known = read_manifest(folder)
        if known is not None:
            return known
        for stale in folder.glob(_TEMPORARY + "*"):
            with contextlib.suppress(OSError):
                _clear(stale)
        temporary = folder / f"{_TEMPORARY}{uuid.uuid4().hex[:12]}"
        private_files.make_new_folder(str(temporary))
        try:
            manifest = _write_all(temporary, database, small, facts)
            broken = folder / FOLDER
            _clear(broken)
            temporary.rename(broken)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        return manifest


def _clear(path: Path) -> None:
    """Remove what has this name: a folder with all in it, or a link, a FIFO, a file alone."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path)
        else:
            path.unlink()


def _write_all(
    temporary: Path, database: Database, small: Mapping[str, pa.Table], facts: Mapping[str, Any]
) -> dict[str, Any]:
    for name, table in small.items():
        path = temporary / f"{name}.parquet"
        private_files.write_file(str(path), b"")
        pq.write_table(table, path, compression="zstd")
    _write_events(temporary / SHORT, database, "events_short")
    _write_events(temporary / LONG, database, "events_long")
    files = {}
    for path in sorted(temporary.iterdir()):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            files[path.name] = os.fstat(file.fileno()).st_size
    manifest = {**facts, "format": FORMAT, "files": files}
    private_files.write_file(str(temporary / MANIFEST), json.dumps(manifest).encode(), sync=True)
    return manifest


def _write_events(path: Path, database: Database, view: str) -> None:
    columns = "key, kind, ts_ns, dur_ns, count, step, value, thread"
    schema = database.table(f"SELECT {columns} FROM {view} LIMIT 0").schema
    private_files.write_file(str(path), b"")
    with pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=6,
        version="2.6",
        use_dictionary=["key", "kind", "count", "step", "thread"],
        column_encoding={"ts_ns": "DELTA_BINARY_PACKED", "dur_ns": "PLAIN", "value": "PLAIN"},
        write_statistics=["ts_ns"],
    ) as writer:
        for low, high in _slices(database, view):
            part = database.table(
                f"SELECT {columns} FROM {view} WHERE ts_ns >= ? AND ts_ns < ? ORDER BY ts_ns, key",
                (low, high),
            )
            writer.write_table(part, row_group_size=ROW_GROUP)


def _slices(database: Database, view: str) -> Iterator[tuple[int, int]]:
    """Stretches of time that hold about SLICE events each and together all of them."""
    total, first, last = database.query(f"SELECT count(*), min(ts_ns), max(ts_ns) FROM {view}")[0]
    if not total:
        return
    parts = -(-total // SLICE)
    cuts: list[int] = []
    if parts > 1:
        shares = [number / parts for number in range(1, parts)]
        cuts = database.query(f"SELECT approx_quantile(ts_ns, {shares}) FROM {view}")[0][0]
    edges = [first, *sorted({int(cut) for cut in cuts if first < cut <= last}), last + 1]
    yield from itertools.pairwise(edges)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time, where the file system can lock; a lost race only costs the work twice."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
