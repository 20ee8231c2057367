"""What a finding says in a sentence, and what to do about it, by cause code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.analysis.devices import in_order, is_gpu, is_host
from app.analysis.hops import Hop
from app.analysis.kernels.equivalents import ADVICE, instead, lacking
from probes.trace.hop import HANDED_TO_FUNCTION, HANDED_TO_OPERATOR, IN_GRAPH

MOST_NAMED = 4
"""Devices, or ways between them, that a sentence names before it counts them."""
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
    "variable-home": "Create the variable on the device that reads it; one that nothing writes to may also be"
    " read once, and its value kept.",
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
_FIX_OF_CAPTURED = "Copy the tensor to {dst} once, outside of the function, and use the copy."
_FIX_OF_COPIED_AGAIN = (
    "Copy it to {dst} once, before the loop, and keep the copy (a Block has Constants for that)."
)
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
_FIX_OF_PARTS = (
    "Nothing, while the data comes from the host; to keep it so where a GPU is the default device, cut it in"
    ' tf.device("/CPU:0").'
)
_FIX_OF_ROWS = "Create the table on {dst}, where its rows are used, if it fits into that memory{creates}."
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
    if evidence.get("asked_at") and _one(evidence.get("missing")).startswith("gpu:"):
        text = _FIX_OF_NO_GPU
    if code == "host-sync" and not evidence.get("takes", True):
        text = "Drop the wait: a device's work need be done only where a value of it is taken."
        if "save" in _each(evidence.get("kind")):
            text = "Save every so many steps: each save waits until the values are there."
    if code == "host-sync" and (function := _in_python(evidence)):
        text = function
    if code == "variable-home" and evidence.get("created_in") and evidence.get("created_at"):
        text = _FIX_OF_CREATED
    if code == "variable-home" and evidence.get("kept_by"):
        text = _FIX_OF_KEPT
    if code == "default-device" and evidence.get("default_device") and _to_gpu_from_host(evidence):
        text = _FIX_OF_INPUT
    if code == "default-device" and evidence.get("producer_default_device") and _to_host_from_gpu(evidence):
        text = _FIX_OF_RESULT if evidence.get("of_python_data") is not True else text
    if code == "no-kernel":
        asked = bool(evidence.get("on_host_as_asked"))
        text = instead(_each(evidence.get("kernel")), _each(evidence.get("dtype")), asked)
    if code == "default-device" and evidence.get("cut_on_host"):
        text = _FIX_OF_PARTS
    if any(name.startswith("kvstore") for name in _each(evidence.get("algorithm"))):
        text = _FIXES_OF_KVSTORES.get(code, text)
    if evidence.get("handed_back_at"):
        text = _FIX_OF_HAND_SUMS
    elif evidence.get("applied_at"):
        text = _FIX_OF_APPLIED
    if text is None or (code == "colocation" and "producer_colocated_with" not in evidence):
        return None
    wanted = [
        device
        for name in ("forward_requested", "producer_forward_requested")
        for device in _each(evidence.get(name))
    ]
    if code == "variable-home" and len(_each(evidence.get("dst"))) > 1 and not evidence.get("kept_by"):
        text = _FIX_OF_EACH if evidence.get("one_reader_each") else _FIX_OF_SHARED
    if code == "variable-home" and evidence.get("rows"):
        text = _FIX_OF_ROWS
    if evidence.get("result_of"):
        return None  # of a library's own, as a rule, which no scope around it would move
    created = _each(evidence.get("created_at"))
    start = next(iter(_each(evidence.get("stations") or evidence.get("src"))), "its device")
    if evidence.get("ways"):  # of several cards in turn: a scope of one would be wrong for the others
        start = "the card that it computes on" if evidence.get("result_of_a_call") else "its own device"
    if code in ("bounce", "default-device") and evidence.get("result_of_a_call"):
        text = (
            "Call the function inside the device scope of {start}: what a function returns passes the device"
            " of the scope that it is called in, the default one where it is called in none."
        )
    return text.format(
        wanted=" and ".join(dict.fromkeys(wanted)) or "the forward ops",
        start=start,
        home=next(iter(_each(evidence.get("devices"))), "one"),
        kept_by=" and ".join(_each(evidence.get("kept_by"))),
        src=" and ".join(_each(evidence.get("src"))) or "its device",
        dst=" and ".join(_each(evidence.get("dst"))) or "the device that uses it",
        created_at=" and ".join(created),
        creates=f": {created[0]} creates it" if len(created) == 1 else "",
        created_in=" and ".join(_each(evidence.get("created_in"))),
    )


def _to_gpu_from_host(evidence: Mapping[str, Any]) -> bool:
    ways = [_each(evidence.get(end)) for end in ("src", "dst")]
    return all(ways) and all(map(is_host, ways[0])) and all(map(is_gpu, ways[1]))


def _to_host_from_gpu(evidence: Mapping[str, Any]) -> bool:
    ways = [_each(evidence.get(end)) for end in ("src", "dst")]
    return all(ways) and all(map(is_gpu, ways[0])) and all(map(is_host, ways[1]))


def summary(
    code: str, first: Hop, consumers: str, pairs: Sequence[tuple[str, str]], evidence: Mapping[str, Any]
) -> str:
    """One sentence without its cost and full stop; `consumers` are the types of the consuming ops."""
    at = first.blamed_site or "an unknown line"
    way = some_of((f"{src} to {dst}" for src, dst in pairs), "ways", ", ")
    tell = _SENTENCES.get(code, _SENTENCES["unknown"])
    beside = next(filter(None, (evidence.get(name) for name in _BESIDE)), None)
    variables = _each(evidence.get("variable"))
    call = _one([_WORDS_OF_CALLS.get(name, name) for name in _each(evidence.get("call"))])
    several = "," in consumers or " and " in consumers
    words = {
        "at": at,
        "has": "have" if several else "has",
        "is": "are" if several else "is",
        "runs": "run" if several else "runs",
        "takes": "take" if several else "takes",
        "kernels": "kernels" if several else "kernel",
        "its": "their" if several else "its",
        "it": "them" if several else "it",
        "inputs": "inputs" if several or len({src for src, _ in pairs}) > 1 else "input",
        "way": way,
        "consumers": consumers or "an op",
        "src": first.src,
        "dst": first.dst,
        "srcs": some_of((src for src, _ in pairs), "devices"),
        "dsts": some_of((dst for _, dst in pairs), "devices"),
        "default": _one(evidence.get("default_device") or evidence.get("producer_default_device")),
        "producer": first.producer_op,
        "variable": some_of(variables, "variables") or "A variable",
        "table": some_of(variables, "variables") or "a variable",
        "live": "live" if len(variables) > 1 else "lives",
        "are": "are" if len(variables) > 1 else "is",
        "missing": _one(evidence.get("missing")),
        "ran_on": _one(evidence.get("ran_on")),
        "algorithm": _algorithms(evidence),
        "summed": _summed(evidence),
        "exchanged": some_of(_each(evidence.get("exchanged")), "kinds") or "what they exchange",
        "taken_by": _one(evidence.get("taken_by")),
        "beside": some_of(_each(beside), "ops"),
        "role": _one(evidence.get("kept_in_host_memory")),
        "to_host": some_of((f"{src} to the memory of the host" for src, _ in pairs), "ways", ", "),
        "put": "put" if " and " in _one(evidence.get("placed_by")) else "puts",
        "placed_by": _one(evidence.get("placed_by")),
        "dtype": _one(evidence.get("dtype")),
        "made_by": _one(evidence.get("argument_made_by")),
        "makers": some_of(_each(evidence.get("kept_by_kernel_of")), "ops") or "an op",
        "kernel": _one(evidence.get("kernel")),
        "lacking": some_of(lacking(_each(evidence.get("kernel"))), "ops") or "an op",
        "host": first.src if first.cause.blames == "producer" else first.dst,
        "call": call,
        "by_call": f" by {call}" if call else "",
        "wanted": "requested" if evidence.get("requested") else "default",
        "producer_wanted": "requested" if evidence.get("producer_requested") else "default",
    }
    if code == "unknown" and first.kind == "arg":
        tell = _ARGUMENT
    if code == "collective" and first.op.endswith("pull") and consumers == first.op:
        tell = _HANDED_OUT
    if evidence.get("sent_again"):
        tell = _SENT_AGAIN
    if code == "explicit" and evidence.get("placed_by"):
        tell = _PLACED_BY_LIBRARY
    if code == "host-memory" and (evidence.get("handed_over") or evidence.get("on_a_gpu")):
        kept = _one(evidence.get("kept_in_host_memory"))
        tell = _HANDED_OVER.get(kept, _TAKEN) if evidence.get("handed_over") else _TAKEN
    elif code == "host-memory" and evidence.get("kept_in_host_memory") == "result":
        tell = _RESULT_ON_HOST
    elif code == "host-memory" and len(_each(evidence.get("kept_in_host_memory"))) > 1:
        tell = _BOTH_ON_HOST
    if evidence.get("prefers_host"):
        tell = _RATHER_ON_HOST[first.cause.blames]
    if code in _CALLED and evidence.get("call"):
        tell = _CALLED[code]
    if evidence.get("copied_before"):
        tell = _COPIED_AGAIN
    if code == "variable-home" and first.producer_op == "ResourceGather":
        tell = _ROWS
    if code in _PRODUCER_SENTENCES and first.cause.blames == "producer":
        tell = _PRODUCER_SENTENCES[code]
    if code == "no-kernel" and evidence.get("on_host_as_asked") is True:
        tell = _ON_HOST_AS_ASKED
    return tell.format(**words)


_ON_HOST_AS_ASKED = "The code asks for {host} for {lacking} at {at}, and no GPU has a kernel of it ({kernel})"
_BESIDE = ("colocated_with", "producer_colocated_with", "producer_placed_beside")
_ARGUMENT = "An argument made on {src} by {made_by} is used on {dst} by {consumers} at {at}"
_ROWS = "Rows of {table} on {srcs} are looked up there and used on {dsts} at {at}"
_HANDED_OUT = "At {at} {algorithm} copies {exchanged} to the devices, {way}"
_SENT_AGAIN = "Each call sends the same tensor again for {consumers} at {at}, {way}"
_WORDS_OF_CALLS = {"kvstore init": "the kvstore's first taking of the parameters"}
"""Calls that the code does not make itself."""
_COPIED_AGAIN = "The code copies the same, unchanged array again and again at {at}{by_call}, {way}"
_PLACED_BY_LIBRARY = (
    "{placed_by} {put} producer and consumer ({consumers} at {at}) on different devices, {way}"
)
_HANDED_OVER = {
    "argument": "An argument of type {dtype}, made by {made_by}, is handed over in host memory for"
    " {consumers} at {at}, {way}",
    "result": "A result of type {dtype} of {made_by} is handed out in host memory and used on {dsts} by"
    " {consumers} at {at}",
}
_TAKEN = (
    "{consumers} at {at} {is} sent an argument, {way}, that a GPU's kernel would take from host memory as it"
    " is"
)
_RESULT_ON_HOST = (
    "{consumers} at {at} {takes} on {dsts} what the kernel of {makers} leaves in the host's memory"
)
_BOTH_ON_HOST = (
    "{consumers} at {at} {takes} on {dsts} what kernels keep in host memory, as arguments or as results"
)
_RATHER_ON_HOST = {
    "consumer": "TensorFlow runs {consumers} at {at} on the host though GPUs have a kernel of {it}, {way}",
    "producer": "TensorFlow runs {producer} at {at} on the host though GPUs have a kernel of it, {way}",
}
_CALLED = {
    "explicit": "The code copies a tensor at {at} by {call}, {way}",
    "redundant-copy": "The code copies a tensor at {at} by {call} to where it is already, {way}",
}
_PRODUCER_SENTENCES = {
    "default-device": "{producer} at {at} has no device scope and runs on {default}, used on {dsts}",
    "colocation": "{producer} at {at} runs beside {beside} on {src}, used on {dsts}",
    "no-kernel": "{producer} at {at} has no kernel on the {producer_wanted} device ({kernel}), runs on {src}"
    " and is used on {dsts}",
}
_SENTENCES = {
    "explicit": "The code puts producer and consumer ({consumers} at {at}) on different devices, {way}",
    "default-device": "{consumers} at {at} {has} no device scope and {runs} on {default}, away from {its}"
    " {inputs} on {srcs}",
    "gradient-outside-scope": "The gradients at {at} are computed outside their forward ops' device scope,"
    " on {default}, so tensors cross {way}",
    "no-kernel": "{consumers} at {at} {has} no kernel on the {wanted} device ({kernel}) and {runs} on {dst}",
    "host-memory": "The {kernels} of {consumers} at {at} {takes} this {role} in host memory, {to_host}",
    "missing-device": "The code at {at} asks for {missing}, which does not exist here; it ran on {ran_on}",
    "colocation": "{consumers} at {at} {is} kept beside {beside}, {way}",
    "variable-home": "{variable} {live} on {srcs} and {are} read on {dsts} at {at}",
    "host-sync": "Python takes a value from {srcs} by {taken_by} at {at}",
    "host-upload": "Python or numpy data is sent to {dsts} at {at}",
    "redundant-copy": "The copy at {at} moves nothing to where it is not already, {way}",
    "collective": "Devices reduce their tensors at {at} by {algorithm}{summed}, {way}",
    "reduce-on-host": "Gradients are summed in host memory at {at} by {algorithm}, {way}",
    "unknown": "A tensor crosses {way} for {consumers} at {at}, and the records don't tell why",
}


def _algorithms(evidence: Mapping[str, Any]) -> str:
    """Each algorithm once; where tensors are summed is told apart."""
    names = (name.partition(", summed on ")[0] for name in _each(evidence.get("algorithm")))
    return " and ".join(dict.fromkeys(names))


def _summed(evidence: Mapping[str, Any]) -> str:
    """`` (summed on cpu:1 and cpu:2)``, '' where it is not known."""
    devices = in_order(_each(evidence.get("summed_on")))
    return f" (summed on {' and '.join(devices)})" if devices else ""


def some_of(names: Iterable[str], what: str, last: str = " and ") -> str:
    """``a, b and c``: each name once; of many the first few and the number of the others, named `what`."""
    each = list(dict.fromkeys(names))
    if len(each) > MOST_NAMED:
        left = len(each) - MOST_NAMED + 1
        each = [*each[: MOST_NAMED - 1], f"{left} other {what}"]
        last = " and "
    return last.join(filter(None, (", ".join(each[:-1]), *each[-1:])))


def _in_python(evidence: Mapping[str, Any]) -> str:
    """Of values that Python code takes which a graph or MXNet calls: they are wanted there in each step."""
    handed = {text.partition(" at ")[0] for text in _each(evidence.get("handed_by"))}
    taken = {*_each(evidence.get("taken_by")), *_each(evidence.get("kind"))}
    if IN_GRAPH in taken or HANDED_TO_FUNCTION in handed:
        return "Write the function with TensorFlow's ops, so that the graph runs it where its inputs are."
    if HANDED_TO_OPERATOR in handed:
        return (
            "Write the operator with MXNet's own ops, in an autograd.Function: they run where its inputs are."
        )
    return ""


def _each(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [str(item) for item in values if item]


def _one(value: Any) -> str:
    return ", ".join(_each(value))
