"""Objects whose variables are read far from where they live: the calls that create them get the scope."""

from __future__ import annotations

import ast

from app.diagnosis.causes.variable_home.evidence import Evidence
from app.facts.devices import default_device
from app.fixes.code.device_notation import alone, scopes_around
from app.fixes.code.names import calls_of
from app.fixes.code.parsed_source import Function, Source, is_compound
from app.fixes.scopes.device_scopes import later, under_device
from app.fixes.situation import Draft, Situation
from app.views.naming import each, some_of

_UPDATES = ("apply_gradients", "apply", "minimize")
_MOST = 8
"""More lines than these are no fix of a finding any more."""


def whole_object(situation: Situation, home: str, device: str) -> Draft | None:
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
    used = (op for op in situation.ran.used_at(home, device) if not of_optimizer(situation, op.site))
    if elsewhere or of_others or any(used):
        return None
    there, source = places[0], places[0].source
    created = [one for place in places if (one := _created_at(source, place.line)) is not None]
    if len(created) != len(places) or any(kept_by_others(source, one) for one in created):
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


def where_made(situation: Situation, device: str) -> str | None:
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


def with_its_changes(situation: Situation, device: str, said: str) -> str:
    """The same, and that what changes the variables by ops that nobody placed has to come along."""
    lines = situation.evidence(Evidence).changed_at
    if not lines:
        return said
    changes = "changes" if len(lines) == 1 else "change"
    return (
        f"{said} Then call what {changes} them, at {some_of(lines, 'lines')}, in the scope of {device} too."
    )


def of_optimizer(situation: Situation, site: str | None) -> bool:
    """Whether a line only has an optimizer apply gradients: what it reads is its own, or what it updates."""
    there = situation.at(site)
    plain = [one for one in there.statements if not is_compound(one)] if there is not None else []
    return bool(plain) and all(calls_of(one, *_UPDATES) for one in plain)


def kept_by_others(source: Source, stmt: ast.stmt) -> bool:
    """Whether a library creates it, by a decorator, whose own rules say where."""
    return any(isinstance(one, Function) and bool(one.decorator_list) for one in source.ancestors(stmt))


def _created_at(source: Source, line: int) -> ast.Assign | None:
    """The one assignment of the line that creates an object, and nothing that is created later."""
    found = alone([one for one in source.statements_at(line) if isinstance(one, ast.Assign)])
    return found if found is not None and isinstance(found.value, ast.Call) and not later(found) else None
