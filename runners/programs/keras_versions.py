"""Which Keras a program of TensorFlow can have where it is to run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runners.environments.installed_versions import package_versions
from runners.program import Value

_OWN_KERAS_3 = (2, 16)
"""The first TensorFlow that comes with Keras 3; those before have Keras 2 and no other."""


def keras_problems(options: Mapping[str, Value | None], python: Path) -> list[str]:
    """Return why this interpreter does not have the Keras that is asked for; [] where it can't be asked."""
    versions = package_versions(python)
    tensorflow = tuple(int(part) for part in versions.get("tensorflow", "").split(".")[:2] if part.isdigit())
    if not tensorflow:
        return []
    if options["keras"] == "2" and tensorflow >= _OWN_KERAS_3 and "tf-keras" not in versions:
        told = f"keras=2 is not here: TensorFlow {versions['tensorflow']} has Keras 3"
        return [f"{told}; install tf_keras beside it, in the environment of {python}"]
    if options["keras"] == "3" and tensorflow < _OWN_KERAS_3:
        return [f"keras=3 is not here: TensorFlow {versions['tensorflow']} has Keras 2; choose keras=2"]
    return []
