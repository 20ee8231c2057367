"""Copies that MXNet code asks for in each step, and that its text shows how to do without."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change
from app.fixes.code.device_notation import alone, arrays, blocks_around, context_named
from app.fixes.code.names import bindings, called, changed_in, dotted, imported
from app.fixes.code.parsed_source import Function, Source, is_compound, own_nodes
from app.fixes.contexts.array_creators import makes_nowhere
from app.fixes.situation import Draft, Situation

_MOVES = frozenset({"as_in_context", "as_in_ctx"})
_SAME_ELSEWHERE = frozenset({"astype", "reshape", "expand_dims", "abs", "clip"})
_DRAWS = frozenset({"uniform", "normal", "randn", "randint", "poisson", "exponential", "gamma"})
_FILLS = frozenset({"zeros", "ones", "full", "empty", "arange", "eye", "linspace"})
_SCOPES = frozenset({"cpu", "gpu", "Context", "cpu_pinned"})
_SIZES = frozenset({"shape", "size", "dtype"})
_WITH_PARAMETERS = frozenset({"Embedding", "FullyConnected", "Convolution", "Deconvolution", "RNN"})
"""Ops that gluon's layers run with parameters of theirs."""


def made_there(situation: Situation) -> Draft | None:
    """``nd.random.normal(shape=s).as_in_context(c)``: the array is made on the context that it is for."""
    if situation.framework != "mxnet" or not _made_in_place(situation):
        return None
    source = situation.source
    for stmt in situation.statements:
        moves = moves_in(stmt)
        if is_compound(stmt) or len(moves) != 1:
            continue
        move, maker = moves[0], _maker(moves[0])
        if maker is None or not makes_nowhere(source, maker) or not _of_numbers(maker):
            return None
        if any(
            called(item.context_expr) in _SCOPES for one in blocks_around(source, stmt) for item in one.items
        ):
            return None  # there the code names the host
        change, there = Change(source), source.code(move.args[0])
        change.add_argument(maker, f"ctx={there}")
        change.replace_span(source.span(_owner(move))[1], source.span(move)[1], "")
        device = alone([hop.dst for hop in situation.hops]) or there
        words = f"Makes the array on {device}, where it is used, and copies nothing"
        return situation.draft(
            f"{words}; a device draws other numbers than the host." if draws(maker) else f"{words}.",
            change.text(),
        )
    return None


def draws(call: ast.Call) -> bool:
    """Whether it draws random numbers: ``nd.random.normal(..)``, ``nd.random_normal(..)``."""
    return called(call).removeprefix("random_") in _DRAWS


def of_copy(situation: Situation) -> str | None:
    """What is said of a copy in each step that is no mistake by itself; None for nothing."""
    if situation.framework != "mxnet":
        return None
    if situation.finding.code == "explicit":
        return _of_layer(situation)
    return _of_constant(situation) if situation.finding.code == "host-upload" else None


def _made_in_place(situation: Situation) -> bool:
    """Whether the line makes on the host what it copies."""
    site = situation.finding.site
    return bool(situation.hops) and all(
        hop.src == "cpu:0" and hop.producer_site == site for hop in situation.hops if hop.count != 0
    )


def moves_in(stmt: ast.stmt) -> list[ast.Call]:
    """The calls of a statement that copy an array to a context which they plainly name."""
    return [
        node
        for node in own_nodes(stmt)
        if isinstance(node, ast.Call) and called(node) in _MOVES and isinstance(node.func, ast.Attribute)
        if len(node.args) == 1 and not node.keywords
        if isinstance(node.args[0], ast.Name | ast.Attribute) or context_named(node.args[0]) is not None
    ]


def _owner(call: ast.Call) -> ast.expr:
    return call.func.value if isinstance(call.func, ast.Attribute) else call.func


def _maker(move: ast.Call) -> ast.Call | None:
    """The call at the start of what is copied, at most cast or shaped anew."""
    node = _owner(move)
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if called(node) not in _SAME_ELSEWHERE:
            return node if called(node) in _DRAWS | _FILLS else None
        node = node.func.value
    return None


def _of_numbers(maker: ast.Call) -> bool:
    """Whether it is made from sizes and stated numbers alone: of arrays it would need others there too."""
    given = [*maker.args, *(one.value for one in maker.keywords if one.arg not in _SIZES)]
    if called(maker) in _FILLS - {"full", "arange", "linspace"}:
        given = []  # sizes, all of them
    return all(isinstance(part, ast.Constant | ast.UnaryOp) for part in given) and all(
        one.arg is not None for one in maker.keywords
    )


def _of_layer(situation: Situation) -> str | None:
    """A layer whose parameters live on the host, its output copied to the device that goes on with it."""
    source, device = situation.source, alone([hop.dst for hop in situation.hops])
    known = all(hop.producer_op in _WITH_PARAMETERS for hop in situation.hops)
    if device is None or not known or not _made_in_place(situation):
        return None
    for stmt in situation.statements:
        moves = moves_in(stmt)
        call = _owner(moves[0]) if len(moves) == 1 else None
        if not isinstance(call, ast.Call) or not _is_layer(source, call.func):
            continue
        layer, there = source.code(call.func), source.code(moves[0].args[0])
        return (
            f"The parameters of {layer} live on {situation.hops[0].src}. If they fit into the memory of"
            f" {device}, move them once, after initialize(), by {layer}.collect_params().reset_ctx({there}),"
            " and hand it its input there: then neither what it makes nor the gradients of that cross."
        )
    return None


def _is_layer(source: Source, function: ast.expr) -> bool:
    """Whether it is an object that the file makes by ``nn.Embedding(..)`` or the like."""
    path = dotted(function)
    made = [
        node.value
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign) and path and any(dotted(one) == path for one in node.targets)
    ]
    return bool(made) and all(called(one)[:1].isupper() for one in made)


def _of_constant(situation: Situation) -> str | None:
    """Values of Python that never change, sent anew in each call."""
    source = situation.source
    for stmt in situation.statements:
        calls = [node for node in own_nodes(stmt) if isinstance(node, ast.Call) and _converts(source, node)]
        if is_compound(stmt) or len(calls) != 1 or not calls[0].args:
            continue
        value = calls[0].args[0]
        if not _unchanging(situation, value):
            return None
        code, function = source.code(value), source.function_of(stmt)
        holder = source.parents.get(function) if function is not None else None
        same = f"Nothing in the files changes {code} once it is made, so each call sends the same values"
        if function is not None and function.name == "forward" and _is_plain_block(holder):
            target = stmt.targets[0] if isinstance(stmt, ast.Assign) else None
            name = target.id if isinstance(target, ast.Name) else "constant"
            return (
                f"{same}: make it a constant of the Block, in __init__ and so before initialize(), by"
                f' self.{name} = self.params.get_constant("{name}", ..), and use'
                f" self.{name}.data(x.context) here."
            )
        return f"{same}: make the array once, before the loop, and use that."
    return None


def _is_plain_block(holder: ast.AST | None) -> bool:
    """Whether a class extends Block itself: a HybridBlock hands its constants to hybrid_forward as well."""
    bases = holder.bases if isinstance(holder, ast.ClassDef) else []
    return len(bases) == 1 and dotted(bases[0]).rpartition(".")[2] == "Block"


def _converts(source: Source, call: ast.Call) -> bool:
    module = arrays(source, call)
    return module is not None and dotted(call.func) in (f"{module}.array", "mx.nd.array")


def _unchanging(situation: Situation, value: ast.expr) -> bool:
    """Whether no file of the run gives it another value, or changes it in place, as far as that is to see."""
    source, path = situation.source, dotted(value).split(".")
    if path == [""] or path[0] in imported(source, value) - {""}:
        return False
    files = dict.fromkeys([situation.file, *situation.files])
    sources = [one for file in files if (one := situation.opened(file)) is not None]
    if path[0] != "self":
        made = bindings(source, path[0], value)
        at_top = [one for one in made if source.scopes_of(one)[0] is source.tree]
        if len(made) != 1 or not at_top or source.loop_of(made[0]) or path[0] in changed_in(source.tree):
            return False
        if not isinstance(source.parents[made[0]], ast.Assign | ast.AnnAssign):
            return False
    elif len(path) == 1:
        return False
    return all(_set_at_first(one, name) for one in sources for name in path[1:])


def _set_at_first(source: Source, name: str) -> bool:
    """Whether an attribute of that name is only assigned in ``__init__``, and never changed in place."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Attribute) or node.attr != name:
            continue
        around = next((one for one in source.ancestors(node) if isinstance(one, Function)), None)
        if not isinstance(node.ctx, ast.Load) and (around is None or around.name != "__init__"):
            return False
        user = source.parents.get(node)
        if isinstance(user, ast.Subscript) and user.value is node and not isinstance(user.ctx, ast.Load):
            return False
        if isinstance(user, ast.Attribute) and user.attr in ("append", "extend", "update", "insert", "pop"):
            return False
    return True
