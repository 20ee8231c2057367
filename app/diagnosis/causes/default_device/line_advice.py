"""What to do about ops that nobody placed, by what their line does: no more than that shows."""

from __future__ import annotations

import ast

from app.diagnosis.dialects import function_scopes
from app.facts.devices import default_device, in_order
from app.fixes.code.device_notation import alone
from app.fixes.code.names import called, root_of, value_of
from app.fixes.code.parsed_source import first_line, is_compound, own_nodes
from app.fixes.scopes.distribution_strategies import has_strategy
from app.fixes.situation import Situation
from app.views.naming import some_of

PUT_BESIDE_INPUTS = "Put the op into the device scope of its inputs."
_APPLIES = frozenset({"apply_gradients", "apply", "minimize"})


def line_advice(situation: Situation, said: str) -> str | None:
    """What to do in place of `said`, the advice for any such op; None where nothing fits."""
    if function_scopes.placed_by_strategy(situation):
        return None
    if said != PUT_BESIDE_INPUTS:
        return said
    return _of_producer(situation) or _of_several_devices(situation) or _with_variables(situation, said)


def _of_producer(situation: Situation) -> str | None:
    """Of what is made without a scope for another device to use: its place, and no call that takes it."""
    used_on = in_order(sorted({hop.dst for hop in situation.hops}))
    if situation.framework != "tensorflow" or len(used_on) != 1:
        return None
    if any(hop.cause.blames != "producer" for hop in situation.hops):
        return None
    return (
        f"Make it in the device scope of {used_on[0]}, which uses it; what it is handed to may stay outside."
    )


def _of_several_devices(situation: Situation) -> str:
    """Where no one scope is that of the line's inputs; '' where they are on one device."""
    found = in_order({hop.src for hop in situation.hops if hop.cause.blames == "consumer"})
    if situation.framework != "tensorflow" or len(found) < 2 or has_strategy(situation):
        return ""
    devices = some_of(found, "devices")
    nodes = (node for stmt in situation.statements if not is_compound(stmt) for node in own_nodes(stmt))
    if any(called(node) in _APPLIES for node in nodes):
        return (
            f"Here the optimizer's own ops work on variables of {devices}: apply the gradients of each"
            " device's variables in a call of its own, in that device's scope, by an optimizer that is made"
            " there too."
        )
    return (
        f"Its inputs are on {devices}: put what computes with each device's into that one's scope, and an op"
        " that takes from several beside the largest of its inputs."
    )


def _with_variables(situation: Situation, said: str) -> str | None:
    """Where the op's other inputs are variables made on the default device: they have to come along."""
    default = default_device(situation.devices, "")
    device = alone([hop.src for hop in situation.hops])
    stmt = next((one for one in situation.statements if not is_compound(one)), None)
    if stmt is None or device is None or device == default or situation.framework != "tensorflow":
        return said
    lines = first_line(stmt), stmt.end_lineno or 0
    if default not in situation.ran.homes(situation.file, *lines):
        return said
    if has_strategy(situation):
        return None  # which keeps its variables where it means to
    source = situation.source
    holders = {
        root_of(node.func)
        for node in own_nodes(stmt)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and called(node)
    }
    values = {name: value_of(source, name, stmt) for name in holders - {""}}
    made = {name: value for name, value in values.items() if isinstance(value, ast.Call)}
    if len(made) == 1:
        name, value = made.popitem()
        site = f"{situation.file}:{value.lineno}"
        return (
            f"{name} keeps variables on {default}: make it in the device scope of {device}, at {site}, and"
            " call it in that scope here too; one without the other sends them in each step."
        )
    return (
        f"It uses variables on {default} too: create these in the device scope of {device}, and put the op"
        " there with them; one without the other sends them in each step."
    )
