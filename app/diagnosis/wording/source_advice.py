"""A finding's advice in words, by what its line's source does with the value: no more than that shows."""

from __future__ import annotations

import ast

from app.diagnosis.wording import advice
from app.facts.devices import default_device, in_order
from app.fixes.clocks.measurements import for_timing
from app.fixes.code.device_notation import alone, arrays, tensorflow
from app.fixes.code.names import assignment_of, called, dotted, root_of
from app.fixes.code.parsed_source import first_line, is_compound, own_nodes
from app.fixes.contexts.array_creators import of_mixed
from app.fixes.flow.host_reads import takes
from app.fixes.flow.metric_updates import of_metric, taken_by_mxnet
from app.fixes.flow.returned_data import taken_before
from app.fixes.flow.value_flow import uses
from app.fixes.flow.value_roles import Role, Use
from app.fixes.loops.array_rows import of_rows
from app.fixes.loops.running_averages import of_carried
from app.fixes.loops.sums_by_device import of_many_summed
from app.fixes.replicas.trainers import of_drift
from app.fixes.scopes.created_variables import of_home
from app.fixes.scopes.distribution_strategies import has_strategy
from app.fixes.scopes.gradient_stages import forward_devices
from app.fixes.scopes.keras_fit import trains_a_model
from app.fixes.scopes.nearest_device import named_at
from app.fixes.situation import Situation
from app.fixes.syncs.blocking_options import of_clipping
from app.fixes.syncs.library_calls import of_library
from app.fixes.syncs.library_loops import of_fit
from app.views.naming import some_of

_APPLIES = frozenset({"apply_gradients", "apply", "minimize"})
_PLAIN = frozenset({"min", "max", "float", "int", "round", "abs", "len", "pow"})


_IN_STAGES = (
    "One call computes all its gradients in one scope: record each device's part by a tape of its own, one"
    " after the other, each in that device's scope and watching the tensor that comes from the part before."
    " Take the last part's gradients first, in its scope, that tensor's among them, and hand this one to the"
    " part before as output_gradients."
)


def in_words(situation: Situation, said: str) -> str | None:
    """What to do in place of `said`, the advice for the finding's cause; None where nothing fits."""
    code = situation.finding.code
    if code == "host-sync" and (timing := for_timing(situation)) is not None:
        return timing
    if code == "host-sync" and (known := of_library(situation)) is not None:
        return known
    if code == "host-sync" and said == advice.EITHER:
        return _of_sync(situation)
    if code == "missing-device":
        return named_at(situation, said)
    if code == "mixed-context":
        return of_mixed(situation, said)
    if code == "replica-drift" and situation.framework == "mxnet":
        return of_drift(situation, said)
    if code == "host-upload" and (taken := taken_before(situation)) is not None:
        return (
            f"Its data was taken from {taken[0]} at {taken[1]}: hand the tensor itself on, and make what is"
            " made of it in between on the device, with the framework's ops; then nothing is sent."
        )
    if code == "variable-home":
        return of_home(situation, said)
    placed_by_others = code in ("bounce", "default-device") and has_strategy(situation)
    if placed_by_others and (situation.evidence("result_of_a_call") or trains_a_model(situation)):
        return None  # the strategy calls the function for each of its devices, and places what Keras trains
    if code == "gradient-outside-scope" and len(forward_devices(situation)) > 1:
        return _IN_STAGES
    if code == "default-device" and said == advice.PUT_BESIDE_INPUTS:
        return _of_producer(situation) or _of_several_devices(situation) or _with_variables(situation, said)
    return said


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


def _of_sync(situation: Situation) -> str:
    if (site := _assigned_by_python(situation)) is not None:
        return f"Note the value where Python assigns it, at {site}: it is known there, and nothing waits."
    for known in (of_fit, of_metric, of_clipping, of_rows):
        if (said := known(situation)) is not None:
            return said
    found = sorted(uses(situation), key=lambda use: list(Role).index(use.role))
    followed = all(use.role in (Role.KEPT, Role.UNKNOWN) for use in found)
    for summed in (of_many_summed(situation), of_carried(situation, sums=bool(found))):
        if followed and summed is not None:
            return summed
    if not found:
        return advice.LOOKED_AT
    first = found[0]
    if first.role == Role.ENVIRONMENT:
        # What the environment is handed was chosen first.
        first = next((use for use in found if use.role == Role.CHOOSES), first)
    if first.role in (Role.SELECTS, Role.ASSIGNS, Role.KEPT, Role.UNKNOWN):
        back = next((to for use in found if (to := _sent_back(situation, use)) is not None), None)
        if back is not None:
            return (
                f"It is sent back to {back[0]} at {back[1]}: hand the tensor itself on there, or compute"
                " with it on the device."
            )
    return _sentence(situation, first)


def _sentence(situation: Situation, use: Use) -> str:
    where, gather, loop, mask = _named_ops(situation)
    if use.role == Role.ENDS_LOOP:
        return (
            f"It decides at {use.site} whether the loop goes on: test every so many rounds only if further"
            f" rounds do no harm{loop}."
        )
    if use.role == Role.FAILS:
        return (
            f"It is checked at {use.site} in each step: check every so many steps if those until then do no"
            " harm."
        )
    if use.role == Role.DECIDES and (clip := _clipping(situation)):
        return (
            f"The `if` at {use.site} needs it in each step. Where it limits gradients, limit them on the"
            f" device with {clip}: that decides there, and nothing waits."
        )
    if use.role == Role.DECIDES:
        return (
            f"The `if` at {use.site} needs it in each step. Where it decides what is computed, choose between"
            f" the new and the old values on the device with {where}; ask seldom only where what it guards"
            " may wait."
        )
    if use.role == Role.ENVIRONMENT:
        return (
            f"{use.by} at {use.site} needs it in each step: take all of a step's values in one fetch, those"
            " of several environments together."
        )
    if use.role == Role.GOES_BACK:
        return (
            f"{use.by} at {use.site} goes on with it: hand the tensor itself on there; where that takes only"
            f" numbers, compute with a mask on the device ({mask})."
        )
    if use.role == Role.COMES_BACK:
        return (
            f"What is made of it goes back by {use.by} at {use.site}: make that on the device, with the"
            " framework's ops; where Python has to make it, take all that it needs of a step in one fetch."
        )
    if use.role == Role.METRIC and situation.framework == "mxnet":
        return taken_by_mxnet(use.by, use.site)
    if use.role == Role.METRIC:
        return (
            f"{use.by} at {use.site} is of a metric of Keras, which reckons with tensors too: hand it the"
            " tensor itself, and nothing waits until its result is read."
        )
    if use.role == Role.LIKE_METRIC:
        return (
            f"If {use.by} at {use.site} is of a metric of Keras, hand it the tensor itself: it reckons on the"
            " device then, and nothing waits until its result is read."
        )
    if use.role == Role.CHOOSES:
        return (
            f"{use.by} at {use.site} chooses by it, and the program goes on with the choice: choose on the"
            f" device ({_choosing(situation, use.by)}), and take only what is chosen, that of several"
            " environments or samples in one fetch."
        )
    if use.role == Role.SELECTS:
        return (
            f"It selects from {use.by} at {use.site}: if that is a tensor, select on the device with"
            f" {gather}; else take all that a step selects by in one fetch."
        )
    if use.role == Role.ASSIGNS:
        return (
            f"It tells which part of {use.by} is assigned at {use.site}: take all that a step needs for that"
            " in one fetch."
        )
    if use.role == Role.KEPT:
        return (
            f"It is kept in {use.by} at {use.site}, which other code reads: take all that this needs of a"
            " step in one fetch, or, if it is only looked at, once at the end."
        )
    return advice.EITHER


def _choosing(situation: Situation, name: str) -> str:
    """How the file writes on the device what Python chooses by."""
    stmt = next(iter(situation.statements), situation.source.tree)
    draws = name.startswith("choice")
    if situation.framework == "mxnet":
        nd = arrays(situation.source, stmt) or "mx.nd"
        return f"{nd}.sample_multinomial, of probabilities" if draws else f"{nd}.{name}"
    tf = tensorflow(situation.source, stmt) or "tf"
    return f"{tf}.random.categorical, of their logarithms" if draws else f"{tf}.{name}"


def _clipping(situation: Situation) -> str:
    """How the file writes the limit to what is taken, if that is a norm; '' for other values."""
    taken = [take for stmt in situation.statements for take in takes(situation, stmt)]
    names = {called(part) for take in taken for part in ast.walk(take.value)}
    if situation.framework == "tensorflow":
        tf = tensorflow(situation.source, taken[0].node) if taken else None
        return f"{tf or 'tf'}.clip_by_global_norm" if "global_norm" in names else ""
    powers = any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow)
        for take in taken
        for part in ast.walk(take.value)
    )
    norm = "norm" in names or ("sqrt" in names and (powers or names & {"square", "power"}))
    return "gluon.utils.clip_global_norm(.., check_isfinite=False)" if norm else ""


def _named_ops(situation: Situation) -> tuple[str, str, str, str]:
    """How the file writes a choice and a selection by values, and more for loops and masks."""
    at = situation.source.tree
    stmt = next(iter(situation.statements), at)
    if situation.framework == "mxnet":
        nd = arrays(situation.source, stmt) or "mx.nd"
        return f"{nd}.where", f"{nd}.take", "", f"a comparison, {nd}.where"
    tf = tensorflow(situation.source, stmt) or "tf"
    loop = f", or make the whole loop a {tf}.while_loop in one {tf}.function"
    return f"{tf}.where", f"{tf}.gather", loop, f"a comparison, {tf}.where"


def _sent_back(situation: Situation, use: Use) -> tuple[str, str] | None:
    """The device and the line where the run sent Python's data in the statement that uses the value."""
    for hop in situation.others:
        if (
            hop.kind == "upload"
            and hop.count != 0
            and hop.site == use.site
            and hop.dst in _taken_from(situation)
        ):
            return (hop.dst, use.site) if use.site != situation.finding.site else None
    return None


def _taken_from(situation: Situation) -> set[str]:
    return {hop.src for hop in situation.hops}


def _assigned_by_python(situation: Situation) -> str | None:
    """The one line that gives the taken variable its value, if Python's data went there."""
    source = situation.source
    for stmt in situation.statements:
        for take in takes(situation, stmt):
            path = dotted(take.value)
            calls = (node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
            giving = [call for call in calls if path and _gives(call, path)]
            if len(giving) != 1:
                continue
            site = f"{situation.file}:{giving[0].lineno}"
            sent = any(
                hop.cause.code == "host-upload" and hop.site == site and hop.dst in _taken_from(situation)
                for hop in situation.others
                if hop.count != 0
            )
            if sent and _reckoned(giving[0]):
                return site
    return None


def _gives(call: ast.Call, path: str) -> bool:
    """Whether it is ``variable.assign(..)``."""
    method = call.func
    return isinstance(method, ast.Attribute) and method.attr == "assign" and dotted(method.value) == path


def _reckoned(call: ast.Call) -> bool:
    """Whether Python's own functions alone make what is assigned."""
    calls = [part for one in call.args for part in ast.walk(one) if isinstance(part, ast.Call)]
    return len(call.args) == 1 and all(dotted(one.func) in _PLAIN for one in calls)


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
    made = {
        name: assignment
        for name in holders - {""}
        if (assignment := assignment_of(source, name, stmt)) is not None
        and isinstance(assignment.value, ast.Call)
    }
    if len(made) == 1:
        name, assignment = made.popitem()
        site = f"{situation.file}:{first_line(assignment)}"
        return (
            f"{name} keeps variables on {default}: make it in the device scope of {device}, at {site}, and"
            " call it in that scope here too; one without the other sends them in each step."
        )
    return (
        f"It uses variables on {default} too: create these in the device scope of {device}, and put the op"
        " there with them; one without the other sends them in each step."
    )
