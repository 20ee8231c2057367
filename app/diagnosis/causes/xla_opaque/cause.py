"""XLA compiled a function, so nothing inside has a placement of its own."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence

from app.diagnosis.cause import Cause
from app.diagnosis.causes.xla_opaque.example import EXAMPLE
from app.facts.devices import in_order
from app.facts.groups import grouped, summed
from app.facts.tables import Tables
from app.facts.unseen_rows import by_xla, inside
from app.fixes.code.device_notation import alone
from app.fixes.code.names import keyword
from app.fixes.code.parsed_source import Function, Source, first_line
from app.fixes.situation import Draft, Situation
from app.judgments.evidence import FindingEvidence
from app.judgments.finding import Finding
from app.judgments.severity import WARNING
from app.views import units
from app.views.naming import some_of, told
from probes.trace.rows import Key


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(FindingEvidence):
    """Of a function that XLA compiled."""

    function: str = ""
    how: str = ""
    ops: int | None
    calls: int
    op_executions_not_seen: int | None
    ran_on: list[str]
    requested_inside: list[str]
    not_followed: list[str]
    """Devices of those that were asked for in vain."""
    called_at: list[str]


CODE = "xla-opaque"


def opaque_findings(tables: Tables) -> list[Finding]:
    """One finding a compiled function; a warning where device scopes inside it were not followed."""
    functions = grouped(
        ((tables.site(key.fields.get("loc")), str(key.fields.get("function") or "a function")), key)
        for key in tables.of_kind("opaque")
        if key.count
    )
    unseen: dict[str, int] = summed((inside(row), row.count) for row in tables.unseen if by_xla(row))
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
    recurs = 1 < tables.rounds <= count
    severity = WARNING if ignored else "info"
    return Finding(CODE, severity, site, f"{summary}.", evidence, None, (), recurs)


def because(evidence: Evidence) -> str:
    """What was asked for inside of what XLA compiled."""
    asked = told(evidence.requested_inside, "devices")
    if not asked:
        return ""
    ran = told(evidence.ran_on, "devices")
    return f"Requested inside: {asked}; XLA makes one kernel of it all, which runs on {ran}."


_WORDS = (
    "Runs the ops one by one, so that their devices show; times and rounding differ: change it back after."
)

_SCOPES_COUNT = (
    "Runs the ops one by one, where the scopes inside ask for; times and rounding differ. To keep XLA and the"
    " scopes, compile one function for each device."
)


def without_xla(situation: Situation) -> Draft | None:
    """``jit_compile=False`` where the line, the function around it, or else the only place asks for XLA."""
    source = situation.source
    asked = {
        call: option.value
        for call in source.every(ast.Call)
        if (option := keyword(call, "jit_compile", "experimental_compile")) is not None
        if not (isinstance(option.value, ast.Constant) and option.value.value in (False, None))
    }
    around = [value for call, value in asked.items() if _about(source, call, situation.line)]
    chosen = alone(around or asked.values())
    words = _SCOPES_COUNT if situation.evidence(Evidence).not_followed else _WORDS
    return situation.replaced(words, chosen, "False") if chosen is not None else None


def _about(source: Source, call: ast.Call, line: int) -> bool:
    """Whether the line is in the call, or in the function that the call decorates."""
    parent = source.parents[call]
    if isinstance(parent, Function) and call in parent.decorator_list:
        return first_line(parent) <= line <= (parent.end_lineno or 0)
    return call.lineno <= line <= (call.end_lineno or 0)


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
