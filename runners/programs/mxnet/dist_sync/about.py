"""mx-dist-sync in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from pathlib import Path

from runners.cluster import Cluster, Counts, Role
from runners.program import Option, Program, Variant
from runners.programs.options import TIME_LIMIT, TRAINING, WORKERS

_LOOPBACK = "127.0.0.1"


def _variables(role: str, rank: int, counts: Counts) -> dict[str, str | None]:
    """What tells ps-lite, which carries MXNet's distributed kvstores, who is who."""
    variables: dict[str, str | None] = {
        "DMLC_ROLE": role,
        "DMLC_PS_ROOT_URI": _LOOPBACK,
        "DMLC_PS_ROOT_PORT": "<port:scheduler>",
        "DMLC_NUM_SERVER": str(counts["server"]),
        "DMLC_NUM_WORKER": str(counts["worker"]),
        # Without it, it would listen on the machine's own address.
        "DMLC_NODE_HOST": _LOOPBACK,
    }
    if role != "scheduler":
        # The scheduler gives ranks by port, so that ranks are those that the launcher gives.
        variables["PORT"] = f"<port:{role}-{rank}>"
    return variables


# Importing it is all that those processes do: it returns when the workers have finished.
_SERVE = ("-c", "import mxnet")
_PARAMETER_SERVER = Cluster(
    roles=(
        Role("scheduler", serves=True, arguments=_SERVE),
        Role("server", option="servers", serves=True, arguments=_SERVE),
        Role("worker", option="workers"),
    ),
    variables=_variables,
    listens="this machine's loopback, for all of its users,",
    time_limit="time-limit",
)

PROGRAM = Program(
    name="mx-dist-sync",
    framework="mxnet",
    title="Workers and parameter servers",
    summary="Data parallelism over processes: workers push gradients to servers and pull new weights",
    script=Path(__file__).with_name("train.py"),
    options=(
        *TRAINING,
        Option(
            "kvstore",
            "whether servers wait for all workers, and where a worker of several devices adds up",
            "dist_sync",
            ("dist_sync", "dist_device_sync", "dist_async"),
            concerns=("reduce-on-host",),
        ),
        Option("servers", "processes that keep the weights", 1, type="count"),
        WORKERS,
        TIME_LIMIT,
    ),
    min_devices=1,
    max_devices=None,
    default_devices=1,
    claim="With dist_sync and dist_device_sync all workers hold equal weights after each step; with "
    "dist_async they need not. Testable on stand-ins; speed on several machines only.",
    cluster=_PARAMETER_SERVER,
    variants=(
        Variant("sync", {"kvstore": "dist_sync"}, steps=3),
        Variant("device-sync", {"kvstore": "dist_device_sync"}, steps=3),
        Variant("async", {"kvstore": "dist_async"}, steps=3),
    ),
    advice=(
        "Use dist_sync where workers must hold equal weights, and scale the gradients by the batch of all "
        "workers together, for the servers add them up; dist_async gives equality up for not waiting."
    ),
)
