"""The handwritten digits that every program here trains on. Nothing is ever downloaded."""

from __future__ import annotations

import csv
import gzip
import os
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

    `data` is `digits`, kept beside this file (64 pixels an image), or `mnist`, the user's own copy
    (784 pixels an image). Raises FileNotFoundError where there is no such copy.
    """
    if data == "mnist":
        images, labels = _load_mnist()
        return (images.reshape(len(images), -1) / 255).astype(np.float32), labels.astype(np.int32), MNIST
    with gzip.open(Path(__file__).with_name("digits.csv.gz"), "rt") as file:
        table = np.array([[int(cell) for cell in row] for row in csv.reader(file)])
    return (table[:, :-1] / 16).astype(np.float32), table[:, -1].astype(np.int32), UCI


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
