"""Shapes of every tensor of a placed graph, by TensorFlow's own shape functions, without running it."""

from __future__ import annotations

from typing import Any, Optional

from .imported import import_graph

Shape = tuple[Optional[list[Optional[int]]], str, int]
"""(extents, None where unknown; dtype's name; bytes an element, 0 where it has no fixed size)."""

_OWN = "hopscope"
"""Goes before the names of nodes that the runtime made itself: an imported graph may have no ``_name``."""
_HANDED_ON = ("Enter", "RefEnter", "Exit", "NextIteration", "Switch", "Merge", "Identity")
_PASS = ("Enter", "RefEnter", "Exit", "NextIteration", "_EagerConst")
_RESOURCE = 20
"""DataType of resource handles."""
_Handles = dict[str, tuple[Any, int]]
"""By the names of the nodes that give them: the shape and the type of what they lead to."""


def infer_shapes(graph: Any, arguments: Optional[Any]) -> dict[tuple[str, int], Shape]:
    """(node, output slot) -> shape, for the nodes of a post-optimization GraphDef.

    Arguments become placeholders of the shapes of the call's tensors, and handles to variables handles that
    say of what shape these are; a variable's read has its handle's shape. Where TensorFlow refuses an op, its
    outputs have no known shape. A loop's merge takes the shape that enters the loop: TensorFlow requires
    shapes to be invariant over iterations unless the code relaxed them, and then they are unknown here too.
    """
    from tensorflow.core.framework import graph_pb2

    handles = _handle_shapes(graph, arguments)
    definition = graph_pb2.GraphDef()
    definition.versions.CopyFrom(graph.versions)
    definition.library.CopyFrom(graph.library)
    nodes = {node.name: node for node in graph.node}
    back = {node.name for node in graph.node if node.op == "NextIteration"}
    own = {node.name: f"{_OWN}{node.name}" for node in graph.node if node.name.startswith("_")}
    for node in graph.node:
        if node.op in ("_Retval", "_DeviceRetval"):
            continue
        copy = definition.node.add()
        copy.CopyFrom(node)
        copy.device = ""
        if "_class" in copy.attr:
            del copy.attr["_class"]
        read = _read_from(node, nodes, handles)
        if node.op in ("_Arg", "_DeviceArg"):
            _to_placeholder(copy, node, arguments, handles)
        elif node.op == "ReadVariableOp" and read:
            shape, dtype = read
            _placeholder(copy, dtype, shape)
        elif node.op == "ResourceGather" and read and not node.attr["batch_dims"].i:
            shape, dtype = read
            _gather(copy, definition.node.add(), dtype, shape)
        elif node.op in _PASS:
            _identity(copy)
        elif node.op == "Merge" and any(i.split(":")[0] in back for i in node.input):
            entering = [i for i in node.input if not i.startswith("^") and i.split(":")[0] not in back]
            del copy.input[:]
            copy.input.extend(entering[:1])
            _identity(copy)
        kept = [i for i in copy.input if not i.startswith("^")]
        del copy.input[:]
        copy.input.extend(_renamed(text, own) for text in kept)
        copy.name = own.get(copy.name, copy.name)
    result: dict[tuple[str, int], Shape] = {}
    for (name, slot), tensor in import_graph(definition).items():
        rank = tensor.shape.rank
        dims = None if rank is None else list(tensor.shape.as_list())
        dtype = tensor.dtype.base_dtype
        fixed = dtype.size if dtype.name not in ("string", "resource", "variant") else 0
        result[(name.removeprefix(_OWN), slot)] = (dims, dtype.name, int(fixed))
    return result


def _renamed(text: str, own: dict[str, str]) -> str:
    name, colon, slot = text.partition(":")
    return own.get(name, name) + colon + slot


def _read_from(read: Any, nodes: dict[str, Any], handles: _Handles) -> Optional[tuple[Any, int]]:
    """What the handle leads to that an op reads from; None where it is none that does, or that is not known.

    It is looked for through the plumbing of loops and branches; behind a branch there may be several, which
    are known where they are alike.
    """
    if read.op not in ("ReadVariableOp", "ResourceGather"):
        return None
    found: list[Any] = []
    waiting, seen = [read.input[0]], set()
    while waiting:
        name = waiting.pop().split(":")[0]
        if name in seen:
            continue
        seen.add(name)
        node = nodes.get(name)
        if node is not None and node.op in _HANDED_ON and node.input:
            taken = [text for text in node.input if not text.startswith("^")]
            waiting += taken if node.op == "Merge" else taken[:1]
        else:
            found.append(handles.get(name))
    return found[0] if all(one == found[0] for one in found) else None


def _handle_shapes(graph: Any, arguments: Optional[Any]) -> _Handles:
    result: _Handles = {}
    for node in graph.node:
        if node.op == "VarHandleOp":
            result[node.name] = node.attr["shape"].shape, node.attr["dtype"].type
        if node.op not in ("_Arg", "_DeviceArg"):
            continue
        if "_handle_shapes" in node.attr and node.attr["_handle_shapes"].list.shape:
            dtype = node.attr["_handle_dtypes"].list.type
            result[node.name] = (node.attr["_handle_shapes"].list.shape[0], dtype[0])
        else:
            data = getattr(_argument(node, arguments), "_handle_data", None)
            if data is not None and data.is_set and data.shape_and_type:
                result[node.name] = (data.shape_and_type[0].shape, data.shape_and_type[0].dtype)
    return result


def _argument(node: Any, arguments: Optional[Any]) -> Any:
    index = node.attr["index"].i
    return arguments[index] if arguments is not None and index < len(arguments) else None


def _to_placeholder(copy: Any, node: Any, arguments: Optional[Any], handles: _Handles) -> None:
    dtype = node.attr["T"].type
    if dtype == _RESOURCE:
        _to_handle(copy, handles.get(node.name))
        return
    tensor = _argument(node, arguments)
    shape = None
    if tensor is not None:
        shape = tensor.shape.as_proto()
    elif "_output_shapes" in node.attr and node.attr["_output_shapes"].list.shape:
        shape = node.attr["_output_shapes"].list.shape[0]
    _placeholder(copy, dtype, shape)


def _to_handle(copy: Any, leads_to: Optional[tuple[Any, int]]) -> None:
    """An argument that is a handle: an op's that tells of what shape its variable is, where that is known.

    One of no known shape itself, otherwise: some ops take a scalar for what it leads to, and refuse it.
    """
    if leads_to is None:
        _placeholder(copy, _RESOURCE, None)
        return
    shape, dtype = leads_to
    copy.op = "VarHandleOp"
    del copy.input[:]
    copy.attr.clear()
    copy.attr["dtype"].type = dtype
    copy.attr["shape"].shape.CopyFrom(shape)


def _placeholder(copy: Any, dtype: int, shape: Any) -> None:
    copy.op = "Placeholder"
    del copy.input[:]
    copy.attr.clear()
    copy.attr["dtype"].type = dtype
    if shape is not None:
        copy.attr["shape"].shape.CopyFrom(shape)


def _gather(copy: Any, table: Any, dtype: int, shape: Any) -> None:
    """A look-up in a variable: one in a tensor of its shape."""
    table.name = f"{copy.name}/hopscope_table"
    _placeholder(table, dtype, shape)
    indices, kind = copy.input[1], copy.attr["Tindices"].type
    copy.op = "Gather"
    copy.attr.clear()
    copy.attr["Tparams"].type, copy.attr["Tindices"].type = dtype, kind
    del copy.input[:]
    copy.input.extend([table.name, indices])


def _identity(copy: Any) -> None:
    dtype = copy.attr["T"].type
    copy.op = "Identity"
    copy.attr.clear()
    copy.attr["T"].type = dtype
