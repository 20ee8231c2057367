"""Values that a loop keeps in rows, such as dictionaries: the rows keep the tensors until it is over."""

from __future__ import annotations

import ast
import dataclasses

from app.fixes.code.change import Change
from app.fixes.code.device_notation import scope_for
from app.fixes.code.names import dotted
from app.fixes.code.parsed_source import Loop, Source
from app.fixes.flow import accumulators
from app.fixes.flow.host_reads import Take, of_it_alone, takes, together
from app.fixes.loops import kept_values
from app.fixes.situation import Draft, Situation


@dataclasses.dataclass(frozen=True)
class _Field:
    """A part of a row that is a taken value."""

    place: str
    """What stands between the brackets that it is read with, as code."""
    whole: ast.expr
    """All that the row has there, at most reckoned on with numbers that the text states."""
    take: Take


def kept_in_rows(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``rows.append({"step": i, "loss": float(loss)})``: the values are put in after the loop."""
    source = situation.source
    # The row may have a name: row = {..}; rows.append(row).
    adding = _only_appended(source, stmt) if isinstance(stmt, ast.Assign) else stmt
    pair = kept_values.appended_to(adding) if adding is not None else None
    if adding is None or pair is None or not isinstance(pair[0], ast.Name):
        return None
    row = stmt.value if isinstance(stmt, ast.Assign) else pair[1]
    loop, fields = source.loop_of(stmt), _fields(situation, stmt, row)
    if loop is None or not fields or source.loop_of(adding) is not loop:
        return None
    end = _end(source, pair[0], adding, loop)
    target = accumulators.rebinding(source, pair[0], adding)
    tf = situation.framework == "tensorflow"
    scope = scope_for(source, end, situation.pulled_from) if tf and end is not None else ""
    if end is None or target is None or scope is None:
        return None
    change, rows = Change(source), pair[0].id
    each, value = source.free_name("row"), source.free_name("value")
    for field in fields:
        tensor = kept_values.kept(situation, source, field.take, stmt, loop)
        values = together(situation, field.take, stmt, f"[{each}[{field.place}] for {each} in {rows}]")
        if tensor is None or values is None:
            return None
        change.replace(field.whole, tensor)
        if scope:
            name = source.free_name("values")
            change.after(end, f"{name} = {values}", f"with {scope}")
            values = name
        (start, last), (first, behind) = source.span(field.whole), source.span(field.take.node)
        new = f"{source.text[start:first]}{value}{source.text[behind:last]}"
        pairs = f"for {each}, {value} in zip({rows}, {values})"
        if isinstance(row, ast.Tuple):
            others = (f"{each}[{place}]" for place in range(len(row.elts)))
            parts = ", ".join(new if one == f"{each}[{field.place}]" else one for one in others)
            change.after(end, f"{target} = [({parts}) {pairs}]")
        else:
            change.after(end, f"{each}[{field.place}] = {new}", pairs)
    words = (
        f"Keeps the tensors in {rows}, which hold memory until the values of all rows are taken at once after"
        " the loop."
    )
    return situation.draft(words, change.text())


def _only_appended(source: Source, stmt: ast.Assign) -> ast.stmt | None:
    """The statement that appends what this one makes, if that is all that is done with it."""
    target = stmt.targets[0]
    if len(stmt.targets) != 1 or not isinstance(target, ast.Name):
        return None
    uses = [
        node
        for node in ast.walk(source.scopes_of(stmt)[0])
        if isinstance(node, ast.Name) and node.id == target.id and node is not target
    ]
    user = source.statement_of(uses[0]) if len(uses) == 1 else None
    pair = kept_values.appended_to(user) if user is not None else None
    block = source.block_of(stmt)
    follows = any(one is user for one in block[block.index(stmt) + 1 :])
    return user if pair is not None and pair[1] is uses[0] and follows else None


def _fields(situation: Situation, stmt: ast.stmt, row: ast.expr) -> list[_Field]:
    """Those of a row that the run took from a device; none where that is not sure of each."""
    parts = _parts(situation.source, row)
    found = takes(situation, stmt)
    pulls = [hop for hop in situation.hops if hop.kind == "pull"]
    # Of several, one may be no tensor: then that many were not taken.
    if len(found) > 1 and sum(hop.each or 0 for hop in pulls) != len(found):
        return []
    fields = []
    for take in found:
        holding_it = [one for one in parts if any(node is take.node for node in ast.walk(one[1]))]
        if len(holding_it) != 1 or not of_it_alone(holding_it[0][1], take.node):
            return []
        fields.append(_Field(*holding_it[0], take))
    return fields if len({field.place for field in fields}) == len(fields) else []


def _parts(source: Source, row: ast.expr) -> list[tuple[str, ast.expr]]:
    """What a row has, each with what it is read by; none where the text does not tell."""
    if isinstance(row, ast.Dict):
        keys = [key for key in row.keys if isinstance(key, ast.Constant)]
        if len(keys) != len(row.keys) or len({key.value for key in keys}) != len(keys):
            return []
        return [(source.code(key), value) for key, value in zip(keys, row.values, strict=True)]
    if isinstance(row, ast.List | ast.Tuple) and not any(isinstance(one, ast.Starred) for one in row.elts):
        return [(str(place), value) for place, value in enumerate(row.elts)]
    plain = isinstance(row, ast.Call) and dotted(row.func) == "dict" and not row.args
    if plain and isinstance(row, ast.Call) and all(one.arg for one in row.keywords):
        return [(f'"{one.arg}"', one.value) for one in row.keywords]
    return []


def _end(source: Source, rows: ast.Name, adding: ast.stmt, loop: Loop) -> Loop | None:
    """The loop after which the rows are all there, if this is the only place that adds any."""
    end = accumulators.end_of_use(source, rows, adding, loop)
    if end is None or not kept_values.leaves(end):
        return None
    if any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) for node in ast.walk(end)):
        return None  # others may see the rows before the loop is over
    if not accumulators.starts_empty(source, rows, end):
        return None
    here, inside = source.scopes_of(adding)[0], set(ast.walk(end))
    uses = [node for node in ast.walk(here) if isinstance(node, ast.Name) and node.id == rows.id]
    earlier = [
        node
        for node in uses
        if isinstance(node.ctx, ast.Load) and node not in inside and node.lineno <= (end.end_lineno or 0)
    ]
    return end if not earlier else None
