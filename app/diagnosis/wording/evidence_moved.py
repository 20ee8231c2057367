"""Why something waits or moves: a sentence for each cause that is about a wait, a way or an exchange."""

from __future__ import annotations

from app.diagnosis.rules.upload_threads import BY_ANOTHER_THREAD
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.evidence_placed import result
from app.views.naming import some_of
from probes.trace.hop import DISPATCH, HANDED_TO_FUNCTION, HANDED_TO_OPERATOR, IN_GRAPH

_IN_MXNETS_THREAD = (
    "A thread of MXNet's own runs the operator, once its inputs are computed: that thread waits for the"
    " values, and with it all that needs the operator's result, while the program's own code goes on."
)


def sync(facts: Facts) -> str:
    """What a wait is for, who made it, and who had no work meanwhile."""
    if DISPATCH in (facts.told("taken_by"), facts.told("kind")):
        return "Threads of the library, started at this line, hand work to the workers and wait for it."
    made = ""
    if "made_by" in facts or "handed_by" in facts:
        made = _made(facts)
    if "brought_at" in facts:
        lines = facts.told("brought_at", "lines")
        made += f"What came to the host at {lines} goes into it, once its device has made that. "
    if IN_GRAPH in (facts.told("taken_by"), facts.told("kind")):
        return f"{made}In each call the graph waits while the Python function works on the host."
    if "made_by" not in facts and any(HANDED_TO_OPERATOR in text for text in facts.each("handed_by")):
        return f"{made}{_IN_MXNETS_THREAD}"
    idle = facts.told("idle_meanwhile", "devices", ", ")
    meanwhile = f"; meanwhile without work: {idle}" if idle else ""
    return f"{made}While Python waits for a value it gives out no work{meanwhile}."


def _made(facts: Facts) -> str:
    """What made a value, as far as known: a Python function is handed what others made."""
    on = facts.told("src", "devices")
    told = []
    for op, function in _HANDED_TO.items():
        known = [text.partition(" at ") for text in facts.each("handed_by")]
        lines = [line for maker, _, line in known if maker == op]
        if lines:
            told.append(f"It lay on {on} and was handed to the {function} at {some_of(lines, 'lines')}. ")
    if "made_by" in facts:
        told.insert(0, f"It was made on {on} by {facts.told('made_by', 'ops')}. ")
    return "".join(told)


_HANDED_TO = {HANDED_TO_FUNCTION: "Python function called", HANDED_TO_OPERATOR: "operator called"}


def upload(facts: Facts) -> str:
    """Who takes what Python sends."""
    runs = facts.told("dst", "devices")
    told = (
        f"What takes it runs on {runs}{facts.scope('scope')}; until then it was Python's or numpy's memory."
    )
    if BY_ANOTHER_THREAD in facts:
        told += " Another thread sends it than the one that makes the steps."
    return told


def bounce(facts: Facts) -> str:
    """That a tensor was not changed on its way."""
    known = [code for code in facts.each("causes") if code != "unknown"]
    causes = some_of(known, "causes") or "unknown"
    scopes = facts.told("scopes", "lines")
    opened = f" Device scopes were opened at {scopes}." if scopes else ""
    if "result_of_a_call" in facts:
        return f"{result(facts)}{opened}"
    again = facts.told("tensor_again_at", "lines")
    made = f" A tensor was made of Python's array again at {again}." if again else ""
    return f"Nothing changed its values on the way; each hop by itself: {causes}.{made}{opened}"


def collective(facts: Facts) -> str:
    """Among which devices something is exchanged, and how."""
    devices = ", and among ".join(some_of(part, "devices") for part in facts.lists("devices"))
    if not devices:
        return ""
    # An algorithm's name may say already where it sums.
    algorithm = some_of((name.partition(", summed on ")[0] for name in facts.each("algorithm")), "algorithms")
    summed = f", summed on {facts.told('summed_on', 'devices')}" if "summed_on" in facts else ""
    if "handed_back_at" in facts:
        back = facts.told("handed_back_at", "lines")
        return (
            f"Gradients of {devices} are copied to {facts.told('summed_on', 'devices')} and put together"
            f" there{facts.scope('scope')}; the result goes back to them at {back}."
        )
    if "applied_at" in facts:
        at = facts.told("applied_at", "lines")
        return (
            f"Gradients of {devices} are copied to {facts.told('summed_on', 'devices')} and put together"
            f" there{facts.scope('scope')}; the result changes variables there at {at}, which the devices"
            " read for the next step."
        )
    what = ""
    if "exchanged" in facts:
        what = f": {facts.told('exchanged')} of {facts.told('exchanged_of', 'parameters')}"
    return f"Exchanged among {devices} by {algorithm}{summed}{what}."


def mixed(facts: Facts) -> str:
    """Where the inputs of an op on several contexts were made."""
    if "made_on_default_at" in facts:
        makers = facts.told("made_on_default", "ops").replace("Python", "Python data")
        at = facts.told("made_on_default_at", "lines")
        return (
            f"The input on cpu:0 was made by {makers} at {at}, or comes from that. An array that is made"
            " without a context lies on the current one, cpu(0) by default."
        )
    if "inputs_made_by" not in facts:
        return ""
    makers = facts.told("inputs_made_by", "ops").replace("Python", "Python data")
    at = facts.told("inputs_made_at", "lines")
    made = f"Inputs on {facts.told('inputs_also_on', 'devices')} were made by {makers}{at and f' at {at}'}."
    if "cpu:0" not in facts.each("inputs_also_on"):
        return made
    return f"{made} An array that is made without a context lies on the current one, cpu(0) by default."


def redundant(facts: Facts) -> str:
    """What is copied again, and why it is."""
    if "same_device" in facts:
        here = facts.told("same_device", "devices")
        return f"The array is on {here} already, and {facts.told('call') or 'the copy'} makes another there."
    if "sent_again" in facts:
        lies, taken = facts.told("src", "devices"), facts.told("dst", "devices")
        runs = "was requested on" if "requested" in facts else "runs on"
        return (
            f"The tensor, the same in each call, lies on {lies}{facts.scope('producer_scope')}; what takes it"
            f" {runs} {taken}{facts.scope('scope')}, and a copy lasts for one call only."
        )
    return ""


def opaque(facts: Facts) -> str:
    """What was asked for inside of what XLA compiled."""
    asked = facts.told("requested_inside", "devices")
    if not asked:
        return ""
    ran = facts.told("ran_on", "devices")
    return f"Requested inside: {asked}; XLA makes one kernel of it all, which runs on {ran}."


def drift(facts: Facts) -> str:
    """How it was seen that replicas differ."""
    trainer = facts.told("trainer_made_at", "lines")
    made = f" The trainer was made at {trainer}." if trainer else ""
    checks = f"The replicas' parameters were compared {facts.told('checks')} times,"
    updates = facts.told("first_check_updates"), facts.told("last_check_updates")
    if all(updates):  # of each replica: steps count those of several optimizers together
        when = f"after {updates[0]} to {updates[1]} updates of each"
    else:
        first, last = facts.told("first_check_step"), facts.told("last_check_step")
        if not first or not last:
            return ""
        when = f"from step {first} to step {last}"
    if "variables_made_at" in facts:
        return (
            f"The variables made at {facts.told('variables_made_at', 'lines')} were equal before the first"
            f" update. {checks} {when}, and nothing but gradients of their own was seen to change them."
        )
    return f"{checks} {when}, and nothing was seen to exchange gradients between them.{made}"
