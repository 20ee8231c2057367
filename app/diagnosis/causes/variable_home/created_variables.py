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
from app.fixes.code.device_notation import alone, opens
from app.fixes.code.names import calls_of
from app.fixes.code.parsed_source import is_compound
from app.fixes.scopes.device_scopes import device_header, under_device
from app.fixes.scopes.framework_placement import has_strategy
from app.fixes.situation import Draft, Situation
from app.views.naming import each, some_of

PUT_WHERE_READ = (
    "Create the variable on the device that reads it; one that nothing writes to may also be read once, and"
    " its value kept."
)

_INT64 = "Make the variable int64, which a GPU keeps: an int32 one lives on the host whatever its scope says."
_CREATES = ("Variable", "get_variable", "add_weight")


def created_where_read(situation: Situation) -> Draft | None:
    """The creation goes into the reader's device scope; None under a strategy, which decides by itself.

    Nor of a table that rows are looked up in, which may be where it is for its size.
    """
    device, home = situation.dst, situation.src
    if situation.framework != "tensorflow" or device is None or home is None or has_strategy(situation):
        return None
    if any(hop.producer_op == "ResourceGather" for hop in situation.hops) or _kept_on_host(situation):
        return None
    draft = whole_object(situation, home, device) or _statement(situation, home, device)
    return draft and dataclasses.replace(draft, words=with_its_changes(situation, device, draft.words))


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
    found = [one for one in there.statements if not is_compound(one) and calls_of(one, *_CREATES)]
    if len(found) != 1 or kept_by_others(there.source, found[0]):
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
    stay = [site for site in reads if not of_optimizer(situation, site)]
    if home == default_device(situation.devices, "") and said == PUT_WHERE_READ:
        said = where_made(situation, device) or said
    said = with_its_changes(situation, device, said)
    if not stay:
        return said
    return (
        f"{said} Variables of {home} are read there too, at {some_of(stay, 'lines')}: if this is one of them,"
        f" leave it there, do on {home} what reads it here, and send the result on."
    )
