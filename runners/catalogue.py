"""The catalogue: every training program that Hopscope brings along, with its options.

The scripts' own command lines are the truth; a test holds this list against them.
"""

from __future__ import annotations

import importlib

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

FOLDERS = (
    "tensorflow.mirrored",
    "tensorflow.model_parallel",
    "tensorflow.pin_gradients",
    "tensorflow.pin_model",
    "tensorflow.default_placement",
    "tensorflow.visible_order",
    "tensorflow.central_storage",
    "tensorflow.pin_replica_gradients",
    "tensorflow.mirrored_uneven",
    "tensorflow.no_kernel",
    "tensorflow.host_sync",
    "tensorflow.input_pipeline",
    "tensorflow.multiworker",
    "tensorflow.multiworker_checkpoint",
    "tensorflow.parameter_server",
    "mxnet.contexts",
    "mxnet.context_scope",
    "mxnet.copy",
    "mxnet.mixed_context",
    "mxnet.gluon_params",
    "mxnet.matmul_size",
    "mxnet.log_norm",
    "mxnet.two_devices",
    "mxnet.host_sync",
    "mxnet.module",
    "mxnet.module_data_parallel",
    "mxnet.gluon_data_parallel",
    "mxnet.model_parallel_lstm",
    "mxnet.dist_sync",
)
"""Framework and folder of each program, in the order in which they are shown."""


def _about(folder: str) -> Program:
    found: Program = importlib.import_module(f"runners.programs.{folder}.about").PROGRAM
    return found


PROGRAMS: dict[str, Program] = {program.name: program for program in map(_about, FOLDERS)}


def program(name: str) -> Program:
    """Return the program of this name; UsageError with the nearest one where there is none."""
    if name in PROGRAMS:
        return PROGRAMS[name]
    hint = did_you_mean(name, PROGRAMS) or "; python3 -m app programs lists them"
    raise UsageError(f"there is no program {name!r}{hint}")
