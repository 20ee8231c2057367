"""The catalogue: every training program that Hopscope brings along, with its options.

The scripts' own command lines are the truth; a test holds this list against them.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from runners.errors import UsageError

FOLDER = Path(__file__).resolve().parent / "programs"
DEFAULT_STEPS = 100

OptionType = Literal["choice", "count", "natural", "device", "counts"]
Value = str | int


@dataclasses.dataclass(frozen=True)
class Option:
    """One option of a program: `--name value` to its script, `--set name=value` on the command line."""

    name: str
    help: str
    default: Value | None
    """None where the program derives it from the devices, which `help` then says."""
    values: tuple[str, ...] | None = None
    """All allowed values of a choice."""
    type: OptionType = "choice"

    def parse(self, text: str) -> Value:
        """Return the value that a user wrote; UsageError says what would be right."""
        text = text.strip()
        if self.type == "choice":
            return self._choose(text)
        if self.type == "count" and re.fullmatch(r"0*[1-9][0-9]*", text):
            return int(text)
        if self.type == "natural" and re.fullmatch(r"[0-9]+", text) and int(text) < 2**31:
            return int(text)
        if self.type == "device" and re.fullmatch(r"(cpu|gpu):(0|[1-9][0-9]*)", text.lower()):
            return text.lower()
        if self.type == "counts" and re.fullmatch(r"[1-9][0-9]*( *, *[1-9][0-9]*)*", text):
            return text.replace(" ", "")
        what = {
            "count": "a whole number of at least 1",
            "natural": f"a whole number from 0 to {2**31 - 1}",
            "device": "a device like cpu:1 or gpu:0",
            "counts": "numbers of at least 1 with commas between them",
        }[self.type]
        raise UsageError(f"{self.name}={text} is not possible: it takes {what}")

    def _choose(self, text: str) -> str:
        values = self.values or ()
        if text.lower() in values:
            return text.lower()
        raise UsageError(
            f"{self.name}={text} is not possible: it takes {' | '.join(values)}{did_you_mean(text, values)}"
        )


@dataclasses.dataclass(frozen=True)
class Program:
    """One training program."""

    name: str
    framework: str
    title: str
    summary: str
    script: Path
    options: tuple[Option, ...]
    min_devices: int
    max_devices: int | None
    """None where it takes any number."""
    default_devices: int
    """How many it gets when nobody says which."""
    claim: str
    """What the literature says and a run of it shows or refutes, and where that can be tested."""

    def option(self, name: str) -> Option:
        """Return the option of this name; UsageError with the nearest one where there is none."""
        for option in self.options:
            if option.name == name:
                return option
        names = [option.name for option in self.options]
        hint = did_you_mean(name, names) or f"; it has {', '.join(names)}"
        raise UsageError(f"{self.name} has no option {name!r}{hint}")


_COMMON = (
    Option("batch", "images a step, over all devices", 64, type="count"),
    Option("width", "units in a hidden layer", 256, type="count"),
    Option(
        "jit-compile", "compile with XLA, which hides where ops run inside a cluster", "off", ("off", "on")
    ),
    Option(
        "data",
        "the digits kept with the program, or an MNIST that Keras cached",
        "digits",
        ("digits", "mnist"),
    ),
    Option("log-every", "steps between two losses that are read and printed", 10, type="count"),
    Option("seed", "seed of the weights and the batches", 0, type="natural"),
)
_PINNED = Option("device", "the device to pin to (default: the last of the devices)", None, type="device")

_ALL = (
    Program(
        name="tf-mirrored",
        framework="tensorflow",
        title="Mirrored replicas",
        summary="Data parallelism: each device has a copy of the model, gradients are summed each step",
        script=FOLDER / "tf" / "mirrored.py",
        options=(
            *_COMMON,
            Option("loop", "train with Keras fit or with a loop of one's own", "fit", ("fit", "custom")),
            Option(
                "cross-device-ops",
                "how gradients are summed over the devices; nccl needs GPUs",
                "default",
                ("default", "nccl", "hierarchical-copy", "reduction-to-one-device"),
            ),
        ),
        min_devices=1,
        max_devices=None,
        default_devices=2,
        claim="Placement is automatic, and gradients are summed each step: bytes depend on the algorithm. "
        "Testable on stand-ins; copy times and NCCL on several GPUs only.",
    ),
    Program(
        name="tf-model-parallel",
        framework="tensorflow",
        title="Layers over devices",
        summary="Model parallelism: the layers of one network are split over devices with tf.device",
        script=FOLDER / "tf" / "model_parallel.py",
        options=(
            *_COMMON,
            Option("layers", "dense layers of the network", 6, type="count"),
            Option(
                "split",
                "layers, from 0, at which the next device takes over (default: even shares)",
                None,
                type="counts",
            ),
        ),
        min_devices=2,
        max_devices=None,
        default_devices=3,
        claim="Activations cross forward and gradients cross back, between neighbouring devices only. "
        "Testable on stand-ins; copy times on several GPUs only.",
    ),
    Program(
        name="tf-pin-gradients",
        framework="tensorflow",
        title="Gradients in and out of the scope",
        summary="One pinned model, a custom loop, and tape.gradient called inside or outside of tf.device",
        script=FOLDER / "tf" / "pin_gradients.py",
        options=(
            *_COMMON,
            _PINNED,
            Option("gradients", "where tape.gradient is called", "outside", ("outside", "inside")),
        ),
        min_devices=1,
        max_devices=None,
        default_devices=2,
        claim="Without the scope the gradients run elsewhere: on the default device. Testable on stand-ins, "
        "where the default device is the host, and on two GPUs, where it is gpu:0.",
    ),
    Program(
        name="tf-pin-model",
        framework="tensorflow",
        title="A Keras model on one device",
        summary="A Keras model that is built and fitted inside tf.device of one chosen device",
        script=FOLDER / "tf" / "pin_model.py",
        options=(
            *_COMMON,
            _PINNED,
            Option(
                "memory-growth", "on GPUs, take memory as needed or all at the start", "on", ("on", "off")
            ),
            Option("keras", "Keras 3, or the legacy Keras 2 of tf_keras", "3", ("3", "2")),
        ),
        min_devices=1,
        max_devices=None,
        default_devices=2,
        claim="Variables, forward, backward and optimizer slots all live there; testable on stand-ins. "
        "Without memory growth TensorFlow takes the card; testable on a GPU only.",
    ),
)

PROGRAMS: dict[str, Program] = {program.name: program for program in _ALL}


def program(name: str) -> Program:
    """Return the program of this name; UsageError with the nearest one where there is none."""
    if name in PROGRAMS:
        return PROGRAMS[name]
    hint = did_you_mean(name, PROGRAMS) or "; python3 -m app programs lists them"
    raise UsageError(f"there is no program {name!r}{hint}")


def did_you_mean(text: str, names: Iterable[str]) -> str:
    """Return '; did you mean NAME?' for the name most like `text`, '' when none is."""
    alike = difflib.get_close_matches(text.lower(), list(names), n=1)
    return f"; did you mean {alike[0]}?" if alike else ""
