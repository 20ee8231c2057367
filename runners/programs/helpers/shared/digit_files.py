"""Where the handwritten digits are, and how many there are: asked without reading them."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

IMAGES = {"digits": 1797, "mnist": 70_000}
"""How many each set has."""
GLUON = (
    ("train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz"),
    (
        "train-labels-idx1-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
    ),
)


def mnist_places() -> list[Path]:
    """Where the MNIST that a user has once fetched is kept: a file of Keras', a folder of Gluon's."""
    keras = Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras")
    gluon = Path(os.environ.get("MXNET_HOME") or Path.home() / ".mxnet")
    return [keras / "datasets" / "mnist.npz", gluon / "datasets" / "mnist"]


def find_mnist() -> Path | None:
    """The user's own copy of MNIST, None where there is none."""
    keras, gluon = mnist_places()
    if keras.exists():
        return keras
    whole = all((gluon / name).exists() for names in GLUON for name in names)
    return gluon if whole else None


def kept_digits() -> Path:
    """Where the digits are, beside this file."""
    return Path(__file__).with_name("digits.csv.gz")


def why_not(data: str) -> str | None:
    """Why `data` is not here and what to do, in a line; None where it is."""
    if data == "mnist":
        places = " or ".join(map(str, mnist_places()))
        return None if find_mnist() else f"there is no MNIST at {places}; use --data digits"
    return why_not_kept()


def why_not_kept(_data: str = "digits") -> str | None:
    """Why the digits that are kept with the programs are not here, in a line; None where they are."""
    if kept_digits().exists() or find_spec("sklearn"):
        return None
    return (
        f"there are no digits: {kept_digits().name} has to be in {kept_digits().parent}; Hopscope's "
        "python3 -m app programs PROGRAM --source -o FOLDER writes it beside the program. Or install "
        "scikit-learn, which has them too"
    )


def held_out(images: int) -> int:
    """How many of so many images, the last ones, are kept from training to measure the accuracy."""
    return images // 6
