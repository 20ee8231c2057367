"""Gradients of replicas: summed on the devices instead of on the host."""

from __future__ import annotations

import ast

from app.diagnosis.causes.reduce_on_host.evidence import Evidence
from app.facts.devices import is_gpu, is_host
from app.fixes.code.device_notation import alone, scope_arguments, tf_device
from app.fixes.code.names import called, dotted, keyword, value_of
from app.fixes.code.parsed_source import Source
from app.fixes.situation import Draft, Situation
from app.views.naming import each, flat

_ON_DEVICES = {
    "local": "device",
    "local_update_cpu": "device",
    "local_allreduce_cpu": "device",
    "dist_sync": "dist_device_sync",
}
_WITH_KVSTORE = frozenset({"Trainer", "fit", "init_optimizer", "create"})


def summed_on_devices(situation: Situation) -> Draft | None:
    """The kvstore, or the strategy's reduction, that sums on the devices; or the scope that code sums in."""
    if situation.evidence(Evidence).handed_back_at:
        return _sum_on_device(situation)
    if situation.evidence(Evidence).applied_at:
        return None  # another way to keep the variables is more than a line
    return _cross_device_ops(situation) if situation.framework == "tensorflow" else _kvstore(situation)


def _kvstore(situation: Situation) -> Draft | None:
    """The one place that names a kvstore of the host: in the finding's file, else in another of the run."""
    named = [(file, source, one) for file, source in situation.sources for one in _stores(source)]
    place = alone([one for one in named if one[0] == situation.file] or named)
    if place is None or (there := situation.at(f"{place[0]}:1")) is None:
        return None
    _, source, store = place
    words = "Sums gradients on the devices: they need memory for that, and rounding may differ a little."
    quote = source.code(store)[0]
    return there.replaced(words, store, f"{quote}{_ON_DEVICES[str(store.value)]}{quote}")


def _stores(source: Source) -> set[ast.Constant]:
    """The texts of a file that name a kvstore of the host, for a Trainer or Module, else as an option."""
    calls = source.every(ast.Call)
    named = [_named_store(source, call) for call in calls if called(call) in _WITH_KVSTORE]
    for found in (named, map(_default_of_option, calls)):
        if stores := {one for one in found if isinstance(one, ast.Constant) and one.value in _ON_DEVICES}:
            return stores
    return set()


def _named_store(source: Source, call: ast.Call) -> ast.expr | None:
    """What names the kvstore in a call that takes one."""
    if called(call) == "create":
        about = dotted(call.func).rpartition(".")[0].rpartition(".")[2]
        argument = call.args[0] if call.args and about in ("kv", "kvstore") else None
    else:
        argument = named.value if (named := keyword(call, "kvstore")) else None
    return value_of(source, argument.id, call) if isinstance(argument, ast.Name) else argument


def _default_of_option(call: ast.Call) -> ast.expr | None:
    """The default of a command line's option for the kvstore."""
    match call:
        case ast.Call(args=[ast.Constant(value=str(option)), *_]) if called(call) == "add_argument":
            default = keyword(call, "default")
            about = option.lstrip("-").replace("_", "-") in ("kvstore", "kv-store")
            return default.value if default is not None and about else None
    return None


def _sum_on_device(situation: Situation) -> Draft | None:
    """The code adds gradients up in the host's scope: that becomes the first of their devices'."""
    evidence = situation.evidence(Evidence)
    devices, scope = flat(evidence.devices), alone(each(evidence.scope))
    there = situation.at(scope) if scope is not None else None
    if situation.framework != "tensorflow" or there is None or not devices:
        return None
    arguments = (one for one in scope_arguments(there.source) if one.lineno == there.line)
    named = alone([one for one in arguments if isinstance(one, ast.Constant)])
    code = tf_device(there.source, named, devices[0]) if named is not None else None
    if named is None or code is None or not is_host(each(evidence.summed_on)[0]):
        return None
    words = (
        f"Puts the gradients together on {devices[0]}, one of the devices that have them; check that nothing"
        " else in that scope is meant for the host."
    )
    return there.replaced(words, named, code)


def _cross_device_ops(situation: Situation) -> Draft | None:
    """A reduction to the host that the code names, in place of one between the devices."""
    calls = situation.source.every(ast.Call)
    call = alone([one for one in calls if called(one) == "ReductionToOneDevice"])
    prefix = dotted(call.func).rpartition(".")[0] if call is not None else ""
    if call is None or not prefix:
        return None
    devices = flat(situation.evidence(Evidence).devices)
    name, words = "HierarchicalCopyAllReduce", "Sums gradients on the devices by copies between them."
    if devices and all(map(is_gpu, devices)):
        name = "NcclAllReduce"
        words = "Sums gradients between the GPUs with NCCL; it needs all of them to be seen by this process."
    return situation.replaced(words, call, f"{prefix}.{name}()")
