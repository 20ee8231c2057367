"""Arrays that MXNet's code makes from nothing on the host: how often, where, and whether for a reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.facts.devices import is_host
from app.facts.tables import Tables
from app.facts.transfers.transfer import MadeOnHost


def made_on_host(tables: Tables) -> dict[tuple[str, int], MadeOnHost]:
    """By the op and location of what ran on the host, where transfers of such arrays are recorded at all."""
    sent: dict[tuple[str, int], int] = {}
    for key in tables.of_kind("hop"):
        if key.fields.get("from_nothing"):
            ops, lines = key.fields.get("from_nothing_ops") or (), key.fields.get("from_nothing_locs") or ()
            for maker in zip(ops, lines, strict=False):
                sent[maker] = sent.get(maker, 0) + (key.count or 0)
    if not sent:
        return {}
    counts: dict[tuple[str, int], int] = {}
    for key in tables.eager_ops:
        if is_host(str(key.fields.get("device") or "")):
            made = _made(key.fields)
            counts[made] = counts.get(made, 0) + (key.count or 0)
    kept: dict[tuple[str, int], set[str]] = {}
    for key in tables.of_kind("kept"):
        kept.setdefault(_made(key.fields), set()).add(key.fields.get("how") or "")
    return {
        made: MadeOnHost(count, frozenset(kept.get(made, ())), sent.get(made, 0))
        for made, count in counts.items()
    }


def _made(fields: Mapping[str, Any]) -> tuple[str, int]:
    return fields.get("op") or "", fields.get("loc") or 0
