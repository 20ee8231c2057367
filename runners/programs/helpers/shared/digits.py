"""The handwritten digits that every program here trains on. Nothing is ever downloaded."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from shared import digit_files
from shared.digit_files import GLUON, find_mnist, kept_digits, mnist_places

Images = NDArray[np.float32]
Labels = NDArray[np.int32]

UCI = "UCI 8x8 digits"
MNIST = "MNIST"


def load(data: str = "digits") -> tuple[Images, Labels, str]:
    """Images [n, pixels] in 0..1, labels [n] in 0..9, and the set's name.

    `data` is `digits`, as `load_kept` has them, or `mnist`, the user's own copy (784 pixels an image).
    Raises FileNotFoundError where there is none: `why_not` tells.
    """
    if data == "mnist":
        images, labels = _load_mnist()
        return (images.reshape(len(images), -1) / 255).astype(np.float32), labels.astype(np.int32), MNIST
    return load_kept()


def load_kept(_data: str = "digits") -> tuple[Images, Labels, str]:
    """Images [n, 64] in 0..1, labels [n] in 0..9, and their name: beside this file, or scikit-learn's."""
    if not kept_digits().exists():
        from sklearn.datasets import load_digits  # the same images, in the same order

        pixels, labels = load_digits(return_X_y=True)
        return (pixels / 16).astype(np.float32), labels.astype(np.int32), UCI
    with gzip.open(kept_digits(), "rt") as file:
        table = np.array([[int(cell) for cell in row] for row in csv.reader(file)])
    return (table[:, :-1] / 16).astype(np.float32), table[:, -1].astype(np.int32), UCI


def held_out(images: Images) -> int:
    """How many images, the last ones of the set, are kept from training to measure the accuracy."""
    count: int = digit_files.held_out(len(images))
    return count


def _load_mnist() -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """All images, 28x28 each, and labels of the user's own copy."""
    place = find_mnist()
    if place is None:
        raise FileNotFoundError(f"there is no MNIST at {' or '.join(map(str, mnist_places()))}")
    if place.is_file():
        with np.load(place) as saved:
            images = np.concatenate([saved["x_train"], saved["x_test"]])
            return images, np.concatenate([saved["y_train"], saved["y_test"]])
    images, labels = (np.concatenate([_read_idx(place / name) for name in names]) for names in GLUON)
    return images.reshape(-1, 28, 28), labels


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """The bytes of an IDX file, after its header: 4 bytes of kind, and 4 a dimension."""
    with gzip.open(path) as file:
        content = np.frombuffer(file.read(), np.uint8)
    return content[4 + 4 * int(content[3]) :]
