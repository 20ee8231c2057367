"""The checks of the TensorFlow programs that place ops, on small reports that are written out in full."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from runners.programs.evidence import Shown
from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE
from tests.unit.lessons.claims_reports import Row, eager, hop, op, shown, verdicts

GRADIENT = "gradient_tape/MatMul/MatMul"


def model(device: str, backward: str = "") -> list[Row]:
    """The ops of a pinned model and its input pipeline."""
    return [
        eager("TensorSliceDataset", "cpu:0", line=1),
        eager("Equal", "cpu:0", line=2),
        eager("ShuffleDatasetV3", "cpu:0", line=2),
        eager("VarHandleOp", device, device, line=3),
        eager("DatasetCardinality", device, device, line=4),
        op("IteratorGetNext", "cpu:0", line=4),
        op("dense/MatMul", device, "MatMul", line=4),
        op(GRADIENT, backward or device, "MatMul", line=4),
        op("adam/AssignSubVariableOp", device, "AssignSubVariableOp", line=4),
    ]


def cards(peak: int) -> dict[str, Any]:
    return {"cards": [{"devices": ["gpu:1"], "peak_memory_bytes": peak}]}


def test_pin_model() -> None:
    found = verdicts("tf-pin-model", shown(ops=model("cpu:2")))
    assert found == [
        (
            HOLDS,
            "of 5 ops of the model 5 ran on cpu:2: variables made at 1 line, 1 op of the backward pass, 1 "
            "that update weights, slots and metrics, and the others; the input pipeline's 4 are not counted",
        ),
        (
            UNTESTABLE,
            "memory growth is about a GPU's memory; a stand-in has the host's, which is taken as needed",
        ),
    ]


def test_pin_model_with_ops_elsewhere() -> None:
    verdict, text = verdicts("tf-pin-model", shown(ops=model("cpu:2", backward="cpu:0")))[0]
    assert verdict == FAILS
    assert text.startswith("of 5 ops of the model 4 ran on cpu:2: ")
    assert text.endswith("; 1 on cpu:0")


@pytest.mark.parametrize(
    ("runs", "why"),
    [
        (shown(), "the recorder saw no ops of the model"),
        (shown(ops=model("cpu:1"), given=("cpu:0",)), "cpu:0 is where everything would run anyway"),
        (
            shown(ops=[row for row in model("cpu:2") if row["name"] != GRADIENT]),
            "the recorder saw no op of the backward pass; of 4 ops of the model",
        ),
    ],
)
def test_pin_model_not_judged(runs: Any, why: str) -> None:
    verdict, text = verdicts("tf-pin-model", runs)[0]
    assert verdict == UNTESTABLE
    assert text.startswith(why)


def test_memory_growth_on_a_gpu() -> None:
    given = ("gpu:0", "gpu:1")
    pinned = shown("pinned", {"memory-growth": "on"}, given, ops=model("gpu:1"), samples=cards(2**30))
    taken = shown("all", {"memory-growth": "off"}, given, samples=cards(70 * 2**30))
    assert verdicts("tf-pin-model", pinned | taken)[1:] == [
        (
            HOLDS,
            "without memory growth at most 70 GiB of the card were used, and with it 1 GiB (sampled)",
        )
    ]
    alike = shown("all", {"memory-growth": "off"}, given, samples=cards(2**30))
    assert verdicts("tf-pin-model", pinned | alike)[1][0] == FAILS
    verdict, text = verdicts("tf-pin-model", pinned)[1]
    assert verdict == UNTESTABLE
    assert text.startswith("no sample of the card's memory with memory-growth=off")


def ordered(*indices: int | None, order: str = "backwards", **more: Any) -> dict[str, Shown]:
    """A run with CUDA_VISIBLE_DEVICES on nvidia-smi's 0 and 1, whose gpu:0, gpu:1 .. were these cards."""
    facts = {f"gpu:{place}": {"nvml_index": index} for place, index in enumerate(indices)}
    options = {"by": "cuda-visible-devices", "order": order, "subset": None} | more
    return shown("cuda", options, ("gpu:0", "gpu:1"), device_map=facts)


SAID = {"verdict": HOLDS, "text": "set_visible_devices was given gpu:1, gpu:0, .."}


def test_visible_order() -> None:
    runs = shown("set", {"by": "set-visible-devices"}, ("gpu:0", "gpu:1"), verdicts=[SAID]) | ordered(1, 0)
    assert verdicts("tf-visible-order", runs) == [
        (HOLDS, f"set: {SAID['text']}"),
        (
            HOLDS,
            "CUDA_VISIBLE_DEVICES named nvidia-smi's 1, 0, and gpu:0 to gpu:1 are its 1, 0: the order was "
            "kept",
        ),
    ]


def test_visible_order_of_other_cards() -> None:
    [run] = ordered(1, 3).values()
    chosen = dataclasses.replace(run, named=("gpu:3", "gpu:1"))
    [(verdict, text)] = verdicts("tf-visible-order", {"run": chosen})
    assert verdict == HOLDS
    assert text.startswith("CUDA_VISIBLE_DEVICES named nvidia-smi's 1, 3, and gpu:0 to gpu:1 are its 1, 3")


def test_visible_order_refuted() -> None:
    [(verdict, text)] = verdicts("tf-visible-order", ordered(0, 1))
    assert verdict == FAILS
    assert text.endswith("are its 0, 1: the order was ignored")


@pytest.mark.parametrize(
    ("runs", "why"),
    [
        (ordered(2, 3), "which is neither that order nor the one before"),
        (ordered(0, None), "was not told by CUDA"),
        (ordered(1, subset=1), "numbered anew in any case"),
        (ordered(0, 1, order="forwards"), "no run named several devices backwards"),
        (
            shown(options={"by": "cuda-visible-devices", "order": "backwards"}, given=("gpu:0",)),
            "one GPU has no order",
        ),
    ],
)
def test_visible_order_not_judged(runs: Any, why: str) -> None:
    [(verdict, text)] = verdicts("tf-visible-order", runs)
    assert verdict == UNTESTABLE
    assert why in text


def test_visible_order_on_stand_ins_is_what_the_program_says_once() -> None:
    said = {"verdict": UNTESTABLE, "text": "parts of one CPU"}
    options = {"by": "cuda-visible-devices", "order": "backwards"}
    runs = shown("set", verdicts=[said]) | shown("cuda", options, verdicts=[said])
    assert verdicts("tf-visible-order", runs) == [(UNTESTABLE, "parts of one CPU")]


def test_default_placement_on_stand_ins() -> None:
    found = verdicts("tf-default-placement", shown(ops=[op("MatMul", "cpu:0"), op("Relu", "cpu:0")]))
    assert found[0] == (
        FAILS,
        "of stand-ins this is so: of 2 ops that name no device 2 ran on cpu:0, and none on cpu:1 and cpu:2; "
        "cpu:0 is the default device here, since TensorFlow sees no GPU",
    )
    assert found[1][0] == UNTESTABLE
    assert "takes two of them" in found[1][1]


def test_default_placement_with_some_of_the_devices_visible() -> None:
    seen = [{"device": "cpu:0", "ops": 1}, {"device": "cpu:1", "ops": 0}]
    found = verdicts("tf-default-placement", shown(ops=[op("MatMul", "cpu:0")], placement=seen))
    assert "1 ran on cpu:0, and none on cpu:1; cpu:0 is the default" in found[0][1]


def test_default_placement_on_gpus() -> None:
    given = ("gpu:0", "gpu:1")
    rows = [op("MatMul", "gpu:0"), op("Relu", "gpu:0"), eager("TensorSliceDataset", "cpu:0")]
    assert verdicts("tf-default-placement", shown(given=given, ops=rows)) == [
        (
            FAILS,
            "of 3 ops that name no device 2 ran on gpu:0 and 1 ran on cpu:0, and none on gpu:1; on the "
            "host are the input pipeline, and ops without a GPU kernel",
        )
    ]
    spread = [op("MatMul", "gpu:0"), op("Relu", "gpu:1")]
    assert verdicts("tf-default-placement", shown(given=given, ops=spread)) == [
        (HOLDS, "of 2 ops that name no device 1 ran on gpu:0 and 1 ran on gpu:1")
    ]


def test_default_placement_not_judged() -> None:
    [(verdict, text)] = verdicts("tf-default-placement", shown(given=("gpu:0",), ops=[op("Relu", "gpu:0")]))
    assert (verdict, text.partition(":")[0]) == (UNTESTABLE, "there is one GPU, so nothing to spread over")
    [(verdict, text)] = verdicts("tf-default-placement", shown())
    assert (verdict, text) == (UNTESTABLE, "the recorder saw no ops, or no devices to spread them over")


CROSSED = [
    hop("cpu:2", "cpu:0", 1000, cause="gradient-outside-scope"),
    hop("cpu:0", "cpu:2", 24, cause="gradient-outside-scope"),
    hop("cpu:0", "cpu:2", 99, cause="host-upload"),
]


def scoped(outside: str, inside: str, crossed: list[Row], device: str = "cpu:2") -> Any:
    one = {"gradients": "outside", "device": device}
    other = {"gradients": "inside", "device": device}
    return shown("outside", one, ops=[op(GRADIENT, outside)], hops=crossed) | shown(
        "inside", other, ops=[op(GRADIENT, inside)], hops=CROSSED[2:]
    )


def test_pin_gradients() -> None:
    assert verdicts("tf-pin-gradients", scoped("cpu:0", "cpu:2", CROSSED)) == [
        (
            HOLDS,
            "outside of the scope the backward pass ran on cpu:0 with 1 op, with the model on cpu:2, and 2 "
            "tensors, 1,024 bytes, crossed in a step because of it; inside it ran on cpu:2 with 1 op, and "
            "none crossed",
        )
    ]
    assert verdicts("tf-pin-gradients", scoped("cpu:2", "cpu:2", []))[0][0] == FAILS
    assert verdicts("tf-pin-gradients", scoped("cpu:0", "cpu:0", CROSSED))[0][0] == FAILS


@pytest.mark.parametrize(
    ("runs", "why"),
    [
        (shown(options={"gradients": "inside"}), "it takes a run outside and one inside of the scope"),
        (scoped("cpu:0", "cpu:0", [], device="cpu:0"), "cpu:0 is the default device"),
        (
            shown("outside", {"gradients": "outside"}) | shown("inside", {"gradients": "inside"}),
            "the recorder saw no op of the backward pass",
        ),
    ],
)
def test_pin_gradients_not_judged(runs: Any, why: str) -> None:
    [(verdict, text)] = verdicts("tf-pin-gradients", runs)
    assert verdict == UNTESTABLE
    assert text.startswith(why)


THREE = ("cpu:3", "cpu:1", "cpu:2")
NEIGHBOURS = [
    hop("cpu:3", "cpu:1", 64, 8),
    hop("cpu:1", "cpu:2", 64, 8),
    hop("cpu:2", "cpu:1", 64, 3, forward_site="script.py:9"),
    hop("cpu:1", "cpu:3", 64, 3, forward_site="script.py:9"),
    hop("cpu:0", "cpu:2", 256, 3),
]


def test_model_parallel() -> None:
    assert verdicts("tf-model-parallel", shown(given=THREE, hops=NEIGHBOURS)) == [
        (
            HOLDS,
            "cpu:3 to cpu:1, cpu:1 to cpu:2 cross forward 16 times in the whole run, evaluation included, "
            "and cpu:2 to cpu:1, cpu:1 to cpu:3 back 6 times, each of 64 bytes (estimated)",
        )
    ]


@pytest.mark.parametrize(
    ("hops", "ends"),
    [
        ([*NEIGHBOURS, hop("cpu:3", "cpu:2", 8)], "; besides cpu:3 to cpu:2 between devices that are no"),
        ([*NEIGHBOURS, hop("cpu:2", "cpu:9", 8)], "; besides cpu:2 to cpu:9 between devices that are no"),
        ([*NEIGHBOURS, hop("cpu:2", "cpu:1", 64)], "; what goes back is not all made by the backward pass"),
        (NEIGHBOURS[:3], "cpu:2 to cpu:1 back 3 times, each of 64 bytes (estimated)"),
    ],
)
def test_model_parallel_refuted(hops: list[Row], ends: str) -> None:
    [(verdict, text)] = verdicts("tf-model-parallel", shown(given=THREE, hops=hops))
    assert verdict == FAILS
    assert ends in text


def test_model_parallel_without_copies_is_not_judged() -> None:
    [(verdict, text)] = verdicts("tf-model-parallel", shown(given=THREE, hops=NEIGHBOURS[-1:]))
    assert verdict == UNTESTABLE
    assert text == "the recorder saw nothing cross among cpu:3, cpu:1 and cpu:2"
