"""The requested or default device has no kernel for the op and its type."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

from app.diagnosis.cause import Cause, blamed_op, of_line
from app.diagnosis.causes.no_kernel.example import EXAMPLE
from app.diagnosis.rules.placements import reads_variable
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import is_gpu, is_host
from app.facts.kernels.kernel_table import shipped_table, without_gpu_kernel
from app.facts.transfers.transfer import Transfer
from app.judgments.evidence import Known, TransferEvidence
from app.judgments.severity import INFO, WARNING
from app.views.naming import each, some_of, told
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of ops without a kernel."""

    kernel: Known[str] = None
    """What was looked up, and that there is none."""
    dtype: Known[str] = None
    kernels_of: Known[str] = None
    """Where it was looked up."""
    on_host_as_asked: Known[bool] = None
    """The code asks for the host itself."""


def no_kernel(transfer: Transfer) -> Evidence | None:
    """The recorder looked the kernel of an end up and there was none, so that it ran elsewhere."""
    kernel, source = transfer.own_fact("no_kernel"), transfer.own_fact("kernel_from")
    return Evidence(kernel=kernel, dtype=transfer.dtype, kernels_of=source or None) if kernel else None


def on_host_as_asked(transfer: Transfer) -> Evidence | None:
    """The code asks for the host for an end that no GPU has a kernel of: no scope spares the copy."""
    asked = is_host(transfer.here) and is_gpu(transfer.there) and transfer.own("requested") == transfer.here
    by_consumer = transfer.blames == "consumer"
    other = transfer.producer_requested if by_consumer else transfer.requested
    if not asked or other or (by_consumer and reads_variable(transfer)):
        return None
    if transfer.kind not in ("copy", "arg") or not transfer.context.places_ops:
        return None
    kernel = transfer.own_fact("host_only") or without_gpu_kernel(transfer.own("op"))
    return Evidence(kernel=kernel, dtype=transfer.dtype, on_host_as_asked=True) if kernel else None


def severity_of(transfer: Transfer, evidence: Evidence) -> str:
    """A note of what happens seldom, and where the code asks for the host itself."""
    return INFO if transfer.seldom or evidence.on_host_as_asked else WARNING


def summary(words: TransferWords, evidence: Evidence) -> str:
    """The op without a kernel, and where it ran instead."""
    if evidence.on_host_as_asked is True:
        return words.say(
            "The code asks for {host} for {lacking} at {at}, and no GPU has a kernel of it ({kernel})",
            host=words.first.src if words.by_producer else words.first.dst,
            lacking=some_of(lacking(each(evidence.kernel)), "ops") or "an op",
        )
    if words.by_producer:
        wanted = "requested" if evidence.producer_requested else "default"
        return words.say(
            "{producer} at {at} has no kernel on the {wanted} device ({kernel}), runs on {src} and is used on"
            " {dsts}",
            wanted=wanted,
        )
    return words.say(
        "{consumers} at {at} {has} no kernel on the {wanted} device ({kernel}) and {runs} on {dst}",
        wanted="requested" if evidence.requested else "default",
    )


def because(evidence: Evidence) -> str:
    """The device that was asked for has no kernel of the op."""
    asked = told(evidence.requested, "devices") or told(evidence.producer_requested, "devices")
    wanted = f"Requested: {asked}. " if asked else ""
    return f"{wanted}Kernel lookup: {told(evidence.kernel)}."


def advice(evidence: Evidence) -> str:
    """What does the same and has a kernel, where that is known."""
    asked = bool(evidence.on_host_as_asked)
    return instead(each(evidence.kernel), each(evidence.dtype), asked)


CAUSE = Cause(
    code="no-kernel",
    severity=WARNING,
    evidence=Evidence,
    meaning="The requested or default device has no kernel for the op and its type.",
    example=EXAMPLE,
    sometimes="warning; note where it is rare, or the code asks for the host because of that",
    summary=summary,
    because=because,
    advice=advice,
    act=of_line,
    severity_of=severity_of,
    op_named=blamed_op,
)
