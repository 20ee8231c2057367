"""Values that one take could bring at once: only where the run tells that all are of one shape."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.fixes.fix_cases import fixed, hop

TF = "import numpy as np\nimport tensorflow as tf\n"
MX = "import numpy as np\nimport mxnet as mx\n"
GRADIENTS = TF + "g = tape.gradient(loss, v)\ng = [x.numpy() for x in g]  #!\n"
ARRAYS = MX + "g = [p.grad() for p in ps]\ng = [x.asnumpy() for x in g]  #!\n"


def joined(text: str, *pulls: Any) -> str | None:
    framework = "mxnet" if "mxnet" in text else "tensorflow"
    taken = "asnumpy" if framework == "mxnet" else "numpy"
    return fixed("host-sync", text, framework=framework, hops=pulls, taken_by=taken)


def pull(shape: str, size: int | None, **fields: Any) -> Any:
    return hop("host-sync", shape=shape, bytes=size, **fields)


@pytest.mark.parametrize("text", [GRADIENTS, ARRAYS])
def test_arrays_are_stacked_only_where_all_have_one_known_shape(text: str) -> None:
    """Bug: of values that lay on the host already no shape was known; the stack of several failed."""
    alike = joined(text, pull("32x4", 512), pull("32x4", 512, producer="other"))
    assert alike is not None and "stack(" in alike
    assert joined(text) is None
    assert joined(text, pull("32x4", 512), pull("4", 16)) is None
    assert joined(text, pull("32x4", 512), pull("32x4", 1024, dtype="float64")) is None
    assert joined(text, pull("?x4", None)) is None
    assert joined(text, pull("", 4)) is not None  # scalars
    assert joined(text, pull("", 4096)) is None


def test_numbers_need_no_shape() -> None:
    text = TF + "values = [float(loss) for loss in losses]  #!\n"
    assert fixed("host-sync", text, taken_by="float") is not None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("np.stack([f.numpy() for f in feats]).mean()", "tf.stack(feats).numpy().mean()"),
        ("np.stack([f.numpy() for f in feats], axis=1)", "np.stack(list(tf.stack(feats).numpy()), axis=1)"),
        ("h.stack([f.numpy() for f in feats])", "h.stack(list(tf.stack(feats).numpy()))"),
    ],
)
def test_what_numpy_stacks_is_stacked_once(before: str, after: str) -> None:
    assert joined(f"{TF}norm = {before}  #!\n", pull("1x128", 512)) == f"{TF}norm = {after}\n"
