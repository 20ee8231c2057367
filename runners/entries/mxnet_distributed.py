"""The MXNet programs that train in several processes."""

from __future__ import annotations

from runners.cluster import Cluster, Counts, Role
from runners.entries.options import TRAINING
from runners.program import FOLDER, Option, Program

LOOPBACK = "127.0.0.1"


def _variables(role: str, rank: int, counts: Counts) -> dict[str, str | None]:
    """What tells ps-lite, which carries MXNet's distributed kvstores, who is who."""
    variables: dict[str, str | None] = {
        "DMLC_ROLE": role,
        "DMLC_PS_ROOT_URI": LOOPBACK,
        "DMLC_PS_ROOT_PORT": "<port:scheduler>",
        "DMLC_NUM_SERVER": str(counts["server"]),
        "DMLC_NUM_WORKER": str(counts["worker"]),
        # Without it, it would listen on the machine's own address.
        "DMLC_NODE_HOST": LOOPBACK,
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

PROGRAMS: tuple[Program, ...] = (
    Program(
        name="mx-dist-sync",
        framework="mxnet",
        title="Workers and parameter servers",
        summary="Data parallelism over processes: workers push gradients to servers and pull new weights",
        script=FOLDER / "mxnet" / "dist_sync" / "train.py",
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
            Option("workers", "processes that train, each with devices of its own", 2, type="count"),
            Option("time-limit", "seconds after which all processes are ended", 600, type="count"),
        ),
        min_devices=1,
        max_devices=None,
        default_devices=1,
        claim="With dist_sync and dist_device_sync all workers hold equal weights after each step; with "
        "dist_async they need not. Testable on stand-ins; speed on several machines only.",
        cluster=_PARAMETER_SERVER,
    ),
)
