"""Finds, in what servers wrote, the graph that a worker made of a function: whole, and as partitions.

``NAME.0015.main.before_partition.pb`` is the placed graph before it is cut; its partitions follow, one a
device: ``NAME_partition__job:ps_replica:0_task:0_device:CPU:0.0003.main.after_partition_passes.pb``.
A function that is placed again is written again, under higher numbers. Older
TensorFlows write text, ``.pbtxt``.
"""

from __future__ import annotations

import glob
import os
import re
from typing import Any, NamedTuple, Optional

_WHOLE = ".main.before_partition.pb*"
_PART = ".main.after_partition_passes.pb*"


class Placed(NamedTuple):
    """What run metadata has of a function that the process itself placed."""

    post_optimization_graph: Any
    partition_graphs: list[Any]


class Dumps:
    """The files of all servers of a run, by function."""

    def __init__(self, folder: str, ending: str) -> None:
        """`ending` is that of the servers' folders inside `folder`."""
        self._pattern = os.path.join(glob.escape(folder), f"*{ending}")
        self._taken: set[str] = set()

    def take(self, function: str, task: str) -> Optional[Placed]:
        """The newest graph of `function` that runs on `task` (``/job:worker/replica:0/task:1``), once.

        None while its files are not all there.
        """
        safe = glob.escape(re.sub(r"[/\[\]*?]", "_", function))
        for whole in sorted(glob.glob(os.path.join(self._pattern, f"{safe}.*{_WHOLE}")), reverse=True):
            if whole in self._taken:
                continue
            graph = _read(whole)
            if graph is None or not any(_task(node.device) == task for node in graph.node):
                continue
            parts = self._parts(os.path.dirname(whole), safe, graph)
            if parts is None:
                continue
            self._taken.add(whole)
            return Placed(graph, parts)
        return None

    def _parts(self, folder: str, safe: str, graph: Any) -> Optional[list[Any]]:
        """One partition a device of the graph: the newest that was cut from it, by whom it exchanges with."""
        devices = {node.device for node in graph.node}
        parts = []
        for device in sorted(devices):
            name = f"{safe}_partition_{device.replace('/', '_')}.*{_PART}"
            files = sorted(glob.glob(os.path.join(glob.escape(folder), name)), reverse=True)
            read = (_read(file) for file in files)
            part = next((p for p in read if p is not None and _ends(p) <= devices), None)
            if part is None:
                return None
            parts.append(part)
        return parts


def _read(path: str) -> Optional[Any]:
    """The graph in a file; None where it is being written: what every graph has comes last."""
    from google.protobuf import message, text_format
    from tensorflow.core.framework import graph_pb2

    graph = graph_pb2.GraphDef()
    try:
        with open(path, "rb") as file:
            data = file.read()
        if path.endswith("txt"):
            text_format.Parse(data, graph)
        else:
            graph.ParseFromString(data)
    except (OSError, message.DecodeError, text_format.ParseError):
        return None
    return graph if graph.versions.producer else None


def _task(device: str) -> str:
    return device.partition("/device:")[0]


def _ends(part: Any) -> set[str]:
    """The devices that a partition sends to and receives from."""
    return {
        node.attr[end].s.decode()
        for node in part.node
        if node.op in ("_Send", "_HostSend", "_Recv", "_HostRecv")
        for end in ("send_device", "recv_device")
    }
