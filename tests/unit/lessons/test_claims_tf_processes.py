"""The checks of the TensorFlow programs of several processes, on small reports written out in full."""

from __future__ import annotations

from typing import Any

from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE
from tests.unit.lessons.claims_reports import Row, collective, hop, op, shown, verdicts

SAID = {"verdict": HOLDS, "text": "the program compared them"}
OWN = (HOLDS, "the program compared them")


def workers(number: int, wire: int | None, payload: int = 100) -> Any:
    devices = [f"worker:{rank}/cpu:1" for rank in range(number)]
    rows = [
        collective(payload, wire, devices) | {"op": "CollectiveReduceV2"},
        collective(4, 8 * number, devices) | {"op": "CollectiveReduceV2"},
        collective(5000, 9000, devices) | {"op": "CollectiveBcast"},
    ]
    return shown(f"{number}-workers", {"workers": number}, collectives=rows, verdicts=[SAID])


def test_multiworker() -> None:
    assert verdicts("tf-multiworker", workers(3, 400) | workers(2, 200)) == [
        OWN,
        (
            HOLDS,
            "to sum 100 bytes of gradients by ring, 200 bytes between 2 workers, 400 bytes between 3 workers "
            "cross in a step (estimated)",
        ),
    ]
    assert verdicts("tf-multiworker", workers(3, 200) | workers(2, 200))[1][0] == FAILS
    assert verdicts("tf-multiworker", workers(3, 100) | workers(2, 200))[1][0] == FAILS


def test_multiworker_without_figures_to_compare() -> None:
    why = "bytes of 2 workers were recorded, and it takes two numbers to compare"
    assert verdicts("tf-multiworker", workers(2, 200)) == [OWN, (UNTESTABLE, why)]
    assert verdicts("tf-multiworker", workers(2, 200) | workers(3, None))[1] == (UNTESTABLE, why)
    assert verdicts("tf-multiworker", workers(2, None))[1][1].startswith("bytes of no workers were recorded")


def test_multiworker_checkpoint() -> None:
    nothing = {"verdict": UNTESTABLE, "text": "nothing was resumed. Kill a run and resume it"}
    resumed = {"verdict": HOLDS, "text": "resumed at step 4, and the losses are the same, bit for bit"}
    first = shown("first", verdicts=[nothing, SAID])
    both = first | shown("resumed", verdicts=[resumed, SAID])
    assert verdicts("tf-multiworker-checkpoint", both) == [OWN, (HOLDS, f"resumed: {resumed['text']}")]
    assert verdicts("tf-multiworker-checkpoint", first) == [(UNTESTABLE, nothing["text"]), OWN]


PULLS = [
    hop("ps:0/cpu:0", "worker:0/cpu:1", 8, 2, "variable-home"),
    hop("ps:0/cpu:0", "worker:0/cpu:1", 300, 2, "variable-home"),
    hop("ps:1/cpu:0", "worker:1/cpu:1", 300, 1, "variable-home"),
]
PUSHES = [
    hop("worker:0/cpu:1", "ps:0/cpu:0", 300, 2, "colocation"),
    hop("worker:1/cpu:1", "ps:1/cpu:0", 300, 1, "explicit"),
    hop("worker:0/cpu:1", "ps:0/cpu:0", 8, 3, "colocation"),
]
OTHERS = [
    hop("ps:0/cpu:0", "chief:0/cpu:0", 300, 1, "default-device"),
    hop("worker:0/cpu:0", "worker:0/cpu:1", 900, 3, "explicit"),
    hop("ps:1/cpu:0", "ps:0/cpu:0", 40, 3, "variable-home"),
]
MADE = [op("VarHandleOp", "ps:0/cpu:0"), op("VarHandleOp", "ps:1/cpu:0")]
PRODUCTS = [op("MatMul", "worker:0/cpu:1"), op("MatMul", "worker:1/cpu:1"), op("MatMul", "chief:0/cpu:0")]


def served(ops: list[Row], hops: list[Row]) -> list[tuple[str, str]]:
    return verdicts("tf-parameter-server", shown(ops=ops, hops=hops))


def test_parameter_server() -> None:
    assert served([*MADE, *PRODUCTS], [*PULLS, *PUSHES, *OTHERS]) == [
        (HOLDS, "variables were made on ps:0/cpu:0 and ps:1/cpu:0"),
        (
            HOLDS,
            "in a step 300 bytes of variables were pulled from the servers, and 300 bytes of gradients "
            "pushed to them, in 3 steps on worker:0 and worker:1 (estimated)",
        ),
        (
            HOLDS,
            "variables are spread over 2 servers, and the matrix products of a step are on worker:0 with 1 "
            "and worker:1 with 1: each worker computes all of the model",
        ),
    ]


def test_parameter_server_refuted() -> None:
    elsewhere = [op("VarHandleOp", "worker:0/cpu:1"), *MADE, *PRODUCTS]
    assert [verdict for verdict, _ in served(elsewhere, [*PULLS, *PUSHES])] == [FAILS, HOLDS, FAILS]
    words = served([*MADE, *PRODUCTS], PULLS)
    assert [verdict for verdict, _ in words] == [HOLDS, FAILS, HOLDS]
    assert "and 0 bytes of gradients pushed" in words[1][1]
    split = [*MADE, *PRODUCTS, op("MatMul", "ps:0/cpu:0")]
    verdict, text = served(split, [*PULLS, *PUSHES])[2]
    assert verdict == FAILS
    assert text.endswith("on ps:0 with 1, worker:0 with 1 and worker:1 with 1")


def test_parameter_server_of_an_empty_recording() -> None:
    assert served([], []) == [(UNTESTABLE, "the recorder saw no variables made, or no steps")]
