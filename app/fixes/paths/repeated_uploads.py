"""Data that Python sends in every round: made once before the loop, or delivered ahead by the pipeline."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import alone, tensorflow, tf_device
from app.fixes.code.names import (
    assignment_of,
    bound_in,
    called,
    changed_in,
    dotted,
    imported,
    keyword,
    module_name,
    read_in,
)
from app.fixes.code.parsed_source import Loop, Source, first_line, is_compound, own_nodes
from app.fixes.flow.returned_data import taken_before
from app.fixes.loops.periods import has_condition
from app.fixes.situation import Draft, Situation

_CONVERTS = frozenset({"constant", "convert_to_tensor", "array"})
_SAME_EACH_TIME = frozenset(
    {
        "constant",
        "convert_to_tensor",
        "array",
        "asarray",
        "zeros",
        "ones",
        "full",
        "arange",
        "eye",
        "linspace",
    }
    | {
        "float32",
        "float64",
        "int32",
        "int64",
        "len",
        "range",
        "float",
        "int",
        "list",
        "tuple",
        "reshape",
        "astype",
    }
    | {
        "zeros_like",
        "ones_like",
        "cpu",
        "gpu",
        "device",
        "gpu_device",
        "as_in_context",
        "as_in_ctx",
        "copyto",
    }
)


def host_upload(situation: Situation) -> Draft | None:
    """A conversion that is the same in each round goes before the loop; else the pipeline delivers ahead."""
    for stmt in situation.statements:
        loop = situation.source.loop_of(stmt)
        if loop is None or isinstance(loop, ast.AsyncFor):
            continue
        for node in own_nodes(stmt):
            if not isinstance(node, ast.Call) or not _converts(situation, node):
                continue
            if (text := hoisted(situation.source, stmt, node, "tensor")) is not None:
                words = "Sends the data once, before the loop; check that nothing changes it between rounds."
                return situation.draft(words, text)
    ahead = situation.finding.evidence.get("by_another_thread") is True or taken_before(situation) is not None
    return None if ahead else prefetched(situation)


def colocation(situation: Situation) -> Draft | None:
    """Of an input pipeline's elements alone: no pipeline delivers what is kept beside a variable."""
    return prefetched(situation) if situation.evidence("producer_colocated_with") else None


def prefetched(situation: Situation) -> Draft | None:
    """The pipeline of the loop's header, or of the loop around the line, prepares elements ahead."""
    source = situation.source
    for stmt in situation.statements:
        loop = stmt if isinstance(stmt, ast.For | ast.AsyncFor) else source.loop_of(stmt)
        while loop is not None:
            if isinstance(loop, ast.For) and (draft := _pipeline(situation, loop)) is not None:
                return draft
            loop = source.loop_of(loop)
    return None


def hoisted(source: Source, stmt: ast.stmt, node: ast.expr, name: str) -> str | None:
    """The text with an expression made once, before the loops in which it is always the same; None for none.

    Device scopes between loop and statement go along.
    """
    if is_compound(stmt) or any(isinstance(one, ast.Lambda | ast.comprehension) for one in own_nodes(stmt)):
        return None
    if any(isinstance(one, ast.Call) and called(one) not in _SAME_EACH_TIME for one in ast.walk(node)):
        return None
    if any("random" in dotted(one) for one in ast.walk(node) if isinstance(one, ast.Attribute)):
        return None
    end: Loop | None = None
    loop = source.loop_of(stmt)
    read = read_in(node) - imported(source, stmt)
    while loop is not None and not read & (bound_in(loop) | changed_in(loop)):
        end, loop = loop, source.loop_of(loop)
    if end is None:
        return None
    scopes = _scopes_between(source, stmt, end)
    if scopes is None or any(read_in(scope) & bound_in(end) for scope in scopes):
        return None
    whole = isinstance(stmt, ast.Assign) and stmt.value is node and len(stmt.targets) == 1
    target = stmt.targets[0] if isinstance(stmt, ast.Assign) else None
    outer, value, first = end, node, source
    if whole and isinstance(target, ast.Name) and _always_the_same(source, end, stmt, target.id):
        made = target.id
        first, now = unfolded(source, stmt)
        change = Change(first)
        change.drop(now(stmt))
        outer, value = now(end), now(node)
    else:
        made = first.free_name(name, f"{name}_once")
        change = Change(first)
        change.replace(value, made)
    indentation, unit, at = first.indentation(outer), first.unit(outer), first_line(outer)
    for scope in scopes:
        change.insert_line(at, f"{indentation}with {source.code(scope)}:")
        indentation += unit
    change.insert_line(at, f"{indentation}{made} = {first.code(value)}")
    return change.text()


def _converts(situation: Situation, call: ast.Call) -> bool:
    name = dotted(call.func)
    if called(call) not in _CONVERTS or not call.args:
        return False
    if situation.framework == "tensorflow":
        return name.rpartition(".")[0] == tensorflow(situation.source, call)
    return name.endswith(("nd.array", "mx.np.array"))


def _scopes_between(source: Source, stmt: ast.stmt, loop: Loop) -> list[ast.expr] | None:
    """The device scopes and contexts around the statement inside the loop, the outermost first.

    None where something else than blocks and loops is between them that the statement may need.
    """
    found: list[ast.expr] = []
    for parent in source.ancestors(stmt):
        if parent is loop:
            return found
        if isinstance(parent, ast.With):
            scopes = [
                item.context_expr
                for item in parent.items
                if called(item.context_expr) in ("device", "cpu", "gpu")
            ]
            found = scopes + found
        elif isinstance(parent, ast.Try | ast.Match | ast.ExceptHandler):
            return None
    return None


def _always_the_same(source: Source, loop: Loop, stmt: ast.stmt, name: str) -> bool:
    """Whether the statement is all that gives the name its value in the loop, and does so before each use."""
    names = [node for node in ast.walk(loop) if isinstance(node, ast.Name) and node.id == name]
    once = sum(not isinstance(node.ctx, ast.Load) for node in names) == 1 and name not in changed_in(loop)
    return (
        once and all(node.lineno >= stmt.lineno for node in names) and not has_condition(source, stmt, loop)
    )


def _pipeline(situation: Situation, loop: ast.For) -> Draft | None:
    """The input pipeline that the loop goes over, told to prepare ahead, if it is not already."""
    source = situation.source
    over = loop.iter
    while isinstance(over, ast.Call) and called(over) in ("enumerate", "tqdm", "iter") and over.args:
        over = over.args[0]
    made = assignment_of(source, over.id, loop) if isinstance(over, ast.Name) else None
    value = made.value if made is not None else over
    if not isinstance(value, ast.Call):
        return None
    if situation.framework == "tensorflow":
        return _dataset(situation, loop, value)
    return _loader(situation, value)


def _dataset(situation: Situation, loop: ast.For, value: ast.Call) -> Draft | None:
    source = situation.source
    tf = tensorflow(source, value)
    names = {part.attr for part in ast.walk(value) if isinstance(part, ast.Attribute)}
    if tf is None or not any(dotted(part).startswith(f"{tf}.data.") for part in ast.walk(value)):
        return None
    if names & {"prefetch", "prefetch_to_device", "copy_to_device", "experimental_distribute_dataset"}:
        return None
    change = Change(source)
    device = alone([hop.dst for hop in situation.hops])
    argument = tf_device(source, value, device) if device else None
    end = source.span(value)[1]
    if argument is not None and "gpu" in argument.lower():
        change.insert(end, f".apply({tf}.data.experimental.prefetch_to_device({argument}))")
        words = (
            f"Has elements prepared ahead and delivered on {device}; it has to be the pipeline's last step."
        )
    else:
        change.insert(end, f".prefetch({tf}.data.AUTOTUNE)")
        words = (
            "Has elements prepared while a step runs; they are still copied to the device when they are used."
        )
    return situation.draft(words, change.text())


def _loader(situation: Situation, value: ast.Call) -> Draft | None:
    source = situation.source
    if called(value) != "DataLoader" or keyword(value, "num_workers", "prefetch", "thread_pool"):
        return None
    if (
        module_name(source, value, "mxnet", "mxnet.gluon", "mxnet.gluon.data.DataLoader") is None
        or not value.args
    ):
        return None
    change = Change(source)
    change.add_argument(value, "num_workers=2, prefetch=4")
    words = "Has two processes prepare batches ahead; check that the data set can be sent to other processes."
    return situation.draft(words, change.text())
