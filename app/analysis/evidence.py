"""What a finding was judged by, in a sentence."""

from __future__ import annotations

from app.analysis.beside import BY_ANOTHER_THREAD
from app.analysis.devices import is_gpu
from app.analysis.evidence_facts import Facts
from app.analysis.finding import Finding
from app.analysis.naming import some_of
from probes.trace.hop import DISPATCH, HANDED_TO_FUNCTION, HANDED_TO_OPERATOR, IN_GRAPH


def because(finding: Finding) -> str:
    """Why the finding has its code, as a sentence; '' where its summary says all of it."""
    tell = _SENTENCES.get(finding.code)
    facts = Facts(finding.evidence)
    return tell(facts) if tell else ""


_RESULTS = (
    "What a function returns passes an Identity of TensorFlow's own, on the device of the scope that the"
    " function is called in, the default one where it is called in none."
)


def _result(facts: Facts) -> str:
    if "result_of" in facts:
        of = facts.told("result_of")
        return (
            f"What {of} hands out passes an Identity of TensorFlow's own, on the device that it is in itself."
        )
    here = f" Here that is {facts.told('called_on', 'devices')}." if "called_on" in facts else ""
    return f"{_RESULTS}{here}"


def _explicit(facts: Facts) -> str:
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


def _default_device(facts: Facts) -> str:
    if "result_of_a_call" in facts:
        return _result(facts)
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


def _gradient(facts: Facts) -> str:
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


def _no_kernel(facts: Facts) -> str:
    asked = facts.told("requested", "devices") or facts.told("producer_requested", "devices")
    wanted = f"Requested: {asked}. " if asked else ""
    return f"{wanted}Kernel lookup: {facts.told('kernel')}."


def _missing(facts: Facts) -> str:
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


def _host_memory(facts: Facts) -> str:
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


def _colocation(facts: Facts) -> str:
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


def _variable(facts: Facts) -> str:
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


_IN_MXNETS_THREAD = (
    "A thread of MXNet's own runs the operator, once its inputs are computed: that thread waits for the"
    " values, and with it all that needs the operator's result, while the program's own code goes on."
)


def _sync(facts: Facts) -> str:
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


def _upload(facts: Facts) -> str:
    runs = facts.told("dst", "devices")
    told = (
        f"What takes it runs on {runs}{facts.scope('scope')}; until then it was Python's or numpy's memory."
    )
    if BY_ANOTHER_THREAD in facts:
        told += " Another thread sends it than the one that makes the steps."
    return told


def _bounce(facts: Facts) -> str:
    known = [code for code in facts.each("causes") if code != "unknown"]
    causes = some_of(known, "causes") or "unknown"
    scopes = facts.told("scopes", "lines")
    opened = f" Device scopes were opened at {scopes}." if scopes else ""
    if "result_of_a_call" in facts:
        return f"{_result(facts)}{opened}"
    again = facts.told("tensor_again_at", "lines")
    made = f" A tensor was made of Python's array again at {again}." if again else ""
    return f"Nothing changed its values on the way; each hop by itself: {causes}.{made}{opened}"


def _collective(facts: Facts) -> str:
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


def _mixed(facts: Facts) -> str:
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


def _redundant(facts: Facts) -> str:
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


def _opaque(facts: Facts) -> str:
    asked = facts.told("requested_inside", "devices")
    if not asked:
        return ""
    ran = facts.told("ran_on", "devices")
    return f"Requested inside: {asked}; XLA makes one kernel of it all, which runs on {ran}."


def _drift(facts: Facts) -> str:
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


def _unknown(facts: Facts) -> str:
    asked = facts.told("producer_requested", "devices"), facts.told("requested", "devices")
    told = " and ".join(
        f"{device} for the {role}"
        for device, role in zip(asked, ("producer", "consumer"), strict=True)
        if device
    )
    return f"Known: requested {told}." if told else ""


_SENTENCES = {
    "explicit": _explicit,
    "default-device": _default_device,
    "gradient-outside-scope": _gradient,
    "no-kernel": _no_kernel,
    "missing-device": _missing,
    "host-memory": _host_memory,
    "colocation": _colocation,
    "variable-home": _variable,
    "host-sync": _sync,
    "host-upload": _upload,
    "bounce": _bounce,
    "collective": _collective,
    "reduce-on-host": _collective,
    "mixed-context": _mixed,
    "redundant-copy": _redundant,
    "xla-opaque": _opaque,
    "replica-drift": _drift,
    "unknown": _unknown,
}
