"""Gradients of replicas: summed on the devices, and summed at all."""

from __future__ import annotations

import ast

from app.analysis.devices import is_gpu
from app.analysis.repairs.change import Change, unfolded
from app.analysis.repairs.names import called, dotted, keyword, value_of
from app.analysis.repairs.situation import Draft, Situation
from app.analysis.repairs.source import Source, own_nodes

_ON_DEVICES = {
    "local": "device",
    "local_update_cpu": "device",
    "local_allreduce_cpu": "device",
    "dist_sync": "dist_device_sync",
}
_TAKES_KVSTORE = frozenset({"Trainer", "fit", "init_optimizer", "create"})


def reduce_on_host(situation: Situation) -> Draft | None:
    """The kvstore, or the strategy's reduction, that sums on the devices."""
    if situation.framework == "tensorflow":
        return _cross_device_ops(situation)
    source = situation.source
    found = {
        node for call in _calls(source, *_TAKES_KVSTORE) if (node := _named_store(source, call)) is not None
    }
    found |= set(_default_of_option(source)) if not found else set()
    change = Change(source)
    if len(found) == 1:
        named = found.pop()
        code = source.code(named)
        change.replace(named, f"{code[0]}{_ON_DEVICES[str(named.value)]}{code[0]}")
    elif not found:
        fits = [call for call in _calls(source, "fit") if not keyword(call, "kvstore") and call.args]
        if (
            len(fits) != 1
            or _calls(source, "Trainer", "create")
            or any(one.arg is None for one in fits[0].keywords)
        ):
            return None
        change.add_argument(fits[0], 'kvstore="device"')
    else:
        return None
    words = "Sums gradients on the devices: they need memory for that, and rounding may differ a little."
    return situation.draft(words, change.text())


def replica_drift(situation: Situation) -> Draft | None:
    """The Trainer gets a kvstore, and exchanges gradients before each update."""
    source = situation.source
    trainers = _calls(source, "Trainer")
    if situation.framework != "mxnet" or len(trainers) != 1:
        return None
    trainer = trainers[0]
    store, own_update = keyword(trainer, "kvstore"), keyword(trainer, "update_on_kvstore")
    if any(one.arg is None for one in trainer.keywords) or len(trainer.args) > 3:
        return None
    for stmt in situation.statements:
        updates = [
            node
            for node in own_nodes(stmt)
            if isinstance(node, ast.Call) and called(node) in ("update", "step")
        ]
        if len(updates) != 1 or not isinstance(stmt, ast.Expr) or stmt.value is not updates[0]:
            continue
        apart = called(updates[0]) == "update"
        source, now = unfolded(source, stmt)
        moved, making = now(stmt), now(trainer)
        change = Change(source)
        if store is not None and isinstance(store.value, ast.Constant) and store.value.value is None:
            change.replace(now(store.value), '"device"')
        elif not apart:
            return None  # it has one, by default too
        if apart:
            owner = situation.source.code(updates[0].func).removesuffix(".update")
            change.line_before(moved, f"{owner}.allreduce_grads()")
            if own_update is None:
                change.add_argument(making, "update_on_kvstore=False")
            elif not isinstance(own_update.value, ast.Constant) or own_update.value.value is not False:
                return None
        words = (
            "Has the replicas sum their gradients before each update: check that the batch size that the"
            " Trainer is given counts all replicas, and start from equal weights."
        )
        return situation.draft(words, change.text())
    return None


def _calls(source: Source, *names: str) -> list[ast.Call]:
    return [node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and called(node) in names]


def _named_store(source: Source, call: ast.Call) -> ast.Constant | None:
    """The text that names a kvstore that sums on the host, in a call that takes one."""
    if called(call) == "create":
        about = dotted(call.func).rpartition(".")[0].rpartition(".")[2]
        argument = call.args[0] if call.args and about in ("kv", "kvstore") else None
    else:
        named = keyword(call, "kvstore")
        argument = named.value if named else None
    if isinstance(argument, ast.Name):
        argument = value_of(source, argument.id, call)
    known = isinstance(argument, ast.Constant) and argument.value in _ON_DEVICES
    return argument if known and isinstance(argument, ast.Constant) else None


def _default_of_option(source: Source) -> list[ast.Constant]:
    """The default of a command line's option for the kvstore."""
    found = []
    for call in _calls(source, "add_argument"):
        option = call.args[0] if call.args else None
        default = keyword(call, "default")
        about = isinstance(option, ast.Constant) and str(option.value).lstrip("-").replace("_", "-") in (
            "kvstore",
            "kv-store",
        )
        if (
            about
            and default
            and isinstance(default.value, ast.Constant)
            and default.value.value in _ON_DEVICES
        ):
            found.append(default.value)
    return found


def _cross_device_ops(situation: Situation) -> Draft | None:
    """A reduction to the host that the code names, in place of one between the devices."""
    source = situation.source
    calls = _calls(source, "ReductionToOneDevice")
    if len(calls) != 1:
        return None
    call, change = calls[0], Change(source)
    prefix = dotted(call.func).rpartition(".")[0]
    devices = [str(name) for name in situation.evidence("devices")]
    if devices and all(is_gpu(name) for name in devices) and prefix:
        change.replace(call, f"{prefix}.NcclAllReduce()")
        words = "Sums gradients between the GPUs with NCCL; it needs all of them to be seen by this process."
    elif prefix:
        change.replace(call, f"{prefix}.HierarchicalCopyAllReduce()")
        words = "Sums gradients on the devices by copies between them, without the host."
    else:
        return None
    return situation.draft(words, change.text())
