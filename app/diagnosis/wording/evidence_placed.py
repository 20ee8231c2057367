"""Why something runs, or lives, where it does: a sentence for each cause that is about a place."""

from __future__ import annotations

from app.diagnosis.wording.evidence_facts import Facts
from app.facts.devices import is_gpu

_RESULTS = (
    "What a function returns passes an Identity of TensorFlow's own, on the device of the scope that the"
    " function is called in, the default one where it is called in none."
)


def result(facts: Facts) -> str:
    """What passes an Identity on its way out of a function."""
    if "result_of" in facts:
        of = facts.told("result_of")
        return (
            f"What {of} hands out passes an Identity of TensorFlow's own, on the device that it is in itself."
        )
    here = f" Here that is {facts.told('called_on', 'devices')}." if "called_on" in facts else ""
    return f"{_RESULTS}{here}"


def explicit(facts: Facts) -> str:
    """Both ends were asked for, by scopes or by the call."""
    if "call" in facts:
        return ""  # the summary names it
    asked = facts.told("producer_requested", "devices"), facts.told("requested", "devices")
    if "result_on" in facts:
        lies = facts.told("result_on", "devices")
        return f"Requested: {asked[1]}{facts.scope('scope')}; a function made what is taken there on {lies}."
    if "placed_by_call" in facts:
        return _placed_by_call(facts)
    if not all(asked):
        return ""
    scopes = facts.scope("producer_scope"), facts.scope("scope")
    return f"Requested: {asked[0]}{scopes[0]} for the producer, {asked[1]}{scopes[1]} for the consumer."


def _placed_by_call(facts: Facts) -> str:
    named, by_call = facts.lists("named")[0], facts.each("placed_by_call")
    ends = []
    for role, device, scope in zip(("producer", "consumer"), named, ("producer_scope", "scope"), strict=True):
        how = "the scope that its function is called in is" if role in by_call else "requested is"
        ends.append(f"for the {role} {how} {device}{facts.scope(scope)}")
    told = ", ".join(ends)
    return f"{told[0].upper()}{told[1:]}."


def default_device(facts: Facts) -> str:
    """Nobody asked for a device, so an op got the default one."""
    if "result_of_a_call" in facts:
        return result(facts)
    if "made_without_context" in facts:
        return _without_context(facts)
    return f"{_by_default(facts)}{_apart(facts)}"


def _apart(facts: Facts) -> str:
    """Of what ran in a thread beside the one that has a scope open."""
    opened = facts.told("scope_apart", "lines")
    if not opened:
        return ""
    return (
        f" The op ran in a thread of its own: a device scope, as the one opened at {opened}, holds only in"
        " the thread that opens it."
    )


def _by_default(facts: Facts) -> str:
    if "producer_default_device" in facts:
        wanted = facts.told("requested", "devices") or facts.told("called_on", "devices")
        if "cut_on_host" in facts:
            return f"It cuts what lies on the host, and each device gets its part: {wanted}."
        return (
            f"No device was requested for the producer, so it got the default,"
            f" {facts.told('producer_default_device')}; its consumer was requested on"
            f" {wanted}{facts.scope('scope')}."
        )
    inputs = facts.told("src", "devices")
    return (
        f"No device was requested here, so it got the default, {facts.told('default_device')};"
        f" its input was made on {inputs}{facts.scope('producer_scope')}."
    )


def _without_context(facts: Facts) -> str:
    makers, at = facts.told("made_without_context", "ops"), facts.told("made_at", "lines")
    several = len(facts.each("made_at")) > 1
    where = f"{'Arrays' if several else 'An array'} of {makers}{at and f' at {at}'}"
    lie = "lie" if several else "lies"
    return (
        f"{where} that nobody gave a context {lie} on the current one, cpu(0) by default; ops on such arrays"
        " run there, and nothing else of the host goes in."
    )


def gradient(facts: Facts) -> str:
    """Gradients that run away from their forward ops."""
    wanted = facts.told("forward_requested", "devices") or facts.told("producer_forward_requested", "devices")
    at = facts.told("forward_at", "lines")
    ops = facts.told("forward_op", "ops")
    forward = f"The forward ops{f' {ops}' if ops else ''}{f' at {at}' if at else ''}"
    default = facts.told("default_device")
    got = f"their gradients were requested nowhere and got the default, {default}"
    if "called_on" in facts:
        got = f"their gradients were requested nowhere and run {facts.called}"
    elif default and set(facts.each("default_device")) <= set(facts.each("requested")):
        got = f"their gradients were requested on {default}{facts.scope('scope')}"
    here = set(facts.each("default_device")) & set(facts.each("gradients_of"))
    if here:
        got += ", where other gradients of the line belong"
    return f"{forward} were requested on {wanted}; {got}."


def no_kernel(facts: Facts) -> str:
    """The device that was asked for has no kernel of the op."""
    asked = facts.told("requested", "devices") or facts.told("producer_requested", "devices")
    wanted = f"Requested: {asked}. " if asked else ""
    return f"{wanted}Kernel lookup: {facts.told('kernel')}."


def missing(facts: Facts) -> str:
    """A device was asked for that is not there."""
    if "raised" in facts:
        if facts.told("build") == "without GPUs":
            return "This build of MXNet works without GPUs only; pip has others, which are built for CUDA."
        gpus = facts.told("gpus")
        return f"MXNet is shown {gpus} {'GPU' if gpus == '1' else 'GPUs'} here, counted from gpu:0."
    if "asked_at" in facts:
        return (
            "TensorFlow takes another device in silence where one does not exist;"
            " tf.config.set_soft_device_placement(False) makes it an error."
        )
    asked = f"{facts.told('missing', 'devices')}{facts.scope('asked_in')}"
    ran_on = facts.told("ran_on", "devices")
    return f"Requested: {asked}; the runtime has no such device and placed it on {ran_on}."


def host_memory(facts: Facts) -> str:
    """A kernel keeps arguments or results in host memory."""
    kept = facts.told("kept_in_host_memory")
    dtype = f" of type {facts.told('dtype', 'types')}" if "dtype" in facts else ""
    if "handed_over" in facts:
        return _handed_over(facts)
    if "on_a_gpu" in facts:
        return (
            f"A GPU's kernel takes this {kept}{dtype} from host memory, where it is: with GPUs in the"
            " place of these stand-ins nothing would cross."
        )
    if len(facts.each("kept_in_host_memory")) > 1:
        return f"Kernels on {facts.told('device', 'devices')} keep arguments and results{dtype} there."
    if kept == "result":
        return f"The producer's kernel on {facts.told('device', 'devices')} gives it{dtype} in host memory."
    return f"The kernel on {facts.told('device', 'devices')} takes this {kept}{dtype} in host memory."


def _handed_over(facts: Facts) -> str:
    rule = (
        f"A tf.function takes and returns tensors of type {facts.told('dtype', 'types')} in host memory,"
        " whichever devices made them or use them."
    )
    if "lay_on" not in facts:
        return rule
    lay = facts.told("lay_on", "devices")
    if all(map(is_gpu, facts.each("lay_on"))):
        return (
            f"{rule} This one lay on {lay}: it is copied to the host for the call, and back for an op that"
            " takes it in the device's memory."
        )
    return (
        f"{rule} This one lay on {lay}: there, if that is a GPU, it is copied to the host for the call,"
        " and back for an op that takes it in the device's memory; of stand-ins only the way back shows."
    )


def colocation(facts: Facts) -> str:
    """An op runs where what it works on, or stands beside, lives."""
    for name in ("colocated_with", "producer_colocated_with", "producer_placed_beside"):
        if name in facts:
            asked = facts.told("requested" if name == "colocated_with" else "producer_requested", "devices")
            if "lives_on" in facts:
                home = facts.told("lives_on", "devices")
                wanted = f" Requested: {asked}." if asked else ""
                return (
                    f"It works on {facts.told(name, 'resources')} and runs where that lives, {home}.{wanted}"
                )
            wanted = f" Requested: {asked}." if asked and name == "colocated_with" else ""
            taker = facts.told("requested", "devices")
            if taker and name != "colocated_with":
                wanted = f" What takes it was requested on {taker}{facts.scope('scope')}."
            return f"It stands in one colocation group with {facts.told(name, 'ops')}.{wanted}"
    return ""


def variable(facts: Facts) -> str:
    """A variable is read away from its home."""
    if "rows" in facts:
        used = facts.told("requested", "devices") or facts.told("dst", "devices")
        home = facts.told("lives_on", "devices")
        return f"The table lives on {home}, so its rows are looked up there; what uses them runs on {used}."
    kept = f", where {facts.told('kept_by')} keeps it" if "kept_by" in facts else ""
    if "created_at" in facts:
        kept += f", created at {facts.told('created_at', 'lines')}"
        if "created_in" in facts:
            kept += f" in a scope of {facts.told('created_in', 'devices')}"
        if "object_made_at" in facts:
            several = len(facts.each("object_made_at")) > 1
            what = "make the objects" if several else "makes the object"
            kept += f", when {facts.told('object_made_at', 'lines')} {what}"
    if "gradient_goes_back" in facts:
        return _copied_variable(facts, kept)
    asked, runs = facts.told("requested", "devices"), facts.told("dst", "devices")
    reads = f"was requested on {asked}" if asked else f"was requested nowhere and runs on {runs}"
    if not asked and not runs:
        reads = "runs elsewhere"
    home = facts.told("lives_on", "devices")
    if len(facts.each("variable")) > 1:
        return f"The variables live on {home}{kept}; what reads them {reads}{facts.scope('scope')}."
    return f"The variable lives on {home}{kept}; what reads it {reads}{facts.scope('scope')}."


def _copied_variable(facts: Facts, created: str) -> str:
    several = len(facts.each("variable")) > 1
    live = "variables live" if several else "variable lives"
    again = ""
    if "unchanged_again" in facts:
        again = " Within a step the same, unchanged values are copied again: one copy a step would do."
    return (
        f"The {live} on {facts.told('lives_on', 'devices')}{created}; the code copies the whole by"
        f" {facts.told('call')}, and each backward pass copies its gradient back.{again}"
    )


def unknown(facts: Facts) -> str:
    """What is known where that does not decide."""
    asked = facts.told("producer_requested", "devices"), facts.told("requested", "devices")
    told = " and ".join(
        f"{device} for the {role}"
        for device, role in zip(asked, ("producer", "consumer"), strict=True)
        if device
    )
    return f"Known: requested {told}." if told else ""
