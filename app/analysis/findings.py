"""What a user should know, ranked: one mistake is one finding, however many tensors it moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.analysis import advice, sentences
from app.analysis.absent import absent_findings
from app.analysis.balance import balance_findings
from app.analysis.bounces import bounces
from app.analysis.chains import Chain, chains
from app.analysis.consequences import consequences
from app.analysis.device_order import order_findings
from app.analysis.devices import in_order, is_host
from app.analysis.drift import drift_findings
from app.analysis.finding import Finding
from app.analysis.hops import Hop
from app.analysis.lines import split_site
from app.analysis.matrix import total
from app.analysis.mixed import mixed_findings
from app.analysis.naming import some_of
from app.analysis.opaque import by_xla, inside, opaque_findings
from app.analysis.severity import RANK, SEVERITY
from app.analysis.shares import untold
from app.analysis.syncs import ALL_DEVICES, Sync
from app.analysis.tables import Tables
from app.analysis.telling import Telling, cost_ns, standstill, waited
from app.analysis.transfer import TINY
from app.views import units
from probes.trace.hop import HANDED_TO_FUNCTION, HANDED_TO_OPERATOR, LIBRARYS_OWN, MAKE_ROOM
from probes.trace.rows import RUNTIMES_GRAPHS, Unseen

_BY_LINE = frozenset(
    {
        "gradient-outside-scope",
        "default-device",
        "collective",
        "reduce-on-host",
        "host-sync",
        "host-upload",
        "variable-home",
        "missing-device",
        "no-kernel",
    }
)
"""One line is the mistake, or the one act, whichever devices it sends between."""
_NAMES_SHOWN = 3
_HANDED = frozenset({HANDED_TO_FUNCTION, HANDED_TO_OPERATOR})
_NOT_MAKERS = MAKE_ROOM | {"", "?"}
"""Producers that say nothing of a value."""


def run_findings(
    tables: Tables, hops: Sequence[Hop], syncs: Sequence[Sync], spec: Mapping[str, Any] | None = None
) -> list[Finding]:
    """All findings of a run whose hops and syncs are these, and that was launched by this `spec`."""
    more = [*mixed_findings(tables), *drift_findings(tables), *order_findings(spec or {}, tables)]
    more += [*opaque_findings(tables), *balance_findings(spec or {}, tables)]
    if spec is not None and not spec.get("preflight"):  # which makes devices up, and is told without a launch
        more += absent_findings(tables, hops)
    found = chains(tables, hops)
    return findings(hops, syncs, tables.unseen, tables.rounds, tables.steps, more, tables.span_ns, found)


def findings(
    hops: Sequence[Hop],
    syncs: Sequence[Sync],
    unseen: Sequence[Unseen],
    rounds: int = 0,
    steps: int | None = None,
    more: Iterable[Finding] = (),
    span_ns: int = 0,
    detours: Sequence[Chain] = (),
) -> list[Finding]:
    """All findings: first what could not be seen, then by severity; what recurs first, by its cost.

    `rounds` is how often "every step" is; with `steps` None it counts calls. `more` are findings about
    something else than transfers and waits, to be ranked among them. `span_ns` is how long the run was
    recorded; 0 where that is not known. The hops of `detours` are told with these alone.
    """
    telling = Telling(rounds, "step" if steps else "call", span_ns)
    found = bounces(detours, hops, syncs, telling)
    over = untold(found, hops)
    groups: dict[tuple[Any, ...], list[int]] = {}
    for index, hop in enumerate(over):
        if hop.count != 0 and not _stays_on_host(hop):
            at = _made_together(hop) or (hop.blamed_site,)
            groups.setdefault((hop.cause.code, *at, *_act(hop)), []).append(index)
    taken = consequences(groups, over, telling)
    found += [
        _of_hops(_line_first(rows, over), over, hops, syncs, telling, taken.get(act, ()))
        for act, of_it in groups.items()
        if (rows := [row for row in of_it if not any(row in others for others in taken.values())])
    ]
    told_of = {
        (hop.src, hop.site, False)
        for hop in hops
        if hop.count != 0 and (hop.kind == "pull" or hop.cause.code == "host-sync")
    }
    told_of |= {(hop.dst, hop.site, True) for hop in hops if hop.kind == "upload" and hop.count != 0}
    waits: dict[tuple[Any, ...], list[Sync]] = {}
    for sync in syncs:
        if not is_host(sync.waited_for) and sync.count and _at(sync) not in told_of:
            waits.setdefault((sync.site, sync.kind, sync.takes), []).append(sync)
    found += [_of_syncs(alike, telling) for alike in waits.values()]
    found += more
    found.sort(key=_order)
    functions = {finding.evidence.get("function") for finding in found if finding.code == "xla-opaque"}
    apart = [row for row in unseen if not (by_xla(row) and inside(row) in functions)]
    first = [_of_unseen(row, bool(functions)) for row in apart if row.what != RUNTIMES_GRAPHS]
    return first + found + [_of_runtime(row) for row in apart if row.what == RUNTIMES_GRAPHS]


def _at(sync: Sync) -> tuple[str, str | None, bool]:
    """What a wait stands by that is told with a transfer: a value taken, or one sent to an array in use."""
    return sync.waited_for, sync.site, sync.kind == "upload"


def _stays_on_host(hop: Hop) -> bool:
    """Python's data that a device's kernel reads from host memory: shapes, axes, seeds. It goes nowhere."""
    return hop.cause.code == "host-upload" and hop.dst_memory == "host" and not is_host(hop.dst)


def _made_together(hop: Hop) -> tuple[str, ...]:
    """What reads of one variable have in common, or of the variables of one object, that one device does.

    It was made in the wrong scope, whichever lines read it.
    """
    evidence = hop.cause.evidence
    if hop.cause.code != "variable-home":
        return ()
    if made := evidence.get("object_made_at"):
        return "object", str(made), hop.src, hop.dst
    if evidence.get("created_alone") and (made := evidence.get("created_at")):
        return str(evidence.get("variable")), str(made), hop.src, hop.dst
    return ()


def _line_first(rows: list[int], hops: Sequence[Hop]) -> list[int]:
    """Of rows of several lines those of the line first that moves most, and of equals of the upper one."""
    moved: dict[str | None, int] = {}
    for row in rows:
        site = hops[row].blamed_site
        moved[site] = moved.get(site, 0) + (hops[row].bytes_total or 0)
    if len(moved) < 2:
        return rows
    first = min(moved, key=lambda site: (-moved[site], split_site(site) or ("", 0)))
    return sorted(rows, key=lambda row: hops[row].blamed_site != first)


def _in_order(sites: Iterable[str]) -> list[str]:
    """Sites by file and line."""
    return sorted(sites, key=lambda site: split_site(site) or (site, 0))


def _act(hop: Hop) -> tuple[str, ...]:
    """What makes several transfers of one line one finding, beside their cause."""
    if hop.cause.code in _BY_LINE:
        # Rows of one variable and the whole of another are mended apart.
        looked_up = hop.cause.code == "variable-home" and hop.producer_op == "ResourceGather"
        return ("rows",) if looked_up else ()
    call = hop.cause.evidence.get("call")
    return (str(call),) if call else (hop.src, hop.dst)


def _order(finding: Finding) -> tuple[int, bool, bool, int]:
    """What hides others stands before them."""
    opaque = finding.code == "xla-opaque"
    return RANK.get(finding.severity, 9), not opaque, not finding.recurs, -finding.cost_ns


def _of_hops(
    rows: list[int],
    over: Sequence[Hop],
    hops: Sequence[Hop],
    syncs: Sequence[Sync],
    telling: Telling,
    more: Sequence[int] = (),
) -> Finding:
    """`over` is what chains leave of the rows of `hops`; `more` are the rows of consequences."""
    part = [over[index] for index in rows]
    whole = [over[index] for index in (*rows, *more)]
    first = part[0]
    code = first.cause.code
    severity = min((hop.cause.severity for hop in part), key=lambda name: RANK.get(name, 9))
    evidence = _common([hop.cause.evidence for hop in part])
    evidence["transfers"] = total(hop.count for hop in whole)
    evidence["bytes"] = total(hop.bytes_total for hop in whole)
    if all(hop.seconds_total is not None for hop in whole):
        evidence["estimated_copying_ns"] = round(sum(hop.seconds_total or 0.0 for hop in whole) * 1e9)
    if code == "gradient-outside-scope":
        evidence["forward_at"] = list(dict.fromkeys(hop.forward_site for hop in part if hop.forward_site))
    if code == "variable-home" and len({hop.dst for hop in part}) > 1 and _read_apart(part):
        evidence["one_reader_each"] = True
    waits: list[Sync] = []
    if code == "host-sync":
        # What was read to the host first is taken there, and waited for on its device.
        taken = {(hop.src, hop.site, False) for hop in part}
        taken |= {(hop.dst, hop.site, False) for hop in part if hop.kind != "pull"}
        waits = [sync for sync in syncs if _at(sync) in taken]
        evidence |= waited(waits) | _made(part)
    if code == "host-upload":
        sent = {(hop.dst, hop.site, True) for hop in part}
        waits = [sync for sync in syncs if _at(sync) in sent]
        evidence |= waited(waits) if waits else {}
    summary = _summary(code, part, evidence)
    further = {hop.blamed_site for hop in part if hop.blamed_site and hop.blamed_site != first.blamed_site}
    if further:
        evidence["also_at"] = _in_order(further)
        summary += f", and at {some_of(evidence['also_at'], 'lines')}"
    recurs = bool(telling.recurring(part))
    along = f", with what goes back to variables on {over[more[0]].dst}" if more else ""
    waits = [sync for sync in waits if sync.kind not in LIBRARYS_OWN]
    share = telling.costly(waits) or (telling.stalling(part) if code == "host-upload" else "")
    if share and severity == "info":
        severity = "warning"
    # What happens once, at the start, needs no change, nor does a scalar or two.
    needless = recurs and any(hop.cause.evidence.get("taken_by") not in LIBRARYS_OWN for hop in part)
    wrong = severity != "info" or (needless and any((hop.bytes or TINY + 1) > TINY for hop in part))
    return Finding(
        code,
        severity,
        first.blamed_site,
        f"{summary}: {telling.cost(whole)}{along}{telling.copying(whole)}{standstill(waits)}{share}.",
        evidence,
        advice.fix(code, evidence) if wrong else None,
        tuple(rows),
        recurs,
        sum(hop.bytes_total or 0 for hop in whole),
        cost_ns(whole, waits),
        shares={row: over[row].count or 0 for row in (*rows, *more) if over[row].count != hops[row].count},
        consequences=tuple(more),
    )


def _summary(code: str, part: Sequence[Hop], evidence: Mapping[str, Any]) -> str:
    """One sentence; of ops that nobody placed, only what they take tells what they are away from."""
    taking = [hop for hop in part if hop.cause.blames != "producer"]
    both = code == "default-device" and 0 < len(taking) < len(part)
    told = taking if both else part
    pairs = list(dict.fromkeys((hop.src, hop.dst) for hop in told))
    summary = sentences.summary(code, told[0], _named(part), pairs, evidence)
    if not both:
        return summary
    users = in_order(hop.dst for hop in part if hop.cause.blames == "producer")
    return f"{summary}, and used on {some_of(users, 'devices')}"


def _read_apart(hops: Sequence[Hop]) -> bool:
    """Whether each of the variables is read on one device only."""
    readers: dict[str, set[str]] = {}
    for hop in hops:
        readers.setdefault(str(hop.cause.evidence.get("variable") or hop.tensor), set()).add(hop.dst)
    return all(len(devices) == 1 for devices in readers.values())


def _made(hops: Sequence[Hop]) -> dict[str, Any]:
    """Which ops made what Python took, where they are known, and what was but handed to Python by whom."""
    known: dict[str, list[str]] = {}
    for hop in hops:
        if hop.producer_op not in _NOT_MAKERS:
            name = "handed_by" if hop.producer_op in _HANDED else "made_by"
            text = f"{hop.producer_op} at {hop.producer_site or 'an unknown line'}"
            known.setdefault(name, []).append(text)
    return {name: list(dict.fromkeys(texts)) for name, texts in known.items()}


def _of_syncs(syncs: Sequence[Sync], telling: Telling) -> Finding:
    """Waits of one kind at one line, for one device or several."""
    first, count = syncs[0], sum(sync.count for sync in syncs)
    share = telling.costly(syncs)
    often = (bool(share) or telling.waits_every_step(syncs)) and first.kind not in LIBRARYS_OWN
    sources = in_order(sync.waited_for or ALL_DEVICES for sync in syncs)
    evidence = {"kind": first.kind, "device": _alone(sources), "count": count} | waited(syncs)
    does = "takes a value from" if first.takes else "waits for"
    named = _lying(syncs, evidence) if first.takes else some_of(sources, "devices")
    summary = f"Python {does} {named} by {first.kind} at {first.site or 'an unknown line'}"
    severity = SEVERITY["host-sync"] if often else "info"
    text = f"{summary}: {units.times(count)}{standstill(syncs)}{share}."
    change = advice.fix("host-sync", evidence | {"takes": first.takes}) if often else None
    return Finding(
        "host-sync", severity, first.site, text, evidence, change, (), often, 0, cost_ns((), syncs)
    )


def _lying(syncs: Sequence[Sync], evidence: dict[str, Any]) -> str:
    """``cpu:1``, ``cpu:0, which waits for cpu:2,``: where the values lie; noted where others make those."""
    brought = [sync for sync in syncs if sync.waits_for]
    own = in_order(sync.source for sync in syncs if not sync.waits_for)
    if not brought:
        return some_of(own, "devices")
    there = in_order(sync.device for sync in brought)
    evidence["value_on"] = _alone(there)
    makers = some_of(in_order(sync.waits_for for sync in brought), "devices")
    waits = "which waits for" if len(there) == 1 else "which wait for"
    return f"{some_of([*own, *there], 'devices')}, {waits} {makers},"


def _of_unseen(row: Unseen, clusters: bool) -> Finding:
    """`clusters`: what XLA compiled is told by findings of its own."""
    code = "xla-opaque" if by_xla(row) else "unknown"
    often = _often(row)
    summary = f"Not seen: {row.what}{often and f' ({often})'}: {row.why}."
    evidence = {"what": row.what, "count": row.count, "why": row.why}
    severity = "info" if clusters else SEVERITY[code]
    return Finding(code, severity, None, summary, evidence, advice.fix(code, evidence), (), unseen=True)


def _often(row: Unseen) -> str:
    """What a row counts: of functions' insides each op, in each call or once."""
    if not inside(row):
        return units.times(row.count) if row.count > 1 else ""
    return (
        units.plural(row.count, "op")
        if "once a trace" in row.why
        else units.plural(row.count, "execution of an op", "executions of ops")
    )


def _of_runtime(row: Unseen) -> Finding:
    """Graphs that no function of the program has: there is nothing in them to look for."""
    summary = (
        f"{units.plural(row.count, 'graph')} that the runtime made by itself, of no function of the program."
    )
    return Finding(
        "unknown", "info", None, summary, {"what": row.what, "count": row.count, "why": row.why}, None, ()
    )


def _common(evidences: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What all say alike as it is, what differs as a list."""
    merged: dict[str, Any] = {}
    for name in dict.fromkeys(name for evidence in evidences for name in evidence):
        values = list({repr(evidence.get(name)): evidence.get(name) for evidence in evidences}.values())
        merged[name] = _alone(values)
    return merged


def _alone(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else list(values)


def _blamed_op(hop: Hop) -> str:
    blamed = hop.cause.code in ("no-kernel", "default-device") and hop.cause.blames == "producer"
    return hop.producer_op if blamed else hop.op


def _named(hops: Sequence[Hop]) -> str:
    """``MatMul`` or ``MatMul, ReluGrad and 3 more``: the consumers' types.

    Of what has no kernel, or no scope, the ops that have none, not those that use their results.
    """
    names = list(dict.fromkeys(name for name in map(_blamed_op, hops) if name))
    if len(names) <= _NAMES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMES_SHOWN])} and {len(names) - _NAMES_SHOWN} more"
