"""Looking kernels up by op, kind of device and types; the table that comes with the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.facts.kernels.kernel_table import FILE, read_table, shipped_table
from probes.tf.kernel_table import Argument, Kernel, KernelTable, OpKernels, packed, together, unpacked
from runners.errors import HopscopeError


def _kernel(
    kind: str, host: tuple[str, ...] = (), priority: int = 0, label: str = "", **allowed: str
) -> Kernel:
    by_attribute = {name: frozenset(types.split()) for name, types in allowed.items()}
    return Kernel(kind, by_attribute, host, priority, label)


ADD = OpKernels(
    (Argument("x", "T"), Argument("y", "T")),
    (Argument("z", "T"),),
    (
        _kernel("CPU", T="float32 int32 string"),
        _kernel("GPU", T="float32 float16"),
        _kernel("DEFAULT", host=("x", "y", "z"), T="int32"),
    ),
)
JOIN = OpKernels(
    (Argument("values", "T", "N"), Argument("axis", "Tidx")),
    (Argument("output", "T"),),
    (_kernel("GPU", host=("axis",), T="float32", Tidx="int32"),),
)
ONLY_HOST = OpKernels((Argument("x", "T"),), (Argument("y", "=int32"),), (_kernel("CPU", T="int32"),))
TABLE = KernelTable({"Add": ADD, "Join": JOIN, "Only": ONLY_HOST}, "a test")


def test_a_kernel_of_the_kind_and_type_is_found() -> None:
    answer = TABLE.look_up("Add", "GPU", {"T": "float16"})
    assert (answer.outcome, answer.host, answer.certain, answer.words) == ("found", frozenset(), True, "")


def test_a_kernel_that_serves_every_kind_is_found_where_the_kind_has_none_of_its_own() -> None:
    answer = TABLE.look_up("Add", "GPU", {"T": "int32"})
    assert answer.found
    assert TABLE.host_slots(answer, {"T": "int32"}) == {0, 1}
    assert TABLE.host_slots(answer, {"T": "int32"}, outputs=True) == {0}


def test_an_op_without_a_kernel_for_the_kind() -> None:
    answer = TABLE.look_up("Only", "GPU", {"T": "int32"})
    assert (answer.outcome, answer.missing, answer.words) == ("no-kernel", True, "Only has kernels for CPU")


def test_an_op_without_a_kernel_for_the_type_says_which_types_there_are() -> None:
    answer = TABLE.look_up("Add", "GPU", {"T": "string"})
    assert (answer.outcome, answer.decides, answer.has) == ("no-type", "T", ("float16", "float32", "int32"))
    assert answer.words == "Add has GPU kernels for float16, float32, int32, none for string"


def test_a_type_that_is_not_known_is_no_reason() -> None:
    answer = TABLE.look_up("Add", "GPU", {})
    assert (answer.outcome, answer.certain) == ("found", False)
    assert answer.host == frozenset()  # what one of its kernels keeps on the host, another does not


def test_an_op_that_the_table_does_not_have() -> None:
    answer = TABLE.look_up("Custom", "GPU", {"T": "float32"})
    assert (answer.outcome, answer.missing, answer.found) == ("unknown-op", False, False)


def test_the_argument_behind_a_list_is_numbered_by_the_lists_length() -> None:
    types = {"T": "float32", "Tidx": "int32", "N": "3"}
    answer = TABLE.look_up("Join", "GPU", types)
    assert TABLE.host_slots(answer, types) == {3}
    assert TABLE.host_slots(answer, {"T": "float32"}) == frozenset()


def test_of_several_kernels_that_fit_the_one_with_the_highest_priority_is_taken() -> None:
    kernels = (_kernel("GPU", host=("x",), T="float32"), _kernel("GPU", priority=2, T="float32"))
    table = KernelTable({"Op": OpKernels(ADD.inputs, ADD.outputs, kernels)}, "a test")
    assert table.look_up("Op", "GPU", {"T": "float32"}).host == frozenset()


def test_a_labelled_kernel_is_taken_only_by_an_op_that_asks_for_it() -> None:
    table = KernelTable({"Op": OpKernels((), (), (_kernel("GPU", label="fast", T="float32"),))}, "a test")
    assert table.look_up("Op", "GPU", {"T": "float32"}).outcome == "no-kernel"
    assert table.look_up("Op", "GPU", {"T": "float32", "_kernel": "fast"}).found


def test_what_an_inputs_type_tells_of_the_attributes() -> None:
    assert TABLE.types_of_slot("Add", 1, "int32") == {"T": "int32"}
    assert TABLE.types_of_slot("Join", 1, "int32") == {}  # the second value, or the axis
    assert TABLE.types_of_slot("Only", 0, "int32", outputs=True) == {}


def test_kernels_put_together_say_the_same() -> None:
    kernels = [_kernel("GPU", T=t, I=i) for t in ("float32", "float16", "int8") for i in ("int32", "int64")]
    kernels.append(_kernel("GPU", T="string", I="int32"))
    few = together(kernels)
    assert len(few) == 2
    for t in ("float32", "float16", "int8", "string", "bool"):
        for i in ("int32", "int64"):
            types = {"T": t, "I": i}
            assert any(k.matches(types) for k in kernels) == any(k.matches(types) for k in few)


def test_packing_keeps_everything() -> None:
    assert unpacked(packed(JOIN)) == JOIN


FACTS = [
    # What users of GPUs have reported, or the sources of TensorFlow register.
    ("UniqueV2", {"T": "int32"}, "no-kernel"),
    ("StringToNumber", {"out_type": "float32"}, "no-kernel"),
    ("FractionalMaxPool", {"T": "float32"}, "no-kernel"),
    ("RandomShuffle", {"T": "float32"}, "no-kernel"),
    ("LookupTableFindV2", {"Tin": "string", "Tout": "int64"}, "no-kernel"),
    ("Angle", {"T": "complex64", "Tout": "float32"}, "found"),
    ("MatMul", {"T": "float32"}, "found"),
    ("MatMul", {"T": "int32"}, "no-type"),
    ("Equal", {"T": "string"}, "no-type"),
]


@pytest.mark.parametrize(("op", "types", "outcome"), FACTS, ids=[f"{op}-{o}" for op, _, o in FACTS])
def test_the_shipped_table_knows_it(op: str, types: dict[str, str], outcome: str) -> None:
    assert shipped_table().look_up(op, "GPU", types).outcome == outcome


def test_the_shipped_table_keeps_int32_on_the_host() -> None:
    table = shipped_table()
    types = {"T": "int32"}
    answer = table.look_up("AddV2", "GPU", types)
    assert table.host_slots(answer, types) == {0, 1}
    assert table.host_slots(answer, types, outputs=True) == {0}
    sizes = {"T": "float32", "Tshape": "int32"}
    assert table.host_slots(table.look_up("Reshape", "GPU", sizes), sizes) == {1}


def test_the_shipped_table_is_small_and_says_whose_it_is() -> None:
    assert FILE.stat().st_size < 100_000
    assert shipped_table().source.startswith("the kernel table of TensorFlow 2.21")
    assert "CUDA" in shipped_table().source


def test_a_damaged_table_is_told(tmp_path: Path) -> None:
    damaged = tmp_path / "table.json.gz"
    damaged.write_bytes(FILE.read_bytes()[:1000])
    with pytest.raises(HopscopeError, match=r"the kernel table .* cannot be read"):
        read_table(damaged)
