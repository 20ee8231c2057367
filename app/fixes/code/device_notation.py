"""How a file writes devices, so that a fix writes them alike: as text, scope, context or constant."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeGuard, TypeVar

from app.facts.devices import Device, parse
from app.fixes.code.names import (
    assigned,
    bindings,
    called,
    changed_in,
    dotted,
    module_name,
    root_of,
    value_of,
)
from app.fixes.code.parsed_source import Source
from runners.python_source import parse_expression

One = TypeVar("One")

_HOST = Device("", "cpu", 0)
_TF = ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2", "tensorflow.compat.v1.tf")
_LITERAL = re.compile(r"(?P<before>/?)(?P<word>device:)?(?P<type>[cCgG][pP][uU]):(?P<index>\d+)")


def tensorflow(source: Source, at: ast.AST) -> str | None:
    """How the code at a place writes TensorFlow."""
    return module_name(source, at, *_TF)


def mxnet(source: Source, at: ast.AST) -> str | None:
    """How the code at a place writes MXNet."""
    return module_name(source, at, "mxnet")


def arrays(source: Source, at: ast.AST) -> str | None:
    """How the code writes the module of its arrays: ``mx.nd``, or ``mx.np`` where it uses that."""
    mx, numpy_like = mxnet(source, at), module_name(source, at, "mxnet.np", "mxnet.numpy")
    uses = any(dotted(node) == f"{mx}.np" for node in source.every(ast.Attribute))
    if numpy_like or uses or module_name(source, at, "mxnet.npx"):
        return numpy_like or (f"{mx}.np" if mx else None)
    return module_name(source, at, "mxnet.nd", "mxnet.ndarray") or (f"{mx}.nd" if mx else None)


def device_named(text: str) -> str | None:
    """The device that a TensorFlow device string of this process names, as ``gpu:1``; None for others."""
    found = _LITERAL.fullmatch(text)
    return f"{found['type'].lower()}:{int(found['index'])}" if found else None


def tf_named(node: ast.expr | None) -> str | None:
    """The device of ``"/GPU:1"`` as code; None for other code."""
    return device_named(str(node.value)) if isinstance(node, ast.Constant) else None


def tf_device(source: Source, at: ast.AST, device: str) -> str | None:
    """What stands in ``tf.device(..)`` for a device here, as code; None for one of another process."""
    wanted, arguments = _own(device), scope_arguments(source)
    if wanted is None:
        return None
    for argument in arguments:  # a constant that is used so comes before others
        if isinstance(argument, ast.Name | ast.Attribute | ast.Subscript):
            same = bindings(source, root_of(argument), at) == bindings(source, root_of(argument), argument)
            if same and tf_named(constant_of(source, argument, at)) == device:
                return source.code(argument)
    if written := next((one for one in arguments if tf_named(one) == device), None):
        return source.code(written)
    for code in constants(source, at, lambda value: tf_named(value) == device):
        return code
    quote = "'" if source.text.count("'") > source.text.count('"') else '"'
    texts = [source.code(one) for one in arguments if tf_named(one)] or [f"{quote}/GPU:0{quote}"]

    def alike(found: re.Match[str]) -> str:
        name = wanted.type.upper() if found["type"].isupper() else wanted.type
        return f"{found['before']}{found['word'] or ''}{name}:{wanted.index}"

    return Counter(_LITERAL.sub(alike, text) for text in texts).most_common(1)[0][0]


def scope_for(source: Source, at: ast.AST, device: str | None) -> str | None:
    """``tf.device(..)`` for a device, '' for none or where a scope is there already; None if none can be."""
    if device is None or any(opens(block, "device") for block in blocks_around(source, at)):
        return ""
    tf, argument = tensorflow(source, at), tf_device(source, at, device)
    return f"{tf}.device({argument})" if tf and argument else None


def blocks_around(source: Source, node: ast.AST) -> Iterator[ast.With]:
    """The ``with`` blocks around a piece of code, the innermost first."""
    return (one for one in source.ancestors(node) if isinstance(one, ast.With))


def opens(block: ast.With, context: str) -> bool:
    """Whether a ``with`` opens a context that a call of this name makes."""
    return any(called(item.context_expr) == context for item in block.items)


def devices_of(block: ast.With) -> list[ast.expr]:
    """What all of the device scopes that a ``with`` opens name, the innermost first."""
    calls = (item.context_expr for item in reversed(block.items))
    return [call.args[0] for call in calls if _opens_scope(call)]


def scopes_around(source: Source, node: ast.AST) -> list[ast.expr]:
    """What the device scopes around a piece of code name, the innermost first."""
    return [named for block in blocks_around(source, node) for named in devices_of(block)]


def scope_arguments(source: Source) -> list[ast.expr]:
    """What the file gives to ``tf.device(..)``, each time that it does, from the top."""
    found = [call.args[0] for call in source.every(ast.Call) if _opens_scope(call)]
    return sorted(found, key=lambda node: node.lineno)


def _opens_scope(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and called(node) == "device" and len(node.args) == 1


def mx_context(source: Source, at: ast.AST, device: str) -> str | None:
    """A context as code: a variable that holds it, else ``mx.gpu(1)``; None where nothing names MXNet."""
    wanted = _own(device)
    if wanted is None:
        return None
    for code in constants(source, at, lambda value: context_named(value) == device):
        return code
    mx = mxnet(source, at)
    function = f"{mx}.{wanted.type}" if mx else module_name(source, at, f"mxnet.{wanted.type}")
    return f"{function}({wanted.index if wanted != _HOST else ''})" if function else None


def context_named(node: ast.AST) -> str | None:
    """The device of ``mx.gpu(1)``; None for other code."""
    match node:
        case ast.Call(args=[] | [ast.Constant(value=int())] as args, keywords=[]) if (
            kind := called(node)
        ) in ("cpu", "gpu"):
            return f"{kind}:{ast.literal_eval(args[0]) if args else 0}"
    return None


def context_attribute(source: Source, at: ast.AST) -> str:
    """What an array's context is called here: ``ctx`` of arrays like numpy's, ``context`` of others."""
    return "ctx" if (arrays(source, at) or "").endswith("np") else "context"


def alone(found: Iterable[One]) -> One | None:
    """The one thing that all these are; None where they differ, or there is none."""
    different = set(found)
    return different.pop() if len(different) == 1 else None


def constant_of(source: Source, node: ast.expr, at: ast.AST) -> ast.expr | None:
    """The code that an expression stands for at a place: itself, but for what names a constant.

    None where a name, or a part of a list or dictionary, may be something else, and for attributes.
    """
    match node:
        case ast.Name(id=name):
            return value_of(source, name, at)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=wanted)):
            whole = value_of(source, name, at)
            if whole is None or name in changed_in(source.tree):
                return None
            return alone([one for key, one in _parts(source, whole) if ast.literal_eval(key) == wanted])
        case ast.Subscript() | ast.Attribute():
            return None
    return node


def constants(source: Source, at: ast.AST, fits: Callable[[ast.expr], bool]) -> Iterator[str]:
    """How a place can write the constants whose code fits: names first, then parts of them."""
    named: list[str] = []
    parts: list[str] = []
    for target, value in (pair for stmt in source.every(ast.stmt) for pair in assigned(stmt)):
        if isinstance(target, ast.Name) and fits(value):
            named.append(target.id)
        elif isinstance(target, ast.Name):
            parts += (f"{target.id}[{key}]" for key, part in _parts(source, value) if fits(part))
    for code in (*named, *parts):
        found = constant_of(source, parse_expression(code), at)
        if found is not None and fits(found):
            yield code


def _parts(source: Source, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The parts of a list or a dictionary that the text states, each with the code of its key."""
    match value:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            if not any(isinstance(one, ast.Starred) for one in items):
                yield from ((str(place), one) for place, one in enumerate(items))
        case ast.Dict(keys=keys, values=values):
            stated = {key.value for key in keys if isinstance(key, ast.Constant) and key.value is not None}
            if len(stated) == len(keys):
                yield from ((source.code(key), one) for key, one in zip(keys, values, strict=True) if key)


def _own(device: str) -> Device | None:
    found = parse(device)
    return found if found is not None and not found.role else None
