"""The checks of the TensorFlow programs about kernels and waiting, on small reports written out in full."""

from __future__ import annotations

from typing import Any

import pytest

from runners.judging import judge
from runners.programs.evidence import Shown
from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE, Verdict

Row = dict[str, Any]
SAID = {"verdict": HOLDS, "text": "the program measured it"}


def run(variant: str, options: Row, device: str = "cpu:2", **report: Any) -> dict[str, Shown]:
    told = {"verdicts": [SAID], "ops": [], "hops": [], "syncs": []} | report
    return {variant: Shown(variant, options, ("cpu:1", device), None if "gpu" in device else 2, told)}


def judged(program: str, shown: dict[str, Shown]) -> list[Verdict]:
    first, *others = judge(program, shown)
    assert first == Verdict(**SAID)
    return others


def op(kind: str, asked: str, ran_on: str) -> Row:
    return {"type": kind, "name": kind, "requested": asked, "assigned": ran_on}


def hop(src: str, dst: str, size: int | None, count: int, cause: str) -> Row:
    return {"src": src, "dst": dst, "bytes": size, "count": count, "cause": cause}


POOL = {"op": "fractional-max-pool"}


def pools(asked: str, forward: str, backward: str) -> list[Row]:
    return [op("FractionalMaxPool", asked, forward), op("FractionalMaxPoolGrad", asked, backward)]


class TestNoKernel:
    @pytest.mark.parametrize("asked", ["gpu:0", "xla_cpu:0"])
    def test_the_op_and_its_gradient_are_on_the_host(self, asked: str) -> None:
        crossed = [hop(asked, "cpu:0", 100, 3, "no-kernel"), hop("cpu:0", asked, 50, 3, "no-kernel")]
        more = [hop("cpu:0", asked, 8, 3, "host-upload")]
        shown = run("pool", POOL, "gpu:0", ops=pools(asked, "cpu:0", "cpu:0"), hops=crossed + more)
        forward, backward = judged("tf-no-kernel", shown)
        assert (forward.verdict, backward.verdict) == (HOLDS, HOLDS)
        assert forward.text.startswith(f"FractionalMaxPool was asked for on {asked}")
        assert forward.text.endswith("ran on cpu:0; 6 tensors, 450 bytes, crossed for it in the recorded run")
        assert backward.text.startswith("its gradient, FractionalMaxPoolGrad, ran on cpu:0")

    def test_an_op_or_a_gradient_that_stays_refutes_it(self) -> None:
        stays = judged("tf-no-kernel", run("pool", POOL, ops=pools("gpu:0", "gpu:0", "gpu:0")))
        assert [one.verdict for one in stays] == [FAILS, FAILS]
        apart = judged("tf-no-kernel", run("pool", POOL, ops=pools("gpu:0", "cpu:0", "gpu:0")))
        assert [one.verdict for one in apart] == [HOLDS, FAILS]

    def test_stand_ins_have_every_kernel(self) -> None:
        (told,) = judged("tf-no-kernel", run("pool", POOL, ops=pools("cpu:2", "cpu:2", "cpu:2")))
        assert told.verdict == UNTESTABLE
        assert told.text.startswith("cpu:2 is a CPU device and has all kernels of the host")

    @pytest.mark.parametrize(
        ("asked", "ran_on", "verdict"),
        [
            ("gpu:0", "gpu:0", FAILS),
            ("gpu:0", "cpu:0", HOLDS),
            ("cpu:2", "cpu:2", UNTESTABLE),
            ("xla_cpu:0", "xla_cpu:0", UNTESTABLE),
        ],
    )
    def test_angle_on_a_gpu_tells_whether_it_has_a_kernel(
        self, asked: str, ran_on: str, verdict: str
    ) -> None:
        (told,) = judged("tf-no-kernel", run("angle", {"op": "angle"}, ops=[op("Angle", asked, ran_on)]))
        assert told.verdict == verdict

    def test_what_each_run_says_is_told_once(self) -> None:
        shown = run("angle", {"op": "angle"}) | run("pool", POOL)
        assert judged("tf-no-kernel", shown) == []


def sync(count: int, line: int, device: str = "cpu:2") -> Row:
    return {"device": device, "kind": "numpy", "count": count, "site": f"host_sync.py:{line}"}


class TestHostSync:
    @pytest.mark.parametrize(("counts", "verdict"), [([12, 1, 1], HOLDS), ([6, 6, 6], FAILS), ([1], FAILS)])
    def test_one_line_takes_each_loss(self, counts: list[int], verdict: str) -> None:
        rows = [sync(count, line) for line, count in enumerate(counts)] + [sync(50, 9, "cpu:0")]
        (told,) = judged("tf-host-sync", run("all", {"variant": "all"}, syncs=rows))
        assert told.verdict == verdict
        assert f"(host_sync.py:0) took {counts[0]} values from cpu:2" in told.text

    def test_one_way_alone_shows_nothing(self) -> None:
        assert judged("tf-host-sync", run("all", {"variant": "metric"}, syncs=[sync(12, 1)])) == []


ARRAYS = [hop("cpu:0", "cpu:2", size, 5, "host-upload") for size in (400, 80)]
ELEMENTS = [hop("cpu:0", "cpu:2", size, 5, "colocation") for size in (400, 80)]
SELDOM = [hop("cpu:0", "cpu:2", 8, 1, "host-upload"), hop("cpu:2", "cpu:0", 4, 5, "host-sync")]


class TestInputPipeline:
    @pytest.mark.parametrize(
        ("rows", "verdict"),
        [
            ([*ARRAYS, *ELEMENTS, *SELDOM], HOLDS),
            ([*ARRAYS, *ELEMENTS, *ELEMENTS], FAILS),
            ([*ARRAYS, *ELEMENTS[:1]], FAILS),
            ([*SELDOM], FAILS),
        ],
    )
    def test_numpy_and_tf_data_cross_in_each_step(self, rows: list[Row], verdict: str) -> None:
        (told,) = judged("tf-input-pipeline", run("all", {"pipeline": "all"}, hops=rows))
        assert told.verdict == verdict
        if verdict == HOLDS:
            assert (
                "in 5 recorded steps of each way, numpy arrays went to cpu:2 in 2 transfers and 480"
                in told.text
            )

    def test_one_way_alone_shows_nothing(self) -> None:
        assert judged("tf-input-pipeline", run("all", {"pipeline": "numpy"}, hops=ARRAYS)) == []
