"""Arrays that MXNet makes from nothing on its default context, and that the code copies elsewhere."""

from __future__ import annotations

import dataclasses

from app.diagnosis.causes.default_device.evidence import Evidence
from app.facts.devices import is_host
from app.facts.tables import Tables
from app.facts.transfers.transfer import MadeOnHost, Transfer
from app.judgments.judgment import Judgment
from probes.trace.rows import Key

_COPIED_BY = frozenset({"as_in_context", "as_in_ctx", "copyto", "slice assignment"})
"""Calls of the code's own that copy one array; what cuts a batch for several devices is none."""
_TO_BE_SENT, _ONLY_COPIED = "to be sent", "only copied"
_NOT_RUN = MadeOnHost(0)


def made_without_context(transfer: Transfer) -> Evidence | None:
    """Nobody named a context for what is made anew each step, and only to be used on another device.

    Data that is prepared on the host is none of it, nor what was made once, or has another use there.
    """
    why, ops = transfer.text("from_nothing"), transfer.fields.get("from_nothing_ops") or ()
    makers = [*zip(ops, transfer.fields.get("from_nothing_locs") or (), strict=False)]
    call = transfer.facts.get("copy_call")
    if not why or not makers or call not in _COPIED_BY or transfer.tiny or not transfer.every_step:
        return None
    if not is_host(transfer.src) or is_host(transfer.dst):
        return None
    known = transfer.context.made_on_host
    made = [known.get(maker, _NOT_RUN) for maker in makers]
    if any("sent" in one.kept or ("used" in one.kept and why != _TO_BE_SENT) for one in made):
        return None
    # Each array that the statement makes goes to one place, and none has another use.
    if why == _ONLY_COPIED and any("worked on" in one.kept or one.times != one.sent for one in made):
        return None
    # A helper that at times is handed something else runs its ops more often than these are made.
    ran = known.get((transfer.text("producer_op"), transfer.fields.get("producer_loc") or 0), _NOT_RUN)
    if min(one.times for one in made) < max(ran.times, transfer.count or 0):
        return None
    return Evidence(from_nothing=why, made_without_context=list(dict.fromkeys(ops)), call=str(call))


def with_makers(evidence: Evidence, judgment: Judgment, key: Key, tables: Tables) -> Judgment:
    """The judgment of such an array's copy, at the line that makes it, or the first of what it is made of."""
    fields = key.fields
    sites = [site for loc in fields.get("from_nothing_locs") or () if (site := tables.site(loc))]
    known = dataclasses.replace(
        evidence, made_at=list(dict.fromkeys(sites)), copied_at=tables.site(fields.get("loc"))
    )
    return dataclasses.replace(judgment, evidence=known, at=sites[0] if sites else None)
