"""How TensorFlow's processes are told of each other."""

from __future__ import annotations

import json

from runners.cluster import Cluster, Counts, Role

LISTENS = "all addresses of this machine"
"""TensorFlow's server binds to all of them, whichever the cluster names."""


def variables(role: str, rank: int, counts: Counts) -> dict[str, str | None]:
    """What tells TensorFlow who a process is, and where it and the others listen."""
    cluster = {
        # The name, not 127.0.0.1: TensorFlow listens on all addresses whatever is said here.
        name: [f"localhost:<port:{name}-{number}>" for number in range(count)]
        for name, count in counts.items()
    }
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": role, "index": rank}})}


ALL_WORKERS = Cluster((Role("worker", option="workers"),), variables, LISTENS, "time-limit", own_gpus=True)
