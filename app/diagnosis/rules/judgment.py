"""The cause of a transfer with all that is known of it: the rules' answer and the lines that belong to it."""

from __future__ import annotations

import dataclasses
from typing import Any

from app.diagnosis.causes.host_upload.threads import with_thread
from app.diagnosis.rules.array_creation import with_makers
from app.diagnosis.rules.causes import judge
from app.diagnosis.rules.custom_gradients import with_own_op
from app.diagnosis.rules.variable_creation import with_creation
from app.facts.tables import Tables
from app.facts.transfers.transfer import Context
from app.judgments.judgment import Judgment
from probes.trace.rows import Key


def judged(
    fields: dict[str, Any], context: Context, count: int | None, each: float | None, key: Key, tables: Tables
) -> Judgment:
    """The cause, with the lines that belong to it."""
    cause = with_own_op(judge(fields, context, count, each, tables.comes_again(key)), key.fields, tables)
    cause = with_thread(with_makers(cause, key.fields, tables), key, tables)
    return with_creation(_with_scopes(cause, key, tables), key.fields, tables)


def _with_scopes(cause: Judgment, key: Key, tables: Tables) -> Judgment:
    """The cause with the lines that opened the device scopes of both ends, where they are known."""
    fields = key.fields
    consumer = tuple(fields.get(name) for name in ("op", "loc", "dst", "requested"))
    ends = ("producer_op", "producer_loc", "src", "producer_requested")
    producer = tuple(fields.get(name) for name in ends)
    scopes = {
        "scope": fields.get("scope_loc") or (tables.scopes.get(consumer) if fields.get("requested") else 0),
        "producer_scope": fields.get("producer_scope_loc")
        or (tables.scopes.get(producer) if fields.get("producer_requested") else 0),
    }
    if cause.code == "default-device":
        end = "producer_scope_apart_loc" if cause.blames == "producer" else "scope_apart_loc"
        scopes["scope_apart"] = fields.get(end)
    lines = {name: site for name, loc in scopes.items() if loc and (site := tables.site(loc))}
    end = "producer_scope" if cause.blames == "producer" else "scope"
    if cause.code == "missing-device" and end in lines:
        lines["asked_in"] = lines[end]
        if opener := cause.evidence.get(f"{end}_opener"):
            lines["asked_in_opener"] = str(opener)
    return dataclasses.replace(cause, evidence=cause.evidence | lines) if lines else cause
