"""Samples GPUs by another program's own calls, at a rate, and says how many figures it gets of a GPU.

python benchmarks/peer_samplers.py gpustat|nvitop HZ

One line of JSON a sample, as `sampler_cost.py` counts them. Nothing is drawn or formatted.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

Sample = Callable[[], int]


def gpustat() -> Sample:
    """What `gpustat` calls for each picture it prints."""
    from gpustat import GPUStatCollection

    def sample() -> int:
        stats = GPUStatCollection.new_query()
        return sum(value is not None for value in stats[0].entry.values())

    return sample


def nvitop() -> Sample:
    """What nvitop's two panels call in the background: snapshots of the devices, then of their processes."""
    from nvitop import NA, Device, GpuProcess

    devices = Device.all()

    def sample() -> int:
        snapshots = [device.as_snapshot() for device in devices]
        processes = [process for device in devices for process in device.processes().values()]
        GpuProcess.take_snapshots(processes, failsafe=True)
        # The same figure told for people again is not counted twice.
        names = [name for name in Device.SNAPSHOT_KEYS if not name.endswith(("_human", "_status", "_usage"))]
        figures: list[Any] = [getattr(snapshots[0], name) for name in [*names, "power_usage"]]
        return sum(1 for figure in figures if figure != NA) + 1  # the processes

    return sample


def main() -> None:
    """Sample until standard input ends, or for good."""
    sample = {"gpustat": gpustat, "nvitop": nvitop}[sys.argv[1]]()
    period = 1 / float(sys.argv[2])
    due = time.monotonic()
    while True:
        print(json.dumps({"figures": sample()}), flush=True)
        due = max(due + period, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))


main()
