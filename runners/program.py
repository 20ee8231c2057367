"""What a training program is to the catalogue: its script, its options, its claim."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from runners.cluster import Cluster
from runners.errors import UsageError

FOLDER = Path(__file__).resolve().parent / "programs"
HELPERS = FOLDER / "helpers"
"""What the scripts import of each other's: they put it on their path."""
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
    least: int = 1
    """How many different numbers a list of them must have."""
    concerns: tuple[str, ...] = ()
    """Codes of the findings that another value of it brings about or does away with."""

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
            numbers = text.replace(" ", "")
            if len(set(numbers.split(","))) >= self.least:
                return numbers
        several = f", {self.least} different ones or more" if self.least > 1 else ""
        what = {
            "count": "a whole number of at least 1",
            "natural": f"a whole number from 0 to {2**31 - 1}",
            "device": "a device like cpu:1 or gpu:0",
            "counts": f"numbers of at least 1 with commas between them{several}",
        }[self.type]
        raise UsageError(f"{self.name}={text} is not possible: it takes {what}")

    def _choose(self, text: str) -> str:
        values = self.values or ()
        # Some of a framework's own words have underscores: dist_sync is found by dist-sync too.
        known = {value.replace("_", "-"): value for value in values}
        if text.lower().replace("_", "-") in known:
            return known[text.lower().replace("_", "-")]
        raise UsageError(
            f"{self.name}={text} is not possible: it takes {' | '.join(values)}{did_you_mean(text, values)}"
        )


@dataclasses.dataclass(frozen=True)
class Checkpoints:
    """What a program saves of itself in the folder that its `--checkpoints` names, and starts from."""

    files: tuple[str, ...]
    """Patterns of the files that it needs to go on; all else is what a killed process was writing."""
    whole: str
    """The pattern of a file that each whole checkpoint has, its star being the number of the step."""
    same: tuple[str, ...] = ()
    """The options with which it must be gone on as it was begun."""


@dataclasses.dataclass(frozen=True)
class Variant:
    """One run that a program's claim needs."""

    name: str
    options: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    """What differs from the program's defaults."""
    stand_ins: int | None = None
    """How many stand-ins it is always run on; None: on GPUs where there are enough, else on stand-ins."""
    steps: int | None = None
    """None where the program's own default is meant."""
    devices: tuple[str, ...] | None = None
    """Those that it must have, in order; None where any will do."""
    resumes: str | None = None
    """The variant, before this one, from whose last checkpoint it goes on; None where it begins anew."""
    extra: bool = False
    """Whether the claim is judged without it too, where this machine cannot run it."""


Fit = Callable[[str, Sequence[str], Mapping[str, Value | None]], list[str]]
"""By the program's name, its devices in order and its options: why these do not go together, a line each."""


Need = Callable[[Mapping[str, Value | None], Path], list[str]]
"""By the program's options and its interpreter: what that lacks, a line each."""


@dataclasses.dataclass(frozen=True)
class Program:
    """One training program, and the lesson that its runs teach."""

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
    variants: tuple[Variant, ...]
    """The runs that the claim is judged by, as few and as short as it allows."""
    advice: str
    """What to do in one's own code, in one or two sentences."""
    default_steps: int = DEFAULT_STEPS
    timed: bool = False
    """Whether the claim is about time: then it is measured unrecorded, and a second run is recorded."""
    fits: tuple[Fit, ...] = ()
    """What else is asked of devices and options before a launch."""
    needs: tuple[Need, ...] = ()
    """What is asked of the interpreter before a launch."""
    equal_shares: bool = False
    """Whether what of a batch cannot be shared out evenly is left out."""
    beside_host: bool = False
    """Whether it compares its device with the host, so that the device cannot be the host itself."""
    cluster: Cluster | None = None
    """How its processes are made; None where it is one."""
    checkpoints: Checkpoints | None = None
    """What a run of it can be gone on from; None where it saves nothing."""

    def option(self, name: str) -> Option:
        """Return the option of this name; UsageError with the nearest one where there is none."""
        for option in self.options:
            if option.name == name:
                return option
        names = [option.name for option in self.options]
        hint = did_you_mean(name, names) or f"; it has {', '.join(names)}"
        raise UsageError(f"{self.name} has no option {name!r}{hint}")


def did_you_mean(text: str, names: Iterable[str]) -> str:
    """Return '; did you mean NAME?' for the name most like `text`, '' when none is."""
    alike = difflib.get_close_matches(text.lower(), list(names), n=1)
    return f"; did you mean {alike[0]}?" if alike else ""
