"""A variable is read away from where it lives."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from app.diagnosis.cause import Cause
from app.diagnosis.causes.variable_home.created_variables import (
    PUT_WHERE_READ,
    created_where_read,
    home_advice,
)
from app.diagnosis.causes.variable_home.example import EXAMPLE
from app.diagnosis.causes.variable_home.groups import along
from app.diagnosis.causes.variable_home.rules import Evidence, severity_of, with_creation
from app.diagnosis.wording.scope_openers import consumer_scope
from app.diagnosis.wording.transfer_words import TransferWords, destination, source
from app.facts.devices import is_host
from app.facts.lines import sites_in_order
from app.facts.syncs import Sync
from app.facts.transfers.hops import Hop
from app.judgments.severity import WARNING
from app.views.naming import each, flat, some_of, told

_COPIED = (
    "Keep it on {dst}, if it fits into that memory: name that context where it is initialized or made. Where"
    " a step uses few of its rows, look these up on {src}, by Embedding or take, and copy them instead."
)
_COPIED_TO_SEVERAL = (
    "Keep one on each of {dst}, as initialize(ctx=[..]) does, and let a Trainer sum their gradients: then the"
    " devices exchange these, and no weights cross."
)
_SHARED = (
    "Several devices read it: keep a copy on each, as tf.distribute.MirroredStrategy does, or read it once a"
    " step for all of them."
)
_EACH = "Create each variable on the device that reads it: none of them has more than one."
_CREATED = (
    "Create it on {dst}, where it is read, if it fits into that memory: {created_at} creates it in a scope"
    " of {created_in}. What reads it here takes the whole of it."
)
_ROWS = "Create the table on {dst}, where its rows are used, if it fits into that memory{creates}."
_UNASKED = (
    "Run what reads it in the device scope of {src}, where the variable lives: no scope asks for {dst} here."
)
_KEPT = (
    "{kept_by} keeps its variables in one place for all replicas: MirroredStrategy keeps a copy of each on"
    " every device, MultiWorkerMirroredStrategy on those of every worker."
)


def summary(words: TransferWords, evidence: Evidence) -> str:
    """Which variables live where, and who reads them."""
    variables = each(evidence.variable)
    named = some_of(variables, "variables")
    if words.first.producer_op == "ResourceGather":
        return words.say(
            "Rows of {table} on {srcs} are looked up there and used on {dsts} at {at}",
            table=named or "a variable",
        )
    live, are = ("live", "are") if len(variables) > 1 else ("lives", "is")
    return words.say(
        "{variable} {live} on {srcs} and {are} read on {dsts} at {at}",
        variable=named or "A variable",
        live=live,
        are=are,
    )


def because(evidence: Evidence) -> str:
    """A variable is read away from its home."""
    several = len(flat(evidence.variable)) > 1
    lives, reads = ("The variables live", "them") if several else ("The variable lives", "it")
    kept = f", where {told(evidence.kept_by)} keeps it" if evidence.kept_by else ""
    if evidence.created_at:
        kept += f", created at {told(evidence.created_at, 'lines')}"
    asked = f"was requested on {told(evidence.requested, 'devices')}"
    runs = asked if told(evidence.requested) else f"runs on {told(evidence.dst, 'devices')}"
    home = f"{lives} on {told(evidence.lives_on, 'devices')}{kept}"
    return f"{home}; what reads {reads} {runs}{consumer_scope(evidence)}."


def advice(evidence: Evidence) -> str:
    """Where to create it, or what to run where it lives."""
    created = each(evidence.created_at)
    return _chosen(evidence).format(
        src=source(evidence),
        dst=destination(evidence),
        kept_by=" and ".join(each(evidence.kept_by)),
        created_at=" and ".join(created),
        creates=f": {created[0]} creates it" if len(created) == 1 else "",
        created_in=" and ".join(each(evidence.created_in)),
    )


def _chosen(evidence: Evidence) -> str:
    several = len(each(evidence.dst)) > 1
    apart = bool(evidence.one_reader_each)
    if evidence.gradient_goes_back:
        return (_EACH if apart else _COPIED_TO_SEVERAL) if several else _COPIED
    if evidence.rows:
        return _ROWS
    if evidence.kept_by:
        return _KEPT
    if several:
        return _EACH if apart else _SHARED
    if evidence.created_in and evidence.created_at:
        return _CREATED
    return _UNASKED if _runs_by_default(evidence) else PUT_WHERE_READ


def _runs_by_default(evidence: Evidence) -> bool:
    """Whether what reads a variable of one card runs on another device only because nothing asks for one."""
    asked = [*each(evidence.requested), *each(evidence.called_on)]
    ends = each(evidence.src), each(evidence.dst)
    return not asked and all(len(devices) == 1 for devices in ends) and not is_host(ends[0][0])


def evidence_of(evidence: Evidence, part: Sequence[Hop], waits: Sequence[Sync]) -> Evidence:
    """With the objects' lines in order, and whether each variable is read on one device only."""
    made = evidence.object_made_at
    readers: dict[str, set[str]] = {}
    for hop in part:
        readers.setdefault(str(hop.cause.evidence.variable or hop.tensor), set()).add(hop.dst)
    apart = len({hop.dst for hop in part}) > 1 and all(len(devices) == 1 for devices in readers.values())
    return dataclasses.replace(
        evidence,
        object_made_at=[*sites_in_order(made)] if isinstance(made, list) else made,
        one_reader_each=apart or None,
    )


CAUSE = Cause(
    code="variable-home",
    severity=WARNING,
    evidence=Evidence,
    meaning=(
        "A variable is read away from where it lives. In MXNet: a variable of the host is copied to a GPU"
        " while autograd records."
    ),
    example=EXAMPLE,
    sometimes="warning if it recurs; note where it is rare or small",
    summary=summary,
    because=because,
    advice=advice,
    # Rows of one variable and the whole of another are mended apart.
    act=lambda hop: ("rows",) if hop.producer_op == "ResourceGather" else (),
    line_advice=home_advice,
    fix=created_where_read,
    severity_of=severity_of,
    with_lines=with_creation,
    evidence_of=evidence_of,
    along=along,
)
