"""A device that does not exist here: the nearest one that does is named."""

from __future__ import annotations

import ast

from app.diagnosis.causes.missing_device.evidence import Evidence
from app.facts.devices import in_order, parse
from app.fixes.code.device_notation import alone, context_named, mx_context, scopes_around, tf_named
from app.fixes.code.parsed_source import Source
from app.fixes.situation import Draft, Situation
from app.views.naming import each, some_of


def nearest_device(situation: Situation) -> Draft | None:
    """The nearest device that exists is named."""
    source, missing = situation.source, alone(each(situation.evidence(Evidence).missing))
    if missing is None or "/" in missing:
        return None
    there = _nearest(missing, situation) or alone(each(situation.evidence(Evidence).ran_on))
    named = _naming(situation, missing)
    if there is None or named is None or situation.leaves_gpu(there):
        return None
    code = source.code(named)
    text = code.replace(missing.rpartition(":")[2], there.rpartition(":")[2])
    if isinstance(named, ast.Call):
        text = mx_context(source, named, there) or code
    elif missing.partition(":")[0] != there.partition(":")[0]:
        text = f"{code[0]}/{there.upper()}{code[0]}"
    words = f"Names {there}, which exists here; check that {missing} is not just hidden from this run."
    return situation.replaced(words, named, text)


def named_at(situation: Situation, said: str) -> str:
    """The advice with the lines that name the missing device, if any do."""
    missing = alone(each(situation.evidence(Evidence).missing))
    if missing is None or situation.framework != "tensorflow":
        return said
    named = ((file, one) for file, source in situation.sources for one in _naming_texts(source, missing))
    places = [f"{file}:{one.lineno}" for file, one in named]
    return f"{said} {missing} is named at {some_of(places, 'lines')}." if places else said


def _nearest(missing: str, situation: Situation) -> str | None:
    wanted = parse(missing)
    alike = [
        (abs(device.index - wanted.index), device.index, name)
        for name in in_order(situation.devices)
        if wanted and (device := parse(name)) and not device.role and device.type == wanted.type
        if name != "cpu:0"
    ]
    return min(alike)[2] if alike else None


def _naming(situation: Situation, missing: str) -> ast.expr | None:
    """The code that names the device: in a scope around the line, else the only place in the file."""
    source = situation.source
    if situation.framework == "mxnet":
        return alone([call for call in source.every(ast.Call) if context_named(call) == missing])
    inside = [child for stmt in situation.statements for child in ast.iter_child_nodes(stmt)]
    around = {one for child in inside for one in scopes_around(source, child)}
    texts = _naming_texts(source, missing)
    # The scope may take it from elsewhere, as a parameter: then the text names it there.
    return alone([one for one in texts if one in around] or texts)


def _naming_texts(source: Source, missing: str) -> list[ast.Constant]:
    """The texts in the code that name a device, by line."""
    found = [
        node
        for node in source.every(ast.Constant)
        if isinstance(node.value, str) and tf_named(node) == missing
        if not isinstance(source.parents.get(node), ast.Expr)
    ]
    return sorted(found, key=lambda node: node.lineno)
