"""What is read out of the text that MXNet writes of a bound graph."""

from __future__ import annotations

import pytest

from probes.mx.bound_text import places, read_debug_text

CHAIN = """Symbol Outputs:
\toutput[0]=b(0)
Variable:x
--------------------
Op:FullyConnected, Name=a
Inputs:
\targ[0]=x(0) version=0
Attrs:
\t__ctx_group__=first
\tnum_hidden=8
--------------------
Op:_CrossDeviceCopy, Name=a_0_copy
Inputs:
\targ[0]=a(0)
--------------------
Op:FullyConnected, Name=b
Inputs:
\targ[0]=a_0_copy(0)
Attrs:
\t__ctx_group__=second
Total 0 MB allocated
"""

# y is used by p and q, z by q and r: both gradients are sums, and MXNet calls them by one name.
SUMS = """Variable:y
Variable:z
--------------------
Op:dot, Name=p
Inputs:
\targ[0]=y(0) version=0
--------------------
Op:dot, Name=q
Inputs:
\targ[0]=y(0) version=0
\targ[1]=z(0) version=0
--------------------
Op:dot, Name=r
Inputs:
\targ[0]=z(0) version=0
--------------------
Op:_backward_dot, Name=p_backward
Inputs:
--------------------
Op:_backward_dot, Name=q_backward
Inputs:
--------------------
Op:_backward_dot, Name=r_backward
Inputs:
--------------------
Op:_grad_add, Name=sum_grad_1
Inputs:
\targ[0]=p_backward(0)
\targ[1]=q_backward(0)
--------------------
Op:_grad_add, Name=sum_grad_1
Inputs:
\targ[0]=q_backward(1)
\targ[1]=r_backward(0)
--------------------
Op:_grad_add, Name=sum_grad_2
Inputs:
\targ[0]=sum_grad_1(0)
\targ[1]=q_backward(0)
--------------------
Op:_grad_add, Name=sum_grad_2
Inputs:
\targ[0]=sum_grad_1(0)
\targ[1]=q_backward(1)
"""


def test_ops_copies_variables_and_groups_are_read() -> None:
    found = [(item.op, item.name, item.inputs, item.group) for item in read_debug_text(CHAIN)]
    assert found == [
        ("null", "x", [], ""),
        ("FullyConnected", "a", [("x", 0)], "first"),
        ("_CrossDeviceCopy", "a_0_copy", [("a", 0)], ""),
        ("FullyConnected", "b", [("a_0_copy", 0)], "second"),
    ]


def test_sums_of_gradients_of_one_name_are_told_apart_by_what_they_add_up() -> None:
    sums = {item.name: item.inputs for item in read_debug_text(SUMS) if item.op == "_grad_add"}
    assert sums["sum_grad_2"] == [("sum_grad_1", 0), ("q_backward", 0)]
    assert sums["sum_grad_2 (2)"] == [("sum_grad_1 (2)", 0), ("q_backward", 1)]


def test_ops_share_a_device_up_to_a_copy() -> None:
    written = read_debug_text(CHAIN)
    assert places(written, {"x": "cpu:1"}, {"second": "cpu:2"}, "cpu:0") == {
        "x": "cpu:1",
        "a": "cpu:1",
        "a_0_copy": "cpu:2",  # a copy runs with those that it is for
        "b": "cpu:2",
    }


def test_a_contradiction_is_no_answer() -> None:
    written = read_debug_text(CHAIN)
    with pytest.raises(ValueError, match=r"a is on cpu:2, and ops beside it on cpu:1"):
        places(written, {"x": "cpu:1"}, {"first": "cpu:2"}, "cpu:0")
