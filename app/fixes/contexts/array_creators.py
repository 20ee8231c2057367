"""Calls that make MXNet's arrays nowhere in particular, and who could hand them a context."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection, Iterator

from app.facts.lines import split_site
from app.fixes.code.change import Change
from app.fixes.code.device_notation import alone, arrays, mx_context
from app.fixes.code.names import bindings, called, dotted, imported, keyword
from app.fixes.code.parsed_source import Function, Source, first_line, header_end, own_nodes
from app.fixes.situation import Draft, Situation

_MAKES = frozenset(
    {
        "zeros",
        "ones",
        "full",
        "empty",
        "arange",
        "eye",
        "linspace",
        "array",
        "random_normal",
        "random_uniform",
        "begin_state",
    }
    | {"uniform", "normal", "randn", "randint", "poisson", "exponential", "gamma", "rand"}
)
COPIES = frozenset({"_copyto", "_copy", "_np_copy"})


def makes_nowhere(source: Source, call: ast.Call) -> bool:
    """Whether the call makes an array without being told where."""
    if called(call) not in _MAKES or keyword(call, "ctx", "device"):
        return False
    module = arrays(source, call)
    if called(call) == "begin_state":
        return True
    # `mx.nd.random.normal`, `nd.ones`, and `mx.random.normal`; what is numpy's begins otherwise.
    return module is not None and dotted(call.func).startswith(
        (f"{module}.", f"{module.partition('.')[0]}.random.")
    )


def used_elsewhere(
    situation: Situation, name: ast.Name, stmt: ast.stmt, device: str, along: Collection[str] = ()
) -> bool:
    """Whether another statement computes with the array of a name, and with others, on another device.

    What computes with it alone, or with those that go along, follows it.
    """
    source = situation.source
    same = bindings(source, name.id, stmt)
    users = {
        user
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name) and node.id == name.id and isinstance(node.ctx, ast.Load)
        if (user := source.statement_of(node)) is not None and user is not stmt
        if f"{situation.file}:{first_line(user)}"
        not in {situation.finding.site, *situation.evidence("also_at")}
        if bindings(source, name.id, node) == same
        if _variables(source, user) - {name.id, *along}
    }
    return any(
        op.assigned not in ("", device) and op.type not in COPIES
        for user in users
        for op in situation.ran.computed(situation.file, first_line(user), header_end(user))
    )


def _variables(source: Source, stmt: ast.stmt) -> set[str]:
    """The names that a statement reads, but for those of modules and of what it calls."""
    functions = {node.func for node in own_nodes(stmt) if isinstance(node, ast.Call)}
    names = {
        node for node in own_nodes(stmt) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return {node.id for node in names - functions} - imported(source, stmt)


def handed_by_caller(situation: Situation) -> Draft | None:
    """A function makes the array by ``begin_state(**kwargs)``: its one caller hands it the context."""
    made, device = _made_at(situation), _met_on(situation)
    parameter = _parameter(made[1], made[2]) if made is not None else None
    function = made[1].function_of(made[2]) if made is not None else None
    if parameter is None or function is None or device is None:
        return None
    calls = [
        (file, source, call)
        for file in dict.fromkeys([situation.file, *situation.files])
        if (source := situation.opened(file)) is not None
        for call in _calls_of(source, function.name)
    ]
    if len(calls) != 1:
        return None
    file, source, call = calls[0]
    context, stmt = mx_context(source, call, device), source.statement_of(call)
    if context is None or stmt is None or any(one.arg in (None, parameter) for one in call.keywords):
        return None
    target = stmt.targets[0] if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 else None
    there = dataclasses.replace(situation, file=file, line=stmt.lineno, source=source)
    if not isinstance(target, ast.Name) or used_elsewhere(there, target, stmt, device):
        return None
    change = Change(source)
    change.add_argument(call, f"{parameter}={context}")
    words = (
        f"Makes {target.id} on {device}, where the other inputs are: the call hands the context on to what"
        " makes it; check where else it is used."
    )
    return situation.draft(words, change.text(), file)


def of_mixed(situation: Situation, said: str) -> str:
    """What to say of inputs elsewhere, by the line that made them without a context; else `said`."""
    found, device = _all_made_at(situation), _met_on(situation)
    if not found or device is None:
        return said
    file, source, call = found[0]
    site, names = f"{file}:{call.lineno}", [source.code(one.func) for _, _, one in found]
    otherwise = "as_in_context before the op would copy it each time."
    if len(found) > 1 or not _within_reach(situation, file, call):
        calls = " and ".join(f"{name}(..)" for name in dict.fromkeys(names))
        return (
            f"Make it on {device} from the start: hand the context in to {site}, for ctx= of {calls};"
            f" {otherwise}"
        )
    handed = "" if _parameter(source, call) is None else ", or have its caller hand it on"
    return (
        f"Make it on {device} from the start, by {names[0]}(.., ctx=x.context) at {site}, x being what it"
        f" meets at {situation.finding.site}{handed}; {otherwise}"
    )


def _within_reach(situation: Situation, file: str, call: ast.Call) -> bool:
    """Whether what the finding's line knows may be known where the array is made."""
    source = situation.source
    if file != situation.file:
        return False
    makes = source.function_of(call)
    return makes is None or any(
        source.function_of(stmt) is makes for stmt in source.statements_at(situation.line)
    )


def _made_at(situation: Situation) -> tuple[str, Source, ast.Call] | None:
    """The file and the call that made the inputs on the default context, if one is to be found."""
    found = _all_made_at(situation)
    return found[0] if len(found) == 1 else None


def _all_made_at(situation: Situation) -> list[tuple[str, Source, ast.Call]]:
    """All calls of the line that made such inputs that may have been it."""
    place = split_site(alone([str(site) for site in situation.evidence("made_on_default_at")]))
    source = situation.opened(place[0]) if place is not None else None
    if place is None or source is None:
        return []
    return [
        (place[0], source, node)
        for stmt in source.statements_at(place[1])
        for node in own_nodes(stmt)
        if isinstance(node, ast.Call) and (makes_nowhere(source, node) or _parameter(source, node))
    ]


def _met_on(situation: Situation) -> str | None:
    """The device of the inputs that were not made on the default context."""
    devices = {*situation.evidence("ran_on"), *situation.evidence("inputs_also_on")}
    return alone(sorted(devices - {"cpu:0"})) if "cpu:0" in devices else None


def _parameter(source: Source, call: ast.Call) -> str | None:
    """The name by which a caller of its function may hand such a call a context; None where it can't."""
    function, given = source.function_of(call), keyword(call, "ctx", "device")
    if function is None or called(call) not in _MAKES:
        return None
    if given is not None:
        arguments = function.args
        count = len(arguments.defaults)
        optional = {one.arg for one in arguments.args[-count:]} if count else set()
        named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        optional |= {one.arg for one, value in named if value is not None}
        return given.value.id if isinstance(given.value, ast.Name) and given.value.id in optional else None
    rest = function.args.kwarg
    handed = any(
        one.arg is None and isinstance(one.value, ast.Name) and rest is not None and one.value.id == rest.arg
        for one in call.keywords
    )
    return "ctx" if handed else None


def _calls_of(source: Source, name: str) -> Iterator[ast.Call]:
    """Calls of a function by its name, but for those that a function of that name makes itself."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and called(node) == name:
            inside = (one.name for one in source.ancestors(node) if isinstance(one, Function))
            if name not in inside:
                yield node
