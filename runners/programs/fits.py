"""What of a program's options cannot work on the devices that it would get: the rules that several share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runners.program import Fit, Value
from runners.programs.helpers.shared import digit_files


def one_kind(name: str, devices: Sequence[str], options: Mapping[str, Value | None]) -> list[str]:
    """Replicas are all on GPUs or all on CPU devices."""
    if len({device.partition(":")[0] for device in devices}) > 1:
        return [f"{name} needs devices of one kind, and {', '.join(devices)} are not"]
    return []


def image_each(name: str, devices: Sequence[str], options: Mapping[str, Value | None]) -> list[str]:
    """Each replica takes an image of a batch at least."""
    batch, count = options.get("batch"), len(devices)
    if isinstance(batch, int) and batch < count:
        return [f"batch={batch} leaves some of {count} replicas without an image"]
    return []


def no_image_twice(name: str, devices: Sequence[str], options: Mapping[str, Value | None]) -> list[str]:
    """A batch takes no image twice, so that it cannot have more than there are."""
    data, batch = str(options.get("data")), options.get("batch")
    if digit_files.why_not(data):
        return []
    train = digit_files.IMAGES[data] - digit_files.held_out(digit_files.IMAGES[data])
    if isinstance(batch, int) and batch > train:
        return [f"batch={batch} is more than the {train} images to train on"]
    return []


def at_most_all(option: str) -> Fit:
    """This option says how many of the devices are used."""

    def rule(name: str, devices: Sequence[str], options: Mapping[str, Value | None]) -> list[str]:
        kept = options.get(option)
        if isinstance(kept, int) and kept > len(devices):
            return [f"{option}={kept} is more than the {len(devices)} devices of this run"]
        return []

    return rule
