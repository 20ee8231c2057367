"""The handwritten digits that every program here trains on. Nothing is ever downloaded."""

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


def mnist_file() -> Path:
    """Where Keras keeps the MNIST that a user of it has once fetched."""
    return Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras") / "datasets" / "mnist.npz"


def load(data: str = "digits") -> tuple[Images, Labels, str]:
    """Images [n, pixels] in 0..1, labels [n] in 0..9, and the set's name.

    `data` is `digits`, kept beside this file (64 pixels an image), or `mnist`, the user's own copy
    (784 pixels an image). Raises FileNotFoundError where there is no such copy.
    """
    if data == "mnist":
        with np.load(mnist_file()) as saved:
            images = np.concatenate([saved["x_train"], saved["x_test"]])
            labels = np.concatenate([saved["y_train"], saved["y_test"]])
        return (images.reshape(len(images), -1) / 255).astype(np.float32), labels.astype(np.int32), MNIST
    with gzip.open(Path(__file__).with_name("digits.csv.gz"), "rt") as file:
        table = np.array([[int(cell) for cell in row] for row in csv.reader(file)])
    return (table[:, :-1] / 16).astype(np.float32), table[:, -1].astype(np.int32), UCI


def held_out(images: Images) -> int:
    """How many images, the last ones of the set, are kept from training to measure the accuracy."""
    return len(images) // 6
