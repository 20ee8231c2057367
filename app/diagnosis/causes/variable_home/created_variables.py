"""A variable that lives elsewhere than it is read: it, or the object that has it, is created there."""

from __future__ import annotations

import ast
import dataclasses

from app.diagnosis.causes.variable_home.rules import Evidence
from app.facts.devices import default_device, is_gpu, is_host
from app.fixes.code.device_notation import alone, opens, scopes_around
from app.fixes.code.names import calls_of
from app.fixes.code.parsed_source import Function, Source
from app.fixes.scopes.device_scopes import device_header, later, under_device
from app.fixes.scopes.framework_placement import has_strategy
from app.fixes.situation import Draft, Situation
from app.views.naming import each, some_of

PUT_WHERE_READ = (
    "Create the variable on the device that reads it; one that nothing writes to may also be read once, and"
    " its value kept."
)

_INT64 = "Make the variable int64, which a GPU keeps: an int32 one lives on the host whatever its scope says."
_CREATES = ("Variable", "get_variable", "add_weight")
_UPDATES = ("apply_gradients", "apply", "minimize")
_MOST = 8
"""More lines than these are no fix of a finding any more."""


def created_where_read(situation: Situation) -> Draft | None:
    """The creation goes into the reader's device scope; None under a strategy, which decides by itself.

    Nor of a table that rows are looked up in, which may be where it is for its size.
    """
    device, home = situation.dst, situation.src
    if situation.framework != "tensorflow" or device is None or home is None or has_strategy(situation):
        return None
    if any(hop.producer_op == "ResourceGather" for hop in situation.hops) or _kept_on_host(situation):
        return None
    draft = _object(situation, home, device) or _statement(situation, home, device)
    return draft and dataclasses.replace(draft, words=_with_its_changes(situation, device, draft.words))


def _kept_on_host(situation: Situation) -> bool:
    """Whether GPUs read int32 variables, which TensorFlow has no GPU kernels for: no scope moves them."""
    return bool(situation.hops) and all(
        is_host(hop.src) and is_gpu(hop.dst) and hop.dtype == "int32" for hop in situation.hops
    )


def _statement(situation: Situation, home: str, device: str) -> Draft | None:
    """The statement that creates the one variable, in the reader's scope.

    None where that is not certain, or others than the readers on `device` use it: they would have the
    transfers then.
    """
    created, on_home = each(situation.evidence(Evidence).created_at), situation.ran.created_on(home)
    site = alone(created or on_home)
    there = situation.at(site) if site is not None else None
    third = any(
        isinstance(read := hop.cause.evidence, Evidence) and read.created_at in (None, *created)
        for hop in situation.others
        if hop.count != 0 and hop.src == home and hop.dst not in (home, device)
    )
    if there is None or third:
        return None
    if len(on_home) == 1 and situation.ran.used_at(home, device):
        return None  # what computes with it at its home would have the transfers then
    found = [one for one in there.simple if calls_of(one, *_CREATES)]
    if len(found) != 1 or _kept_by_others(there.source, found[0]):
        return None
    if situation.ran.creates_elsewhere(there.sites(*found), home):
        return None
    around = there.source.parents[found[0]]
    words = (
        f"Creates the variable on {device}, where it is read; check that it fits into its memory, and what"
        " else uses it."
    )
    match around:
        case ast.With(items=[ast.withitem(ast.Call(args=[ast.Constant()]) as scope)], body=[_]) if opens(
            around, "device"
        ):
            header = device_header(there, found[0], device)
            return there.replaced(words, scope, header) if header else None
    change = under_device(there, found, device)
    return there.draft(words, change) if change is not None else None


def home_advice(situation: Situation, said: str) -> str:
    """What to do where lines compute with variables of that home there: it may be this one that they use."""
    device, home, ran = situation.dst, situation.src, situation.ran
    evidence = situation.evidence(Evidence)
    if device is None or home is None or has_strategy(situation):
        return said
    if evidence.kept_by or evidence.gradient_goes_back:
        return said
    if _kept_on_host(situation):
        return _INT64
    # A line that sends them may be run for that home too, and compute with them there then.
    computing, updates = {op.site for op in ran.used_at(home, device)}, ran.updates_on(home)
    hops = [hop for hop in (*situation.hops, *situation.others) if hop.src == home]
    sent = {site for hop in hops for site in (hop.site, hop.producer_site)} - computing
    reads = [site for site in ran.reads_on(home) if site not in sent and site not in updates]
    stay = [site for site in reads if not _of_optimizer(situation, site)]
    if home == default_device(situation.devices, "") and said == PUT_WHERE_READ:
        said = _where_created(situation, device) or said
    said = _with_its_changes(situation, device, said)
    if not stay:
        return said
    return (
        f"{said} Variables of {home} are read there too, at {some_of(stay, 'lines')}: if this is one of them,"
        f" leave it there, do on {home} what reads it here, and send the result on."
    )


def _object(situation: Situation, home: str, device: str) -> Draft | None:
    """The calls that create the objects whose variables are read, in the reader's scope.

    None where a scope around one or in its constructor decides already, or others use variables of that home.
    """
    evidence = situation.evidence(Evidence)
    sites = each(evidence.object_made_at)
    places = [there for site in sites if (there := situation.at(site)) is not None]
    if alone([there.file for there in places]) is None or not len(places) == len(sites) <= _MOST:
        return None
    of_others = any(
        isinstance(read := hop.cause.evidence, Evidence) and read.object_made_at in sites
        for hop in situation.others
        if hop.count != 0 and hop.dst not in (home, device)
    )
    elsewhere = home != default_device(situation.devices, "") or evidence.created_in
    # What an optimizer reads follows the variables.
    used = (op for op in situation.ran.used_at(home, device) if not _of_optimizer(situation, op.site))
    if elsewhere or of_others or any(used):
        return None
    there, source = places[0], places[0].source
    created = [one for place in places if (one := _created_at(source, place.line)) is not None]
    if len(created) != len(places) or any(_kept_by_others(source, one) for one in created):
        return None
    if any(scopes_around(source, one) for one in created):
        return None
    if (change := under_device(there, created, device)) is None:
        return None
    objects = "object, and with it its" if len(created) == 1 else "objects, and with them their"
    words = (
        f"Makes the {objects} variables, on {device}, where they are read; check that they fit into its"
        " memory, and what else uses them."
    )
    return there.draft(words, change)


def _where_created(situation: Situation, device: str) -> str | None:
    """What to do in words where calls are known that create the objects; None where they are not."""
    evidence = situation.evidence(Evidence)
    calls, created = each(evidence.object_made_at), each(evidence.created_at)
    if not calls or evidence.created_in:
        return None
    others = f": {some_of(created, 'lines')} may make other objects' variables too" if created else ""
    objects, their = ("objects", "their") if len(calls) > 1 else ("object", "its")
    return (
        f"Make the {objects}, and so {their} variables, in the device scope of {device}, at"
        f" {some_of(calls, 'lines')}{others}."
    )


def _with_its_changes(situation: Situation, device: str, said: str) -> str:
    """The same, and that what changes the variables by ops that nobody placed has to come along."""
    lines = situation.evidence(Evidence).changed_at
    if not lines:
        return said
    changes = "changes" if len(lines) == 1 else "change"
    return (
        f"{said} Then call what {changes} them, at {some_of(lines, 'lines')}, in the scope of {device} too."
    )


def _of_optimizer(situation: Situation, site: str | None) -> bool:
    """Whether a line only has an optimizer apply gradients: what it reads is its own, or what it updates."""
    there = situation.at(site)
    plain = there.simple if there is not None else []
    return bool(plain) and all(calls_of(one, *_UPDATES) for one in plain)


def _kept_by_others(source: Source, stmt: ast.stmt) -> bool:
    """Whether a library creates it, by a decorator, whose own rules say where."""
    return any(isinstance(one, Function) and bool(one.decorator_list) for one in source.ancestors(stmt))


def _created_at(source: Source, line: int) -> ast.Assign | None:
    """The one assignment of the line that creates an object, and nothing that is created later."""
    found = alone([one for one in source.statements_at(line) if isinstance(one, ast.Assign)])
    return found if found is not None and isinstance(found.value, ast.Call) and not later(found) else None
