"""The options that programs of several frameworks share."""

from __future__ import annotations

from runners.program import Option

SEED = Option("seed", "seed of all that is random", 0, type="natural")
NETWORK = (
    Option("batch", "images a step, over all devices", 64, type="count"),
    Option("width", "units in a hidden layer", 256, type="count"),
    Option(
        "data",
        "the digits kept with the program, or an MNIST that was fetched earlier",
        "digits",
        ("digits", "mnist"),
    ),
)
TRAINING = (
    *NETWORK,
    Option(
        "log-every",
        "steps between two losses that are read and printed",
        10,
        type="count",
        concerns=("host-sync",),
    ),
    SEED,
)
PINNED = Option("device", "the device to pin to (default: the last of the devices)", None, type="device")
REPEATS = Option("repeats", "how often each time is measured; with 1 there is no verdict", 5, type="count")
JIT_COMPILE = Option(
    "jit-compile",
    "compile with XLA, which hides where ops run inside a cluster",
    "off",
    ("off", "on"),
    concerns=("xla-opaque",),
)
KERAS = Option("keras", "Keras 3, or the legacy Keras 2 of tf_keras", "3", ("3", "2"))
WORKERS = Option("workers", "processes that train, each with devices of its own", 2, type="count")
TIME_LIMIT = Option("time-limit", "seconds after which all processes are ended", 600, type="count")
