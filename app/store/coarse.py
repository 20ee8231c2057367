"""The whole run's overview in fixed bins, worked out once when a run is sealed."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pyarrow as pa

from app.views.timeline_data import Binned, Lane, Overview, Phase

BINS = 1200


def overview_table(overview: Overview) -> pa.Table:
    """One row a lane; times and phases as the table's metadata."""
    facts = {
        "t0_s": overview.t0_s,
        "t1_s": overview.t1_s,
        "phases": [dataclasses.astuple(phase) for phase in overview.phases],
    }
    rows = overview.lanes
    table = pa.table(
        {
            "lane": pa.array([json.dumps(dataclasses.asdict(row.lane)) for row in rows], pa.string()),
            "unit": pa.array([row.unit for row in rows], pa.string()),
            "values": pa.array([list(row.values) for row in rows], pa.list_(pa.float64())),
        }
    )
    return table.replace_schema_metadata({"overview": json.dumps(facts)})


def overview_from(table: pa.Table, bins: int) -> Overview | None:
    """The overview in `bins` bins; None when that is finer than what was kept, or not a part of it."""
    if BINS % bins:
        return None
    facts = json.loads(table.schema.metadata[b"overview"])
    lanes = []
    for row in table.to_pylist():
        parts = np.asarray(row["values"]).reshape(bins, BINS // bins)
        values = parts.mean(axis=1) if row["unit"] == "busy" else parts.sum(axis=1)
        lanes.append(Binned(Lane(**json.loads(row["lane"])), tuple(values.tolist()), row["unit"]))
    phases = tuple(Phase(*phase) for phase in facts["phases"])
    return Overview(facts["t0_s"], facts["t1_s"], tuple(lanes), phases)
