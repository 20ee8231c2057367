"""Sums of a kind of their own: of an object's attribute, and of each round's several values."""

from __future__ import annotations

import ast
import re

from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import arrays, scope_for
from app.fixes.code.names import called, dotted, root_of, value_of
from app.fixes.code.parsed_source import Function, Source
from app.fixes.flow.accumulators import first_values
from app.fixes.flow.host_reads import Take, is_linear, takes
from app.fixes.loops.kept_values import begins, recorded, stays_whole, whole_of
from app.fixes.loops.periods import has_condition
from app.fixes.situation import Draft, Situation

_DECIDING = ast.If | ast.While | ast.IfExp | ast.Assert


def each_summed(situation: Situation, stmt: ast.AugAssign, take: Take) -> str | None:
    """What ``total += sum(x.asscalar() for x in losses)`` adds up, as code for one device; else None."""
    source, call = situation.source, stmt.value
    if not isinstance(call, ast.Call) or dotted(call.func) != "sum" or len(call.args) != 1 or call.keywords:
        return None
    whole = call.args[0]
    if not isinstance(whole, ast.GeneratorExp | ast.ListComp) or whole.elt is not take.node:
        return None
    loop = whole.generators[0]
    if len(whole.generators) != 1 or loop.ifs or loop.is_async:
        return None
    pulled = {hop.src for hop in situation.hops if hop.kind == "pull"}
    mxnet = situation.framework == "mxnet"
    if len(pulled) < 2:
        return None if mxnet and recorded(source, stmt) else source.code(take.value)
    # Arrays of several contexts are added up on that of the first.
    name = loop.iter.id if isinstance(loop.iter, ast.Name) else ""
    values = first_values(source, name, stmt) if name else []
    lists = bool(values) and all(isinstance(one, ast.List | ast.ListComp) for one in values)
    of_target = isinstance(loop.target, ast.Name) and _start(take.value) == loop.target.id
    if not mxnet or not lists or not of_target or recorded(source, stmt):
        return None
    numpys = (arrays(source, stmt) or "").endswith("np")
    move, where = ("as_in_ctx", "ctx") if numpys else ("as_in_context", "context")
    return f"{source.operand(take.value)}.{move}({name}[0].{where})"


def added_to_attribute(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``self.sum += float(x)`` in a method: added up on the device, taken where other code reads it."""
    source, found = situation.source, takes(situation, stmt)
    match stmt:
        case ast.AugAssign(
            target=ast.Attribute(value=ast.Name(id=holder)) as path, op=ast.Add() | ast.Sub()
        ) if len(found) == 1:
            take, method = found[0], source.function_of(stmt)
        case _:
            return None
    if method is None or not _is_self(source, method, holder) or not is_linear(stmt.value, take.node):
        return None
    whole = whole_of(situation, take)
    reads = _reads(situation, stmt, path, method)
    pulled = {hop.src for hop in situation.hops if hop.kind == "pull"}
    if whole is None or not stays_whole(stmt.value, whole) or "." in whole.after:
        return None  # what is read before the first addition is a number, which has no method
    if reads is None or len(pulled) > 1 or unfolded(source, stmt)[0] is not source:
        return None
    scope = scope_for(source, stmt, situation.pulled_from) if situation.framework == "tensorflow" else ""
    if scope is None:
        return None
    change = Change(source)
    for read in reads:
        change.replace(read, whole.of(source.code(read)))
    tensor = source.code(take.value) if stmt.value is take.node else source.operand(take.value)
    if situation.framework == "mxnet":  # not in place: others may hold the array, or record what is done
        (start, end), (first, last) = source.span(stmt.value), source.span(take.node)
        added = f"{source.text[start:first]}{source.operand(take.value)}.detach(){source.text[last:end]}"
        added = added if stmt.value is take.node else f"({added})"
        sign = "+" if isinstance(stmt.op, ast.Add) else "-"
        change.replace(stmt, f"{source.code(path)} = {source.code(path)} {sign} {added}")
    else:
        change.replace(take.node, tensor)
    if scope:
        change.wrap(stmt, f"with {scope}:")
    words = (
        f"Adds {source.code(path)} up on the device, in the tensors' own precision, and takes it where it is"
        " read."
    )
    return situation.draft(words, change.text())


def _start(node: ast.expr) -> str:
    """The name that a chain of methods and attributes starts from."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return root_of(node)


def _is_self(source: Source, method: Function, name: str) -> bool:
    first = [one.arg for one in (*method.args.posonlyargs, *method.args.args)][:1]
    return isinstance(source.parents[method], ast.ClassDef) and first == [name] and not method.decorator_list


def _reads(
    situation: Situation, stmt: ast.AugAssign, path: ast.Attribute, method: Function
) -> list[ast.expr] | None:
    """Where the file reads the attribute; None where that is not all, or each addition is read by itself.

    Nor where it decides something, or is ever anything but a number that the text states.
    """
    source, name = situation.source, path.attr
    if known_elsewhere(situation, name):
        return None
    reads: list[ast.expr] = []
    started = False
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Attribute) or node.attr != name or node is path:
            continue
        parent = source.parents[node]
        if isinstance(node.ctx, ast.Load):
            if isinstance(parent, ast.Call) and parent.func is node:
                if root_of(node) == root_of(path):
                    return None
                continue  # a method of something else
            if (
                not _of_class(source, node, method)
                or not _seldom(source, node, method)
                or source.code(node) != dotted(node)
            ):
                return None
            reads.append(node)
        elif not _set_to_number(situation, node):
            return None
        else:
            started = True
    return reads if started else None


def _of_class(source: Source, read: ast.Attribute, method: Function) -> bool:
    """Whether what is read is certainly of an object of the method's class."""
    made, holder = source.parents[method], read.value
    if not isinstance(made, ast.ClassDef) or not isinstance(holder, ast.Name):
        return False
    function = source.function_of(read)
    if function is not None and source.parents[function] is made:
        return any(one.arg == holder.id for one in (*function.args.posonlyargs, *function.args.args)[:1])
    return called(value_of(source, holder.id, read) or holder) == made.name


def known_elsewhere(situation: Situation, name: str) -> bool:
    """Whether another file may read the attribute, or the text names it otherwise."""
    tree = situation.source.tree
    if any(isinstance(node, ast.Constant) and node.value == name for node in ast.walk(tree)):
        return True
    used = re.compile(rf"\.{re.escape(name)}\b(?!\s*\()|[\"']{re.escape(name)}[\"']")
    others = (situation.text_of(file) for file in situation.files if file != situation.file)
    return any(text is not None and used.search(text) for text in others)


def _seldom(source: Source, read: ast.expr, adding: Function) -> bool:
    """Whether what reads it does so less often than it is added to, and decides nothing by it."""
    if any(isinstance(one, _DECIDING) and read in set(ast.walk(one.test)) for one in source.ancestors(read)):
        return False
    function = source.function_of(read)
    if function is adding:
        return False
    users: list[ast.AST] = [read]
    if function is not None and isinstance(source.parents[function], ast.ClassDef):
        users += [
            node
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Attribute) and node.attr == function.name
        ]
    return not any(_with_each(source, user, adding) for user in users)


def _with_each(source: Source, user: ast.AST, adding: Function) -> bool:
    """Whether it stands beside an addition in a loop, in each round of that."""
    loop = source.loop_of(user)
    return (
        loop is not None
        and not has_condition(source, user, loop)
        and any(called(node) == adding.name for node in ast.walk(loop))
    )


def _set_to_number(situation: Situation, node: ast.Attribute) -> bool:
    """Whether the text states the number that the attribute is set to, and a tensor can be added to that."""
    source = situation.source
    parent = source.parents[node]
    value: ast.expr | None = None
    if isinstance(parent, ast.Assign | ast.AnnAssign):
        value = parent.value
    elif isinstance(parent, ast.Tuple) and isinstance(whole := source.parents[parent], ast.Assign):
        given = whole.value
        if isinstance(given, ast.Tuple) and len(given.elts) == len(parent.elts):
            value = given.elts[parent.elts.index(node)]
    number = isinstance(value, ast.Constant) and isinstance(value.value, int | float)
    return number and begins(situation, value)
