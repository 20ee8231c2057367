"""Ops that TensorFlow has no GPU kernel for, and what does the same with ops that have one."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

from app.facts.kernels.kernel_table import shipped_table
from probes.tf.kernel_table import Types

AHEAD = "What depends on the data alone can also be done in the input pipeline, ahead of the step."
ADVICE = (
    "Use an op or dtype that has a kernel for the device; what depends on the data alone can be done in the"
    " input pipeline, ahead of the step. Else the copies stay: a device scope does not spare them."
)
_OF_PRODUCTS = (
    "Compute it in float32, which GPUs have a kernel for: exact while no sum passes 2**24 = 16,777,216."
)
_INTEGERS = re.compile(r"(?:Batch)?MatMul(?:V\d)? has GPU kernels for [^;]*\bfloat32\b.* none for u?int\d+")
"""What a kernel table says of products: matmul_op_impl registers those of integers for the host alone."""
_OP = re.compile(r"(\w+) has ")
_OF_THE_TENSOR = "?"
"""In the place of a type: that of the tensor that the op works on."""


@dataclasses.dataclass(frozen=True)
class Equivalent:
    """What to write in an op's place."""

    words: str
    needs: tuple[tuple[str, Types], ...]
    """The ops that it is made of, with their types."""

    def on_gpus(self, dtypes: Sequence[str]) -> bool:
        """Whether GPUs have kernels for all of it, for tensors of these types."""
        table = shipped_table()
        return bool(dtypes) and all(
            table.look_up(op, "GPU", _of(types, dtype)).found for op, types in self.needs for dtype in dtypes
        )


_GATHERS = {"Tparams": _OF_THE_TENSOR, "Tindices": "int32", "Taxis": "int32"}
EQUIVALENTS: Mapping[str, Equivalent] = {
    "RandomShuffle": Equivalent(
        "Shuffle by the order of random numbers, which GPUs have kernels for:"
        " tf.gather(x, tf.argsort(tf.random.uniform(tf.shape(x)[:1]))); of a range of indices the argsort"
        " alone is one.",
        (
            ("RandomUniform", {"dtype": "float32", "T": "int32"}),
            ("TopKV2", {"T": "float32", "Tk": "int32", "index_type": "int32"}),
            ("GatherV2", _GATHERS),
        ),
    ),
    "RandomGamma": Equivalent(
        "tf.random.stateless_gamma has GPU kernels: it takes a seed, a new one for each call, and the shape"
        " of the whole result.",
        (("StatelessRandomGammaV3", {"dtype": _OF_THE_TENSOR, "shape_dtype": "int32"}),),
    ),
    "SparseDenseCwiseMul": Equivalent(
        "Multiply the values alone, which GPUs have kernels for, where both have one shape:"
        " sparse.values * tf.gather_nd(dense, sparse.indices).",
        (
            ("GatherNd", {"Tparams": _OF_THE_TENSOR, "Tindices": "int64"}),
            ("Mul", {"T": _OF_THE_TENSOR}),
        ),
    ),
    "SparseTensorDenseAdd": Equivalent(
        "Add the values alone, which GPUs have kernels for:"
        " tf.tensor_scatter_nd_add(dense, sparse.indices, sparse.values).",
        (("TensorScatterAdd", {"T": _OF_THE_TENSOR, "Tindices": "int64"}),),
    ),
}
"""By op; only what gives the same for every input, or nearly so and says what differs."""


def instead(kernels: Sequence[str], dtypes: Sequence[str], scoped: bool = False) -> str:
    """What to do about ops without a kernel; `kernels` are the clauses that a kernel table says of them.

    `dtypes` are the types of the tensors that cross for them; `scoped`: the code asks for the host there.
    """
    if kernels and all(map(_INTEGERS.match, kernels)):
        return _OF_PRODUCTS
    ops = lacking(kernels)
    known = [EQUIVALENTS[op].words for op in ops if op in EQUIVALENTS and EQUIVALENTS[op].on_gpus(dtypes)]
    if not known:
        return ADVICE
    out = ["It has to stand outside of the host's scope: in that nothing runs on a GPU."] * scoped
    return " ".join([*known, *out, AHEAD if len(known) == len(ops) else ADVICE])


def lacking(kernels: Sequence[str]) -> list[str]:
    """The ops that clauses like ``UniqueV2 has kernels for CPU`` speak of."""
    found = (_OP.match(kernel) for kernel in kernels)
    return list(dict.fromkeys(match[1] if match else "" for match in found))


def _of(types: Types, dtype: str) -> Types:
    return {name: dtype if value == _OF_THE_TENSOR else value for name, value in types.items()}
