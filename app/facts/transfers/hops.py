"""The hop table: every transfer of a run, eager and inside graphs, with its count, lines and judgment."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from app.facts.basis import total, weakest
from app.facts.devices import is_host
from app.facts.dialects import BY_NAME
from app.facts.frequency.recurrence import Own
from app.facts.groups import grouped, summed
from app.facts.tables import Tables
from app.facts.transfers.hand_sums import hand_sums
from app.facts.transfers.observed_copies import confirmed
from app.facts.transfers.origins import cut_batches, drawn, made_on_host
from app.facts.transfers.transfer import Context, Reduction, Sent, sent
from app.judgments.judgment import Judgment
from probes.trace.rows import Key
from runners.machine.copy_costs import BASIS

_NEARLY_ALL = 0.9
Judge = Callable[[dict[str, Any], Context, int | None, float | None, Key, Tables], Judgment]
"""What judges a transfer by its fields, the run, its count, its times a step, its key and the tables."""


@dataclasses.dataclass(frozen=True)
class Hop:
    """One row of the hop table; equal transfers of several retraces or processes are one row."""

    src: str
    dst: str
    src_memory: str
    dst_memory: str
    tensor: str
    op: str
    """Type of the consumer."""
    producer: str
    consumers: tuple[str, ...]
    bytes: int | None
    """Of one transfer."""
    count: int | None
    """In the whole run; None when nothing could observe it."""
    site: str | None
    producer_site: str | None
    forward_site: str | None
    via: str | None
    cause: Judgment
    basis: str
    """Of the bytes; ``unknown`` where bytes or count are, ``sampled`` where the count is."""
    kind: str
    """copy, upload, pull or arg."""
    producer_op: str
    dtype: str
    shape: str
    keys: tuple[int, ...]
    """The hop keys that the row stands for."""
    graphs: tuple[int, ...]
    """Their placed graphs; 0 for eager."""
    each: float | None = None
    """How often it happens in every step (or call), 0 for less; None where only the count tells."""
    own: Own | None = None
    """Its own loop, which `each` is of where it is not of every step or call of the run."""
    per_call: int | None = None
    """Transfers in one call of its graph; None for eager ones and inside loops and branches."""
    took_ns: int | None = None
    """What all its transfers took, as measured on those that were timed; None where none was."""
    seconds: float | None = None
    """What one transfer takes, estimated from copies measured on the machine; None where not known."""
    told: tuple[str, str] | None = None
    """Code and severity of the finding that tells of it; None before that is known, and where none does."""

    @property
    def code(self) -> str:
        """What it is shown as: the finding's code, else its own cause's."""
        return self.told[0] if self.told else self.cause.code

    @property
    def severity(self) -> str:
        """How bad what it is shown as is."""
        return self.told[1] if self.told else self.cause.severity

    @property
    def bytes_total(self) -> int | None:
        """Bytes in the whole run; None when size or count is not known."""
        return None if self.bytes is None or self.count is None else self.bytes * self.count

    @property
    def seconds_total(self) -> float | None:
        """What all its transfers take, estimated; None where one's time or their count is not known."""
        return None if self.seconds is None or self.count is None else self.seconds * self.count

    @property
    def blamed_site(self) -> str | None:
        """The line to change."""
        return self.cause.at or (self.producer_site if self.cause.blames == "producer" else self.site)

    def row(self) -> dict[str, Any]:
        """The row as the report has it."""
        names = (
            *("src", "dst", "src_memory", "dst_memory", "tensor", "op", "producer", "consumers", "bytes"),
            *("count", "site", "producer_site", "forward_site", "via"),
        )
        row = {name: getattr(self, name) for name in names}
        row |= {"consumers": list(self.consumers), "cause": self.cause.code, "basis": self.basis}
        row["estimated_ms"] = None if self.seconds is None else round(self.seconds * 1e3, 6)
        row["estimated_ms_basis"] = None if self.seconds is None else BASIS
        return row


def hop_table(tables: Tables, judge: Judge) -> list[Hop]:
    """All hops in the order in which the recorder met them; rows keep their place while the run grows.

    Transfers that `judge` does not judge alike are rows of their own.
    """
    context = context_of(tables)
    seen = confirmed(tables.of_kind("hop"), tables.of_kind("copies"))
    rows: dict[str, Hop] = {}
    for key in tables.of_kind("hop"):
        hop = _hop(tables, judge, context, key)
        if key.id in seen and hop.basis == "inferred":
            hop = dataclasses.replace(hop, basis="measured")
        identity = _identity(hop)
        known = rows.get(identity)
        rows[identity] = hop if known is None else _merged(tables, judge, known, hop, context, key)
    return list(rows.values())


def context_of(tables: Tables) -> Context:
    """What the run's transfers are judged by beside their own facts."""
    reductions = [
        Reduction(
            key.fields.get("graph") or 0,
            key.fields.get("loc") or 0,
            frozenset(key.fields.get("devices") or ()),
            key.fields.get("algorithm") or "unknown",
            bool(key.fields.get("gradients")),
        )
        for key in tables.of_kind("collective")
        if not str(key.fields.get("op")).startswith("Collective")  # those make no sends
    ]
    return Context(
        tables.own_devices,
        reductions,
        tables.rounds,
        tables.default_devices,
        _taken_on_host(tables),
        _repeated(tables),
        hand_sums(tables),
        cut_batches(tables),
        drawn(tables),
        made_on_host(tables),
        any(BY_NAME[one.framework].places_ops for one in tables.processes if one.framework in BY_NAME),
    )


def _repeated(tables: Tables) -> frozenset[Sent]:
    """The transfers of which nearly each but the first sent a tensor that had been sent before.

    Or, of copies that the code makes, at least half, and nearly one in each step: a loop inside of steps.
    """
    again = summed((sent(key.fields), key.count) for key in tables.of_kind("again"))
    keys = [(one, key) for key in tables.of_kind("hop") if (one := sent(key.fields)) in again]
    times = summed((one, key.count) for one, key in keys)
    eager = {one for one, key in keys if key.fields.get("kind") == "copy" and not key.fields.get("graph")}

    def enough(one: Sent, count: int) -> float:
        nearly_all = max(2.0, _NEARLY_ALL * (count - 1))
        if one not in eager or not tables.steps:
            return nearly_all
        # What is copied of a variable in the first step was made at another line than its later values.
        return min(nearly_all, max(2.0, _NEARLY_ALL * tables.rounds, count / 2))

    return frozenset(one for one, count in times.items() if again[one] >= enough(one, count))


def _taken_on_host(tables: Tables) -> dict[tuple[int, str], str]:
    """How Python took values of the host, by location: all those of a line, whichever library is below."""
    kinds: dict[tuple[str, str], set[str]] = {}
    for key in tables.of_kind("sync"):
        device, site = key.fields.get("device") or "", tables.site(key.fields.get("loc"))
        if site and is_host(device) and key.count:
            kinds.setdefault((site, device), set()).add(key.fields.get("kind") or "")
    lines = grouped(kinds)
    return {
        (loc, device): ", ".join(sorted(kinds[location.site, device]))
        for loc, location in tables.locations.items()
        for device in lines.get(location.site, ())
    }


def _hop(tables: Tables, judge: Judge, context: Context, key: Key) -> Hop:
    fields = _with_gradient(key.fields, tables)
    names = "src", "dst", "tensor", "op", "producer", "producer_op", "dtype", "shape"
    texts: dict[str, Any] = {name: fields.get(name) or "" for name in names}
    each = tables.each((key.id,), key.count)
    basis = fields.get("basis") or "unknown"
    if key.count is None or fields.get("bytes") is None:
        basis = "unknown"
    elif tables.is_sampled(key):
        basis = weakest((basis, "sampled"))
    return Hop(
        **texts,
        src_memory=fields.get("src_memory") or "device",
        dst_memory=fields.get("dst_memory") or "device",
        consumers=tuple(fields.get("consumers") or ()),
        bytes=fields.get("bytes"),
        count=key.count,
        site=tables.site(fields.get("loc")),
        producer_site=tables.site(fields.get("producer_loc")),
        forward_site=tables.site(fields.get("forward_loc")),
        via=tables.via(fields.get("loc")),
        cause=judge(fields, context, key.count, each, key, tables),
        basis=basis,
        kind=fields.get("kind") or "copy",
        keys=(key.id,),
        graphs=(fields.get("graph") or 0,),
        each=each,
        own=tables.own((key.id,), key.count),
        per_call=fields.get("per_call"),
        took_ns=_took_ns(tables, key),
    )


def _with_gradient(fields: dict[str, Any], tables: Tables) -> dict[str, Any]:
    """The fields of an eager transfer; one of a gradient back to its forward op's device says so too.

    And one of gradients of forward ops on several devices, which these are.
    """
    if fields.get("graph"):
        return fields
    made_by = fields.get("producer_op"), fields.get("producer_loc"), fields.get("src")
    back = fields.get("dst") or ""
    more: dict[str, Any] = {}
    if fields.get("requested") == back and back in tables.gradients.get(made_by, ()):
        more["producer_forward_requested"] = back
    line = fields.get("loc") if fields.get("forward_loc") else fields.get("producer_loc")
    if several := tables.gradients_of.get(line):
        more["gradients_of"] = several
    return fields | {"facts": more | (fields.get("facts") or {})} if more else fields


def _took_ns(tables: Tables, key: Key) -> int | None:
    sums = tables.totals.get(key.id)
    if sums is None or not sums.timed or not key.count:
        return None
    return round(sums.dur_ns * key.count / sums.timed)


def _identity(hop: Hop) -> str:
    """All that must be equal for two transfers to be one row: everything but counts and ids."""
    shown = hop.row()
    del shown["count"], shown["basis"]
    # Where the count is unknown the basis is too; the cause's evidence holds the requested devices.
    return json.dumps(
        [shown, hop.kind, hop.producer_op, hop.dtype, hop.shape, hop.cause.evidence], default=str
    )


def _merged(tables: Tables, judge: Judge, first: Hop, more: Hop, context: Context, key: Key) -> Hop:
    count = total((first.count, more.count))
    keys = first.keys + more.keys
    each = tables.each(keys, count)
    # A forked child inherits keys: one that never happened in it makes nothing less certain.
    bases = [hop.basis for hop in (first, more) if hop.count != 0] or [first.basis]
    return dataclasses.replace(
        first,
        count=count,
        cause=judge(_with_gradient(key.fields, tables), context, count, each, key, tables),
        basis=weakest(bases),
        keys=keys,
        each=each,
        own=tables.own(keys, count),
        graphs=tuple(dict.fromkeys(first.graphs + more.graphs)),
        per_call=first.per_call if first.per_call == more.per_call else None,
        took_ns=total((first.took_ns, more.took_ns)),
    )
