"""Gradients of replicas: summed on the devices, and summed at all."""

from __future__ import annotations

import ast
from collections.abc import Container

from app.facts.devices import is_gpu, is_host
from app.facts.lines import split_site
from app.fixes.code.change import Change
from app.fixes.code.device_notation import scope_arguments, tf_device
from app.fixes.code.names import called, dotted, keyword, value_of
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.replicas.trainers import trainer_of
from app.fixes.situation import Draft, Situation

_ON_DEVICES = {
    "local": "device",
    "local_update_cpu": "device",
    "local_allreduce_cpu": "device",
    "dist_sync": "dist_device_sync",
}
_DRIFT = (
    "Has the replicas sum their gradients before each update: check that the batch size that the"
    " Trainer is given counts all replicas, and start from equal weights."
)
_STEPS = frozenset({"step", "update", "allreduce_grads"})
_TAKES_KVSTORE = frozenset({"Trainer", "fit", "init_optimizer", "create"})


def reduce_on_host(situation: Situation) -> Draft | None:
    """The kvstore, or the strategy's reduction, that sums on the devices; or the scope that code sums in."""
    if situation.evidence("handed_back_at"):
        return _sum_on_device(situation)
    if situation.evidence("applied_at"):
        return None  # another way to keep the variables is more than a line
    if situation.framework == "tensorflow":
        return _cross_device_ops(situation)
    words = "Sums gradients on the devices: they need memory for that, and rounding may differ a little."
    if (place := _only_store(situation, _ON_DEVICES)) is not None:
        file, source, named = place
        change, code = Change(source), source.code(named)
        change.replace(named, f"{code[0]}{_ON_DEVICES[str(named.value)]}{code[0]}")
        return situation.draft(words, change.text(), file)
    source = situation.source
    fits = [call for call in _calls(source, "fit") if not keyword(call, "kvstore") and call.args]
    if (
        len(fits) != 1
        or _calls(source, "Trainer", "create")
        or _stores(source, _ON_DEVICES)
        or any(one.arg is None for one in fits[0].keywords)
    ):
        return None
    change = Change(source)
    change.add_argument(fits[0], 'kvstore="device"')
    return situation.draft(words, change.text())


def _only_store(situation: Situation, names: Container[object]) -> tuple[str, Source, ast.Constant] | None:
    """The one place that names a kvstore of some names: in the finding's file, else in another of the run."""
    found = _stores(situation.source, names)
    if len(found) > 1:
        found &= _of_the_step(situation, names)
    if found:
        return (situation.file, situation.source, found.pop()) if len(found) == 1 else None
    others = [
        (file, source, one)
        for file in situation.files
        if file != situation.file and (source := situation.opened(file)) is not None
        for one in _stores(source, names)
    ]
    return others[0] if len(others) == 1 else None


def _of_the_step(situation: Situation, names: Container[object]) -> set[ast.Constant]:
    """What names the kvstore of the Trainer that steps at the finding's line, where the file says so."""
    source, found = situation.source, set[ast.Constant]()
    for node in (node for stmt in situation.statements for node in own_nodes(stmt)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        made = _maker(source, node.func.value) if node.func.attr in _STEPS else None
        named = _named_store(source, made, names) if made else None
        if named is not None:
            found.add(named)
    return found


def _maker(source: Source, owner: ast.expr) -> ast.Call | None:
    """The one call that makes what a name, or an attribute of some object, stands for."""
    if isinstance(owner, ast.Name):
        value = value_of(source, owner.id, owner)
    else:
        wanted = dotted(owner)
        assigns = [node for node in ast.walk(source.tree) if isinstance(node, ast.Assign)]
        values = [one.value for one in assigns if wanted and wanted in map(dotted, one.targets)]
        value = values[0] if len(values) == 1 else None
    return value if isinstance(value, ast.Call) else None


def _stores(source: Source, names: Container[object]) -> set[ast.Constant]:
    """The texts of a file that name a kvstore for a Trainer or Module, by one of some names."""
    calls = _calls(source, *_TAKES_KVSTORE)
    found = {node for call in calls if (node := _named_store(source, call, names)) is not None}
    unpacked = any(one.arg is None for call in calls for one in call.keywords)
    if not found and unpacked:
        found = {node for call in _calls(source, "dict") if (node := _named_store(source, call, names))}
        found |= set(_entries(source, names))
    return found or set(_default_of_option(source, names))


def replica_drift(situation: Situation) -> Draft | None:
    """The Trainer gets a kvstore, and exchanges gradients before each update."""
    if situation.framework != "mxnet" or situation.evidence("variables_made_at"):
        return None  # of trainers with a copy each, none could exchange anything
    for stmt in situation.statements:
        updates = [
            node
            for node in own_nodes(stmt)
            if isinstance(node, ast.Call) and called(node) in ("update", "step")
        ]
        if len(updates) != 1 or not isinstance(stmt, ast.Expr) or stmt.value is not updates[0]:
            continue
        texts = _exchanging(situation, stmt, updates[0])
        return Draft(_DRIFT, texts) if texts else None
    return None


def _exchanging(situation: Situation, stmt: ast.Expr, update: ast.Call) -> dict[str, str] | None:
    """The texts of the files with a Trainer that exchanges gradients; None where one is not to be found."""
    made = trainer_of(situation)
    if made is None:
        return None
    file, source, trainer = made
    apart, own_update = called(update) == "update", keyword(trainer, "update_on_kvstore")
    store = keyword(trainer, "kvstore")
    changes = {situation.file: Change(situation.source)}
    making = changes.setdefault(file, Change(source))
    none = _without_store(situation, file, source, store)
    if none is not None:
        changes.setdefault(none[0], Change(none[1])).replace(none[2], '"device"')
    elif not apart or (store is not None and not isinstance(store.value, ast.Constant)):
        return None  # it has one, by default too
    if apart:
        owner = situation.source.code(update.func).removesuffix(".update")
        changes[situation.file].line_before(stmt, f"{owner}.allreduce_grads()")
        if own_update is None:
            making.add_argument(trainer, "update_on_kvstore=False")
        elif not isinstance(own_update.value, ast.Constant) or own_update.value.value is not False:
            return None
    return {name: change.text() for name, change in changes.items()}


def _without_store(
    situation: Situation, file: str, source: Source, store: ast.keyword | None
) -> tuple[str, Source, ast.expr] | None:
    """The ``None`` that the Trainer takes for its kvstore: said there, or an option's default."""
    if store is None:
        return None
    if isinstance(store.value, ast.Constant):
        return (file, source, store.value) if store.value.value is None else None
    if not dotted(store.value).lower().replace("_", "").endswith("kvstore"):
        return None
    found = [
        (name, text, one)
        for name in dict.fromkeys([file, *situation.files])
        if (text := source if name == file else situation.opened(name)) is not None
        for one in _default_of_option(text, (None,))
    ]
    return found[0] if len(found) == 1 else None


def _calls(source: Source, *names: str) -> list[ast.Call]:
    return [node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and called(node) in names]


def _named_store(source: Source, call: ast.Call, names: Container[object]) -> ast.Constant | None:
    """The text that names a kvstore by one of some names, in a call that takes one."""
    if called(call) == "create":
        about = dotted(call.func).rpartition(".")[0].rpartition(".")[2]
        argument = call.args[0] if call.args and about in ("kv", "kvstore") else None
    else:
        named = keyword(call, "kvstore")
        argument = named.value if named else None
    if isinstance(argument, ast.Name):
        argument = value_of(source, argument.id, call)
    known = isinstance(argument, ast.Constant) and argument.value in names
    return argument if known and isinstance(argument, ast.Constant) else None


def _entries(source: Source, names: Container[object]) -> list[ast.Constant]:
    """What dictionaries name under ``"kvstore"``."""
    pairs = [
        pair
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Dict)
        for pair in zip(node.keys, node.values, strict=True)
    ]
    return [
        value
        for key, value in pairs
        if isinstance(key, ast.Constant) and key.value == "kvstore"
        if isinstance(value, ast.Constant) and value.value in names
    ]


def _default_of_option(source: Source, names: Container[object]) -> list[ast.Constant]:
    """The default of a command line's option for the kvstore."""
    found = []
    for call in _calls(source, "add_argument"):
        option = call.args[0] if call.args else None
        default = keyword(call, "default")
        about = isinstance(option, ast.Constant) and str(option.value).lstrip("-").replace("_", "-") in (
            "kvstore",
            "kv-store",
        )
        if about and default and isinstance(default.value, ast.Constant) and default.value.value in names:
            found.append(default.value)
    return found


def _sum_on_device(situation: Situation) -> Draft | None:
    """The code adds gradients up in the host's scope: that becomes the first of their devices'."""
    devices, scopes = situation.evidence("devices"), {str(site) for site in situation.evidence("scope")}
    place = split_site(scopes.pop()) if len(scopes) == 1 else None
    source = situation.opened(place[0]) if place else None
    if situation.framework != "tensorflow" or place is None or source is None or not devices:
        return None
    named = [
        argument
        for argument in scope_arguments(source)
        if argument.lineno == place[1] and isinstance(argument, ast.Constant)
    ]
    code = tf_device(source, named[0], str(devices[0])) if len(named) == 1 else None
    if code is None or not is_host(str(situation.evidence("summed_on")[0])):
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
