"""The catalogue: every training program that Hopscope brings along, with its options.

The scripts' own command lines are the truth; a test holds this list against them.
"""

from __future__ import annotations

from runners.entries import (
    mxnet_distributed,
    mxnet_lessons,
    mxnet_training,
    tensorflow,
    tensorflow_distributed,
    tensorflow_placement,
    tensorflow_waiting,
)
from runners.errors import UsageError
from runners.program import DEFAULT_STEPS, FOLDER, Option, OptionType, Program, Value, did_you_mean

__all__ = [
    "DEFAULT_STEPS",
    "FOLDER",
    "PROGRAMS",
    "Option",
    "OptionType",
    "Program",
    "Value",
    "did_you_mean",
    "program",
]

_ALL = (
    *tensorflow.PROGRAMS,
    *tensorflow_placement.PROGRAMS,
    *tensorflow_waiting.PROGRAMS,
    *tensorflow_distributed.PROGRAMS,
    *mxnet_lessons.PROGRAMS,
    *mxnet_training.PROGRAMS,
    *mxnet_distributed.PROGRAMS,
)
PROGRAMS: dict[str, Program] = {program.name: program for program in _ALL}


def program(name: str) -> Program:
    """Return the program of this name; UsageError with the nearest one where there is none."""
    if name in PROGRAMS:
        return PROGRAMS[name]
    hint = did_you_mean(name, PROGRAMS) or "; python3 -m app programs lists them"
    raise UsageError(f"there is no program {name!r}{hint}")
