"""The checks of the MXNet programs, on small reports that are written out in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from runners.judging import judge
from runners.programs.evidence import Shown
from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE

Row = dict[str, Any]
SAID = {"verdict": HOLDS, "text": "the program measured it"}


def op(kind: str, assigned: str, requested: str = "", line: int = 1, function: str | None = None) -> Row:
    site = f"script.py:{line}"
    return {
        "name": kind,
        "type": kind,
        "requested": requested,
        "assigned": assigned,
        "site": site,
        "function": function,
    }


def hop(
    src: str, dst: str, size: int, count: int, cause: str = "explicit", via: str = "", producer: str = "x"
) -> Row:
    return {
        "src": src,
        "dst": dst,
        "bytes": size,
        "count": count,
        "cause": cause,
        "via": via or None,
        "producer": producer,
    }


def push(device: str, size: int, count: int) -> Row:
    return {"algorithm": f"kvstore, summed on {device}", "wire_bytes": size, "count": count}


def shown(
    ops: Sequence[Row] = (),
    hops: Sequence[Row] = (),
    collectives: Sequence[Row] = (),
    options: Mapping[str, Any] | None = None,
    devices: tuple[str, ...] = ("cpu:1", "cpu:2"),
    variant: str = "default",
    steps: int | None = 3,
) -> dict[str, Shown]:
    report = {
        "verdicts": [SAID],
        "steps": steps,
        "ops": list(ops),
        "hops": list(hops),
        "collectives": list(collectives),
    }
    stand_ins = None if any(name.startswith("gpu") for name in devices) else len(devices)
    return {variant: Shown(variant, options or {}, devices, stand_ins, report)}


def recorded(program: str, runs: Mapping[str, Shown]) -> tuple[str, str]:
    """The verdict from the recording: what comes after the program's own."""
    own, *rest = [(verdict.verdict, verdict.text) for verdict in judge(program, runs)]
    assert own == (HOLDS, "the program measured it")
    [one] = rest
    return one


BLIND = [
    "mx-contexts",
    "mx-context-scope",
    "mx-copy",
    "mx-mixed-context",
    "mx-gluon-params",
    "mx-module",
    "mx-gluon-data-parallel",
]


@pytest.mark.parametrize("program", BLIND)
def test_of_an_empty_recording_only_what_the_program_said_counts(program: str) -> None:
    [verdict] = judge(program, shown())
    assert verdict.row() == SAID


@pytest.mark.parametrize("program", ["mx-dist-sync", "mx-matmul-size", "mx-module-data-parallel"])
def test_what_the_programs_measure_is_passed_on_once(program: str) -> None:
    [verdict] = judge(program, shown() | shown(variant="another"))
    assert verdict.row() == SAID


def test_contexts() -> None:
    ops = [op("_ones", "cpu:0", line=83), op("_ones", "cpu:2", "cpu:2", 84), op("_ones", "cpu:0", line=85)]
    assert recorded("mx-contexts", shown(ops)) == (
        HOLDS,
        "the recorder saw arrays made on cpu:0 at lines 83 and 85, on cpu:2 at line 84, and 0 copies between "
        "devices",
    )
    elsewhere = [op("_ones", "cpu:1", line=83), op("_ones", "cpu:0", "cpu:2", 84)]
    assert recorded("mx-contexts", shown(elsewhere))[0] == FAILS
    crossed = [hop("cpu:0", "cpu:2", 24, 3)]
    assert recorded("mx-contexts", shown(ops, crossed)) == (
        FAILS,
        "the recorder saw arrays made on cpu:0 at lines 83 and 85, on cpu:2 at line 84, and 3 copies between "
        "devices",
    )


def test_context_scope() -> None:
    ops = [op("_ones", "cpu:0", line=47), op("_ones", "cpu:2", "cpu:2", 49)]
    given = [hop("cpu:0", "cpu:2", 16, 3, "host-upload")]
    assert recorded("mx-context-scope", shown(ops, given)) == (
        HOLDS,
        "the recorder saw ops on cpu:0 at line 47, on cpu:2 at line 49; of what crosses between devices 3 "
        "of 3 copies, 48 bytes, are the numbers that nd.array was given",
    )
    more = [*given, hop("cpu:0", "cpu:2", 24, 2, "implicit")]
    verdict, text = recorded("mx-context-scope", shown(ops, more))
    assert verdict == FAILS
    assert "3 of 5 copies" in text
    assert recorded("mx-context-scope", shown([op("_ones", "cpu:2", line=47)], given))[0] == FAILS
    on_host = shown(ops, given, options={"device": "cpu:0"}, devices=("cpu:0", "cpu:1"))
    assert [verdict.row() for verdict in judge("mx-context-scope", on_host)] == [SAID]


NDARRAY = "mxnet/ndarray/ndarray.py"


def test_copies() -> None:
    ops = [op("_copyto", "cpu:2")]
    there = [
        hop("cpu:1", "cpu:2", 100, 6, via=f"{NDARRAY}:copyto"),
        hop("cpu:1", "cpu:2", 100, 3, via=f"{NDARRAY}:as_in_context"),
        hop("cpu:1", "cpu:2", 100, 3, via="mxnet/numpy/multiarray.py:as_in_ctx"),
    ]
    same = hop("cpu:1", "cpu:1", 100, 4, "redundant-copy", f"{NDARRAY}:copyto")
    assert recorded("mx-copy", shown(ops, [*there, same])) == (
        HOLDS,
        "the recorder saw copies from cpu:1 to itself by copyto 4, by as_in_context 0, by as_in_ctx 0, and "
        "from cpu:1 to cpu:2 by copyto 6, by as_in_context 3, by as_in_ctx 3, 1,200 bytes in all",
    )
    assert recorded("mx-copy", shown(ops, there))[0] == FAILS
    copied = hop("cpu:1", "cpu:1", 100, 1, "redundant-copy", f"{NDARRAY}:as_in_context")
    assert recorded("mx-copy", shown(ops, [*there, same, copied]))[0] == FAILS
    assert recorded("mx-copy", shown(ops, [*there[:2], same]))[0] == FAILS


def test_mixed_context() -> None:
    ops = [op("broadcast_add", "cpu:1")]
    reads = [hop("cpu:1", "cpu:0", 100, 1, "host-sync")]
    verdict, text = recorded("mx-mixed-context", shown(ops, reads))
    assert verdict == HOLDS
    assert text.startswith("the recorder saw 0 copies between cpu:1 and cpu:2, 0 bytes: CPU contexts share")
    assert recorded("mx-mixed-context", shown(ops, [hop("cpu:2", "cpu:1", 100, 3)]))[0] == FAILS
    with_gpu = shown(ops, devices=("gpu:0", "cpu:0"))
    assert [verdict.row() for verdict in judge("mx-mixed-context", with_gpu)] == [SAID]


BLOCK = "mxnet/gluon/block.py"


def params(update: str = "cpu:2", sent: int = 100, saved: int = 100, loaded: int = 100) -> dict[str, Shown]:
    ops = [
        op("uniform", "cpu:0"),
        op("FullyConnected (backward)", "cpu:2"),
        op("sgd_update", update),
        op("FullyConnected", "cpu:1"),
    ]
    hops = [
        hop("cpu:0", "cpu:2", sent, 1, via=f"{BLOCK}:__call__"),
        hop("cpu:0", "cpu:2", 64, 3, "host-upload"),
        hop("cpu:2", "cpu:0", 4, 2, "host-sync"),
        hop("cpu:2", "cpu:0", saved // 2, 2, via=f"{BLOCK}:save_parameters"),
        hop("cpu:0", "cpu:1", loaded, 1, via=f"{BLOCK}:load_parameters"),
        hop("cpu:0", "cpu:2", 100, 1, via=f"{BLOCK}:load_parameters"),
    ]
    return shown(ops, hops, options={"device": None})


def test_gluon_params() -> None:
    assert recorded("mx-gluon-params", params()) == (
        HOLDS,
        "the recorder saw 100 bytes of parameters go from cpu:0 to cpu:2, backward and update run on cpu:2, "
        "100 bytes come back to be saved, and 100 bytes loaded on cpu:1, 100 bytes loaded on cpu:2",
    )
    verdict, text = recorded("mx-gluon-params", params(update="cpu:0"))
    assert verdict == FAILS
    assert "backward and update run on cpu:0 and cpu:2" in text
    assert recorded("mx-gluon-params", params(sent=200))[0] == FAILS
    assert recorded("mx-gluon-params", params(loaded=50))[0] == FAILS


FIT = "mxnet/module/base_module.py:fit"


def module(reads: int = 3, update: str = "cpu:2") -> dict[str, Shown]:
    ops = [
        op("FullyConnected", "cpu:2", "cpu:2", function="softmax"),
        op("_backward_FullyConnected", "cpu:2", "cpu:2", function="softmax"),
        op("sgd_update", update),
        op("uniform", "cpu:0"),
    ]
    hops = [
        hop("cpu:0", "cpu:2", 500, 1, via="mxnet/module/module.py:init_params"),
        hop("cpu:0", "cpu:2", 64, 3, via=FIT),
        hop("cpu:0", "cpu:2", 8, 3, via=FIT),
        hop("cpu:2", "cpu:0", 40, reads, "host-sync", FIT),
        hop("cpu:2", "cpu:0", 500, 1, via=FIT),
        hop("cpu:0", "cpu:2", 500, 1, via=FIT),
    ]
    return shown(ops, hops, options={"device": "cpu:2"})


def test_module() -> None:
    assert recorded("mx-module", module()) == (
        HOLDS,
        "the recorder saw all 3 ops of the symbol, its gradients and the update run on cpu:2; in each of 3 "
        "steps 72 bytes went from cpu:0 to cpu:2, and fit's metric read 40 bytes of outputs, 3 times",
    )
    assert recorded("mx-module", module(reads=1))[0] == FAILS
    verdict, text = recorded("mx-module", module(update="cpu:1"))
    assert verdict == FAILS
    assert "run on cpu:1 and cpu:2" in text


def replicas(kvstore: str, pushes: Sequence[Row], hops: Sequence[Row] = ()) -> dict[str, Shown]:
    return shown([op("FullyConnected", "cpu:1")], hops, pushes, {"kvstore": kvstore}, variant=kvstore)


def test_gluon_data_parallel() -> None:
    program = "mx-gluon-data-parallel"
    assert recorded(program, replicas("local", [push("cpu:0", 200, 3), push("cpu:0", 20, 6)])) == (
        HOLDS,
        "with kvstore local the recorder saw gradients summed on cpu:0, for which 240 bytes cross in a step",
    )
    both = [push("cpu:1", 100, 3), push("cpu:2", 20, 3)]
    assert recorded(program, replicas("device", both)) == (
        HOLDS,
        "with kvstore device the recorder saw gradients summed on cpu:1 and cpu:2, for which 120 bytes "
        "cross in a step",
    )
    assert recorded(program, replicas("local", both))[0] == FAILS
    assert recorded(program, replicas("device", [push("cpu:0", 200, 3)]))[0] == FAILS
    verdict, text = recorded(program, replicas("local", []))
    assert (verdict, "summed on no device" in text) == (FAILS, True)
    assert recorded(program, replicas("none", [])) == (
        HOLDS,
        "without a kvstore the recorder saw 0 sums of gradients, and 0 copies between cpu:1 and cpu:2",
    )
    assert recorded(program, replicas("none", both))[0] == FAILS
    assert recorded(program, replicas("none", [], [hop("cpu:1", "cpu:2", 4, 3)]))[0] == FAILS


UNROLL, BACKWARD = "mxnet/rnn/rnn_cell.py:unroll", "mxnet/executor.py:backward"
OPTIONS = {"batch": 4, "width": 8, "boundary": "identity"}
FORWARD = [hop("cpu:1", "cpu:2", 128, 7, via=UNROLL), hop("cpu:1", "cpu:2", 128, 7, via=UNROLL)]
BACK = [hop("cpu:2", "cpu:1", 128, 2, via=BACKWARD), hop("cpu:2", "cpu:1", 128, 2, via=BACKWARD)]
PART = hop("cpu:1", "cpu:2", 128, 2, "colocation", BACKWARD, "lstm1_t1_h2h_backward")
HOST = [hop("cpu:0", "cpu:1", 999, 2, "host-upload"), hop("cpu:2", "cpu:0", 4, 2, "host-sync")]


def lstm(hops: Sequence[Row], **more: Any) -> list[tuple[str, str]]:
    found = judge("mx-model-parallel-lstm", shown(hops=[*HOST, *hops], options=OPTIONS, **more))
    return [(verdict.verdict, verdict.text) for verdict in found]


def test_model_parallel_lstm() -> None:
    assert lstm([*FORWARD, *BACK]) == [
        (
            HOLDS,
            "with boundary=identity the recorder saw 2 tensors of 128 bytes cross forward between "
            "neighbours in a step, and 2 back",
        )
    ]
    assert lstm([*FORWARD, *BACK, PART]) == [
        (
            FAILS,
            "with boundary=identity the recorder saw 2 tensors of 128 bytes cross forward between "
            "neighbours in a step, and 2 back, and forward again 1 part of a gradient "
            "(lstm1_t1_h2h_backward, ..), to be added up on the next device",
        )
    ]
    assert lstm([*FORWARD, BACK[0]])[0][0] == FAILS
    [(verdict, text)] = lstm([*FORWARD, *BACK, hop("cpu:1", "cpu:2", 64, 7, via=UNROLL)])
    assert verdict == FAILS
    assert "of 64 and 128 bytes" in text


def test_model_parallel_lstm_between_others_than_neighbours() -> None:
    far = [hop("cpu:1", "cpu:3", 128, 7, via=UNROLL), hop("cpu:3", "cpu:1", 128, 2, via=BACKWARD)]
    [(verdict, text)] = lstm([*FORWARD, *BACK, *far], devices=("cpu:1", "cpu:2", "cpu:3"))
    assert verdict == FAILS
    assert text.endswith("; some of them between devices that are no neighbours")


def test_model_parallel_lstm_without_copies_is_not_judged() -> None:
    assert lstm([]) == [(UNTESTABLE, "the recording shows no copies among cpu:1 and cpu:2")]
    strange = [*FORWARD, hop("cpu:1", "cpu:7", 128, 7, via=UNROLL)]
    assert lstm(strange)[0][0] == UNTESTABLE
