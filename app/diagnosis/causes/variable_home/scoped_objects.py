"""Objects whose variables are read far from where they live: the calls that make them get the scope."""

from __future__ import annotations

import ast

from app.diagnosis.causes.variable_home.evidence import Evidence
from app.facts.devices import default_device
from app.facts.lines import split_site
from app.facts.placement import Op
from app.fixes.code.change import Change
from app.fixes.code.device_notation import blocks_around, devices_of
from app.fixes.code.names import called
from app.fixes.code.parsed_source import Function, Source, is_compound, own_nodes
from app.fixes.scopes.device_expressions import device_header, put_under
from app.fixes.situation import Draft, Situation
from app.views.naming import each, some_of

_UPDATES = frozenset({"apply_gradients", "apply", "minimize"})
_MOST = 8
"""More lines than these are no fix of a finding any more."""


def whole_object(situation: Situation, home: str, device: str) -> Draft | None:
    """The calls that make the objects whose variables are read, in the reader's scope.

    None where a scope around one or in its constructor decides already, or others use variables of that home.
    """
    evidence = situation.evidence(Evidence)
    calls = each(evidence.object_made_at)
    places = [place for one in calls if (place := split_site(one)) is not None]
    source = situation.opened(places[0][0]) if len({file for file, _ in places}) == 1 else None
    if source is None or len(places) != len(calls) or len(calls) > _MOST:
        return None
    of_others = any(
        isinstance(read := hop.cause.evidence, Evidence) and read.object_made_at in calls
        for hop in situation.others
        if hop.count != 0 and hop.dst not in (home, device)
    )
    elsewhere = home != default_device(situation.devices, "") or evidence.created_in
    if elsewhere or of_others or used_there(situation, home, device):
        return None
    file, found = places[0][0], [_made_at(source, line) for _, line in places]
    made = [one for one in found if one is not None]
    if len(made) != len(found) or any(kept_by_others(source, one) for one in made):
        return None
    header = device_header(situation, file, source, made[0], device)
    if header is None or any(devices_of(block) for one in made for block in blocks_around(source, one)):
        return None
    change = Change(source)
    put_under(source, change, made, header)
    objects = "object, and with it its" if len(made) == 1 else "objects, and with them their"
    words = (
        f"Makes the {objects} variables, on {device}, where they are read; check that they fit into its"
        " memory, and what else uses them."
    )
    return situation.draft(words, change.text(), file)


def where_made(situation: Situation, device: str) -> str | None:
    """What to do in words where calls are known that make the objects; None where they are not."""
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


def used_there(situation: Situation, home: str, device: str) -> list[Op]:
    """What lines compute at the home with variables of it, but for optimizers: these follow the variables."""
    return [op for op in situation.ran.used_at(home, device) if not of_optimizer(situation, op.site)]


def of_optimizer(situation: Situation, site: str | None) -> bool:
    """Whether a line only has an optimizer apply gradients: what it reads is its own, or what it updates."""
    place = split_site(site)
    source = situation.opened(place[0]) if place is not None else None
    if place is None or source is None:
        return False
    plain = [one for one in source.statements_at(place[1]) if not is_compound(one)]
    return bool(plain) and all(any(called(node) in _UPDATES for node in own_nodes(one)) for one in plain)


def kept_by_others(source: Source, stmt: ast.stmt) -> bool:
    """Whether a library creates it, by a decorator, whose own rules say where."""
    return any(isinstance(one, Function) and bool(one.decorator_list) for one in source.ancestors(stmt))


def _made_at(source: Source, line: int) -> ast.Assign | None:
    """The one assignment of the line that makes an object, and nothing that is made later."""
    found = [one for one in source.statements_at(line) if isinstance(one, ast.Assign)]
    if len(found) != 1 or not isinstance(found[0].value, ast.Call):
        return None
    later = any(isinstance(node, ast.Lambda | ast.Await | ast.Yield) for node in own_nodes(found[0]))
    return None if later else found[0]
