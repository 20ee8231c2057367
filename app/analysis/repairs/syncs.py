"""Python stands still at a line in a loop: wait never, take once after the loop, or take now and then."""

from __future__ import annotations

import ast

from app.analysis.repairs import copies, keeping, periods
from app.analysis.repairs.change import Change, unfolded
from app.analysis.repairs.names import called, dotted
from app.analysis.repairs.notation import scope_for
from app.analysis.repairs.returns import returned
from app.analysis.repairs.situation import Draft, Situation
from app.analysis.repairs.source import Loop, Source, is_compound, own_nodes
from app.analysis.repairs.takes import Take, is_pure, takes, together

_WAITS = frozenset({"wait_to_read", "wait_to_write", "waitall", "sync_devices"})
_TELLING = frozenset(
    {
        "print",
        "write",
        "set_postfix",
        "set_postfix_str",
        "set_description",
        "set_description_str",
        "info",
        "debug",
    }
    | {"warning", "log", "log_metric", "log_metrics", "add_scalar", "scalar", "report", "writerow"}
)
_STOPPING = ast.Raise | ast.Break | ast.Return


def host_sync(situation: Situation) -> Draft | None:
    """The fix for the first statement of the line that takes, or waits for, a value."""
    for stmt in situation.statements:
        if (draft := _waiting(situation, stmt)) is not None:
            return draft
    told = situation.evidence("kind") + situation.evidence("taken_by")
    if set(told) & {*_WAITS, "upload", "save", "pickle"}:
        return None
    for stmt in situation.statements:
        for form in (copies.round_trip, _comprehended, _told, _kept, _assigned, _checked, returned):
            if (draft := form(situation, stmt)) is not None:
                return draft
    return None


def _waiting(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """A wait that takes nothing is dropped, and with it an `if` around it that holds nothing else."""
    if not isinstance(stmt, ast.Expr) or called(stmt.value) not in _WAITS:
        return None
    source, now = unfolded(situation.source, stmt)
    dropped: ast.stmt = now(stmt)
    around = source.parents[dropped]
    if isinstance(around, ast.If) and len(around.body) == 1 and not around.orelse and is_pure(around.test):
        in_chain = isinstance(above := source.parents[around], ast.If) and around in above.orelse
        dropped = dropped if in_chain else around
    change = Change(source)
    change.drop(dropped)
    words = "Drops the wait: what needs the value waits by itself; check that no time is measured up to here."
    return situation.draft(words, change.text())


def _comprehended(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``[float(x) for x in losses]``: all values by one take."""
    source = situation.source
    for take in takes(situation, stmt):
        whole = source.parents[take.node]
        if (
            not isinstance(whole, ast.ListComp | ast.GeneratorExp)
            or whole.elt is not take.node
            or len(whole.generators) != 1
        ):
            continue
        loop = whole.generators[0]
        if loop.ifs or loop.is_async:
            return None
        plain = isinstance(take.value, ast.Name) and dotted(loop.target) == take.value.id
        items = source.code(loop.iter) if plain else _comprehension(source, whole, take)
        change, call = Change(source), source.parents[whole]
        if isinstance(whole, ast.GeneratorExp):
            alone = isinstance(call, ast.Call) and dotted(call.func) == "sum" and len(call.args) == 1
            pulls = {hop.src for hop in situation.hops}
            if (
                not alone
                or not isinstance(call, ast.Call)
                or len(pulls) > 1
                or take.kind not in ("float", "item", "asscalar")
            ):
                return None
            change.replace(call, f"float(sum({items if plain else items[1:-1]}))")
            words = "Adds up on the device, in the tensors' own precision, and takes one value."
        else:
            joined = together(situation, take, stmt, items)
            scope = (
                scope_for(source, stmt, situation.pulled_from) if situation.framework == "tensorflow" else ""
            )
            if (
                joined is None
                or scope is None
                or (scope and (is_compound(stmt) or unfolded(source, stmt)[0] is not source))
            ):
                return None
            change.replace(whole, joined)
            if scope:
                change.wrap(stmt, f"with {scope}:")
            words = "Joins the tensors on the device and takes all values at once; they must be of one shape."
        return situation.draft(words, change.text())
    return None


def _comprehension(source: Source, whole: ast.ListComp | ast.GeneratorExp, take: Take) -> str:
    loops = source.text[source.span(take.node)[1] : source.span(whole)[1] - 1].rstrip()
    return f"[{source.code(take.value)}{loops}]"


def _told(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``print(step, float(loss))``: told every so many rounds."""
    if not _tells(stmt) or (loop := situation.source.loop_of(stmt)) is None:
        return None
    if periods.has_condition(situation.source, stmt, loop):
        return None
    source, now = unfolded(situation.source, stmt)
    moved, again = now(stmt), now(loop)
    change = Change(source)
    inner = takes(_at(situation, source), moved)
    busy = [take for take in inner if not is_pure(take.value)]
    outside = [
        node for node in own_nodes(moved) if isinstance(node, ast.Call) and source.parents[node] is not moved
    ]
    within = {part for take in busy for part in ast.walk(take.node)}
    if len(busy) > 1 or not all(is_pure(_without_arguments(node)) for node in outside if node not in within):
        return None
    condition = periods.condition(source, again, change)
    if condition is None:
        return None
    for take in busy:
        name = source.free_name("value")
        change.line_before(moved, f"{name} = {source.code(take.value)}")
        change.replace(take.value, name)
    change.wrap(moved, f"if {condition[0]}:")
    words = f"Takes and tells the value every {condition[1]} rounds of the loop instead of in each."
    return situation.draft(words, change.text())


def _kept(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``losses.append(float(loss))`` and ``total += float(loss)``."""
    source, loop = situation.source, situation.source.loop_of(stmt)
    found = takes(situation, stmt)
    if loop is None or len(found) != 1:
        return None
    take, change, words = found[0], Change(situation.source), None
    pair = keeping.appended_to(stmt)
    if pair is not None and pair[1] is take.node:
        words = keeping.keep_in_list(situation, source, change, stmt, loop, take)
        value = keeping.kept(situation, source, take, stmt, loop)
        if value is None:
            return None
        change.replace(take.node, value)
    elif isinstance(stmt, ast.AugAssign) and _linear(stmt.value, take.node):
        words = keeping.add_up(situation, source, change, stmt, loop, take)
        if situation.framework == "mxnet" and keeping.recorded(source, stmt):
            return None
        inner = source.code(take.value) if stmt.value is take.node else source.operand(take.value)
        change.replace(take.node, inner)
    return situation.draft(f"{words}.", change.text()) if words else None


def _linear(node: ast.expr, taken: ast.expr) -> bool:
    """Whether an expression is the taken value, at most scaled by or added to numbers."""
    if node is taken:
        return True
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        return False
    in_left = any(part is taken for part in ast.walk(node.left))
    inner, other = (node.left, node.right) if in_left else (node.right, node.left)
    plain = all(
        not isinstance(part, ast.Call) or called(part) in ("len", "float", "int") for part in ast.walk(other)
    )
    return plain and _linear(inner, taken)


def _assigned(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``value = float(loss)``: taken where the value is needed, if that is not in each round."""
    source, loop = situation.source, situation.source.loop_of(stmt)
    found = takes(situation, stmt)
    if loop is None or not isinstance(stmt, ast.Assign) or len(found) != 1 or stmt.value is not found[0].node:
        return None
    target = stmt.targets[0]
    if len(stmt.targets) != 1 or not isinstance(target, ast.Name) or keeping.rebound(loop, target.id) != 1:
        return None
    uses = [
        node
        for node in ast.walk(source.scopes_of(stmt)[0])
        if isinstance(node, ast.Name) and node.id == target.id
    ]
    inside = [node for node in uses if node is not target and any(node is part for part in ast.walk(loop))]
    after = [
        node
        for node in uses
        if node is not target and node not in inside and node.lineno > (loop.end_lineno or 0)
    ]
    here = source.scopes_of(stmt)[0]
    inside.sort(key=lambda node: (node.lineno, node.col_offset))
    if any(node.lineno <= (stmt.end_lineno or 0) or source.scopes_of(node)[0] is not here for node in inside):
        return None
    if (draft := _told_together(situation, stmt, loop, found[0], inside, bool(after))) is not None:
        return draft
    return _taken_where_used(situation, stmt, loop, found[0], inside, bool(after))


def _told_together(
    situation: Situation, stmt: ast.Assign, loop: Loop, take: Take, inside: list[ast.Name], after: bool
) -> Draft | None:
    """The value and what tells it, right below, in every so many rounds."""
    source = situation.source
    block = source.block_of(stmt)
    following = block[block.index(stmt) + 1 :]
    told: list[ast.stmt] = []
    for one in following:
        if not _tells(one) or not all(
            is_pure(_without_arguments(node))
            for node in own_nodes(one)
            if isinstance(node, ast.Call) and node is not getattr(one, "value", None)
        ):
            break
        told.append(one)
    using = [one for one in told if any(node in set(ast.walk(one)) for node in inside)]
    covered = {part for one in using for part in ast.walk(one)}
    if after or not using or not all(node in covered for node in inside) or not is_pure(take.value):
        return None
    if (
        periods.has_condition(source, stmt, loop)
        or source.line_of(source.span(stmt)[0]) == following[0].lineno
    ):
        return None
    change = Change(source)
    condition = periods.condition(source, loop, change)
    if condition is None or unfolded(source, stmt)[0] is not source:
        return None
    change.wrap(stmt, f"if {condition[0]}:", *told[: told.index(using[-1]) + 1])
    words = f"Takes and tells the value every {condition[1]} rounds of the loop instead of in each."
    return situation.draft(words, change.text())


def _taken_where_used(
    situation: Situation, stmt: ast.Assign, loop: Loop, take: Take, inside: list[ast.Name], after: bool
) -> Draft | None:
    source, change, words = situation.source, Change(situation.source), []
    name = inside[0].id if inside else source.code(stmt.targets[0])
    value = keeping.kept(situation, source, take, stmt, loop)
    if value is None:
        return None
    change.replace(take.node, value)
    for node in inside:
        user = source.statement_of(node)
        pair = keeping.appended_to(user) if user is not None else None
        if user is None:
            return None
        if periods.has_condition(source, node, loop) and not periods.has_condition(source, stmt, loop):
            change.replace(node, take.of(name))
            said: str | None = f"Takes {name} only where the condition holds"
        elif pair is not None and pair[1] is node:
            said = keeping.keep_in_list(situation, source, change, user, loop, take)
        elif (
            isinstance(user, ast.AugAssign)
            and _linear(user.value, node)
            and not keeping.recorded(source, user)
        ):
            said = keeping.add_up(situation, source, change, user, loop, take)
        elif _tells(user) and not is_compound(user) and unfolded(source, user)[0] is source:
            condition = periods.condition(source, loop, change)
            if condition is None or sum(_tells(source.statement_of(one)) for one in inside) > 1:
                return None  # one index has to serve both
            change.replace(node, take.of(name))
            change.wrap(user, f"if {condition[0]}:")
            said = f"Takes and tells {name} every {condition[1]} rounds"
        else:
            return None
        if said is None:
            return None
        words.append(said)
    if after:
        if not keeping.leaves(loop):
            return None
        change.after(loop, f"{name} = {take.of(name)}")
        words.append(f"Takes {name} once after the loop")
    if not words:
        words.append(f"Leaves {name} on the device: nothing uses its value")
    text = "; ".join(dict.fromkeys(words))
    return situation.draft(f"{text[0]}{text[1:]}.", change.text())


def _checked(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``if isnan(loss): raise ..`` and ``assert``: checked every so many rounds."""
    source, loop = situation.source, situation.source.loop_of(stmt)
    if loop is None or not isinstance(stmt, ast.If | ast.Assert) or not is_pure(stmt.test):
        return None
    if periods.has_condition(source, stmt, loop):
        return None
    change = Change(source)
    if isinstance(stmt, ast.Assert):
        source, now = unfolded(source, stmt)
        moved, again = now(stmt), now(loop)
        change = Change(source)
        condition = periods.condition(source, again, change)
        if condition is None:
            return None
        change.wrap(moved, f"if {condition[0]}:")
    else:
        if stmt.orelse or not all(isinstance(one, _STOPPING) or _tells(one) for one in stmt.body):
            return None
        condition = periods.condition(source, loop, change)
        if condition is None:
            return None
        test = source.code(stmt.test)
        loose = isinstance(stmt.test, ast.IfExp | ast.Lambda) or (
            isinstance(stmt.test, ast.BoolOp) and isinstance(stmt.test.op, ast.Or)
        )
        change.replace(stmt.test, f"{condition[0]} and {f'({test})' if loose else test}")
    every = condition[1]
    words = f"Checks every {every} rounds of the loop, so it may act up to {every - 1} rounds later."
    return situation.draft(words, change.text())


def _tells(stmt: ast.AST | None) -> bool:
    return isinstance(stmt, ast.Expr) and called(stmt.value) in _TELLING


def _without_arguments(node: ast.Call) -> ast.Call:
    """The call by itself: what is called in its arguments is looked at by itself."""
    return ast.Call(func=node.func, args=[], keywords=[])


def _at(situation: Situation, source: Source) -> Situation:
    return Situation(
        situation.finding,
        situation.hops,
        situation.file,
        situation.line,
        source,
        situation.framework,
        situation.devices,
    )
