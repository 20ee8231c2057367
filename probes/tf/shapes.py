"""Shapes of every tensor of a placed graph, by TensorFlow's own shape functions, without running it."""

from __future__ import annotations

from typing import Any, Optional

Shape = tuple[Optional[list[Optional[int]]], str, int]
"""(extents, None where unknown; dtype's name; bytes an element, 0 where it has no fixed size)."""

_OWN = "hopscope"
"""Goes before the names of nodes that the runtime made itself: an imported graph may have no ``_name``."""
_HANDED_ON = ("Enter", "RefEnter", "Exit", "NextIteration", "Switch", "Merge", "Identity")
_PASS = ("Enter", "RefEnter", "Exit", "NextIteration", "_EagerConst")


def infer_shapes(graph: Any, arguments: Optional[Any]) -> dict[tuple[str, int], Shape]:
    """(node, output slot) -> shape, for the nodes of a post-optimization GraphDef.

    Arguments become placeholders of the shapes of the call's tensors; a variable's read has its
    handle's shape. A loop's merge takes the shape that enters the loop: TensorFlow requires shapes to
    be invariant over iterations unless the code relaxed them, and then they are unknown here too.
    """
    import tensorflow as tf
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
        if node.op in ("_Arg", "_DeviceArg"):
            _to_placeholder(copy, node, arguments)
        elif node.op == "ReadVariableOp" and _handle(node, nodes) in handles:
            shape, dtype = handles[_handle(node, nodes)]
            _placeholder(copy, dtype, shape)
        elif (
            node.op == "ResourceGather" and _handle(node, nodes) in handles and not node.attr["batch_dims"].i
        ):
            shape, dtype = handles[_handle(node, nodes)]
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
    inferred = tf.Graph()
    with inferred.as_default():
        tf.graph_util.import_graph_def(definition, name="")
    for op in inferred.get_operations():
        for slot, tensor in enumerate(op.outputs):
            rank = tensor.shape.rank
            dims = None if rank is None else list(tensor.shape.as_list())
            dtype = tensor.dtype.base_dtype
            fixed = dtype.size if dtype.name not in ("string", "resource", "variant") else 0
            result[(op.name.removeprefix(_OWN), slot)] = (dims, dtype.name, int(fixed))
    return result


def _renamed(text: str, own: dict[str, str]) -> str:
    name, colon, slot = text.partition(":")
    return own.get(name, name) + colon + slot


def _handle(read: Any, nodes: dict[str, Any]) -> str:
    """The argument whose handle a read takes, looked for through the plumbing of loops and branches."""
    name = read.input[0].split(":")[0]
    while name in nodes and nodes[name].op in _HANDED_ON and nodes[name].input:
        name = nodes[name].input[0].split(":")[0]
    return str(name)


def _handle_shapes(graph: Any, arguments: Optional[Any]) -> dict[str, tuple[Any, int]]:
    result: dict[str, tuple[Any, int]] = {}
    for node in graph.node:
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


def _to_placeholder(copy: Any, node: Any, arguments: Optional[Any]) -> None:
    tensor = _argument(node, arguments)
    shape = None
    if tensor is not None:
        shape = tensor.shape.as_proto()
    elif "_output_shapes" in node.attr and node.attr["_output_shapes"].list.shape:
        shape = node.attr["_output_shapes"].list.shape[0]
    _placeholder(copy, node.attr["T"].type, shape)


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
