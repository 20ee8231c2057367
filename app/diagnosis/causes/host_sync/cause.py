"""Python waited for a value or took it, also one that the host computes from what a GPU sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.host_sync.host_syncs import host_sync
from app.diagnosis.causes.host_sync.line_advice import EITHER, line_advice
from app.diagnosis.causes.host_sync.rules import severity_of
from app.diagnosis.wording import library_functions
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.transfer_costs import told_at, waited
from app.facts.syncs import Sync
from app.facts.transfers.hops import Hop
from app.judgments.severity import WARNING
from app.views.naming import each
from probes.trace.hop import (
    DISPATCH,
    HANDED_TO_FUNCTION,
    HANDED_TO_OPERATOR,
    IN_GRAPH,
    MAKE_ROOM,
    ON_BATCH,
)

_IN_MXNETS_THREAD = (
    "A thread of MXNet's own runs the operator and waits for its inputs; the program's own code goes on."
)
_HANDED = frozenset({HANDED_TO_FUNCTION, HANDED_TO_OPERATOR})
_NOT_MAKERS = MAKE_ROOM | {"", "?"}
"""Producers that say nothing of a value."""


def because(facts: Facts) -> str:
    """What a wait is for, who made it, and who had no work meanwhile."""
    if DISPATCH in (facts.told("taken_by"), facts.told("kind")):
        return "Threads of the library, started at this line, hand work to the workers and wait for it."
    on, made = facts.told("src", "devices"), ""
    if "made_by" in facts:
        made = f"It was made on {on} by {facts.told('made_by', 'ops')}. "
    if "handed_by" in facts:
        made += f"It lay on {on} and was handed over by {facts.told('handed_by', 'calls')}. "
    if "brought_at" in facts:
        lines = facts.told("brought_at", "lines")
        made += f"What came to the host at {lines} goes into it, once its device has made that. "
    if IN_GRAPH in (facts.told("taken_by"), facts.told("kind")):
        return f"{made}In each call the graph waits while the Python function works on the host."
    if "made_by" not in facts and any(HANDED_TO_OPERATOR in text for text in facts.each("handed_by")):
        return f"{made}{_IN_MXNETS_THREAD}"
    idle = facts.told("idle_meanwhile", "devices", ", ")
    meanwhile = f"; meanwhile without work: {idle}" if idle else ""
    return f"{made}While Python waits for a value it gives out no work{meanwhile}."


def advice(evidence: Mapping[str, Any]) -> str:
    """To take it more seldom, or not at all, by what takes it."""
    if known := _by_library(evidence) or _in_python(evidence):
        return known
    if evidence.get("takes", True):
        return EITHER
    if inside := each(evidence.get("inside")):
        return (
            f"The library waits, in {' and '.join(inside)}, for what it does there: call that every so many"
            " steps, if the others can do without it."
        )
    return "Drop the wait: a device's work need be done only where a value of it is taken."


def _by_library(evidence: Mapping[str, Any]) -> str:
    """Of values that a library's call takes for itself each time: the code has none that it could keep."""
    taken = {*each(evidence.get("taken_by")), *each(evidence.get("kind"))}
    methods = " and ".join(name for name in ON_BATCH if name in taken)
    return methods and (
        f"Each call of {methods} takes its losses and metrics as numbers: let fit or evaluate make the loop,"
        " or write the step as a tf.function that keeps them on the device, and take them every so many"
        " steps."
    )


def _in_python(evidence: Mapping[str, Any]) -> str:
    """Of values that Python code takes which a graph or MXNet calls: they are wanted there in each step."""
    handed = {text.partition(" at ")[0] for text in each(evidence.get("handed_by"))}
    taken = {*each(evidence.get("taken_by")), *each(evidence.get("kind"))}
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


def evidence_of(evidence: dict[str, Any], part: Sequence[Hop], waits: Sequence[Sync]) -> dict[str, Any]:
    """With the waits, what made the values, and who takes them."""
    return evidence | waited(waits) | _made_by(part) | _taking(part, waits)


def _made_by(hops: Sequence[Hop]) -> dict[str, Any]:
    """Which ops made what Python took, where they are known, and what was but handed to Python by whom."""
    known: dict[str, list[str]] = {}
    for hop in hops:
        if hop.producer_op not in _NOT_MAKERS:
            name = "handed_by" if hop.producer_op in _HANDED else "made_by"
            text = f"{hop.producer_op} at {hop.producer_site or 'an unknown line'}"
            known.setdefault(name, []).append(text)
    return {name: list(dict.fromkeys(texts)) for name, texts in known.items()}


def _taking(hops: Sequence[Hop], waits: Sequence[Sync]) -> dict[str, Any]:
    """The library's function that takes the values, if the code does not, and waits that take nothing."""
    taken = [str(hop.cause.evidence.get("taken_by")) for hop in hops]
    told: dict[str, Any] = {}
    if all(hop.kind == "pull" for hop in hops) and library_functions.named(taken):
        told["inside"] = library_functions.functions(hop.via for hop in hops)
    told["waits_by"] = list(dict.fromkeys(sync.kind for sync in waits if not sync.takes))
    return {name: found for name, found in told.items() if found}


CAUSE = Cause(
    code="host-sync",
    severity=WARNING,
    meaning="Python waited for a value or took it, also one that the host computes from what a GPU sends.",
    sometimes="warning if it recurs",
    summary="Python takes a value from {srcs} by {taken_by} at {at}",
    because=because,
    advice=advice,
    line_advice=line_advice,
    act=of_line,
    fix=host_sync,
    severity_of=severity_of,
    evidence_of=evidence_of,
    waits=waits_of,
)
