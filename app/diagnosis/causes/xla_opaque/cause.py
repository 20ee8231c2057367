"""XLA compiled a function, so nothing inside has a placement of its own."""

from __future__ import annotations

from collections.abc import Sequence

from app.diagnosis.cause import Cause
from app.diagnosis.causes.xla_opaque.compiled_functions import without_xla
from app.diagnosis.causes.xla_opaque.evidence import Evidence
from app.diagnosis.causes.xla_opaque.example import EXAMPLE
from app.facts.devices import in_order
from app.facts.tables import Tables
from app.facts.unseen_rows import by_xla, inside
from app.judgments.finding import Finding
from app.judgments.severity import WARNING
from app.views import units
from app.views.naming import some_of, told
from probes.trace.rows import Key

CODE = "xla-opaque"


def opaque_findings(tables: Tables) -> list[Finding]:
    """One finding a compiled function; a warning where device scopes inside it were not followed."""
    functions: dict[tuple[str | None, str], list[Key]] = {}
    for key in tables.of_kind("opaque"):
        if key.count:
            place = tables.site(key.fields.get("loc")), str(key.fields.get("function") or "a function")
            functions.setdefault(place, []).append(key)
    unseen: dict[str, int] = {}
    for row in tables.unseen:
        if by_xla(row):
            unseen[inside(row)] = unseen.get(inside(row), 0) + row.count
    # Functions of one name are told apart by their lines, what went unseen of them is not.
    return [
        _finding(site, name, keys, tables, unseen.pop(name, None)) for (site, name), keys in functions.items()
    ]


def _finding(
    site: str | None, name: str, keys: Sequence[Key], tables: Tables, not_seen: int | None
) -> Finding:
    asked = in_order(device for key in keys for device in key.fields.get("asked") or ())
    ran_on = in_order(device for key in keys for device in key.fields.get("devices") or ())
    count = sum(key.count or 0 for key in keys)
    ops = max((key.fields.get("ops") or 0 for key in keys), default=0)
    by_itself = all(key.fields.get("how") != "jit_compile" for key in keys)
    ignored = [device for device in asked if device not in ran_on]
    called_at = dict.fromkeys(tables.site(key.fields.get("called_loc")) or "an unknown line" for key in keys)
    evidence = Evidence(
        function=name,
        how="auto-clustering" if by_itself else "jit_compile",
        ops=ops or None,
        calls=count,
        op_executions_not_seen=not_seen,
        ran_on=ran_on,
        requested_inside=asked,
        not_followed=ignored,
        called_at=list(called_at),
    )
    what = f"{units.plural(ops, 'op')} of {name}" if ops else f"A part of {name}"
    where = some_of(ran_on, "devices") or "one device"
    how = "by XLA's auto-clustering" if by_itself else "by XLA"
    summary = (
        f"{what} at {site or 'an unknown line'} {'are' if ops > 1 else 'is'} compiled {how} and run as one on"
        f" {where}, {units.times(count)}: where each would be placed, and what crosses inside, cannot be seen"
    )
    if ignored:
        summary += f"; the code inside asks for {some_of(ignored, 'devices')}, which was not followed"
    rounds = tables.rounds
    return Finding(
        CODE,
        WARNING if ignored else "info",
        site,
        f"{summary}.",
        evidence,
        None,
        (),
        rounds > 1 and count >= rounds,
    )


def because(evidence: Evidence) -> str:
    """What was asked for inside of what XLA compiled."""
    asked = told(evidence.requested_inside, "devices")
    if not asked:
        return ""
    ran = told(evidence.ran_on, "devices")
    return f"Requested inside: {asked}; XLA makes one kernel of it all, which runs on {ran}."


CAUSE = Cause(
    code=CODE,
    severity=WARNING,
    evidence=Evidence,
    meaning="XLA compiled a function, so nothing inside has a placement of its own. It is reported first.",
    example=EXAMPLE,
    sometimes="warning where device scopes inside were ignored; else note",
    because=because,
    advice=(
        "To look inside, run it with jit_compile=False: device scopes count then, and each op runs by itself"
        " where it is placed, slower and with more memory than what XLA fused."
    ),
    detect=lambda run: opaque_findings(run.tables),
    fix=without_xla,
    hides_others=True,
)
