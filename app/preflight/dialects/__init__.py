"""How a run is predicted for a machine with GPUs: what only one framework has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.preflight.dialects.mxnet import prediction as mxnet
from app.preflight.dialects.tensorflow import prediction as tensorflow
from runners.runs.run import Run

PREDICTIONS: Mapping[str, Callable[[Run, int], dict[str, Any]]] = {
    "tensorflow": tensorflow.predict,
    "mxnet": mxnet.predict,
}
"""By the name of a dialect: predicts a run for so many GPUs, 0 for as many as the script names."""
