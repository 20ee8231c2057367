"""Last words of a process that died while its standard error was looked through."""

from __future__ import annotations

from pathlib import Path

import pytest

from probes.trace.stderr_rest import own_output, take_rest


def test_the_programs_own_lines_are_kept_and_the_files_removed(tmp_path: Path) -> None:
    (tmp_path / "12.stderr").write_bytes(
        b"I0000 sendrecv_ops.cc:98] Send /job\nF0000 check failed: x\nI0000 executor.cc:879] Process node\n"
    )
    (tmp_path / "13.stderr").write_bytes(b"no newline")
    assert take_rest(str(tmp_path)) == b"F0000 check failed: x\nno newline"
    assert list(tmp_path.iterdir()) == []


def test_what_a_server_passed_on_is_not_told_again(tmp_path: Path) -> None:
    told, rest = b"started\n", b"I0000 dump_graph.cc:245] Dumped Graph to /x.pb\nE0000 lost a peer\n"
    (tmp_path / "12-server.stderr").write_bytes(told + rest)
    (tmp_path / "12-server.stderr.read").write_bytes(b"%020d" % len(told))
    assert take_rest(str(tmp_path)) == b"E0000 lost a peer\n"
    assert list(tmp_path.iterdir()) == []


def test_nothing_left_is_nothing(tmp_path: Path) -> None:
    assert take_rest(str(tmp_path / "no such folder")) == b""


WARNING, INFO = b"W0000 00:00:1795341539.750971    6632 ", b"I0000 00:00:1795341539.750971    6632 "
NODE = b"\t [[{{node _send_scan/while/body/_62/TensorListPopBack_1}}]]\n"
PENDING = (
    b"{name:'scan/while/exit/_45' id:9 def:{{{node scan/while/exit/_45}} = Identity[T=DT_VARIANT](a, b)}}\n"
)
DUMP = (
    WARNING + b"propagator_state.cc:246] Dumping state\n" + WARNING + b"propagator_state.cc:248] 0\n"
    + WARNING + b"propagator_state.h:411]   Iteration:\n"
    + WARNING + b"propagator_debug_utils.cc:60]     Pending Node: " + PENDING
    + WARNING + b"propagator_debug_utils.cc:65]       Input 0: Tensor<type: float shape: [0]>\n"
    + WARNING + b"propagator_state.cc:233]     Input 9: Tensor<type: float shape: [0], bytes: 0>\n"
    + WARNING + b"propagator_state.cc:241]     Total bytes 0\n"
)  # fmt: skip
ABORTED = (
    WARNING + b"executor.cc:1098] 0x5575723ed590 Compute status: INTERNAL: Send of a dead tensor\n"
    + NODE + DUMP
    + INFO + b"executor.cc:1245] [/device:CPU:0] Executor start aborting: INTERNAL: Send of a dead tensor\n"
    + NODE
)  # fmt: skip
RENDEZVOUS = (
    INFO + b"local_rendezvous.cc:407] Local rendezvous is aborting with status: CANCELLED: x\n" + NODE
)


def test_an_aborted_executors_dump_is_not_the_programs() -> None:
    """Bug: TensorFlow failed to fold a loop's gradient into a constant, and 200 lines of it came out."""
    assert own_output(ABORTED * 2) == b""
    mine = b"loss 0.5\n\t [[mine]]\n"
    assert own_output(mine + ABORTED + mine[:9] + ABORTED + b"the end") == mine + mine[:9] + b"the end"


@pytest.mark.parametrize(
    "message",
    [
        b"UNKNOWN: ValueError: x\nTraceback (most recent call last):\n\n  File \"a.py\", line 2\n\n"
        + NODE * 2,
        b"INTERNAL: 2 root error(s) found.\n  (0) INTERNAL: x\n" + NODE + b"  (1) CANCELLED: y\n" + NODE
        + b"0 successful operations.\n0 derived errors ignored.\n" + NODE,
        b"CANCELLED: it names no op\n",
    ],
)  # fmt: skip
def test_a_status_of_several_lines_goes_to_its_end_and_no_further(message: bytes) -> None:
    status = WARNING + b"executor.cc:1098] 0x55 Compute status: " + message
    real = WARNING + b"op_kernel.cc:1857] OP_REQUIRES failed at script_ops.cc:113 : " + message
    assert own_output(status + b"mine\n" + real + status + real) == b"mine\n" + real * 2


@pytest.mark.parametrize(
    "line",
    [
        b"F0000 00:00:1.2    6632 executor.cc:12] Check failed: x\n",
        b"E0000 00:00:1.2    6632 executor.cc:12] Executor failed to create kernel. NOT_FOUND: x\n" + NODE,
        INFO + b"cuda_executor.cc:1015] successful NUMA node read from SysFS\n",
        b"mine: executor.cc:12] and propagator_state.cc:246] are files\n",
        RENDEZVOUS,
    ],
)
def test_what_the_verbose_log_did_not_bring_is_kept(line: bytes) -> None:
    assert own_output(ABORTED + line + ABORTED) == line


def test_a_line_that_the_program_has_not_ended_is_kept() -> None:
    assert (
        own_output(b"1/2 ..." + INFO + b"executor.cc:879] Process node: 3 step 0\n" + b" 2/2\n")
        == b"1/2 ... 2/2\n"
    )


def test_a_hidden_levels_records_are_hidden_to_their_end() -> None:
    warning = WARNING + b"mine.cc:1] careful\n"
    assert own_output(RENDEZVOUS + warning, b"I") == warning
    assert own_output(RENDEZVOUS + warning + b"mine\n", b"IW") == b"mine\n"
