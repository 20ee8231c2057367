"""What of a program's options cannot work with the data, or with the packages, that there are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from runners.environments.installed_versions import package_versions
from runners.program import Program, Value
from runners.programs.helpers.shared import digit_files

_EACH_IMAGE_ONCE = frozenset({"mx-module", "mx-module-data-parallel"})
"""Their batches take no image twice, so that one cannot have more than there are."""
_OWN_KERAS_3 = (2, 16)
"""The first TensorFlow that comes with Keras 3; those before have Keras 2 and no other."""


def data_problems(program: Program, options: Mapping[str, Value | None]) -> list[str]:
    """Return why the data is not here, or too little; one line each."""
    data = options.get("data")
    if not isinstance(data, str):
        return []
    if missing := digit_files.why_not(data):
        return [missing.replace("--data ", "data=")]
    batch, images = options.get("batch"), digit_files.IMAGES[data]
    train = images - digit_files.held_out(images)
    if program.name in _EACH_IMAGE_ONCE and isinstance(batch, int) and batch > train:
        return [f"batch={batch} is more than the {train} images to train on"]
    return []


def package_problems(options: Mapping[str, Value | None], python: Path) -> list[str]:
    """Return why this interpreter does not have the Keras that is asked for; [] where it can't be asked."""
    versions = package_versions(python) if "keras" in options else {}
    tensorflow = tuple(int(part) for part in versions.get("tensorflow", "").split(".")[:2] if part.isdigit())
    if not tensorflow:
        return []
    if options["keras"] == "2" and tensorflow >= _OWN_KERAS_3 and "tf-keras" not in versions:
        told = f"keras=2 is not here: TensorFlow {versions['tensorflow']} has Keras 3"
        return [f"{told}; install tf_keras beside it, in the environment of {python}"]
    if options["keras"] == "3" and tensorflow < _OWN_KERAS_3:
        return [f"keras=3 is not here: TensorFlow {versions['tensorflow']} has Keras 2; choose keras=2"]
    return []
