"""Conversions that a fix moves behind the loop: by what the framework's arrays know, and by what they cut."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, hop

HEADS = {
    "tensorflow": "import numpy as np\nimport tensorflow as tf\n",
    "mxnet": "import mxnet as mx\nimport numpy as np\n",
}
LOOP = "total = {start}\nfor x in data:\n    y = f(x)\n    total += {value}  #!\nprint(total)\n"


def after(framework: str, value: str, start: str = "0", dtype: str = "float32", shape: str = "") -> list[str]:
    """What a loop adds up, and how that is taken after it; nothing where no fix is proposed."""
    text = HEADS[framework] + LOOP.format(value=value, start=start)
    pulls = (hop("host-sync", dtype=dtype, shape=shape),)
    done = fixed("host-sync", text, framework=framework, hops=pulls)
    lines = done.removeprefix(HEADS[framework]).splitlines() if done is not None else []
    return [line.strip() for line in lines if line.strip().startswith(("total +=", "total = ("))] + [
        line for line in lines[1:] if line.startswith("total = ")
    ]


@pytest.mark.parametrize(
    ("value", "added", "taken"),
    [
        ("int((y == x).sum().asscalar())", "(y == x).sum()", "int(total.asscalar())"),
        ("float(y.asscalar())", "y", "float(total.asscalar())"),
        ("float(y.asnumpy())", "y", "float(total.asscalar())"),
        ("float(y.asnumpy()[0])", "y", "float(total.asscalar())"),
        ("y.asscalar()", "y", "total.asscalar()"),
        ("y.asnumpy()", "y", "total.asnumpy()"),
    ],
)
def test_mxnets_older_arrays_are_taken_before_python_converts_them(
    value: str, added: str, taken: str
) -> None:
    """Bug: `total = int(total)` raised TypeError: NDArray knows neither `int()` nor `float()`."""
    behind = f"total = {taken} if isinstance(total, mx.nd.NDArray) else total"
    assert after("mxnet", value, shape="1") == [f"total += {added}", behind]


def test_the_class_of_the_arrays_is_one_that_the_file_can_name() -> None:
    text = f"from mxnet import np\n{LOOP.format(start=0, value='y.asnumpy()')}"
    done = fixed("host-sync", text, framework="mxnet", hops=(hop("host-sync", shape="3"),)) or ""
    assert "total = total.asnumpy() if isinstance(total, np.ndarray) else total\n" in done


@pytest.mark.parametrize(
    "value",
    [
        "int(y.asscalar())",  # each was cut to a whole number
        "int((y == x).mean().asscalar())",
        "bool(y.asscalar())",
        "int((y == x).sum().asscalar()) / 3",  # the sum were cut
        "int((y == x).sum().asscalar()) * k",
        "float(np.mean(y.asnumpy()))",  # Python has it already
        "float(y.asnumpy()[0] + 1)",
    ],
)
def test_what_python_cuts_or_has_already_stays(value: str) -> None:
    assert after("mxnet", value, shape="1") == []


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "uint8", "bool"])
def test_types_too_narrow_for_a_sum_stay_with_python(dtype: str) -> None:
    assert after("tensorflow", "float(y)", dtype=dtype) == []
    assert after("mxnet", "y.asscalar()", dtype=dtype) == []


def test_tensors_of_whole_numbers_take_no_others() -> None:
    """Bug: TensorFlow adds no 0.0 to a tensor of int32, and multiplies none by 0.5."""
    assert after("tensorflow", "int(y)", dtype="int32") == ["total += y", "total = int(total)"]
    assert after("tensorflow", "int(y)", "0.0", "int32") == []
    assert after("tensorflow", "int(y) * 0.5", dtype="int32") == []
    assert after("tensorflow", "int(y) * 2", dtype="int32") == ["total += y * 2", "total = int(total)"]
    meter = (
        "class Meter:\n    def __init__(self):\n        self.sum = {}\n    def add(self, v):\n"
        "        self.sum += int(v)  #!\nm = Meter()\nfor x in data:\n    m.add(f(x))\nprint(m.sum)\n"
    )
    pulls = (hop("host-sync", dtype="int64"),)
    found = [fixed("host-sync", HEADS["tensorflow"] + meter.format(start), hops=pulls) for start in (0, 0.0)]
    assert found[0] is not None and "print(int(m.sum))" in found[0] and found[1] is None


def test_a_tensor_with_an_axis_is_no_number_to_python() -> None:
    behind = "if isinstance(total, tf.Tensor) else total"
    assert after("tensorflow", "y.numpy().item()", shape="1") == [
        "total += y",
        f"total = total.numpy().item() {behind}",
    ]
    assert after("tensorflow", "float(y.numpy()[0])", shape="1") == [
        "total += y",
        f"total = float(total.numpy()[0]) {behind}",
    ]
    assert after("tensorflow", "y.numpy().item()") == ["total += y", "total = float(total)"]


def test_a_name_that_the_loop_may_leave_alone_is_converted_if_it_is_a_tensor() -> None:
    """Bug: without a round `float(None)` raised TypeError."""
    text = "import tensorflow as tf\nlast = None\nfor x in data:\n    last = float(f(x))  #!\nprint(last)\n"
    taken = "last = float(last) if isinstance(last, tf.Tensor) else last\n"
    made = text.replace("float(f(x))  #!", "f(x)").replace("print", f"{taken}print")
    pulls = (hop("host-sync"),)
    assert fixed("host-sync", text, hops=pulls) == made
    alone = text.replace("last = None\n", "")
    assert "\nlast = float(last)\n" in (fixed("host-sync", alone, hops=pulls) or "")
