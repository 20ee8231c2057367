"""Reads the text in which MXNet describes a bound graph, and tells where its ops are.

The text has the ops of the placed graph with an op `_CrossDeviceCopy` wherever a tensor goes to another
context, but not the contexts.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Optional

COPY = "_CrossDeviceCopy"
_INPUT = re.compile(r"\s*arg\[\d+\]=(?P<name>.*)\((?P<output>\d+)\)(?: version=\d+)?$")
_DEEPEST = 8
"""Sums of sums that are followed to see what gradient a sum is."""


@dataclasses.dataclass
class Written:
    """An op as MXNet's text has it, under a name of its own."""

    op: str
    name: str
    inputs: list[tuple[str, int]]
    group: str = ""
    plain: str = ""
    """The name in the text: MXNet gives one to all sums of gradients."""


def read_debug_text(text: str) -> list[Written]:
    """The ops and variables (op 'null') of `Executor.debug_str()`, in its order.

    An input is written by name, and names of summed gradients repeat: it is then that sum which adds up
    the gradient in question, or else the latest before it, since the text is in the order of a depth-first
    walk.
    """
    found: list[Written] = []
    names = _Names()
    for line in text.splitlines():
        if line.startswith("Variable:"):
            found.append(names.defined("null", line[len("Variable:") :]))
        elif line.startswith("Op:"):
            op, _, name = line[len("Op:") :].partition(", Name=")
            found.append(names.defined(op, name))
        elif found and line.startswith("\t__ctx_group__="):
            found[-1].group = line.partition("=")[2]
        elif found and (match := _INPUT.match(line)):
            found[-1].inputs.append((match["name"], int(match["output"])))
    names.finish()
    return found


class _Names:
    """Tells ops of one name apart."""

    def __init__(self) -> None:
        self._by_name: dict[str, list[Written]] = {}
        self._by_unique: dict[str, Written] = {}
        self._sums: dict[str, Optional[tuple[str, int]]] = {}
        self._last: Optional[Written] = None

    def defined(self, op: str, name: str) -> Written:
        """A new op of this name; the last one's inputs are all read by now."""
        alike = self._by_name.setdefault(name, [])
        unique = f"{name} ({len(alike) + 1})" if alike else name
        self.finish()
        written = Written(op, unique, [], plain=name)
        alike.append(written)
        self._by_unique[unique] = self._last = written
        return written

    def finish(self) -> None:
        """All inputs of the last op are read: let them name the ops that are meant."""
        written, self._last = self._last, None
        if written is None:
            return
        # Asked before its own inputs are told apart, so what comes of it is not kept.
        wanted: Optional[tuple[str, int]] = None
        if written.op != COPY:
            wanted = self._look_up(written, 0) or (written.plain.removesuffix("_backward"), 0)
        inputs = []
        for name, output in written.inputs:
            alike = [other for other in self._by_name.get(name, ()) if other is not written]
            fitting = [other for other in alike if len(alike) > 1 and self._adds_up(other) == wanted]
            chosen = fitting or alike
            inputs.append((chosen[-1].name if chosen else name, output))
        written.inputs = inputs

    def _adds_up(self, written: Written, depth: int = 0) -> Optional[tuple[str, int]]:
        """(forward op, its output) whose gradient a sum of gradients is; None for other ops."""
        if written.name not in self._sums:
            self._sums[written.name] = self._look_up(written, depth)
        return self._sums[written.name]

    def _look_up(self, written: Written, depth: int) -> Optional[tuple[str, int]]:
        if written.op == COPY and written.inputs:
            return self._gradient_of(written.inputs[0], depth)
        if not written.plain.startswith("sum_grad"):
            return None
        for part in reversed(written.inputs):
            found = self._gradient_of(part, depth)
            if found is not None:
                return found
        return None

    def _gradient_of(self, part: tuple[str, int], depth: int) -> Optional[tuple[str, int]]:
        name, output = part
        producer = self._by_unique.get(name)
        if producer is None or depth > _DEEPEST:
            return None
        if producer.op == COPY or producer.plain.startswith("sum_grad"):
            return self._adds_up(producer, depth + 1)
        forward = self._by_unique.get(producer.plain.removesuffix("_backward"))
        if forward is None or forward is producer or output >= len(forward.inputs):
            return None
        source, number = forward.inputs[output]
        through = self._by_unique.get(source)
        while through is not None and through.op == COPY:
            source, number = through.inputs[0]
            through = self._by_unique.get(source)
        return source, number


def places(
    written: list[Written], arrays: Mapping[str, str], groups: Mapping[str, str], default: str
) -> dict[str, str]:
    """The device of each op and variable: groups of ops without a copy between them share one.

    `arrays` gives the device of each bound array by name, `groups` that of each ctx_group. ValueError where
    two members of a group are known to be on different devices.
    """
    parent = {item.name: item.name for item in written}

    def top(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for item in written:
        if item.op != COPY:
            for producer, _ in item.inputs:
                if producer in parent:
                    parent[top(producer)] = top(item.name)
    told: dict[str, str] = {}
    for item in written:
        device = arrays.get(item.name) or groups.get(item.group)
        if device and told.setdefault(top(item.name), device) != device:
            raise ValueError(f"{item.name} is on {device}, and ops beside it on {told[top(item.name)]}")
    return {item.name: told.get(top(item.name), default) for item in written}
