"""What is made only to be handed to a function: it alone goes where the function uses it, not the call."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change, unfolded
from app.fixes.code.names import called, from_modules, root_of
from app.fixes.code.parsed_source import Function, Source, is_compound, own_nodes
from app.fixes.situation import Draft, Situation

_COMPUTES = ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript
_PLAIN = ast.Name | ast.Constant | ast.Attribute | ast.expr_context | ast.keyword
_LATER = ast.Lambda | ast.GeneratorExp | ast.Starred | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom
_LIBRARIES = ("tensorflow", "keras", "tf_keras", "numpy")


def made_before(situation: Situation, stmt: ast.stmt, header: str, device: str) -> Draft | None:
    """``step(tf.random.normal(..))``: the argument is made above, under `header`; None for other statements.

    The header around the call would bring all along that the function's ops ask for no device.
    """
    if is_compound(stmt) or any(hop.cause.blames != "producer" for hop in situation.hops):
        return None
    source, now = unfolded(situation.source, stmt)
    found = _argument(situation, stmt)
    if found is None:
        return None
    call, argument = found
    name = source.free_name(*_names(situation.source, call, argument))
    code, change = source.code(now(argument)), Change(source)
    code = f"({code})" if "\n" in code and not isinstance(argument, ast.Call) else code
    change.line_before(now(stmt), f"{header}:")
    change.line_before(now(stmt), f"{source.unit(now(stmt))}{name} = {code}")
    change.replace(now(argument), name)
    words = f"Makes on {device}, where it is used, what {called(call)} is handed; the call stays where it is."
    return situation.draft(words, change.text())


def stays_outside(situation: Situation, stmt: ast.stmt, names: set[str]) -> bool:
    """Whether a call only hands the values of these names to a traced function, which uses them elsewhere.

    Each of its parameters that they go to is read at one place: what is used there alone crosses.
    """
    if any(hop.cause.blames != "producer" or hop.kind != "arg" for hop in situation.hops):
        return False
    source = situation.source
    used = [node for node in own_nodes(stmt) if isinstance(node, ast.Name) and node.id in names]
    for node in used:
        call = source.parents.get(node)
        call = source.parents.get(call) if isinstance(call, ast.keyword) else call
        if not isinstance(call, ast.Call) or not situation.ran.traced({called(call)} - {""}):
            return False
        function = _definition(source, call)
        parameter = _parameter(function, call, node) if function is not None else None
        if function is None or parameter is None or _reads(function, parameter) != 1:
            return False
    return bool(used)


def _argument(situation: Situation, stmt: ast.stmt) -> tuple[ast.Call, ast.expr] | None:
    """The one argument of a statement that computes anything, of a call of the code's own function."""
    source = situation.source
    libraries = from_modules(source, stmt, *_LIBRARIES)
    found = [
        (call, one)
        for call in own_nodes(stmt)
        if isinstance(call, ast.Call) and root_of(call.func) not in libraries and _is_known(situation, call)
        for one in (*call.args, *(keyword.value for keyword in call.keywords))
        if any(isinstance(part, _COMPUTES) for part in ast.walk(one))
    ]
    if len(found) != 1:
        return None
    call, argument = found[0]
    inside = set(ast.walk(argument))
    around = {call, *source.ancestors(call)}
    if any(isinstance(part, _LATER) for part in own_nodes(stmt)):
        return None
    if any(isinstance(part, ast.Call) and _is_known(situation, part) for part in inside):
        return None
    # All else must compute nothing, or only go on with what the call returns.
    for part in own_nodes(stmt):
        if part in inside or part is stmt or isinstance(part, _PLAIN):
            continue
        goes_on = isinstance(part, ast.Call) and root_of(part.func) not in libraries
        if part not in around or not (goes_on or isinstance(part, ast.Tuple | ast.List)):
            return None
    return call, argument


def _is_known(situation: Situation, call: ast.Call) -> bool:
    """Whether a call is of a function whose ops have lines of their own."""
    name = called(call)
    if not name:
        return False
    return _definition(situation.source, call) is not None or bool(situation.ran.traced({name}))


def _definition(source: Source, call: ast.Call) -> Function | None:
    made = [
        node for node in ast.walk(source.tree) if isinstance(node, Function) and node.name == called(call)
    ]
    return made[0] if len(made) == 1 else None


def _parameter(function: Function, call: ast.Call, argument: ast.expr) -> str | None:
    """The name that a function gives an argument; None where that is not certain."""
    if any(isinstance(one, ast.Starred) for one in call.args):
        return None
    named = next((one.arg for one in call.keywords if one.value is argument), None)
    if named is not None:
        return named
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"]):
        names = names[1:]
    at = next((number for number, one in enumerate(call.args) if one is argument), len(names))
    return names[at] if at < len(names) else None


def _reads(function: Function, parameter: str) -> int:
    return sum(
        isinstance(node, ast.Name) and node.id == parameter and isinstance(node.ctx, ast.Load)
        for part in function.body
        for node in ast.walk(part)
    )


def _names(source: Source, call: ast.Call, argument: ast.expr) -> tuple[str, ...]:
    """What the value may be called, the best first."""
    function = _definition(source, call)
    parameter = _parameter(function, call, argument) if function is not None else None
    return (parameter, f"{parameter}_value") if parameter else ("value",)
