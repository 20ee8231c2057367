"""Python waited for a value or took it, also one that the host computes from what a GPU sends."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.host_sync import library_functions
from app.diagnosis.causes.host_sync.example import EXAMPLE
from app.diagnosis.causes.host_sync.host_syncs import host_sync
from app.diagnosis.causes.host_sync.library_functions import Evidence
from app.diagnosis.causes.host_sync.line_advice import EITHER, line_advice
from app.diagnosis.wording.transfer_costs import Telling, cost_ns, standstill, told_at, waited
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import in_order, is_gpu, is_host
from app.facts.groups import grouped
from app.facts.kernels.kernel_table import kept_on_host
from app.facts.syncs import ALL_DEVICES, Sync
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import Transfer
from app.judgments.finding import Finding
from app.judgments.severity import INFO, WARNING
from app.views import units
from app.views.naming import alone, each, some_of, told
from probes.trace.hop import (
    ASSERTION,
    DISPATCH,
    HANDED_TO_FUNCTION,
    HANDED_TO_OPERATOR,
    IN_GRAPH,
    LIBRARYS_OWN,
    MAKE_ROOM,
    ON_BATCH,
)

_IN_MXNETS_THREAD = (
    "A thread of MXNet's own runs the operator and waits for its inputs; the program's own code goes on."
)
_HANDED = frozenset({HANDED_TO_FUNCTION, HANDED_TO_OPERATOR})
_NOT_MAKERS = MAKE_ROOM | {"", "?"}
"""Producers that say nothing of a value."""
_READS = frozenset({"Identity", "ReadVariableOp"})
"""What a variable's own methods read it with before they give its value to Python."""
_COMPARISONS = frozenset(
    {
        "Less",
        "LessEqual",
        "Greater",
        "GreaterEqual",
        "Equal",
        "NotEqual",
        "LogicalAnd",
        "LogicalOr",
        "LogicalNot",
    }
    | {"IsNan", "IsFinite", "IsInf"}
)


def host_read(transfer: Transfer) -> Evidence | None:
    """Python took the value, or a variable's, which is read to the host first where no scope is open."""
    if transfer.kind != "pull":
        return _taken_after_reading(transfer)
    return Evidence(
        taken_by=transfer.facts.get("sync") or ", ".join(transfer.consumers),
        on_a_gpu="in host memory already" if on_host_on_gpus(transfer) else None,
    )


def on_host_on_gpus(transfer: Transfer) -> bool:
    """A stand-in holds the value, such as a shape, that a GPU's kernel would leave in host memory."""
    if not transfer.context.places_ops or is_gpu(transfer.src):
        return False
    return kept_on_host(transfer.producer_op, transfer.dtype)


def _taken_after_reading(transfer: Transfer) -> Evidence | None:
    by = transfer.context.taken.get((transfer.fields.get("loc") or 0, transfer.dst))
    eager = transfer.kind == "copy" and not transfer.fields.get("graph")
    if not by or not eager or transfer.requested:
        return None
    variable = transfer.facts.get("variable")
    if variable and transfer.op in _READS:
        return Evidence(taken_by=by, variable=variable)
    # ``if loss < best``: compared on the host, where nobody asked for a device, and decided by there.
    compared = transfer.op in _COMPARISONS and transfer.tiny and is_host(transfer.dst)
    return Evidence(taken_by=by) if compared and by in ("bool", ASSERTION) else None


def severity_of(transfer: Transfer, evidence: Evidence) -> str:
    """A note of what does not recur, and of what the code does not take, or GPUs have in host memory."""
    own = transfer.facts.get("sync") in LIBRARYS_OWN or on_host_on_gpus(transfer)
    return WARNING if transfer.every_step and not own else INFO


def because(evidence: Evidence) -> str:
    """What a wait is for, who made it, and who had no work meanwhile."""
    waited, how = evidence.waited, (told(evidence.taken_by), told(evidence.kind))
    if DISPATCH in how:
        return "Threads of the library, started at this line, hand work to the workers and wait for it."
    on, made = told(evidence.src, "devices"), ""
    if evidence.made_by:
        made = f"It was made on {on} by {told(evidence.made_by, 'ops')}. "
    if evidence.handed_by:
        made += f"It lay on {on} and was handed over by {told(evidence.handed_by, 'calls')}. "
    if waited and waited.brought_at:
        lines = told(waited.brought_at, "lines")
        made += f"What came to the host at {lines} goes into it, once its device has made that. "
    if IN_GRAPH in how:
        return f"{made}In each call the graph waits while the Python function works on the host."
    if not evidence.made_by and any(HANDED_TO_OPERATOR in text for text in evidence.handed_by or ()):
        return f"{made}{_IN_MXNETS_THREAD}"
    idle = told(waited.idle_meanwhile, "devices", ", ") if waited else ""
    meanwhile = f"; meanwhile without work: {idle}" if idle else ""
    return f"{made}While Python waits for a value it gives out no work{meanwhile}."


def advice(evidence: Evidence, takes: bool = True) -> str:
    """To take it more seldom, or not at all, by what takes it; `takes`: not merely waits."""
    if known := _by_library(evidence) or _in_python(evidence):
        return known
    if takes:
        return EITHER
    if evidence.inside:
        return (
            f"The library waits, in {' and '.join(evidence.inside)}, for what it does there: call that every"
            " so many steps, if the others can do without it."
        )
    return "Drop the wait: a device's work need be done only where a value of it is taken."


def _by_library(evidence: Evidence) -> str:
    """Of values that a library's call takes for itself each time: the code has none that it could keep."""
    taken = {*each(evidence.taken_by), *each(evidence.kind)}
    methods = " and ".join(name for name in ON_BATCH if name in taken)
    return methods and (
        f"Each call of {methods} takes its losses and metrics as numbers: let fit or evaluate make the loop,"
        " or write the step as a tf.function that keeps them on the device, and take them every so many"
        " steps."
    )


def _in_python(evidence: Evidence) -> str:
    """Of values that Python code takes which a graph or MXNet calls: they are wanted there in each step."""
    handed = {text.partition(" at ")[0] for text in evidence.handed_by or ()}
    taken = {*each(evidence.taken_by), *each(evidence.kind)}
    if IN_GRAPH in taken or HANDED_TO_FUNCTION in handed:
        return "Write the function with TensorFlow's ops, so that the graph runs it where its inputs are."
    if HANDED_TO_OPERATOR in handed:
        return (
            "Write the operator with MXNet's own ops, in an autograd.Function: they run where its inputs are."
        )
    return ""


def waits_of(part: Sequence[Hop], syncs: Sequence[Sync]) -> list[Sync]:
    """Waits for the values; what was read to the host first is taken there, and waited for on its device."""
    taken = {(hop.src, hop.site, False) for hop in part}
    taken |= {(hop.dst, hop.site, False) for hop in part if hop.kind != "pull"}
    return [sync for sync in syncs if told_at(sync) in taken]


def evidence_of(evidence: Evidence, part: Sequence[Hop], waits: Sequence[Sync]) -> Evidence:
    """With the waits, what made the values, what was but handed to Python by whom, and who takes them."""
    made = grouped(
        (hop.producer_op in _HANDED, f"{hop.producer_op} at {hop.producer_site or 'an unknown line'}")
        for hop in part
        if hop.producer_op not in _NOT_MAKERS
    )
    taken = [str(hop.cause.evidence.taken_by) for hop in part if isinstance(hop.cause.evidence, Evidence)]
    named = all(hop.kind == "pull" for hop in part) and library_functions.named(taken)
    return dataclasses.replace(
        evidence,
        waited=waited(waits),
        made_by=list(dict.fromkeys(made.get(False, ()))) or None,
        handed_by=list(dict.fromkeys(made.get(True, ()))) or None,
        inside=(library_functions.functions(hop.via for hop in part) if named else None) or None,
        waits_by=list(dict.fromkeys(sync.kind for sync in waits if not sync.takes)) or None,
    )


def summary(words: TransferWords, evidence: Evidence) -> str:
    """How Python takes what from where."""
    return words.say(
        "Python takes a value from {srcs} by {taken_by} at {at}", taken_by=library_functions.by(evidence)
    )


def of_syncs(syncs: Sequence[Sync], telling: Telling) -> Finding:
    """Waits of one kind at one line, for one device or several."""
    first, count = syncs[0], sum(sync.count for sync in syncs)
    share = telling.costly(syncs)
    often = (bool(share) or telling.waits_every_step(syncs)) and first.kind not in LIBRARYS_OWN
    sources = in_order(sync.waited_for or ALL_DEVICES for sync in syncs)
    named = library_functions.named([first.kind])
    inside = library_functions.functions(via for one in syncs for via in one.via) if named else None
    brought = in_order(sync.device for sync in syncs if sync.waits_for)
    evidence = Evidence(
        kind=first.kind,
        device=alone(sources),
        count=count,
        waited=waited(syncs),
        inside=inside or None,
        value_on=alone(brought) if brought and first.takes else None,
    )
    does = "takes a value from" if first.takes else "waits for"
    where = _lying(syncs) if first.takes else some_of(sources, "devices")
    summary = (
        f"Python {does} {where} by {library_functions.by(evidence)} at {first.site or 'an unknown line'}"
    )
    severity = CAUSE.severity if often else "info"
    text = f"{summary}: {units.times(count)}{standstill(syncs)}{share}."
    change = advice(evidence, first.takes) if often else None
    return Finding(CAUSE.code, severity, first.site, text, evidence, change, (), often, 0, cost_ns((), syncs))


def _lying(syncs: Sequence[Sync]) -> str:
    """``cpu:1``, ``cpu:0, which waits for cpu:2,``: where the values lie, and which others make those."""
    brought = [sync for sync in syncs if sync.waits_for]
    own = in_order(sync.source for sync in syncs if not sync.waits_for)
    if not brought:
        return some_of(own, "devices")
    there = in_order(sync.device for sync in brought)
    devices = in_order(one for sync in brought for one in (sync.waits_for, *sync.waits_for_too))
    makers = some_of(devices, "devices")
    waits = "which waits for" if len(there) == 1 else "which wait for"
    return f"{some_of([*own, *there], 'devices')}, {waits} {makers},"


CAUSE = Cause(
    code="host-sync",
    severity=WARNING,
    evidence=Evidence,
    meaning="Python waited for a value or took it, also one that the host computes from what a GPU sends.",
    example=EXAMPLE,
    sometimes="warning if it recurs; else note",
    summary=summary,
    because=because,
    advice=advice,
    line_advice=line_advice,
    act=of_line,
    fix=host_sync,
    severity_of=severity_of,
    evidence_of=evidence_of,
    waits=waits_of,
)
