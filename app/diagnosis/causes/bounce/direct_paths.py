"""Tensors that go somewhere and come back, or go on, unchanged: they take the straight way."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from app.diagnosis.causes.bounce.evidence import Evidence
from app.facts.lines import split_site
from app.facts.transfers.transfer import READS
from app.fixes.code.change import Change
from app.fixes.code.device_notation import arrays, blocks_around, devices_of, tensorflow
from app.fixes.code.names import called, dotted
from app.fixes.code.parsed_source import Source, is_compound, own_nodes
from app.fixes.scopes.device_expressions import device_header, put_under
from app.fixes.scopes.distribution_strategies import has_strategy
from app.fixes.situation import Draft, Situation


def bounce(situation: Situation) -> Draft | None:
    """The tensor goes to its end by itself: its function is called there, or what is between goes."""
    if situation.framework != "tensorflow":
        return _without_numpy(situation)
    if _hands_back(situation):
        return _called_in_scope(situation)
    return None if _arrives_too(situation) else _without_stop(situation)


def _without_numpy(situation: Situation) -> Draft | None:
    """``mx.nd.array(x.asnumpy(), ctx=y)``: the array itself is copied to the context."""
    source = situation.source
    for node in _nodes(situation):
        match node:
            case ast.Call(
                args=[ast.Call(func=ast.Attribute(value=array, attr="asnumpy"), args=[])],
                keywords=[ast.keyword(arg="ctx", value=there)],
            ) if called(node) == "array":
                pass
            case _:
                continue
        numpy_like = (arrays(source, node) or "").endswith("np")
        # What came from numpy had no gradient.
        cut = ".detach()" if source.function_of(node) or "record" in source.text else ""
        moved = (
            f"{source.operand(array)}{cut}.as_in_{'ctx' if numpy_like else 'context'}({source.code(there)})"
        )
        change = Change(source)
        change.replace(node, moved)
        words = (
            "Copies the array straight to the context, without numpy; one that is there already is not"
            " copied, and the dtype stays the array's own."
        )
        return situation.draft(words, change.text())
    return None


def _without_stop(situation: Situation) -> Draft | None:
    """Drop an identity op between two devices; of a variable it is a copy that keeps the value."""
    source = situation.source
    if any(hop.producer_op in READS for hop in situation.hops):
        return None
    for node in _nodes(situation):
        match node:
            case ast.Call(args=[tensor], keywords=[]) if (
                dotted(node.func) == f"{tensorflow(source, node)}.identity"
            ):
                change, code, stmt = Change(source), source.code(tensor), source.statement_of(node)
                if isinstance(stmt, ast.Assign) and [source.code(one) for one in stmt.targets] == [code]:
                    _drop(source, change, stmt)
                else:
                    change.replace(node, code)
                words = "Drops the stop between: the tensor goes to where it is used."
                return situation.draft(words, change.text())
    return None


def _nodes(situation: Situation) -> Iterator[ast.AST]:
    """The code of the lines where the tensor leaves and where it comes, as far as these are in the file."""
    lines = [situation.line, *(line for file, line in _lines(situation) if file == situation.file)]
    for stmt in (stmt for line in lines for stmt in situation.source.statements_at(line)):
        yield from own_nodes(stmt)


def _drop(source: Source, change: Change, stmt: ast.stmt) -> None:
    """Drop ``x = tf.identity(x)``, with the device scopes that hold nothing else."""
    while isinstance(around := source.parents[stmt], ast.With) and len(around.body) == 1:
        if len(devices_of(around)) != len(around.items):
            break  # what else a block opens may do something by itself
        stmt = around
    change.drop(stmt)


def _lines(situation: Situation) -> list[tuple[str, int]]:
    """Where the tensor leaves, and where it comes."""
    places = map(split_site, situation.evidence(Evidence).lines)
    return [place for place in places if place is not None]


def _arrives_too(situation: Situation) -> bool:
    """Whether one statement makes both moves: run for each stop of a way, it is the last one too."""
    lines = list(filter(None, situation.evidence(Evidence).lines))
    by_python = any(hop.kind == "pull" for hop in situation.hops)
    return len(lines) > 1 and len(set(lines)) == 1 and not by_python


def _of_several_cards(situation: Situation) -> bool:
    """Whether tensors of several cards go so in turn: then no one of them is the place for all."""
    return len(situation.evidence(Evidence).ways or ()) > 1


def _hands_back(situation: Situation) -> bool:
    """Whether what passes the default device is what a call of a function returns."""
    if situation.evidence(Evidence).result_of_a_call:
        return True
    between = [hop for hop in situation.hops if hop.op == "Identity" and not hop.cause.evidence.requested]
    calls = any("Call" in f"{hop.tensor}{hop.producer_op}" for hop in between)
    return bool(between) and calls and "identity" not in situation.source.lines[situation.line - 1]


def _called_in_scope(situation: Situation) -> Draft | None:
    """The call of the function in the scope of the device where its result goes on."""
    stations = situation.evidence(Evidence).stations
    stmt = next((one for one in situation.statements if not is_compound(one)), None)
    if stmt is None or not stations or has_strategy(situation) or _of_several_cards(situation):
        return None
    returned = {
        hop.dst for hop in situation.others if hop.site == situation.finding.site and hop.op == "_Retval"
    }
    if returned - {stations[-1]} or any(hop.site == hop.producer_site for hop in situation.hops[:1]):
        return None  # the other results would come by way of this one's device
    stmt = _outermost(situation.source, stmt)
    source, nodes = situation.source, list(own_nodes(stmt))
    header = device_header(situation, situation.file, source, stmt, stations[-1])
    if header is None or not any(isinstance(node, ast.Call) for node in nodes):
        return None
    later = any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await | ast.Lambda) for node in nodes)
    if later or _moves_others(situation, nodes, stations[-1]):
        return None
    if any(map(devices_of, blocks_around(source, stmt))):
        return None
    change = Change(source)
    put_under(source, change, [stmt], header)
    words = (
        f"Calls the function in the scope of {stations[-1]}, so that its result does not pass the default"
        " device; ops that it runs without a scope of their own go there too."
    )
    return situation.draft(words, change.text())


def _moves_others(situation: Situation, nodes: list[ast.AST], device: str) -> bool:
    """Whether the called function computes on another device what asks for none: it would go along."""
    names = {called(node) for node in nodes} - {""}
    return any(not op.requested and op.assigned != device for op in situation.ran.traced(names))


def _outermost(source: Source, stmt: ast.stmt) -> ast.stmt:
    """The call of the function of which the statement is all: what that returns would pass it next."""
    function = source.function_of(stmt)
    if function is None or [one for one in function.body if not _is_text(one)] != [stmt]:
        return stmt
    calls = [node for node in ast.walk(source.tree) if called(node) == function.name]
    calling = source.statement_of(calls[0]) if len(calls) == 1 else None
    return stmt if calling is None or is_compound(calling) else calling


def _is_text(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)
