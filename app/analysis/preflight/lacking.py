"""The ops of a foreseen run that no GPU has a kernel for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from app.analysis.preflight.machine import Place
from app.analysis.preflight.placing import Placing
from app.analysis.preflight.trust import confidence
from probes.tf.kernel_table import of_the_host


def lacking_rows(placing: Placing, same: bool) -> Iterable[dict[str, Any]]:
    """A row a type and line; `same`: the kernel table is of the script's own TensorFlow."""
    sites = placing.flow.sites
    rows: dict[tuple[str, int, str], dict[str, Any]] = {}
    for op, loc, place in _lacking(placing):
        words = place.lacking.words if place.lacking else ""
        identity = (op, loc, words)
        if identity not in rows:
            trust, why = confidence([place], same)
            rows[identity] = {
                "op": op,
                "site": sites[loc][0] if loc in sites else None,
                "runs_on": place.device,
                "kernel": words,
                "from": placing.machine.table.source,
                "confidence": trust,
                "why": why,
                "ops": 0,
            }
        rows[identity]["ops"] += 1
    return rows.values()


def _lacking(placing: Placing) -> Iterator[tuple[str, int, Place]]:
    """(op, line, place) of everything that would have run on a GPU, had it a kernel there."""
    for record in placing.flow.records:
        place = placing.places.get(record.number)
        if not record.function and place is not None and _wanted(record.op, place):
            yield record.op, record.loc, place
    for number, placed in placing.functions.items():
        for one, place in placed.places.items():
            if _wanted(placed.ops[one].op, place):
                yield placed.ops[one].op, placed.ops[one].loc or placing.flow.records[number].loc, place


def _wanted(op: str, place: Place) -> bool:
    return place.lacking is not None and not (place.lacking_by_default and of_the_host(op))
