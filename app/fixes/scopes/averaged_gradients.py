"""Gradients of several devices that a program averages by hand: on one of them, and assigned on each."""

from __future__ import annotations

import ast

from app.facts.devices import default_device, in_order
from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import blocks_around, devices_of, tensorflow, tf_device
from app.fixes.code.names import called, dotted
from app.fixes.code.parsed_source import is_compound, own_nodes
from app.fixes.scopes.distribution_strategies import has_strategy
from app.fixes.scopes.gradient_stages import applied_there
from app.fixes.situation import Draft, Situation

_PLAIN = frozenset({"sum", "len", "zip", "list", "tuple", "enumerate", "range", "float"})
_JOINS = frozenset({"add_n", "stack", "reduce_mean", "reduce_sum", "add", "divide"})


def averaged_by_hand(situation: Situation) -> Draft | None:
    """``avg = [sum(g) / len(g) for g in zip(*all)]``, and ``v.assign_sub(g)`` for each device's variables.

    The average goes to the first of the devices, the assignments each into the scope of its variable: without
    that what they reckon of the average would come by way of the default device.
    """
    source, default = situation.source, default_device(situation.devices, "")
    devices = in_order({hop.src for hop in situation.hops})
    stmt = next((one for one in situation.statements if not is_compound(one)), None)
    if (
        situation.framework != "tensorflow"
        or len(devices) < 2
        or default in devices
        or has_strategy(situation)
    ):
        return None
    if any(hop.cause.blames != "consumer" or hop.dst != default for hop in situation.hops):
        return None
    tf = tensorflow(source, stmt) if stmt is not None else None
    if tf is None or not isinstance(stmt, ast.Assign) or unfolded(source, stmt)[0] is not source:
        return None
    argument = tf_device(source, stmt, devices[0])
    calls = [node for node in own_nodes(stmt) if isinstance(node, ast.Call)]
    plain = all(
        dotted(node.func) in _PLAIN
        or (called(node) in _JOINS and dotted(node.func) == f"{tf}.{called(node)}")
        for node in calls
    )
    if argument is None or not plain or any(devices_of(block) for block in blocks_around(source, stmt)):
        return None
    change = Change(source)
    if not applied_there(source, stmt, tf, change, by_optimizer=False):
        return None
    change.wrap(stmt, f"with {tf}.device({argument}):")
    words = (
        f"Reckons it on {devices[0]}, one of the devices that have its inputs, and what is assigned on each"
        " variable's own; nothing comes by way of the default device then."
    )
    return situation.draft(words, change.text())
