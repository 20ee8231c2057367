"""The nodes of a placed graph: what of the code each is, and which the runtime put in by itself."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .origins import PLUMBING, OpNote

SENDS = ("_Send", "_HostSend")
RECVS = ("_Recv", "_HostRecv")
ARGUMENTS = ("_Arg", "_DeviceArg")
RESULTS = ("_Retval", "_DeviceRetval")
_KERNEL_AFFIXES = re.compile(r"^_(?:Mkl)?(?:Native)?(?:Fused)?")


class Node(NamedTuple):
    """An op where it was put."""

    number: int
    proto: Any
    device: str
    note: OpNote


def op_type(node: Node) -> str:
    """The op type that the code made; the runtime may have put a kernel of another name in its place."""
    if node.proto.op in ARGUMENTS:
        return "_Arg"
    if node.proto.op in PLUMBING and node.proto.op != "Identity":
        return str(node.proto.op)
    if node.proto.op in RESULTS:
        return "_Retval"
    fused = [part.decode() for part in node.proto.attr["fused_ops"].list.s]
    if fused:  # one kernel for several ops, under the last one's name
        return "+".join([kernel_of(node.proto.op), *fused])
    return node.note.type or str(node.proto.op)


def kernel_of(op: str) -> str:
    """The op type for which the runtime put a kernel of this name: ``MatMul`` for ``_MklMatMul``."""
    return _KERNEL_AFFIXES.sub("", op)


def pair_of(node: Any) -> tuple[str, str, str]:
    """What a send and its receive have in common: both devices and the tensor's name."""
    attr = node.attr
    return attr["send_device"].s.decode(), attr["recv_device"].s.decode(), attr["tensor_name"].s.decode()


def internal(node: Any) -> bool:
    """What partitioning adds: control edges' carriers and the loop control of other partitions."""
    return node.name.startswith("_cloop") or "/ctrl/_" in node.name or node.op == "NoOp"
