"""A device that does not exist here: the nearest one that does is named."""

from __future__ import annotations

import ast

from app.diagnosis.causes.missing_device.evidence import Evidence
from app.facts.devices import in_order, parse
from app.fixes.code.change import Change
from app.fixes.code.device_notation import (
    alone,
    context_named,
    device_named,
    devices_of,
    mx_context,
)
from app.fixes.code.parsed_source import Source
from app.fixes.situation import Draft, Situation
from app.views.naming import each, some_of


def missing_device(situation: Situation) -> Draft | None:
    """The nearest device that exists is named."""
    missing = alone(each(situation.evidence(Evidence).missing))
    if missing is None or "/" in missing:
        return None
    there = _nearest(missing, situation) or alone(each(situation.evidence(Evidence).ran_on))
    named = _naming(situation, missing)
    if there is None or named is None:
        return None
    source, change = situation.source, Change(situation.source)
    code = source.code(named)
    text = code.replace(missing.rpartition(":")[2], there.rpartition(":")[2])
    if isinstance(named, ast.Call):
        text = mx_context(source, named, there) or code
    elif missing.partition(":")[0] != there.partition(":")[0]:
        text = f"{code[0]}/{there.upper()}{code[0]}"
    change.replace(named, text)
    words = f"Names {there}, which exists here; check that {missing} is not just hidden from this run."
    return situation.draft(words, change.text())


def _nearest(missing: str, situation: Situation) -> str | None:
    wanted = parse(missing)
    found = [(name, parse(name)) for name in in_order(situation.devices)]
    alike = [
        (abs(device.index - wanted.index), device.index, name)
        for name, device in found
        if device and wanted and not device.role and device.type == wanted.type and name != "cpu:0"
    ]
    return min(alike)[2] if alike else None


def _naming(situation: Situation, missing: str) -> ast.expr | None:
    """The code that names the device: in a scope around the line, else the only place in the file."""
    source = situation.source
    if situation.framework == "mxnet":
        calls = (node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
        found = [call for call in calls if context_named(call) == missing]
        return found[0] if len(found) == 1 else None
    around = {
        argument
        for stmt in situation.statements
        for block in (stmt, *source.ancestors(stmt))
        if isinstance(block, ast.With)
        for argument in devices_of(block)
    }
    texts = _naming_texts(source, missing)
    # The scope may take it from elsewhere, as a parameter: then the text names it there.
    chosen = [one for one in texts if one in around] or texts
    return chosen[0] if len(chosen) == 1 else None


def named_at(situation: Situation, said: str) -> str:
    """The advice with the lines that name the missing device, if any do."""
    missing = alone(each(situation.evidence(Evidence).missing))
    if missing is None or situation.framework != "tensorflow":
        return said
    places = [
        f"{file}:{node.lineno}"
        for file, source in situation.sources
        for node in _naming_texts(source, missing)
    ]
    return f"{said} {missing} is named at {some_of(places, 'lines')}." if places else said


def _naming_texts(source: Source, missing: str) -> list[ast.Constant]:
    """The texts in the code that name a device, by line."""
    found = (
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if not isinstance(source.parents.get(node), ast.Expr) and device_named(node.value) == missing
    )
    return sorted(found, key=lambda node: node.lineno)
