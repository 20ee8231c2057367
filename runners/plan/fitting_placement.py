"""What of the TensorFlow placement programs' options cannot work on the devices that they would get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runners.program import Program, Value
from runners.programs.helpers.shared.slices import cut

_ONE_KIND = frozenset(
    {"tf-central-storage", "tf-mirrored-uneven", "tf-default-placement", "tf-visible-order"}
)
_ONE_IMAGE_EACH = frozenset({"tf-central-storage", "tf-pin-replica-gradients"})
_KEPT = {"tf-visible-order": "subset", "tf-default-placement": "visible"}
"""The option that says how many of the devices are left."""


def placement_problems(
    program: Program, devices: Sequence[str], options: Mapping[str, Value | None]
) -> list[str]:
    """Return why these devices and these options do not go together; one line each."""
    problems = []
    count, shown, batch = len(devices), ", ".join(devices), options.get("batch")
    if program.name in _ONE_KIND and len({name.partition(":")[0] for name in devices}) > 1:
        problems.append(f"{program.name} needs devices of one kind, and {shown} are not")
    if program.name in _ONE_IMAGE_EACH and isinstance(batch, int) and batch < count:
        problems.append(f"batch={batch} leaves some of {count} replicas without an image")
    if program.name == "tf-mirrored-uneven":
        problems += _uneven_problems(devices, options)
    kept = options.get(_KEPT.get(program.name, ""))
    if isinstance(kept, int) and kept > count:
        problems.append(f"{_KEPT[program.name]}={kept} is more than the {count} devices of this run")
    return problems


def _uneven_problems(devices: Sequence[str], options: Mapping[str, Value | None]) -> list[str]:
    batch, slowdown, split = options.get("batch"), options.get("slowdown"), options.get("split")
    if not isinstance(batch, int) or not isinstance(slowdown, int):
        return []
    if slowdown == 1 and split == "both":
        return ["slowdown=1 makes both splits the same: give 2 or more, or choose one split"]
    for loads in ([1] * len(devices), [slowdown] * (len(devices) - 1) + [1]):
        if 0 in (shares := cut(batch, loads)):
            told = ", ".join(f"{images} for {name}" for images, name in zip(shares, devices, strict=True))
            return [f"batch={batch} leaves a replica without an image: {told}"]
    return []
