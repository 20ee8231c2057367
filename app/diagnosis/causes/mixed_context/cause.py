"""The inputs of an MXNet op lie on several contexts."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from app.diagnosis.cause import Cause
from app.diagnosis.causes.mixed_context.example import EXAMPLE
from app.facts.devices import in_order
from app.facts.groups import grouped
from app.facts.tables import Tables
from app.fixes.code.change import Change
from app.fixes.code.device_notation import alone, mx_context
from app.fixes.code.names import called, dotted, imported
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.flow.array_creators import context_of, creators, used_elsewhere
from app.fixes.situation import Draft, Situation
from app.judgments.evidence import FindingEvidence
from app.judgments.finding import Finding
from app.judgments.severity import ERROR
from app.views import units
from app.views.naming import first_of, some_of, told
from probes.trace.hop import HANDED_TO_OPERATOR
from probes.trace.rows import Key


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(FindingEvidence):
    """Of the ops of one line."""

    ops: list[str] = dataclasses.field(default_factory=list)
    ran_on: list[str] = dataclasses.field(default_factory=list)
    inputs_also_on: list[str] = dataclasses.field(default_factory=list)
    read_in_place: int = 0
    """Executions that read inputs on other devices."""
    raised: int = 0
    bytes: int = 0
    made_on_default: list[str] | None = None
    """Ops that make inputs without a context."""
    made_on_default_at: list[str] | None = None
    inputs_made_by: list[str] | None = None
    inputs_made_at: list[str] | None = None

    @property
    def devices(self) -> set[str]:
        """Where the ops ran and their inputs are."""
        return {*self.ran_on, *self.inputs_also_on}


CODE = "mixed-context"
_RAISED = "raised"
_NOT_MAKERS = (None, "?", HANDED_TO_OPERATOR)
_NOT_EVERYWHERE = "on devices with memory of their own this fails"


def mixed_findings(tables: Tables) -> list[Finding]:
    """One finding a line, in the order in which they were met; what one array has mixed is one mistake."""
    mixed = (key for key in tables.of_kind("mixed") if key.count)
    lines = grouped((tables.site(key.fields.get("loc")), key) for key in mixed)
    met: dict[frozenset[str], str | None] = {}
    also: dict[str | None, list[str | None]] = {}
    for site, keys in lines.items():
        makers = _without_context(keys, tables)
        first = next((line for known, line in met.items() if makers and makers <= known), None)
        if makers and first is not None:
            also[first].append(site)
        else:
            met.setdefault(makers, site)
            also[site] = []
    return [_finding(site, lines[site], tables, further) for site, further in also.items()]


def _without_context(keys: Sequence[Key], tables: Tables) -> frozenset[str]:
    """The lines that made, without a context, the inputs on the host; none where one is not known."""
    sites = [tables.site(key.fields.get("without_context_loc")) for key in keys]
    return frozenset() if None in sites else frozenset(site for site in sites if site)


def _finding(
    site: str | None, keys: Sequence[Key], tables: Tables, also: Sequence[str | None] = ()
) -> Finding:
    """Of the ops of one line; `also` are lines at which the same arrays, or what was made of them, mix."""
    read = [key for key in keys if key.fields.get("outcome") != _RAISED]
    raised = [key for key in keys if key.fields.get("outcome") == _RAISED]
    evidence = dataclasses.replace(
        _makers(keys, tables),
        ops=_ops(keys),
        ran_on=_ran_on(read),
        inputs_also_on=_reads(keys),
        read_in_place=_times(read),
        raised=_times(raised),
        bytes=sum((key.fields.get("bytes") or 0) * (key.count or 0) for key in read),
        also_at=[line for line in also if line] if also else None,
    )
    said = list(_said(site, read, raised))
    if lines := some_of(evidence.also_at or (), "lines"):
        said.append(f"So do ops at {lines}, with arrays that come from the same line.")
    often = tables.rounds > 1 and _times(read) >= tables.rounds
    return Finding(CODE, ERROR, site, " ".join(said), evidence, None, (), often)


def _makers(keys: Sequence[Key], tables: Tables) -> Evidence:
    """What made the inputs that are to blame, or else those that lie elsewhere, and at which lines.

    To blame are those on the host that nobody gave a context, whether the op ran with them or with others.
    """
    makers = _without_context(keys, tables)
    if makers:
        names = [key.fields.get("without_context_op") or "?" for key in keys]
        return Evidence(made_on_default=list(dict.fromkeys(names)), made_on_default_at=sorted(makers))
    known = [key.fields for key in keys if key.fields.get("producer_op") not in _NOT_MAKERS]
    lines = [tables.site(fields.get("producer_loc")) for fields in known]
    return Evidence(
        inputs_made_by=list(dict.fromkeys(fields["producer_op"] for fields in known)) or None,
        inputs_made_at=list(dict.fromkeys(line for line in lines if line)) if known else None,
    )


def _said(site: str | None, read: Sequence[Key], raised: Sequence[Key]) -> Iterator[str]:
    at = site or "an unknown line"
    if read:
        ran_on, reads = _where(read)
        known = (key.fields["elsewhere"] for key in read if key.fields.get("elsewhere"))
        yield (
            f"{first_of(_ops(read))} at {at} ran on {ran_on} and read inputs in place that lie on {reads},"
            f" {units.times(_times(read))}: {next(known, _NOT_EVERYWHERE)}."
        )
    if raised:
        first, reads = _where(raised)
        yield (
            f"{first_of(_ops(raised))} at {at} took inputs on {first} together with inputs on {reads}, and"
            f" raised, {units.times(_times(raised))}."
        )


def _where(keys: Sequence[Key]) -> tuple[str, str]:
    found = some_of(_ran_on(keys), "devices"), some_of(_reads(keys), "devices")
    return found[0] or "an unknown device", found[1] or "another device"


def _ran_on(keys: Iterable[Key]) -> list[str]:
    return _devices(key.fields.get("device") for key in keys)


def _reads(keys: Iterable[Key]) -> list[str]:
    return _devices(device for key in keys for device in key.fields.get("reads") or ())


def _devices(names: Iterable[str | None]) -> list[str]:
    return in_order(name for name in names if name)


def _times(keys: Iterable[Key]) -> int:
    return sum(key.count or 0 for key in keys)


def _ops(keys: Iterable[Key]) -> list[str]:
    return list(dict.fromkeys(key.fields.get("op") or "an op" for key in keys))


def because(evidence: Evidence) -> str:
    """Where the inputs of an op on several contexts were made."""
    default = evidence.made_on_default
    makers = told(default or evidence.inputs_made_by, "ops")
    at = told(evidence.made_on_default_at or evidence.inputs_made_at, "lines")
    if not makers:
        return ""
    there = "cpu:0" if default else told(evidence.inputs_also_on, "devices")
    by = f"{makers.replace('Python', 'Python data')}{at and f' at {at}'}"
    made = f"Inputs on {there} were made by {by}{', or come from that' if default else ''}."
    if not default and "cpu:0" not in evidence.inputs_also_on:
        return made
    return f"{made} An array that is made without a context lies on the current one, cpu(0) by default."


def advice(evidence: Evidence) -> str:
    """To make them on one device, where it is known which lines name no context; else to bring them."""
    met, made = evidence.devices - {"cpu:0"}, evidence.made_on_default_at
    if len(met) != 1 or not made:
        return "Bring the inputs to one device before the op: x.as_in_context(y.context)."
    return (
        f"Make it on {met.pop()} from the start, by ctx= of what is called at {some_of(made, 'lines')};"
        " as_in_context before the op would copy it each time."
    )


_OPS = {
    ast.Add: ("add", "plus"),
    ast.Sub: ("sub", "minus"),
    ast.Mult: ("mul",),
    ast.Div: ("div",),
    ast.Pow: ("power",),
    ast.MatMult: ("dot", "matmul"),
}
_FUNCTIONS = {"multiply": "mul", "subtract": "sub", "divide": "div"}
"""Functions that are named unlike the op that they run."""


def mixed_context(situation: Situation) -> Draft | None:
    """The later inputs of the op are created on, or brought to, the context of the first."""
    return _created_there(situation) or _brought_there(situation)


def _created_there(situation: Situation) -> Draft | None:
    """The arrays that nobody gave a context, created on the other inputs' at the lines that create them."""
    evidence = situation.evidence(Evidence)
    sites, device = evidence.made_on_default_at or [], alone(evidence.devices - {"cpu:0"})
    lines = [there for site in sites if (there := situation.at(site)) is not None]
    if alone([there.file for there in lines]) is None or device is None or situation.finding.site in sites:
        return None
    there = lines[0]
    source, change = there.source, Change(there.source)
    found = [one for line in lines for one in _assigned(source, line.line)]
    names = [source.code(target) for _, target, _ in found]
    for stmt, target, call in found:
        context = mx_context(source, call, device)
        if context is None or used_elsewhere(there, target, stmt, device, names):
            return None
        change.add_argument(call, f"ctx={context}")
    if not found or len(found) != len(sites):
        return None
    words = f"Makes {' and '.join(names)} on {device}, where the other inputs are; check where else"
    return there.draft(f"{words} {'they are' if names[1:] else 'it is'} used.", change)


def _assigned(source: Source, line: int) -> Iterator[tuple[ast.stmt, ast.expr, ast.Call]]:
    """The name, or the attribute, that gets the one array that a line creates."""
    for stmt in source.statements_at(line):
        match stmt:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
                yield from ((stmt, target, call) for call in creators(source, stmt))


def _brought_there(situation: Situation) -> Draft | None:
    """``x + y.as_in_context(x.context)``."""
    source, evidence = situation.source, situation.evidence(Evidence)
    ran_on, others = alone(evidence.ran_on), evidence.inputs_also_on
    for stmt in situation.statements:
        pairs = list(_pairs(source, stmt, evidence.ops))
        if len(pairs) != 1:
            continue
        first, other = pairs[0]
        if ran_on == "cpu:0" and others and ran_on not in others:
            first, other = other, first  # bringing the GPU's array to the host would take the rest along
        calls = any(isinstance(part, ast.Call) for part in ast.walk(first))
        if calls or other is getattr(stmt, "target", None):
            continue
        context = context_of(source, first)
        words = (
            f"Brings {source.code(other)} to the context of {source.code(first)}: a copy each time that it is"
            " elsewhere."
        )
        moved = f"{source.operand(other)}.as_in_{context.rpartition('.')[2]}({context})"
        return situation.replaced(words, other, moved)
    return None


def _pairs(source: Source, stmt: ast.stmt, ops: list[str]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The inputs of what may be the op: the first, and the one to bring to it."""
    for node in own_nodes(stmt):
        inputs: list[ast.expr] = []
        match node:
            case ast.AugAssign(target=ast.Name() as target, op=operator, value=value) if _runs(operator, ops):
                yield target, value
            case ast.BinOp(left=left, op=operator, right=right) if _runs(operator, ops):
                inputs = [left, right]
            case ast.Call(func=ast.Attribute(value=owner), args=args) if _is_op(node, ops) and (
                dotted(owner).partition(".")[0] not in imported(source, stmt)
            ):
                inputs = [owner, *args]  # a method's array is an input too
            case ast.Call(func=function, args=args) if (
                _is_op(node, ops) or "loss" in dotted(function).lower()
            ):
                inputs = list(args)
        inputs = [one for one in inputs if not isinstance(one, ast.Constant | ast.UnaryOp)]
        if len(inputs) == 2 and not isinstance(inputs[1], ast.Starred):
            yield inputs[0], inputs[1]


def _runs(operator: ast.operator, ops: list[str]) -> bool:
    """Whether one of the ops is what MXNet runs for an operator."""
    return any(part in op for op in ops for part in _OPS.get(type(operator), ()))


def _is_op(call: ast.Call, ops: list[str]) -> bool:
    """Whether a function may run one of the ops, by its name."""
    name = _FUNCTIONS.get(called(call), called(call))
    return bool(name) and any(name in op for op in ops)


CAUSE = Cause(
    code=CODE,
    severity=ERROR,
    evidence=Evidence,
    meaning=(
        "The inputs of an MXNet op lie on several contexts. CPU contexts read them in place silently; a"
        " CPU and a GPU together raise, by MXNet's source."
    ),
    example=EXAMPLE,
    because=because,
    advice=advice,
    detect=lambda run: mixed_findings(run.tables),
    fix=mixed_context,
)
