"""Run a catalogued TensorFlow program and list what TensorFlow itself says about its function graphs.

`python tf_partitions.py OUT.json PROGRAM.py ARGS..`, with TensorFlow's interpreter. It writes one entry
for each function graph that ran: `ops`, a list of [name, op, requested device, assigned device], and
`hops`, a list of [source, destination, sent tensor, bytes or null]. The devices come from the runtime's own
partitions and their send ops, the bytes from TensorFlow's shape inference: nothing of Hopscope takes part.
"""

import json
import runpy
import sys
from pathlib import Path
from typing import Any


def short(device: str) -> str:
    """`cpu:1` for the runtime's long name of it."""
    return device.rpartition("device:")[2].lower()


def unplaced(graph: Any) -> Any:
    """The graph as plain ops that TensorFlow can import again, to infer the shapes of its tensors."""
    import tensorflow as tf

    plain = type(graph)()
    plain.versions.CopyFrom(graph.versions)
    plain.library.CopyFrom(graph.library)
    handles = {node.name: node for node in graph.node if node.attr["_handle_shapes"].list.shape}
    for node in graph.node:
        if node.op == "_Retval":
            continue
        copy = plain.node.add()
        copy.CopyFrom(node)
        copy.device = ""
        copy.attr.pop("_class", None)
        shape = dtype = None
        if node.op == "_Arg":
            dtype = node.attr["T"].type
            if node.attr["_output_shapes"].list.shape:
                shape = node.attr["_output_shapes"].list.shape[0]
        elif node.op == "ReadVariableOp" and node.input[0] in handles:
            handle = handles[node.input[0]].attr
            dtype, shape = handle["_handle_dtypes"].list.type[0], handle["_handle_shapes"].list.shape[0]
        if dtype is not None:
            del copy.input[:]
            copy.op = "Placeholder"
            copy.attr.clear()
            copy.attr["dtype"].type = dtype
            if shape is not None:
                copy.attr["shape"].shape.CopyFrom(shape)
    inferred = tf.Graph()
    with inferred.as_default():
        tf.import_graph_def(plain, name="")
    return inferred


def tensor_bytes(graph: Any, sent: str) -> int | None:
    """The size of a tensor, None where its shape is not known before it runs."""
    tensor = graph.get_tensor_by_name(sent if ":" in sent else f"{sent}:0")
    elements = tensor.shape.num_elements()
    return None if elements is None else elements * tensor.dtype.size


def describe(function: Any) -> dict[str, Any]:
    """Ops and hops of one function graph."""
    requested = {node.name: node.device for node in function.pre_optimization_graph.node}
    graph = None
    ops, hops = [], []
    for partition in function.partition_graphs:
        for node in partition.node:
            if node.op not in ("_Send", "_Recv", "_HostSend", "_HostRecv"):
                ops.append([node.name, node.op, short(requested.get(node.name, "")), short(node.device)])
            if (
                node.op not in ("_Send", "_HostSend")
                or "/ctrl/" in node.input[0]
                or node.input[0].startswith("^")
            ):
                continue
            graph = graph or unplaced(function.post_optimization_graph)
            ends = [short(node.attr[end].s.decode()) for end in ("send_device", "recv_device")]
            hops.append([*ends, node.input[0], tensor_bytes(graph, node.input[0])])
    return {"ops": sorted(ops), "hops": sorted(hops)}


def main() -> None:
    """Run the program with run metadata on, then write what was placed."""
    out, program = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    sys.path[0] = str(Path(program).parents[2] / "helpers")
    from tensorflow.python.eager import context
    from tf_shared import devices

    set_up = devices.set_up

    def set_up_and_watch(*args: Any, **kwargs: Any) -> Any:
        chosen = set_up(*args, **kwargs)
        context.context().enable_run_metadata()
        return chosen

    devices.set_up = set_up_and_watch
    try:
        runpy.run_path(program, run_name="__main__")
    finally:
        ran = context.context().export_run_metadata()
        placed = [describe(function) for function in ran.function_graphs] if ran else []
        Path(out).write_text(json.dumps(placed))


if __name__ == "__main__":
    main()
