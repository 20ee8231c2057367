"""tf-parameter-server in the catalogue: its options, and the lesson that its runs teach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from runners.cluster import Cluster, Counts, Role
from runners.program import Option, Program, Value, Variant
from runners.programs.options import JIT_COMPILE, TIME_LIMIT, TRAINING, WORKERS
from runners.programs.tensorflow.clusters import LISTENS, variables

_OWN_BATCH = Option(
    "batch", "images a step, all of which one worker takes, over its devices", 64, type="count"
)


def _served(role: str, rank: int, counts: Counts) -> dict[str, str | None]:
    """What `variables` says, and that servers leave their graphs: they open no descriptors of their own."""
    return {**variables(role, rank, counts), "HOPSCOPE_SERVER_GRAPHS": "1"}


_SERVED = Cluster(
    (
        Role("ps", option="ps", serves=True, endless=True, computes=False),
        Role("worker", option="workers", serves=True, endless=True),
        # It begins by looking for the others.
        Role("chief", computes=False),
    ),
    _served,
    LISTENS,
    "time-limit",
    coordinated=True,
)


def _by_workers(name: str, devices: Sequence[str], options: Mapping[str, Value | None]) -> list[str]:
    """What a step can be that another process is handed."""
    problems = []
    if options.get("loop") == "fit":
        problems.append("loop=fit is not possible: Keras 3 cannot fit under ParameterServerStrategy")
    if options.get("jit-compile") == "on":
        problems.append("jit-compile=on is not possible: XLA reads no variable of another process")
    return problems


PROGRAM = Program(
    name="tf-parameter-server",
    framework="tensorflow",
    title="Workers and parameter servers",
    summary="Variables on servers: a chief hands out steps, workers pull weights and push gradients",
    script=Path(__file__).with_name("train.py"),
    options=(
        *(_OWN_BATCH if option.name == "batch" else option for option in TRAINING),
        JIT_COMPILE,
        Option("loop", "a loop of one's own; Keras fit is not possible here", "custom", ("custom", "fit")),
        Option("ps", "processes that keep the variables", 2, type="count"),
        WORKERS,
        TIME_LIMIT,
    ),
    min_devices=1,
    max_devices=None,
    default_devices=1,
    fits=(_by_workers,),
    claim="Variables live on the servers, and every step pulls and pushes them. It is called model "
    "parallelism: variables are spread, computation is not. Testable on stand-ins.",
    cluster=_SERVED,
    equal_shares=True,
    variants=(Variant("default", steps=3),),
    advice=(
        "Use ParameterServerStrategy where a model's variables do not fit on one worker, not to split its "
        "computation: each step still pulls every variable and pushes every gradient."
    ),
)
