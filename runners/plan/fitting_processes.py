"""What of a program of several processes cannot work, with the devices that each of them would get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runners.cluster import Cluster
from runners.program import Value

MOST_PROCESSES = 64


def process_problems(
    cluster: Cluster, values: Mapping[str, Value | None], shares: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return why these options and devices do not go together, one line each.

    `shares` has the devices of each process that computes, by its name: those of several may be the same.
    """
    count = sum(cluster.counts(values).values())
    if count > MOST_PROCESSES:
        return [f"{count} processes are too many for one machine: {MOST_PROCESSES} at most"]
    devices = [device for share in shares.values() for device in share]
    problems = _batch_problems(cluster, values, shares)
    if cluster.coordinated:
        return problems
    kinds = {name.partition(":")[0] for name in devices}
    if cluster.own_gpus and len(kinds) > 1:
        problems.append(f"the devices must be of one kind, and {_shown(devices)} are not")
    if values.get("communication") == "nccl" and "cpu" in kinds:
        problems.append(
            f"communication=nccl needs GPUs: NCCL has no kernel for CPU devices, which {_shown(devices)} are"
        )
    gpus = [name for name in devices if name.startswith("gpu:")]
    if cluster.own_gpus and len(set(gpus)) < len(gpus) and values.get("communication") != "ring":
        ring = ", or choose communication=ring" if "communication" in values else ""
        problems.append(
            f"{len(shares)} workers cannot share {_shown(gpus)}: NCCL takes one process a GPU; name more "
            f"GPUs, or use --stand-ins{ring}"
        )
    return problems


def _batch_problems(
    cluster: Cluster, values: Mapping[str, Value | None], shares: Mapping[str, Sequence[str]]
) -> list[str]:
    batch = values.get("batch")
    sizes = [max(1, len(share)) for share in shares.values()]
    replicas = max(sizes) if cluster.coordinated else sum(sizes)
    if isinstance(batch, int) and batch < replicas:
        return [f"batch={batch} leaves some of {replicas} replicas without an image"]
    return []


def _shown(devices: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(devices))
