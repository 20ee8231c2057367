"""A variable that lives elsewhere than it is read: it is created where it is read."""

from __future__ import annotations

import ast
import dataclasses

from app.diagnosis.causes.variable_home.evidence import Evidence
from app.diagnosis.causes.variable_home.scoped_objects import (
    kept_by_others,
    of_optimizer,
    where_made,
    whole_object,
    with_its_changes,
)
from app.facts.devices import default_device, is_gpu, is_host
from app.facts.lines import split_site
from app.fixes.code.change import Change
from app.fixes.code.device_notation import (
    alone,
)
from app.fixes.code.names import called
from app.fixes.code.parsed_source import Source, first_line, is_compound, own_nodes
from app.fixes.scopes.device_expressions import device_header, put_under
from app.fixes.scopes.distribution_strategies import has_strategy
from app.fixes.situation import Draft, Situation
from app.views.naming import each, some_of

PUT_WHERE_READ = (
    "Create the variable on the device that reads it; one that nothing writes to may also be read once, and"
    " its value kept."
)

_INT64 = "Make the variable int64, which a GPU keeps: an int32 one lives on the host whatever its scope says."
_CREATES = frozenset({"Variable", "get_variable", "add_weight"})


def variable_home(situation: Situation) -> Draft | None:
    """The creation goes into the reader's device scope; None under a strategy, which decides by itself.

    Nor of a table that rows are looked up in, which may be where it is for its size.
    """
    device, home = alone([hop.dst for hop in situation.hops]), alone([hop.src for hop in situation.hops])
    if situation.framework != "tensorflow" or device is None or home is None or has_strategy(situation):
        return None
    if any(hop.producer_op == "ResourceGather" for hop in situation.hops) or _kept_on_host(situation):
        return None
    if (draft := whole_object(situation, home, device) or _alone(situation, home, device)) is None:
        return None
    return dataclasses.replace(draft, words=with_its_changes(situation, device, draft.words))


def _kept_on_host(situation: Situation) -> bool:
    """Whether GPUs read int32 variables, which TensorFlow has no GPU kernels for: no scope moves them."""
    return bool(situation.hops) and all(
        is_host(hop.src) and is_gpu(hop.dst) and hop.dtype == "int32" for hop in situation.hops
    )


def _alone(situation: Situation, home: str, device: str) -> Draft | None:
    """The statement that creates the one variable, in the reader's scope."""
    place = _creation(situation, home, device)
    if place is None or (len(situation.ran.made_on(home)) == 1 and situation.ran.used_at(home, device)):
        return None  # what computes with it at its home would have the transfers then
    file, source, stmt = place
    header = device_header(situation, file, source, stmt, device)
    if header is None or kept_by_others(source, stmt):
        return None
    change, scope = Change(source), _only_scope(source.parents[stmt])
    if scope is not None:
        change.replace(scope, header)
    else:
        put_under(source, change, [stmt], header)
    words = (
        f"Creates the variable on {device}, where it is read; check that it fits into its memory, and what"
        " else uses it."
    )
    return situation.draft(words, change.text(), file)


def of_home(situation: Situation, said: str) -> str:
    """What to do where lines compute with variables of that home there: it may be this one that they use."""
    device, home = alone([hop.dst for hop in situation.hops]), alone([hop.src for hop in situation.hops])
    if device is None or home is None or situation.evidence(Evidence).kept_by or has_strategy(situation):
        return said
    if situation.evidence(Evidence).gradient_goes_back:
        return said
    if _kept_on_host(situation):
        return _INT64
    # A line that sends them may be run for that home too, and compute with them there then.
    computing, updates = (
        {op.site for op in situation.ran.used_at(home, device)},
        situation.ran.updates_on(home),
    )
    hops = [hop for hop in (*situation.hops, *situation.others) if hop.src == home]
    sent = {site for hop in hops for site in (hop.site, hop.producer_site)}
    reads = (site for site in situation.ran.reads_on(home) if site not in updates)
    stay = [site for site in reads if site not in sent or site in computing]
    stay = [site for site in stay if not of_optimizer(situation, site)]
    if home == default_device(situation.devices, "") and said == PUT_WHERE_READ:
        said = where_made(situation, device) or said
    said = with_its_changes(situation, device, said)
    if not stay:
        return said
    return (
        f"{said} Variables of {home} are read there too, at {some_of(stay, 'lines')}: if this is one of them,"
        f" leave it there, do on {home} what reads it here, and send the result on."
    )


def _creation(situation: Situation, home: str, device: str) -> tuple[str, Source, ast.stmt] | None:
    """The one statement that creates the variable that the line reads; None where that is not certain.

    Nor where others than the readers on `device` use it: they would have the transfers then.
    """
    created = each(situation.evidence(Evidence).created_at)
    places = list(map(split_site, created)) if created else situation.ran.made_on(home)
    place = places[0] if len(places) == 1 else None
    source = situation.opened(place[0]) if place is not None else None
    if place is None or source is None:
        return None
    found = [
        one
        for one in source.statements_at(place[1])
        if not is_compound(one) and any(called(node) in _CREATES for node in own_nodes(one))
    ]
    third = any(
        isinstance(read := hop.cause.evidence, Evidence) and read.created_at in (None, *created)
        for hop in situation.others
        if hop.count != 0 and hop.src == home and hop.dst not in (home, device)
    )
    if len(found) != 1 or third:
        return None
    lines = first_line(found[0]), found[0].end_lineno or 0
    return None if situation.ran.makes_elsewhere(place[0], *lines, home) else (place[0], source, found[0])


def _only_scope(block: ast.AST) -> ast.Call | None:
    """The ``tf.device("..")`` around one statement."""
    match block:
        case ast.With(items=[ast.withitem(ast.Call(args=[ast.Constant()]) as call)], body=[_]):
            return call if called(call) == "device" else None
    return None
