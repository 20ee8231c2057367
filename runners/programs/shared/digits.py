"""The handwritten digits that every program here trains on. Nothing is ever downloaded."""

from __future__ import annotations

import csv
import gzip
import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Images = NDArray[np.float32]
Labels = NDArray[np.int32]

UCI = "UCI 8x8 digits"
MNIST = "MNIST"
_GLUON = (
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
    whole = all((gluon / name).exists() for names in _GLUON for name in names)
    return gluon if whole else None


def load(data: str = "digits") -> tuple[Images, Labels, str]:
    """Images [n, pixels] in 0..1, labels [n] in 0..9, and the set's name.

    `data` is `digits` (64 pixels an image), kept beside this file or as scikit-learn has them, or `mnist`,
    the user's own copy (784 pixels an image). Raises FileNotFoundError where there is none: see `why_not`.
    """
    if data == "mnist":
        images, labels = _load_mnist()
        return (images.reshape(len(images), -1) / 255).astype(np.float32), labels.astype(np.int32), MNIST
    if not kept_digits().exists():
        from sklearn.datasets import load_digits  # the same images, in the same order

        pixels, labels = load_digits(return_X_y=True)
        return (pixels / 16).astype(np.float32), labels.astype(np.int32), UCI
    with gzip.open(kept_digits(), "rt") as file:
        table = np.array([[int(cell) for cell in row] for row in csv.reader(file)])
    return (table[:, :-1] / 16).astype(np.float32), table[:, -1].astype(np.int32), UCI


def kept_digits() -> Path:
    """Where the digits are, beside this file."""
    return Path(__file__).with_name("digits.csv.gz")


def why_not(data: str) -> str | None:
    """Why `data` is not here and what to do, in a line; None where it is."""
    if data == "mnist":
        places = " or ".join(map(str, mnist_places()))
        return None if find_mnist() else f"there is no MNIST at {places}; use --data digits"
    if kept_digits().exists() or find_spec("sklearn"):
        return None
    return (
        f"there are no digits: copy digits.csv.gz to {kept_digits()}, or install scikit-learn, which has them"
    )


def held_out(images: Images) -> int:
    """How many images, the last ones of the set, are kept from training to measure the accuracy."""
    return len(images) // 6


def _load_mnist() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """All images, 28x28 each, and labels of the user's own copy."""
    place = find_mnist()
    if place is None:
        raise FileNotFoundError(f"there is no MNIST at {' or '.join(map(str, mnist_places()))}")
    if place.is_file():
        with np.load(place) as saved:
            images = np.concatenate([saved["x_train"], saved["x_test"]])
            return images, np.concatenate([saved["y_train"], saved["y_test"]])
    images, labels = (np.concatenate([_read_idx(place / name) for name in names]) for names in _GLUON)
    return images.reshape(-1, 28, 28), labels


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """The bytes of an IDX file, after its header: 4 bytes of kind, and 4 a dimension."""
    with gzip.open(path) as file:
        content = np.frombuffer(file.read(), np.uint8)
    return content[4 + 4 * int(content[3]) :]
