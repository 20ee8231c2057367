"""The TensorFlow programs that train in several processes."""

from __future__ import annotations

import json

from runners.cluster import Cluster, Counts, Role
from runners.entries.options import TRAINING
from runners.program import FOLDER, Checkpoints, Option, Program


def _variables(role: str, rank: int, counts: Counts) -> dict[str, str | None]:
    """What tells TensorFlow who a process is, and where it and the others listen."""
    cluster = {
        # The name, not 127.0.0.1: TensorFlow listens on all addresses whatever is said here.
        name: [f"localhost:<port:{name}-{number}>" for number in range(count)]
        for name, count in counts.items()
    }
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": role, "index": rank}})}


_JIT_COMPILE = Option(
    "jit-compile",
    "compile with XLA, which hides where ops run inside a cluster",
    "off",
    ("off", "on"),
    concerns=("xla-opaque",),
)
_KERAS = Option("keras", "Keras 3, or the legacy Keras 2 of tf_keras", "3", ("3", "2"))
_LOOP = Option("loop", "a loop of one's own, or Keras fit, which takes keras=2", "custom", ("custom", "fit"))
_COMMUNICATION = Option(
    "communication",
    "who sums the gradients over the workers; nccl needs GPUs",
    "auto",
    ("auto", "ring", "nccl"),
)
_WORKERS = Option("workers", "processes that train, each with devices of its own", 2, type="count")
_OWN_BATCH = Option(
    "batch", "images a step, all of which one worker takes, over its devices", 64, type="count"
)
_TIME_LIMIT = Option("time-limit", "seconds after which all processes are ended", 600, type="count")

_LISTENS = "all addresses of this machine"
"""TensorFlow's server binds to all of them, whichever the cluster names."""
_ALL_WORKERS = Cluster((Role("worker", option="workers"),), _variables, _LISTENS, "time-limit", own_gpus=True)


def _served(role: str, rank: int, counts: Counts) -> dict[str, str | None]:
    """The same, and that servers leave the graphs that they place: they open no descriptors of their own."""
    return {**_variables(role, rank, counts), "HOPSCOPE_SERVER_GRAPHS": "1"}


_SERVED = Cluster(
    (
        Role("ps", option="ps", serves=True, endless=True, computes=False),
        Role("worker", option="workers", serves=True, endless=True),
        # It begins by looking for the others.
        Role("chief", computes=False),
    ),
    _served,
    _LISTENS,
    "time-limit",
    coordinated=True,
)

PROGRAMS: tuple[Program, ...] = (
    Program(
        name="tf-multiworker",
        framework="tensorflow",
        title="Mirrored workers",
        summary="Data parallelism over processes: each worker has the model, gradients are summed each step",
        script=FOLDER / "tensorflow" / "multiworker" / "train.py",
        options=(*TRAINING, _JIT_COMPILE, _LOOP, _KERAS, _COMMUNICATION, _WORKERS, _TIME_LIMIT),
        min_devices=1,
        max_devices=None,
        default_devices=1,
        claim="All workers hold equal weights after each step, and the bytes that they exchange grow with "
        "their number. Testable on stand-ins; speed, and NCCL, on several GPUs only.",
        cluster=_ALL_WORKERS,
    ),
    Program(
        name="tf-multiworker-checkpoint",
        framework="tensorflow",
        title="Workers with checkpoints",
        summary="Mirrored workers that save a checkpoint every epoch, can be killed, and be resumed",
        script=FOLDER / "tensorflow" / "multiworker_checkpoint" / "train.py",
        options=(
            *TRAINING,
            _JIT_COMPILE,
            Option(
                "checkpoint-every",
                "steps from one checkpoint to the next (default: an epoch)",
                None,
                type="count",
            ),
            _WORKERS,
            _TIME_LIMIT,
        ),
        min_devices=1,
        max_devices=None,
        default_devices=1,
        claim="A run resumes from its last checkpoint with the same loss, and only the chief's checkpoints "
        "are kept. Testable on stand-ins, by resuming a run.",
        cluster=_ALL_WORKERS,
        checkpoints=Checkpoints(
            files=("checkpoint", "step-*", "losses.csv"),
            whole="step-*.index",
            same=("batch", "data", "jit-compile", "seed", "width"),
        ),
    ),
    Program(
        name="tf-parameter-server",
        framework="tensorflow",
        title="Workers and parameter servers",
        summary="Variables on servers: a chief hands out steps, workers pull weights and push gradients",
        script=FOLDER / "tensorflow" / "parameter_server" / "train.py",
        options=(
            *(_OWN_BATCH if option.name == "batch" else option for option in TRAINING),
            _JIT_COMPILE,
            Option(
                "loop", "a loop of one's own; Keras fit is not possible here", "custom", ("custom", "fit")
            ),
            Option("ps", "processes that keep the variables", 2, type="count"),
            _WORKERS,
            _TIME_LIMIT,
        ),
        min_devices=1,
        max_devices=None,
        default_devices=1,
        claim="Variables live on the servers, and every step pulls and pushes them. It is called model "
        "parallelism: variables are spread, computation is not. Testable on stand-ins.",
        cluster=_SERVED,
    ),
)
