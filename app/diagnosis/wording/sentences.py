"""What a finding says in a sentence, by cause code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.diagnosis.wording import library_functions
from app.facts.devices import in_order
from app.facts.transfers.hops import Hop
from app.fixes.kernels.equivalents import lacking
from app.views.naming import each, flat, one, some_of


def summary(
    code: str, first: Hop, consumers: str, pairs: Sequence[tuple[str, str]], evidence: Mapping[str, Any]
) -> str:
    """One sentence without its cost and full stop; `consumers` are the types of the consuming ops."""
    at = first.blamed_site or "an unknown line"
    way = some_of((f"{src} to {dst}" for src, dst in pairs), "ways", ", ")
    tell = _SENTENCES.get(code, _SENTENCES["unknown"])
    beside = next(filter(None, (evidence.get(name) for name in _BESIDE)), None)
    variables = each(evidence.get("variable"))
    call = one([_WORDS_OF_CALLS.get(name, name) for name in each(evidence.get("call"))])
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
        "default": one(evidence.get("default_device") or evidence.get("producer_default_device")),
        "producer": first.producer_op,
        "variable": some_of(variables, "variables") or "A variable",
        "table": some_of(variables, "variables") or "a variable",
        "live": "live" if len(variables) > 1 else "lives",
        "are": "are" if len(variables) > 1 else "is",
        "missing": one(evidence.get("missing")),
        "ran_on": one(evidence.get("ran_on")),
        "algorithm": _algorithms(evidence),
        "summed": _summed(evidence),
        "exchanged": some_of(each(evidence.get("exchanged")), "kinds") or "what they exchange",
        "taken_by": library_functions.by(evidence),
        "beside": some_of(each(beside), "ops"),
        "role": one(evidence.get("kept_in_host_memory")),
        "to_host": some_of((f"{src} to the memory of the host" for src, _ in pairs), "ways", ", "),
        "put": "put" if " and " in one(evidence.get("placed_by")) else "puts",
        "placed_by": one(evidence.get("placed_by")),
        "dtype": one(evidence.get("dtype")),
        "made_by": one(evidence.get("argument_made_by")),
        "makers": some_of(each(evidence.get("kept_by_kernel_of")), "ops") or "an op",
        "kernel": one(evidence.get("kernel")),
        "lacking": some_of(lacking(each(evidence.get("kernel"))), "ops") or "an op",
        "host": first.src if first.cause.blames == "producer" else first.dst,
        "call": call,
        "by_call": f" by {call}" if call else "",
        "maker": next(iter(flat(evidence.get("made_without_context"))), "an op"),
        "copied_at": some_of(each(evidence.get("copied_at")), "lines") or "an unknown line",
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
        kept = one(evidence.get("kept_in_host_memory"))
        tell = _HANDED_OVER.get(kept, _TAKEN) if evidence.get("handed_over") else _TAKEN
    elif code == "host-memory" and evidence.get("kept_in_host_memory") == "result":
        tell = _RESULT_ON_HOST
    elif code == "host-memory" and len(each(evidence.get("kept_in_host_memory"))) > 1:
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
    if evidence.get("made_without_context"):
        tell = _WITHOUT_CONTEXT.get(one(evidence.get("from_nothing")), _FOR_A_MODEL)
    if code == "no-kernel" and evidence.get("on_host_as_asked") is True:
        tell = _ON_HOST_AS_ASKED
    return tell.format(**words)


_ON_HOST_AS_ASKED = "The code asks for {host} for {lacking} at {at}, and no GPU has a kernel of it ({kernel})"
_ONLY_TO_BE_SENT = (
    "{maker} at {at} names no context, so what it makes lies on {srcs}, only to be copied to {dsts} by {call}"
)
_FOR_A_MODEL = (
    "{maker} at {at} names no context, so it runs on {srcs} in the middle of each step, and what comes of it"
    " is copied to {dsts} at {copied_at} by {call}"
)
_ONLY_TO_BE_COPIED = (
    "{maker} at {at} names no context, so what it makes lies on {srcs}, only to be copied to {dsts} at"
    " {copied_at} by {call}"
)
_WITHOUT_CONTEXT = {"to be sent": _ONLY_TO_BE_SENT, "only copied": _ONLY_TO_BE_COPIED}
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
    names = (name.partition(", summed on ")[0] for name in each(evidence.get("algorithm")))
    return " and ".join(dict.fromkeys(names))


def _summed(evidence: Mapping[str, Any]) -> str:
    """`` (summed on cpu:1 and cpu:2)``, '' where it is not known."""
    devices = in_order(each(evidence.get("summed_on")))
    return f" (summed on {' and '.join(devices)})" if devices else ""
