"""A sealed run's small tables, read back from Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from app.store import schemas
from app.store.coarse import overview_from
from app.store.database import Database, quoted
from app.store.sealing import FOLDER
from app.views.timeline_data import Overview
from probes.trace.rows import Edge, Graph, Key, Location, Node, Process, Unseen
from runners.errors import HopscopeError
from runners.runs import run_files

MOST_ROWS = 1 << 20
"""Rows of a small table, and of a graph's."""
MOST_BYTES = 256 << 20
"""Of a small table in memory: some kilobytes of a file can hold gigabytes of one text over and over."""
_BATCH = 512


class SealedRun:
    """The small tables of a sealed run; nodes and edges are read a graph at a time."""

    definitions = 0

    def __init__(self, folder: Path, database: Database) -> None:
        """Of the run in `folder`.

        Raises OSError, pyarrow.ArrowException, ValueError or LookupError when a table is damaged.
        """
        self._folder = folder
        self._tables = folder / FOLDER
        self._database = database
        self._keys, self.totals = schemas.keys_from(_read(folder, "keys.parquet"))
        self._graphs = schemas.graphs_from(_read(folder, "graphs.parquet"))
        self._locations = schemas.locations_from(_read(folder, "locations.parquet"))
        self._processes = schemas.processes_from(_read(folder, "processes.parquet"))
        self._unseen = schemas.unseen_from(_read(folder, "unseen.parquet"))

    def processes(self) -> list[Process]:
        """Recorded processes."""
        return self._processes

    def locations(self) -> dict[int, Location]:
        """Source locations by id."""
        return self._locations

    def keys(self) -> list[Key]:
        """Keys with their totals."""
        return self._keys

    def graphs(self, keys: list[Key]) -> dict[int, Graph]:
        """Placed graphs with their calls."""
        return self._graphs

    def graph_ids(self) -> list[int]:
        """Ids of all graphs."""
        source = f"read_parquet({quoted(self._tables / 'nodes.parquet')})"
        found = {graph for (graph,) in self._database.query(f"SELECT DISTINCT graph FROM {source}")}
        return sorted(found | set(self._graphs))

    def nodes(self, graph: int) -> list[Node]:
        """A graph's ops."""
        return schemas.nodes_from(self._of_graph("nodes.parquet", schemas.NODES, graph))

    def edges(self, graph: int) -> list[Edge]:
        """A graph's edges."""
        return schemas.edges_from(self._of_graph("edges.parquet", schemas.EDGES, graph))

    def overview(self, bins: int) -> Overview | None:
        """The whole run's overview; None when it was not kept in a way that gives so many bins."""
        return overview_from(_read(self._folder, "overview.parquet"), bins)

    def unseen(self, ended: bool) -> list[Unseen]:
        """What could not be seen."""
        return self._unseen

    def close(self) -> None:
        """Nothing is held open."""

    def _of_graph(self, name: str, schema: pa.Schema, graph: int) -> list[tuple[Any, ...]]:
        columns = ", ".join(schema.names)
        source = f"read_parquet({quoted(self._tables / name)}, file_row_number = true)"
        sql = f"SELECT {columns} FROM {source} WHERE graph = ? ORDER BY file_row_number LIMIT {MOST_ROWS + 1}"
        rows = self._database.query(sql, [graph])
        if len(rows) > MOST_ROWS:
            raise HopscopeError(f"{name} holds more than {MOST_ROWS} rows of graph {graph}")
        return rows


def _read(folder: Path, name: str) -> pa.Table:
    # Not read_table: that loads pandas, which takes longer than all of the reading.
    with run_files.open_file(folder, f"{FOLDER}/{name}") as opened, pq.ParquetFile(opened) as file:
        batches, size = [], 0
        if file.metadata.num_rows > MOST_ROWS:
            raise ValueError(f"{name} has {file.metadata.num_rows} rows")
        for batch in file.iter_batches(_BATCH):
            batches.append(batch)
            size += batch.nbytes
            if size > MOST_BYTES:
                raise ValueError(f"{name} takes more than {MOST_BYTES} bytes")
        return pa.Table.from_batches(batches, file.schema_arrow)
