"""A function with all that it calls in one list of ops, as TensorFlow's placer gets it.

Calls are replaced by what they call; a loop's or a branch's parts stand once, joined by Merge ops. Names are
those that TensorFlow gives: the call's name before the op's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from probes.trace.preflight_notes import HANDLES, Forward, Function, Node, Source, Tensor

CALLS = ("PartitionedCall", "StatefulPartitionedCall")
LOOPS = ("While", "StatelessWhile")
BRANCHES = ("If", "StatelessIf", "Case", "StatelessCase")
MOST_OPS = 60_000
NOTHING: Source = (-1_000_000, 0)
"""Where a value comes from that was not noted; an argument of the outermost function is (-1 - number, 0)."""


class TooLarge(Exception):
    """More ops than are worked through."""


class Expanded:
    """A function's ops with all that it calls."""

    def __init__(self, function: Function, functions: Mapping[str, Function]) -> None:
        """TooLarge for very many ops."""
        self.ops: list[Node] = []
        self.compiled: list[tuple[str, int, str]] = []
        """(label, line, device asked for) of the calls that XLA takes whole."""
        self.opaque: list[tuple[str, int]] = []
        """(op, line) of what calls functions that were not noted."""
        self._functions = functions
        self._shapes = function.shapes
        arguments = [(-1 - number, 0) for number in range(len(function.arguments))]
        self.results = self._expand(function, arguments, "", "", "")

    def _expand(
        self, function: Function, arguments: Sequence[Source], prefix: str, requested: str, within: str
    ) -> list[Source]:
        if len(self.ops) > MOST_OPS:
            raise TooLarge
        given = dict(zip(function.arguments, arguments, strict=False))
        sources: dict[Source, Source] = {}
        for number, node in enumerate(function.nodes):
            if number in given:
                sources[(number, 0)] = given[number]
                continue
            inputs = [sources.get(source, NOTHING) for source in node.inputs]
            made = self._node(node, inputs, prefix, node.requested or requested, within)
            for output, source in enumerate(made):
                sources[(number, output)] = source
        return [sources.get(source, NOTHING) for source in function.results]

    def _node(
        self, node: Node, inputs: list[Source], prefix: str, requested: str, within: str
    ) -> list[Source]:
        called = [self._functions.get(name) for names in node.calls.values() for name in names]
        known = [function for function in called if function is not None]
        inner = f"{prefix}{node.name}/"
        if len(known) < len(called):
            self.opaque.append((node.op, node.loc))
        elif any(function.compiled for function in known):
            self.compiled += [(function.label, node.loc, requested) for function in known]
        elif known and node.op in CALLS:
            return self._expand(known[0], inputs, inner, requested, within)
        elif known and node.op in LOOPS:
            return self._loop(node, inputs, inner, requested)
        elif known and node.op in BRANCHES:
            return self._branch(node, known, inputs[1:], inner, requested)
        return self._add(node, inputs, prefix, requested, within)

    def _loop(self, node: Node, inputs: list[Source], prefix: str, requested: str) -> list[Source]:
        merged: list[Source] = []
        for source, tensor in zip(inputs, node.outputs, strict=False):
            plain = tensor.dtype in HANDLES
            merged.append(source if plain else self._merge(node, [source], tensor, prefix, requested, "loop"))
        for attribute in ("cond", "body"):
            function = self._functions[node.calls[attribute][0]]
            results = self._expand(function, merged, f"{prefix}{attribute}/", requested, "loop")
            if attribute == "body":
                for (number, _), result in zip(merged, results, strict=False):
                    if number >= 0 and self.ops[number].op == "Merge":
                        self.ops[number].inputs.append(result)
        return merged

    def _branch(
        self, node: Node, functions: Sequence[Function], inputs: list[Source], prefix: str, requested: str
    ) -> list[Source]:
        results = [
            self._expand(function, inputs, f"{prefix}{number}/", requested, "branch")
            for number, function in enumerate(functions)
        ]
        return [
            self._merge(node, list(sources), tensor, prefix, requested, "branch")
            for tensor, *sources in zip(node.outputs, *results, strict=False)
        ]

    def _merge(
        self, node: Node, inputs: list[Source], tensor: Tensor, prefix: str, requested: str, within: str
    ) -> Source:
        merge = Node(
            name=f"{prefix}merge_{len(self.ops)}",
            op="Merge",
            types={"T": tensor.dtype, "N": "2"},
            requested=requested,
            loc=node.loc,
            forward=Forward(0, ""),
            inputs=inputs,
            outputs=(tensor,),
            within=within,
        )
        self.ops.append(merge)
        return len(self.ops) - 1, 0

    def _add(
        self, node: Node, inputs: list[Source], prefix: str, requested: str, within: str
    ) -> list[Source]:
        name = prefix + node.name
        outputs = tuple(
            self._shapes.get(f"{name}:{output}", tensor) if tensor.bytes is None else tensor
            for output, tensor in enumerate(node.outputs)
        )
        beside = [prefix + other for other in node.beside]
        op = dataclasses.replace(node, name=name, requested=requested, inputs=inputs, within=within)
        self.ops.append(dataclasses.replace(op, outputs=outputs, beside=beside))
        return [(len(self.ops) - 1, output) for output in range(len(outputs))]


def live(ops: Sequence[Node], results: Sequence[Source]) -> set[int]:
    """The numbers of the ops that a result or an effect needs; the others are pruned before they run."""
    needed = [number for number, _ in results if number >= 0]
    needed += [
        number
        for number, op in enumerate(ops)
        if not op.outputs or any("resource" in str(one) for one in op.types.values()) or _has_effect(op)
    ]
    found: set[int] = set()
    while needed:
        number = needed.pop()
        if number in found:
            continue
        found.add(number)
        needed += [source for source, _ in ops[number].inputs if source >= 0 and source not in found]
    return found


def _has_effect(op: Node) -> bool:
    return op.op.startswith(
        ("Assign", "Resource", "EagerPyFunc", "PyFunc", "Write", "Print", "Save", "Iterator")
    )
