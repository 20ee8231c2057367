"""Python waits at a line in a loop: it waits never, reads once after the loop, or reads now and then."""

from __future__ import annotations

import ast
from collections.abc import Callable

from app.diagnosis.causes.host_sync.line_advice import asks_whether_to_record
from app.facts.transfers.transfer import READS
from app.fixes.clocks.measurements import WAITS, clock_after
from app.fixes.code.change import Change
from app.fixes.code.device_notation import constant_of, scope_for, tensorflow
from app.fixes.code.names import assigned, bindings, called
from app.fixes.code.parsed_source import Loop, Source, own_children
from app.fixes.flow.host_reads import HostRead, host_reads, is_pure, only_reports, together, ways_of_reading
from app.fixes.loops import periods
from app.fixes.situation import Draft, Situation
from probes.trace.hop import ASSERTION, IN_GRAPH, ON_BATCH

_BY_ROWS = ("scatter", "embedding", "gather", "indexedslices")
"""Words of files that may assign rows of a variable, which changes a value that was read before."""


def kept(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """The fix of ``losses.append(float(loss))`` and ``total += float(loss)``; None for other statements."""
    found = host_reads(situation, stmt)
    if situation.source.loop_of(stmt) is None or len(found) != 1:
        return None
    if situation.leaves_gpu(situation.read_from or ""):
        return None
    node = found[0].node
    match stmt:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="append"), args=[item])
        ):
            return _in_list(situation, stmt, name, found[0]) if item is node else None
        case ast.AugAssign(target=ast.Name() as name, op=ast.Add(), value=item) if item is node:
            return _in_sum(situation, stmt, name, found[0])
    return None


def _in_list(situation: Situation, stmt: ast.stmt, name: ast.Name, read: HostRead) -> Draft | None:
    source, change = situation.source, Change(situation.source)
    end, tensor = _end(source, name, stmt, _is_empty_list), _lasting(situation, read)
    values = together(situation, read, stmt, name.id)
    tf = situation.framework == "tensorflow"
    scope = scope_for(source, end, situation.read_from) if tf and end is not None else ""
    if end is None or tensor is None or values is None or scope is None:
        return None
    change.replace(read.node, tensor)
    change.after(end, f"{name.id} = {values}", f"with {scope}" if scope else "")
    words = f"Keeps the tensors in {name.id}, which hold memory until all values are taken at once after the"
    return situation.draft(f"{words} loop.", change)


def _in_sum(situation: Situation, stmt: ast.stmt, name: ast.Name, read: HostRead) -> Draft | None:
    """Of TensorFlow's scalars of floats: whole numbers, and arrays of MXNet, add up to other things."""
    source, change = situation.source, Change(situation.source)
    plain = all(hop.dtype in ("float32", "float64") and hop.shape == "" for hop in situation.reads)
    if situation.framework != "tensorflow" or not plain or read.kind not in ("float", "numpy"):
        return None
    end, scope = _end(source, name, stmt, _is_number), scope_for(source, stmt, situation.read_from)
    if end is None or scope is None:
        return None
    change.replace(read.node, source.code(read.value))
    if scope:  # else the sum were computed on the default device
        change.wrap(stmt, f"with {scope}:")
    change.after(end, f"{name.id} = float({name.id})")
    words = (
        f"Adds {name.id} up on the device, in the tensors' own precision, and takes it once after the loop."
    )
    return situation.draft(words, change)


def _end(source: Source, name: ast.Name, stmt: ast.stmt, begins: Callable[[ast.expr], bool]) -> Loop | None:
    """The loop after which the values are all there; None where anything else uses the name before."""
    own = set(ast.walk(stmt))
    given = [node for node in bindings(source, name.id, stmt) if node not in own]
    start = source.statement_of(given[0]) if len(given) == 1 else None
    if start is None or not any(target is given[0] and begins(value) for target, value in assigned(start)):
        return None
    here, end = source.scopes_of(stmt)[0], source.loop_of(stmt)
    while end is not None and (outer := source.loop_of(end)) is not source.loop_of(start):
        end = outer
    if end is None or source.scopes_of(start)[0] is not here or not _leaves(source, end):
        return None
    later = all(
        source.scopes_of(node)[0] is here and node.lineno > (end.end_lineno or 0)
        for node in source.every(ast.Name)
        if node.id == name.id and node not in own and node is not given[0]
        if given[0] in bindings(source, name.id, node)
    )
    return end if later else None


def _leaves(source: Source, loop: Loop) -> bool:
    """Whether what stands after the loop is reached whenever anything reads the values."""
    here = source.scopes_of(loop)[0]
    around = (one for one in source.ancestors(loop) if isinstance(one, ast.Try))
    guarded = any(source.scopes_of(one)[0] is here for one in around)
    endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)
    return not guarded and (not endless or any(isinstance(node, ast.Break) for node in ast.walk(loop)))


def _is_empty_list(node: ast.expr) -> bool:
    return ast.unparse(node) in ("[]", "list()")


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _lasting(situation: Situation, read: HostRead) -> str | None:
    """Code for a tensor that will still have its value when the loop is over; None where that is not sure."""
    source, code = situation.source, situation.source.code(read.value)
    if situation.framework != "tensorflow":
        return f"{source.operand(read.value)}.copy()"  # MXNet may write into an array again
    created = constant_of(source, read.value, read.node) if isinstance(read.value, ast.Name) else None
    variable = isinstance(read.value, ast.Attribute) or (
        created is not None and called(created) == "Variable"
    )
    if not variable and not any(hop.producer_op in READS for hop in situation.hops):
        return code
    # A value that was read stays what it is when the variable is assigned, not when rows of it are.
    tf, by_rows = tensorflow(source, read.value), any(word in source.text.lower() for word in _BY_ROWS)
    return f"{tf}.convert_to_tensor({code})" if tf and not by_rows else None


_KINDS_WITHOUT_FIX = frozenset({*WAITS, "upload", "save", "pickle", IN_GRAPH, ASSERTION, *ON_BATCH})


def host_sync(situation: Situation) -> Draft | None:
    """The fix for the first statement of the line that reads, or waits for, a value."""
    clock = clock_after(situation)
    for stmt in situation.statements:
        if clock is None and (draft := _without_wait(situation, stmt)) is not None:
            return draft
    if asks_whether_to_record(situation) or _KINDS_WITHOUT_FIX & ways_of_reading(situation):
        return None
    for stmt in situation.statements:
        for form in (_reported, kept):
            if clock is not None and clock.each and form is (kept if clock.own else _reported):
                return None  # a later read were missing in that time
            if (draft := form(situation, stmt)) is not None:
                return draft
    return None


def _without_wait(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """A wait that reads nothing is dropped, and with it an `if` around it that holds nothing else."""
    if not isinstance(stmt, ast.Expr) or called(stmt.value) not in WAITS:
        return None
    source = situation.source
    dropped: ast.stmt = stmt
    match source.parents[stmt]:
        case ast.If(body=[_], orelse=[]) as around if is_pure(around.test):
            above = source.parents[around]
            in_chain = isinstance(above, ast.If) and around in above.orelse
            dropped = stmt if in_chain else around
    change = Change(source)
    change.drop(dropped)
    words = "Drops the wait: what needs the value waits by itself; check that no time is measured up to here."
    return situation.draft(words, change)


def _reported(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``print(step, float(loss))``: shown every so many rounds."""
    reads = len(host_reads(situation, stmt))
    loop = periods.step_loop(situation, stmt, reads) if only_reports(stmt) else None
    if loop is None or periods.thinned(situation.source, stmt, loop):
        return None
    change = Change(situation.source)
    condition = periods.condition(situation, loop, change)
    given = (child for call in own_children(stmt) for child in ast.iter_child_nodes(call))
    if condition is None or not all(map(is_pure, given)):
        return None
    change.wrap(stmt, f"if {condition[0]}:")
    words = f"Takes and tells the value every {condition[1]} rounds of the loop instead of in each."
    return situation.draft(words, change)
