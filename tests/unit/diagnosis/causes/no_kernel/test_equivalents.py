"""What is told to take the place of ops that no GPU has a kernel of has kernels for GPUs itself."""

from __future__ import annotations

import pytest

from app.diagnosis.causes.no_kernel.cause import ADVICE, AHEAD, EQUIVALENTS, instead, lacking
from app.facts.kernels.kernel_table import without_gpu_kernel
from tests.unit.fixes.fix_cases import fixed, hop

TF = "import tensorflow as tf\n"

SHUFFLE = "RandomShuffle has kernels for CPU"
UNIQUE = "UniqueV2 has kernels for CPU"


@pytest.mark.parametrize("op", EQUIVALENTS)
def test_each_op_of_the_table_lacks_a_kernel_and_its_equivalent_has_them(op: str) -> None:
    assert without_gpu_kernel(op) == f"{op} has kernels for CPU"
    assert EQUIVALENTS[op].on_gpus(["float32"])
    assert not EQUIVALENTS[op].on_gpus(["string"])
    assert not EQUIVALENTS[op].on_gpus([])  # where the type is not known nothing is promised


def test_an_op_that_works_on_the_host_or_has_a_kernel_is_not_said_to_lack_one() -> None:
    assert [without_gpu_kernel(op) for op in ("MatMul", "EagerPyFunc", "IteratorGetNext", "NoSuchOp")] == [
        ""
    ] * 4


def test_what_is_told_says_as_much_as_is_known() -> None:
    assert lacking([SHUFFLE, UNIQUE, SHUFFLE]) == ["RandomShuffle", "UniqueV2"]
    shuffle = EQUIVALENTS["RandomShuffle"].words
    assert instead([SHUFFLE], ["float32"]) == f"{shuffle} {AHEAD}"
    assert instead([SHUFFLE, UNIQUE], ["float32"]) == f"{shuffle} {ADVICE}"
    assert instead([SHUFFLE], ["uint8"]) == instead([UNIQUE], ["float32"]) == ADVICE
    assert "outside of the host's scope" in instead([SHUFFLE], ["float32"], scoped=True)


def test_a_product_of_integers_is_to_be_computed_in_floats() -> None:
    product = "MatMul has GPU kernels for float16, float32, float64, none for int32"
    assert instead([product], ["int32"]).startswith("Compute it in float32")
    assert instead([product, UNIQUE], ["int32"]) == ADVICE


def test_a_scope_of_the_host_is_no_fix_for_what_runs_there_anyway() -> None:
    text = 'with tf.device("/GPU:0"):\n    y, index = tf.unique(x)  #!\n    z = f(y)\n'
    unique = {"kernel": "UniqueV2 has kernels for CPU", "dtype": "float32"}
    assert fixed("no-kernel", TF + text, hops=(hop("no-kernel"),), **unique) is None
    assert fixed("no-kernel", TF + "def f(x): return tf.unique(x)  #!\n", **unique) is None
