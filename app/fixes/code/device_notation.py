"""How a file writes devices, so that a fix writes them alike."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from app.facts.devices import Device, parse
from app.fixes.code.device_constants import constant_of, constants
from app.fixes.code.names import bindings, called, dotted, module_name, root_of
from app.fixes.code.parsed_source import Source

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
    mx = mxnet(source, at)
    numpy_like = module_name(source, at, "mxnet.np", "mxnet.numpy")
    uses = any(
        isinstance(node, ast.Attribute) and dotted(node) == f"{mx}.np" for node in ast.walk(source.tree)
    )
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
    wanted = _own(device)
    if wanted is None:
        return None
    for argument in scope_arguments(source):  # a constant that is used so comes before others
        if isinstance(argument, ast.Name | ast.Attribute | ast.Subscript):
            same = bindings(source, root_of(argument), at) == bindings(source, root_of(argument), argument)
            if same and tf_named(constant_of(source, argument, at)) == device:
                return source.code(argument)
    styles: Counter[tuple[str, str, str, str]] = Counter()
    for argument in scope_arguments(source):
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            code = source.code(argument)
            if device_named(argument.value) == device:
                return code
            if style := _LITERAL.fullmatch(argument.value):
                kind = "upper" if style["type"].isupper() else "lower"
                styles[style["before"], style["word"] or "", kind, code[0]] += 1
    for code in constants(source, at, lambda value: tf_named(value) == device):
        return code
    before, word, kind, quote = styles.most_common(1)[0][0] if styles else ("/", "", "upper", _quote(source))
    name = wanted.type.upper() if kind == "upper" else wanted.type
    return f"{quote}{before}{word}{name}:{wanted.index}{quote}"


def scope_for(source: Source, at: ast.AST, device: str | None) -> str | None:
    """``tf.device(..)`` for a device, '' for none or where a scope is there already; None if none can be."""
    around = (one for one in source.ancestors(at) if isinstance(one, ast.With))
    if device is None or any(called(item.context_expr) == "device" for one in around for item in one.items):
        return ""
    tf, argument = tensorflow(source, at), tf_device(source, at, device)
    return f"{tf}.device({argument})" if tf and argument else None


def blocks_around(source: Source, node: ast.AST) -> Iterator[ast.With]:
    """The ``with`` blocks around a piece of code, the innermost first."""
    return (one for one in source.ancestors(node) if isinstance(one, ast.With))


def device_of(item: ast.withitem) -> ast.expr | None:
    """What ``with tf.device(..)`` names; None for other contexts."""
    match item.context_expr:
        case ast.Call(args=[named]) as call if called(call) == "device":
            return named
    return None


def devices_of(block: ast.With) -> list[ast.expr]:
    """What all of the device scopes that a ``with`` opens name, the innermost first."""
    return [named for item in reversed(block.items) if (named := device_of(item)) is not None]


def scope_arguments(source: Source) -> list[ast.expr]:
    """What the file gives to ``tf.device(..)``, each time that it does, from the top."""
    found = [
        node.args[0]
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and called(node) == "device" and len(node.args) == 1
    ]
    return sorted(found, key=lambda node: node.lineno)


def mx_context(source: Source, at: ast.AST, device: str) -> str | None:
    """A context as code: a variable that holds it, else ``mx.gpu(1)``; None where nothing names MXNet."""
    wanted = _own(device)
    if wanted is None:
        return None
    for code in constants(source, at, lambda value: context_named(value) == device):
        return code
    mx = mxnet(source, at)
    function = f"{mx}.{wanted.type}" if mx else module_name(source, at, f"mxnet.{wanted.type}")
    index = wanted.index if wanted != _HOST else ""
    return f"{function}({index})" if function else None


def context_named(node: ast.AST) -> str | None:
    """The device of ``mx.gpu(1)``; None for other code."""
    match node:
        case ast.Call(args=[], keywords=[]) if called(node) in ("cpu", "gpu"):
            return f"{called(node)}:0"
        case ast.Call(args=[ast.Constant(value=int(index))], keywords=[]) if called(node) in ("cpu", "gpu"):
            return f"{called(node)}:{index}"
    return None


def alone(devices: Sequence[str]) -> str | None:
    """The one device that all these are; None where they differ, or there is none."""
    found = set(devices)
    return found.pop() if len(found) == 1 else None


def _own(device: str) -> Device | None:
    found = parse(device)
    return found if found is not None and not found.role else None


def _quote(source: Source) -> str:
    return "'" if source.text.count("'") > source.text.count('"') else '"'
