"""What to do about ops that nobody placed, by what their line does: no more than that shows."""

from __future__ import annotations

from app.diagnosis.dialects import function_scopes
from app.facts.devices import default_device, in_order
from app.fixes.scopes.framework_placement import has_strategy
from app.fixes.situation import Situation

PUT_BESIDE_INPUTS = "Put the op into the device scope of its inputs."


def line_advice(situation: Situation, said: str) -> str | None:
    """What to do in place of `said`, the advice for any such op; None where nothing fits."""
    if function_scopes.placed_by_strategy(situation):
        return None
    used_on = in_order({hop.dst for hop in situation.hops})
    made = all(hop.cause.blames == "producer" for hop in situation.hops)
    if said == PUT_BESIDE_INPUTS and made and len(used_on) == 1 and situation.framework == "tensorflow":
        return f"Make it in the device scope of {used_on[0]}, which uses it."
    default = default_device(situation.devices, "")
    device = situation.src
    stmt = next(iter(situation.simple), None)
    if said != PUT_BESIDE_INPUTS or stmt is None or device in (None, default):
        return said
    homes = situation.ran.homes(situation.sites(stmt))
    if situation.framework != "tensorflow" or default not in homes:
        return said
    if has_strategy(situation):
        return None  # which keeps its variables where it means to
    return (
        f"It uses variables on {default} too: create these in the device scope of {device}, and put the op"
        " there with them; one without the other sends them in each step."
    )
