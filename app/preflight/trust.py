"""The rules of a prediction in words, and how far to trust what they say together."""

from __future__ import annotations

from collections.abc import Iterable

from app.preflight.placer import Place

HIGH, MEDIUM, LOW = "high", "medium", "low"
RULES = {
    "resource": "an op stays where the variable or other resource lives that it works on",
    "requested": "an op that asks for a device gets it, where it has a kernel for its types there",
    "caller": "inside a function, an op that asks for no device runs where the function was called",
    "default": "an op that asks for no device runs on the first GPU, where it has a kernel there",
    "no-kernel": "an op without a GPU kernel for its types runs on the host (soft placement)",
    "missing": "an op that asks for a device that is not there runs as if it had asked for none",
    "unknown-op": "the kernel table does not know the op, so it is taken to have a kernel",
    "handed-over": "a function takes tensors of type int32 in host memory, wherever they were made",
    "made-on-host": "Python data of type int32, or text, becomes a tensor on the host, whatever the scope",
    "beside": "an op that is bound to another, or only asks for its extents, goes beside it",
}
"""By the name of a rule of `machine`, what it says."""


def confidence(places: Iterable[Place], same_version: bool) -> tuple[str, str]:
    """How far to trust what rests on these placements, and why no further: '' for high.

    `same_version`: the kernel table is of the script's own TensorFlow.
    """
    listed = list(places)
    if any(place.rule == "unknown-op" for place in listed):
        return LOW, "the kernel table does not know one of the ops"
    if any(not _certain(place) for place in listed):
        return MEDIUM, "not all types are known that a kernel depends on"
    if not same_version:
        return MEDIUM, "the kernel table is of another version of TensorFlow than the script's"
    if any(place.rule in ("default", "beside", "caller") for place in listed):
        return MEDIUM, "nobody asked for the device, and graph optimizers may still move or merge such ops"
    return HIGH, ""


def _certain(place: Place) -> bool:
    if place.rule == "no-kernel":
        return place.lacking is None or place.lacking.certain
    return place.rule in ("resource", "unknown-op", "made-on-host") or place.answer.certain
