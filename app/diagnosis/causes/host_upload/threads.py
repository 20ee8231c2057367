"""Whether another thread does something than the one that makes the steps: a prefetching one, as a rule."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.facts.tables import Tables
from app.judgments.judgment import Judgment
from probes.trace.rows import Key

BY_ANOTHER_THREAD = "by_another_thread"


def with_thread(cause: Judgment, key: Key, tables: Tables) -> Judgment:
    """The cause of an upload, with a note where the thread that sends it makes no steps."""
    if cause.code != "host-upload" or key.fields.get("graph"):
        return cause
    pace = tables.paces.by_key.get(key.id)
    # Of what was seen after all steps that are looked at nobody knows whose counts were added up.
    if pace is None or not pace.elsewhere or not (pace.early or pace.within):
        return cause
    return dataclasses.replace(cause, evidence=cause.evidence | {BY_ANOTHER_THREAD: True})


def by_another_thread(evidence: Mapping[str, Any]) -> bool:
    """Whether all of it is sent so."""
    return evidence.get(BY_ANOTHER_THREAD) is True
