"""What to do about a value that Python takes, by what its line does with it: no more than that shows."""

from __future__ import annotations

import itertools

from app.diagnosis.causes.host_sync.library_calls import of_library, of_library_loop, taken_by_mxnet
from app.facts.devices import in_order
from app.fixes.clocks.measurements import clock_after, only_waits
from app.fixes.code.device_notation import arrays, tensorflow
from app.fixes.flow.value_flow import uses
from app.fixes.flow.value_roles import Role, Use
from app.fixes.situation import Situation
from app.views.naming import some_of

EITHER = (
    "Take the value every so many steps, or once at the end, if it is only looked at; where the program goes"
    " on with it, compute with it on the device, or take all that a step needs in one fetch."
)
"""For values of which it is not known what they are taken for."""
LOOKED_AT = "Take the value every so many steps, or keep it on the device and take it once at the end."
_SENTENCES = {
    Role.ENDS_LOOP: "It decides at {site} whether the loop goes on: test every so many rounds only if further"
    " rounds do no harm{loop}.",
    Role.FAILS: "It is checked at {site} in each step: check every so many steps if those until then do no"
    " harm.",
    Role.DECIDES: "The `if` at {site} needs it in each step. Where it decides what is computed, choose"
    " between the new and the old values on the device with {where}, or limit gradients with {clip}; ask"
    " seldom only where what it guards may wait.",
    Role.ENVIRONMENT: "{by} at {site} needs it in each step: take all of a step's values in one fetch, those"
    " of several environments together.",
    Role.GOES_BACK: "{by} at {site} goes on with it: hand the tensor itself on there; where that takes only"
    " numbers, compute with a mask on the device (a comparison, {where}).",
    Role.COMES_BACK: "What is made of it goes back by {by} at {site}: make that on the device, with the"
    " framework's ops; where Python has to make it, take all that it needs of a step in one fetch.",
    Role.METRIC: "{by} at {site} is of a metric of Keras, which reckons with tensors too: hand it the"
    " tensor itself, and nothing waits until its result is read.",
    Role.KEPT: "It is kept in {by} at {site}, which other code reads: take all that this needs of a"
    " step in one fetch, or, if it is only looked at, once at the end.",
}


def line_advice(situation: Situation, said: str) -> str | None:
    """What to do in place of `said`, the advice for any value that is taken; None where nothing fits."""
    if (found := _for_timing(situation) or of_library(situation)) is not None:
        return found
    return _by_use(situation) if said == EITHER else said


def _for_timing(situation: Situation) -> str | None:
    """What to do about a wait that a measurement needs; None where none is seen to."""
    clock, waits = clock_after(situation), only_waits(situation)
    if clock is None or not (waits or (clock.each and not clock.own)):
        return None
    said = (
        f"{clock.name} at {clock.site} takes the time after it: what is not waited for until then would not"
        " be in that time."
    )
    if waits:
        return f"{said} Wait only while you measure, and time several steps between two waits."
    return f"{said} Take the value every so many steps, and there the time of all of them together."


def _by_use(situation: Situation) -> str:
    if (known := of_library_loop(situation)) is not None:
        return known
    found = sorted(uses(situation), key=lambda use: list(Role).index(use.role))
    if all(use.role in (Role.KEPT, Role.UNKNOWN) for use in found) and (said := _of_several(situation)):
        return said
    return _of_uses(situation, found) if found else LOOKED_AT


def _of_several(situation: Situation) -> str:
    """Of the rows of an array, or a sum over variables: values that one step takes one by one; '' for one."""
    in_step = sum(hop.each or 0 for hop in situation.hops if hop.kind == "pull")
    devices = in_order({hop.src for hop in situation.hops})
    if in_step < 2 * len(devices) or not situation.hops:
        return ""
    return (
        f"Each step reads {in_step:.0f} values here, one by one: join them on"
        f" {some_of(devices, 'devices')}, or add them up there, and read the result once."
    )


def _of_uses(situation: Situation, found: list[Use]) -> str:
    first, source = found[0], situation.source
    if first.role in (Role.KEPT, Role.UNKNOWN):
        devices = {hop.src for hop in situation.hops}
        for use, hop in itertools.product(found, situation.others):
            sent = hop.kind == "upload" and hop.count != 0 and hop.dst in devices
            if sent and hop.site == use.site != situation.finding.site:
                return (
                    f"It is sent back to {hop.dst} at {use.site}: hand the tensor itself on there, or compute"
                    " with it on the device."
                )
    stmt = next(iter(situation.statements), source.tree)
    # How the file writes a choice by values, a limit of gradients, and a loop on the device.
    if situation.framework == "mxnet":
        if first.role == Role.METRIC:
            return taken_by_mxnet(first.by, first.site)
        where, loop = f"{arrays(source, stmt) or 'mx.nd'}.where", ""
        clip = "gluon.utils.clip_global_norm(.., check_isfinite=False)"
    else:
        tf = tensorflow(source, stmt) or "tf"
        where, clip = f"{tf}.where", f"{tf}.clip_by_global_norm"
        loop = f", or make the whole loop a {tf}.while_loop in one {tf}.function"
    words = _SENTENCES.get(first.role, EITHER)
    return words.format(site=first.site, by=first.by, where=where, clip=clip, loop=loop)
