"""Gradients of replicas: summed on the devices instead of on the host."""

from __future__ import annotations

import ast

from app.diagnosis.causes.reduce_on_host.evidence import Evidence
from app.facts.devices import is_gpu, is_host
from app.facts.lines import split_site
from app.fixes.code.change import Change
from app.fixes.code.device_notation import scope_arguments, tf_device
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
_TAKES_KVSTORE = frozenset({"Trainer", "fit", "init_optimizer", "create"})


def reduce_on_host(situation: Situation) -> Draft | None:
    """The kvstore, or the strategy's reduction, that sums on the devices; or the scope that code sums in."""
    if situation.evidence(Evidence).handed_back_at:
        return _sum_on_device(situation)
    if situation.evidence(Evidence).applied_at:
        return None  # another way to keep the variables is more than a line
    if situation.framework == "tensorflow":
        return _cross_device_ops(situation)
    if (place := _only_store(situation)) is None:
        return None
    file, source, named = place
    change, code = Change(source), source.code(named)
    change.replace(named, f"{code[0]}{_ON_DEVICES[str(named.value)]}{code[0]}")
    words = "Sums gradients on the devices: they need memory for that, and rounding may differ a little."
    return situation.draft(words, change.text(), file)


def _only_store(situation: Situation) -> tuple[str, Source, ast.Constant] | None:
    """The one place that names a kvstore of the host: in the finding's file, else in another of the run."""
    found = [(file, source, one) for file, source in situation.sources for one in _stores(source)]
    chosen = [one for one in found if one[0] == situation.file] or found
    return chosen[0] if len(chosen) == 1 else None


def _stores(source: Source) -> set[ast.Constant]:
    """The texts of a file that name a kvstore of the host, for a Trainer or Module, else as an option."""
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)]
    found = {one for call in calls if called(call) in _TAKES_KVSTORE if (one := _named_store(source, call))}
    return found or {one for call in calls if (one := _default_of_option(call))}


def _named_store(source: Source, call: ast.Call) -> ast.Constant | None:
    """The text that names a kvstore of the host, in a call that takes one."""
    if called(call) == "create":
        about = dotted(call.func).rpartition(".")[0].rpartition(".")[2]
        argument = call.args[0] if call.args and about in ("kv", "kvstore") else None
    else:
        named = keyword(call, "kvstore")
        argument = named.value if named else None
    if isinstance(argument, ast.Name):
        argument = value_of(source, argument.id, call)
    return argument if isinstance(argument, ast.Constant) and argument.value in _ON_DEVICES else None


def _default_of_option(call: ast.Call) -> ast.Constant | None:
    """The default of a command line's option for the kvstore."""
    match call:
        case ast.Call(args=[ast.Constant(value=str(option)), *_]) if called(call) == "add_argument":
            default = keyword(call, "default")
            about = option.lstrip("-").replace("_", "-") in ("kvstore", "kv-store")
        case _:
            return None
    value = default.value if default is not None and about else None
    return value if isinstance(value, ast.Constant) and value.value in _ON_DEVICES else None


def _sum_on_device(situation: Situation) -> Draft | None:
    """The code adds gradients up in the host's scope: that becomes the first of their devices'."""
    evidence = situation.evidence(Evidence)
    devices, scopes = flat(evidence.devices), flat(evidence.scope)
    place = split_site(scopes[0]) if len(scopes) == 1 else None
    source = situation.opened(place[0]) if place else None
    if situation.framework != "tensorflow" or place is None or source is None or not devices:
        return None
    named = [
        argument
        for argument in scope_arguments(source)
        if argument.lineno == place[1] and isinstance(argument, ast.Constant)
    ]
    code = tf_device(source, named[0], devices[0]) if len(named) == 1 else None
    if code is None or not is_host(each(evidence.summed_on)[0]):
        return None
    change = Change(source)
    change.replace(named[0], code)
    words = (
        f"Puts the gradients together on {devices[0]}, one of the devices that have them; check that nothing"
        " else in that scope is meant for the host."
    )
    return situation.draft(words, change.text(), place[0])


def _cross_device_ops(situation: Situation) -> Draft | None:
    """A reduction to the host that the code names, in place of one between the devices."""
    source = situation.source
    calls = [node for node in ast.walk(source.tree) if called(node) == "ReductionToOneDevice"]
    call, change = calls[0] if len(calls) == 1 else None, Change(source)
    prefix = dotted(call.func).rpartition(".")[0] if isinstance(call, ast.Call) else ""
    if not prefix or not isinstance(call, ast.Call):
        return None
    devices = flat(situation.evidence(Evidence).devices)
    name, words = "HierarchicalCopyAllReduce", "Sums gradients on the devices by copies between them."
    if devices and all(map(is_gpu, devices)):
        name = "NcclAllReduce"
        words = "Sums gradients between the GPUs with NCCL; it needs all of them to be seen by this process."
    change.replace(call, f"{prefix}.{name}()")
    return situation.draft(words, change.text())
