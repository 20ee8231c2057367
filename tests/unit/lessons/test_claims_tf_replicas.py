"""The checks of the TensorFlow programs that train replicas, on small reports written out in full."""

from __future__ import annotations

from typing import Any

import pytest

from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE
from tests.unit.lessons.claims_reports import Row, collective, eager, hop, op, shown, verdicts

PAIR = ("cpu:1", "cpu:2")
BACKWARD = [op("gradient_tape/MatMul", "cpu:1", "MatMul"), op("gradient_tape/MatMul_1", "cpu:2", "MatMul")]


def mirrored(how: str, *rows: Row, **report: Any) -> Any:
    told = {"ops": BACKWARD, "collectives": list(rows)} | report
    return shown(how, {"cross-device-ops": how}, **told)


LOSS = collective(4, 8, PAIR, "reduction-to-one-device")
RING = collective(1000, 2000, PAIR)
BUILT = collective(1000, None, PAIR, "hierarchical-copy")
COPIES = [
    hop("cpu:1", "cpu:2", 1000, cause="collective"),
    hop("cpu:2", "cpu:1", 500, cause="collective"),
    hop("cpu:2", "cpu:1", 8),
    hop("cpu:1", "cpu:2", 77, cause="collective", line=7),
]


def test_mirrored() -> None:
    runs = mirrored("default", LOSS, RING) | mirrored("hierarchical-copy", BUILT, hops=COPIES)
    assert verdicts("tf-mirrored", runs) == [
        (
            HOLDS,
            "no device is named for a training op, and the backward pass is on cpu:1 with 1 op and cpu:2 "
            "with 1 op",
        ),
        (
            HOLDS,
            "cross-device-ops=default: 1,000 bytes of gradients a replica are summed over cpu:1 and cpu:2 by "
            "ring, for which 2,000 bytes cross between them, 3 times in 3 steps (estimated)",
        ),
        (
            HOLDS,
            "cross-device-ops=hierarchical-copy: 1,000 bytes of gradients a replica are summed over cpu:1 "
            "and cpu:2 by hierarchical-copy, for which 1,500 bytes cross between them, 3 times in 3 steps "
            "(estimated)",
        ),
        (
            HOLDS,
            "the bytes that cross in a step depend on the algorithm: 2,000 with ring and 1,500 with "
            "hierarchical-copy",
        ),
    ]


def test_mirrored_algorithms_that_move_the_same() -> None:
    other = collective(1000, 2000, PAIR, "reduction-to-one-device")
    runs = mirrored("default", RING) | mirrored("reduction-to-one-device", other)
    assert verdicts("tf-mirrored", runs)[-1] == (
        FAILS,
        "the bytes that cross in a step do not depend on the algorithm here: ring and "
        "reduction-to-one-device each move 2,000 in all; they differ in which devices send them, and which "
        "sums",
    )


def test_mirrored_refuted() -> None:
    assert verdicts("tf-mirrored", mirrored("default"))[1] == (
        FAILS,
        "cross-device-ops=default: the recorder saw nothing summed over the devices",
    )
    seldom = collective(1000, 2000, PAIR, count=1)
    assert verdicts("tf-mirrored", mirrored("default", seldom))[1][0] == FAILS
    uneven = mirrored("default", RING, ops=[*BACKWARD, op("gradient_tape/Mul", "cpu:1")])
    assert verdicts("tf-mirrored", uneven)[0][0] == FAILS


def test_mirrored_not_judged() -> None:
    hidden = mirrored("default", RING, ops=[])
    assert verdicts("tf-mirrored", hidden)[0][0] == UNTESTABLE
    alone = shown(options={"cross-device-ops": "default"}, given=("cpu:1",), ops=BACKWARD[:1])
    assert verdicts("tf-mirrored", alone)[1] == (
        UNTESTABLE,
        "cross-device-ops=default: it takes two replicas, and steps",
    )


VARIABLES = [eager("VarHandleOp", "cpu:0", "cpu:0", line=4), eager("VarHandleOp", "cpu:0", line=5)]
READS = [hop("cpu:0", device, 500, cause="variable-home") for device in PAIR]
SENT = [hop(device, "cpu:0", 500, cause="reduce-on-host") for device in PAIR]
ONCE = hop("cpu:0", "cpu:1", 70_000, count=1, cause="variable-home")


def test_central_storage() -> None:
    runs = shown(ops=VARIABLES, hops=[*READS, *SENT, ONCE])
    assert verdicts("tf-central-storage", runs) == [
        (
            HOLDS,
            "variables were made at 2 lines on cpu:0; in each step 500 bytes for each of cpu:1 and cpu:2 of "
            "them are read from there, and 500 bytes for each of cpu:1 and cpu:2 of gradients sent back, "
            "2,000 bytes in all (estimated)",
        )
    ]


@pytest.mark.parametrize(
    "report",
    [
        {"ops": [eager("VarHandleOp", "cpu:1", "cpu:1")], "hops": [*READS, *SENT]},
        {"ops": VARIABLES, "hops": [READS[0], *SENT]},
        {"ops": VARIABLES, "hops": [*READS, SENT[0]]},
    ],
)
def test_central_storage_refuted(report: Any) -> None:
    assert verdicts("tf-central-storage", shown(**report))[0][0] == FAILS


def test_central_storage_with_one_device_keeps_the_variables_there() -> None:
    runs = shown(given=("cpu:1",), ops=[eager("VarHandleOp", "cpu:1", "cpu:1")])
    [(verdict, text)] = verdicts("tf-central-storage", runs)
    assert verdict == FAILS
    assert text.endswith("; with one device TensorFlow keeps the variables on that one")


def test_central_storage_not_judged() -> None:
    for report in ({"hops": READS}, {"ops": VARIABLES, "steps": None}):
        assert verdicts("tf-central-storage", shown(**report)) == [
            (UNTESTABLE, "the recorder saw no variables, or no steps")
        ]


UPLOADS = [hop("cpu:0", device, 100, cause="host-upload") for device in PAIR]


def test_pin_replica_gradients() -> None:
    assert verdicts("tf-pin-replica-gradients", shown(ops=BACKWARD, hops=UPLOADS)) == [
        (
            HOLDS,
            "the backward pass is on cpu:1 with 1 op and cpu:2 with 1 op; 0 bytes cross because of it and 0 "
            "between the devices, beside 600 bytes in the whole run from Python",
        )
    ]


@pytest.mark.parametrize(
    ("ops", "more"),
    [
        (BACKWARD, [hop("cpu:1", "cpu:2", 8)]),
        (BACKWARD, [hop("cpu:1", "cpu:0", 8, cause="gradient-outside-scope")]),
        ([*BACKWARD, op("gradient_tape/Mul", "cpu:0")], []),
    ],
)
def test_pin_replica_gradients_refuted(ops: list[Row], more: list[Row]) -> None:
    assert verdicts("tf-pin-replica-gradients", shown(ops=ops, hops=[*UPLOADS, *more]))[0][0] == FAILS


def test_pin_replica_gradients_not_judged() -> None:
    [(verdict, text)] = verdicts("tf-pin-replica-gradients", shown(hops=UPLOADS))
    assert verdict == UNTESTABLE
    assert text.startswith("the recorder saw no op of the backward pass")


def test_mirrored_uneven_says_its_verdicts_itself() -> None:
    said = {"verdict": HOLDS, "text": "measured"}
    assert verdicts("tf-mirrored-uneven", shown(verdicts=[said])) == [(HOLDS, "measured")]
