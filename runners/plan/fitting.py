"""What of a program's options cannot work on the devices that it would get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runners.catalogue import Program, Value
from runners.plan.fitting_data import data_problems
from runners.programs.helpers.shared.slices import cut

HOST = "cpu:0"


def program_problems(
    program: Program, devices: Sequence[str], options: Mapping[str, Value | None]
) -> list[str]:
    """Return why these devices, named in order, and these options do not go together; one line each."""
    problems = []
    count = len(devices)
    if count < program.min_devices:
        problems.append(f"{program.name} needs at least {program.min_devices} devices, not {count}")
    if program.max_devices is not None and count > program.max_devices:
        problems.append(f"{program.name} takes {program.max_devices} devices at most, not {count}")
    device = options.get("device")
    if device is not None and device not in devices:
        problems.append(
            f"device={device} is not one of the devices of this run: {', '.join(devices)}; name one of them, "
            "or choose others with --devices or --stand-ins"
        )
    # Without a choice the last one is taken.
    if program.beside_host and HOST in (device, *(devices[-1:] if device is None else ())):
        problems.append(
            f"{program.name} compares its device with the host, {HOST}: name another one with --devices or "
            "--stand-ins"
        )
    if "kvstore" in options:
        problems += _kvstore_problems(devices, options)
    if "split" in options:
        problems += _split_problems(count, options.get("layers"), options.get("split"))
    for fit in program.fits:
        problems += fit(program.name, devices, options)
    return problems + data_problems(options)


def program_notes(
    program: Program, options: Mapping[str, Value | None], shares: Sequence[Sequence[str]]
) -> list[str]:
    """Return what to know of options that work, and yet do less than one may expect.

    `shares` are the devices of each process that computes.
    """
    notes = (
        ["repeats=1 gives no spread, so this run will say no verdict"] if options.get("repeats") == 1 else []
    )
    batch, sizes = options.get("batch"), [max(1, len(share)) for share in shares]
    if isinstance(batch, int) and sizes and program.equal_shares:
        coordinated = program.cluster is not None and program.cluster.coordinated
        replicas = max(sizes) if coordinated else sum(sizes)
        each = batch // replicas
        if each and batch % replicas:
            plural = "" if each == 1 else "s"
            notes.append(
                f"batch={batch} trains {each * replicas} images a step: {replicas} replicas take {each} "
                f"image{plural} each, and the rest is left out"
            )
    return notes


def _split_problems(count: int, layers: Value | None, split: Value | None) -> list[str]:
    if not isinstance(layers, int):
        return []
    if layers < count:
        return [f"layers={layers} are too few for {count} devices"]
    return [] if split is None else _point_problems(count, layers, str(split))


def _point_problems(count: int, layers: int, split: str) -> list[str]:
    points = [int(point) for point in split.split(",")]
    if len(points) != count - 1:
        return [f"split={split} has {len(points)} points, and {count} devices need {count - 1}"]
    if points != sorted(set(points)):
        return [f"split={split} does not rise from each point to the next"]
    if points[-1] >= layers:
        return [f"split={split} names layer {points[-1]}, and the layers are 0 to {layers - 1}"]
    return []


def _kvstore_problems(devices: Sequence[str], options: Mapping[str, Value | None]) -> list[str]:
    """Return what keeps a batch from being cut for these devices, and its gradients from being summed."""
    problems = []
    count, shown, batch = len(devices), ", ".join(devices), options.get("batch")
    if "work-load-list" in options:
        problems += _cut_problems(devices, batch, options["work-load-list"])
    elif isinstance(batch, int) and batch < count:
        problems.append(f"batch={batch} leaves some of {count} devices without an image")
    if options["kvstore"] == "nccl" and any(not name.startswith("gpu:") for name in devices):
        problems.append(f"kvstore=nccl needs GPUs: NCCL has no kernel for CPU devices, which {shown} are")
    return problems


def _cut_problems(devices: Sequence[str], batch: Value | None, work_loads: Value | None) -> list[str]:
    count = len(devices)
    loads = [int(load) for load in str(work_loads).split(",")] if work_loads else [1] * count
    if len(loads) != count:
        return [f"work-load-list={work_loads} has {len(loads)} shares, and {count} devices need {count}"]
    if isinstance(batch, int) and 0 in (slices := cut(batch, loads)):
        told = ", ".join(f"{images} for {name}" for images, name in zip(slices, devices, strict=True))
        return [f"batch={batch} leaves a device without an image: {told}"]
    return []
