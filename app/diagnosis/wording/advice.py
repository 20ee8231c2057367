"""What to do about a finding, by cause code, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.rules.upload_threads import by_another_thread
from app.facts.devices import is_gpu, is_host
from app.fixes.kernels.equivalents import ADVICE, instead
from app.fixes.scopes.created_variables import PUT_WHERE_READ
from app.views.naming import each, flat, one
from probes.trace.hop import ASSERTION, HANDED_TO_FUNCTION, HANDED_TO_OPERATOR, IN_GRAPH, ON_BATCH

EITHER = (
    "Take the value every so many steps, or once at the end, if it is only looked at; where the program goes"
    " on with it, compute with it on the device, or take all that a step needs in one fetch."
)
"""For values of which it is not known what they are taken for."""
LOOKED_AT = "Take the value every so many steps, or keep it on the device and take it once at the end."
PUT_BESIDE_INPUTS = "Put the op into the device scope of its inputs."
_FIXES = {
    "default-device": PUT_BESIDE_INPUTS,
    "gradient-outside-scope": "Compute the gradients in the device scope of {wanted}, like the forward ops.",
    "no-kernel": ADVICE,
    "missing-device": "Name a device that exists here, or let the framework refuse one that does not.",
    "colocation": "Let the input pipeline deliver to the device that uses its elements.",
    "variable-home": PUT_WHERE_READ,
    "host-sync": EITHER,
    "host-upload": "What is known ahead of its step, send ahead (a prefetching input pipeline); make what"
    " stays the same once, on {dst}, before the loop.",
    "mixed-context": "Bring the inputs to one device before the op: x.as_in_context(y.context).",
    "redundant-copy": "Drop the copy: the tensor is there already.",
    "bounce": "Keep the tensor on {start}, or copy it from there straight to where it is used.",
    "unbalanced": "Share the work out anew: the same part of the batch or of the layers to each device.",
    "reduce-on-host": "Choose a reduction that sums on the devices.",
    "replica-drift": "Give the Trainer a kvstore if it has none, and call its allreduce_grads() before"
    " update(), which alone exchanges nothing: then all replicas apply the same gradients.",
    "xla-opaque": "To look inside, run it with jit_compile=False: device scopes count then, and each op"
    " runs by itself where it is placed, slower and with more memory than what XLA fused.",
}
_FIXES_OF_CALLS = {
    "redundant-copy": "Drop the copy, or call as_in_context, which returns the same array where it is there"
    " already.",
}
_FIX_OF_COPIED_VARIABLE = (
    "Keep it on {dst}, if it fits into that memory: name that context where it is initialized or made. Where"
    " a step uses few of its rows, look these up on {src}, by Embedding or take, and copy them instead."
)
_FIX_OF_VARIABLE_FOR_SEVERAL = (
    "Keep one on each of {dst}, as initialize(ctx=[..]) does, and let a Trainer sum their gradients: then the"
    " devices exchange these, and no weights cross."
)
_FIX_OF_CAPTURED = "Copy the tensor to {dst} once, outside of the function, and use the copy{or_make}."
_FIX_OF_COPIED_AGAIN = "Copy it to {dst} once, before the loop, and keep the copy."
_FIX_OF_SHARED = (
    "Several devices read it: keep a copy on each, as tf.distribute.MirroredStrategy does, or read it once a"
    " step for all of them."
)
_FIX_OF_EACH = "Create each variable on the device that reads it: none of them has more than one."
_FIX_OF_NO_GPU = (
    "The program is shown no such GPU: check the driver, the framework's build and CUDA_VISIBLE_DEVICES."
    " What would cross with GPUs is foreseen by: python3 -m app preflight -- SCRIPT."
)
_FIX_OF_CREATED = (
    "Create it on {dst}, where it is read, if it fits into that memory: {created_at} creates it in a scope"
    " of {created_in}. What reads it here takes the whole of it."
)
_FIX_OF_INPUT = (
    "Make its input on {dst}, where it is computed with: in a scope of its input's device, the host, the op"
    " would leave {dst}."
)
_FIX_OF_RESULT = (
    "Take what uses it out of the scope of {dst}, if nothing keeps it there: in that scope this op would"
    " leave {src}."
)
_FIX_OF_THREAD = (
    "Open the device scope inside the function that the thread runs: no scope of another thread holds there."
)
_FIX_WITHOUT_CONTEXT = (
    "Make it on {dst} from the start, by ctx= of the call at {made_at}: then nothing crosses{draws}."
)
_FIX_OF_PARTS = (
    "Nothing, while the data comes from the host; to keep it so where a GPU is the default device, cut it in"
    ' tf.device("/CPU:0").'
)
_FIX_OF_ROWS = "Create the table on {dst}, where its rows are used, if it fits into that memory{creates}."
_FIX_OF_UNASKED = (
    "Run what reads it in the device scope of {src}, where the variable lives: no scope asks for {dst} here."
)
_FIX_OF_KEPT = (
    "{kept_by} keeps its variables in one place for all replicas: MirroredStrategy keeps a copy of each on"
    " every device, MultiWorkerMirroredStrategy on those of every worker."
)
_FIX_OF_HAND_SUMS = (
    "Put the gradients together on {home}, one of the devices that have them: then each goes there straight."
)
_FIX_OF_APPLIED = (
    "Keep a copy of the variables on each device and sum between the devices, as"
    " tf.distribute.MirroredStrategy does: then neither gradients nor weights pass the host."
)
_FIX_OF_OWN_OP = (
    "Call the function inside the device scope of {start}: TensorFlow hands on what a function of custom"
    " gradients, such as tf.recompute_grad's, returns by an Identity of its own, on the device of the scope"
    " around the call."
)
_FIX_OF_ASSERTION = (
    "Run it in a tf.function: there an assertion is an op of the graph, and Python does not wait for it; or"
    " leave it to runs that look for an error."
)
_FIX_OF_ON_BATCH = (
    "Each call of {methods} takes its losses and metrics as numbers: let fit or evaluate make the loop, or"
    " write the step as a tf.function that keeps them on the device, and take them every so many steps."
)
_FIX_OF_WAIT_INSIDE = (
    "The library waits, in {inside}, for what it does there: call that every so many steps, if the others can"
    " do without it."
)
_FIXES_OF_KVSTORES = {
    "reduce-on-host": "Choose the kvstore 'device' ('dist_device_sync' for several workers): it sums on the"
    " devices.",
}


def fix(code: str, evidence: Mapping[str, Any]) -> str | None:
    """What to change, for this cause; None where nothing is wrong or nothing is known."""
    text = _FIXES.get(code)
    if evidence.get("call"):
        text = _FIXES_OF_CALLS.get(code, text)
    if evidence.get("sent_again"):
        text = _FIX_OF_CAPTURED
    if evidence.get("copied_before"):
        text = _FIX_OF_COPIED_AGAIN
    if evidence.get("asked_at") and one(evidence.get("missing")).startswith("gpu:"):
        text = _FIX_OF_NO_GPU
    if code == "host-sync" and not evidence.get("takes", True):
        text = "Drop the wait: a device's work need be done only where a value of it is taken."
        if "save" in each(evidence.get("kind")):
            text = "Save every so many steps: each save waits until the values are there."
        if inside := each(evidence.get("inside")):
            text = _FIX_OF_WAIT_INSIDE.format(inside=" and ".join(inside))
    if code == "host-sync" and (known := _by_library(evidence) or _in_python(evidence)):
        text = known
    if code == "variable-home" and evidence.get("created_in") and evidence.get("created_at"):
        text = _FIX_OF_CREATED
    elif code == "variable-home" and _runs_by_default(evidence):
        text = _FIX_OF_UNASKED
    if code == "variable-home" and evidence.get("kept_by"):
        text = _FIX_OF_KEPT
    if code == "default-device" and evidence.get("default_device") and _to_gpu_from_host(evidence):
        text = _FIX_OF_INPUT
    if code == "default-device" and evidence.get("producer_default_device") and _to_host_from_gpu(evidence):
        text = _FIX_OF_RESULT if evidence.get("of_python_data") is not True else text
    if code == "no-kernel":
        asked = bool(evidence.get("on_host_as_asked"))
        text = instead(each(evidence.get("kernel")), each(evidence.get("dtype")), asked)
    if text == PUT_BESIDE_INPUTS and evidence.get("scope_apart"):
        text = _FIX_OF_THREAD
    if code == "default-device" and evidence.get("cut_on_host"):
        text = _FIX_OF_PARTS
    if evidence.get("made_without_context"):
        text = _FIX_WITHOUT_CONTEXT
    if any(name.startswith("kvstore") for name in each(evidence.get("algorithm"))):
        text = _FIXES_OF_KVSTORES.get(code, text)
    if evidence.get("handed_back_at"):
        text = _FIX_OF_HAND_SUMS
    elif evidence.get("applied_at"):
        text = _FIX_OF_APPLIED
    if code == "host-upload" and by_another_thread(evidence):
        return None  # it is sent ahead already
    if text is None or (code == "colocation" and "producer_colocated_with" not in evidence):
        return None
    wanted = [
        device
        for name in ("forward_requested", "producer_forward_requested", "gradients_of")
        for device in flat(evidence.get(name))
    ]
    if code == "variable-home" and len(each(evidence.get("dst"))) > 1 and not evidence.get("kept_by"):
        text = _FIX_OF_EACH if evidence.get("one_reader_each") else _FIX_OF_SHARED
    if code == "variable-home" and evidence.get("rows"):
        text = _FIX_OF_ROWS
    if evidence.get("gradient_goes_back"):
        several = len(each(evidence.get("dst"))) > 1
        for_several = _FIX_OF_EACH if evidence.get("one_reader_each") else _FIX_OF_VARIABLE_FOR_SEVERAL
        text = for_several if several else _FIX_OF_COPIED_VARIABLE
    if evidence.get("result_of"):
        return None  # of a library's own, as a rule, which no scope around it would move
    created = each(evidence.get("created_at"))
    start = next(iter(each(evidence.get("stations") or evidence.get("src"))), "its device")
    if evidence.get("ways"):  # of several cards in turn: a scope of one would be wrong for the others
        start = "the card that it computes on" if evidence.get("result_of_a_call") else "its own device"
    if code in ("bounce", "default-device") and evidence.get("own_op"):
        text = _FIX_OF_OWN_OP
        by_default = [*each(evidence.get("default_device")), *each(evidence.get("producer_default_device"))]
        ends = [*each(evidence.get("src")), *each(evidence.get("dst"))]
        start = next((device for device in ends if device not in by_default), start)
    if code in ("bounce", "default-device") and evidence.get("result_of_a_call"):
        text = (
            "Call the function inside the device scope of {start}: what a function returns passes the device"
            " of the scope that it is called in, the default one where it is called in none. Ops of it that"
            " no scope asks for go there too."
        )
    if code == "bounce" and _at_one_statement(evidence):
        text += (
            " One line takes every step of the way: leave the stop between out of what it is told to go by."
        )
    return text.format(
        wanted=" and ".join(dict.fromkeys(wanted)) or "the forward ops",
        start=start,
        home=next(iter(each(evidence.get("devices"))), "one"),
        kept_by=" and ".join(each(evidence.get("kept_by"))),
        src=" and ".join(each(evidence.get("src"))) or "its device",
        dst=" and ".join(each(evidence.get("dst"))) or "the device that uses it",
        made_at=" and ".join(flat(evidence.get("made_at"))) or "its line",
        draws="; a device draws other numbers than the host" if _draws(evidence) else "",
        or_make=f"; or make it there, at {' and '.join(made)}"
        if (made := each(evidence.get("sent_from")))
        else "",
        created_at=" and ".join(created),
        creates=f": {created[0]} creates it" if len(created) == 1 else "",
        created_in=" and ".join(each(evidence.get("created_in"))),
    )


_COPIES = frozenset({"Identity", "_copyto", "_copy"})
"""Ops that code asks for only to have a tensor elsewhere."""


def _at_one_statement(evidence: Mapping[str, Any]) -> bool:
    """Whether a statement that runs once for each stop moves a tensor there and on, without Python."""
    lines = each(evidence.get("lines"))
    return len(lines) > 1 and len(set(lines)) == 1 and {*each(evidence.get("by"))} <= _COPIES


_DRAWS = ("uniform", "normal", "random", "gamma", "poisson", "exponential", "randint", "binomial")


def _draws(evidence: Mapping[str, Any]) -> bool:
    return any(part in op for op in flat(evidence.get("made_without_context")) for part in _DRAWS)


def _runs_by_default(evidence: Mapping[str, Any]) -> bool:
    """Whether what reads a variable of one card runs on another device only because nothing asks for one."""
    asked = [*each(evidence.get("requested")), *each(evidence.get("called_on"))]
    ends = each(evidence.get("src")), each(evidence.get("dst"))
    return not asked and all(len(devices) == 1 for devices in ends) and not is_host(ends[0][0])


def _to_gpu_from_host(evidence: Mapping[str, Any]) -> bool:
    ways = [each(evidence.get(end)) for end in ("src", "dst")]
    return all(ways) and all(map(is_host, ways[0])) and all(map(is_gpu, ways[1]))


def _to_host_from_gpu(evidence: Mapping[str, Any]) -> bool:
    ways = [each(evidence.get(end)) for end in ("src", "dst")]
    return all(ways) and all(map(is_gpu, ways[0])) and all(map(is_host, ways[1]))


def _by_library(evidence: Mapping[str, Any]) -> str:
    """Of values that a library's call takes for itself each time: the code has none that it could keep."""
    taken = {*each(evidence.get("taken_by")), *each(evidence.get("kind"))}
    if ASSERTION in taken:
        return _FIX_OF_ASSERTION
    methods = [name for name in ON_BATCH if name in taken]
    return _FIX_OF_ON_BATCH.format(methods=" and ".join(methods)) if methods else ""


def _in_python(evidence: Mapping[str, Any]) -> str:
    """Of values that Python code takes which a graph or MXNet calls: they are wanted there in each step."""
    handed = {text.partition(" at ")[0] for text in each(evidence.get("handed_by"))}
    taken = {*each(evidence.get("taken_by")), *each(evidence.get("kind"))}
    if IN_GRAPH in taken or HANDED_TO_FUNCTION in handed:
        return "Write the function with TensorFlow's ops, so that the graph runs it where its inputs are."
    if HANDED_TO_OPERATOR in handed:
        return (
            "Write the operator with MXNet's own ops, in an autograd.Function: they run where its inputs are."
        )
    return ""
