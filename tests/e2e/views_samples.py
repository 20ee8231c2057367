"""Made-up but likely runs, to look at the views and to test them: a test's data, no part of the product."""

from __future__ import annotations

import math
import random

from app.views.matrix_data import Cell, Matrix
from app.views.memory_data import MemorySeries
from app.views.placement_data import Crossing, Diagram, GraphChoice, Group, Lane, Link, Member
from app.views.progress_data import Progress
from app.views.timeline_data import Bar, Binned, Overview, Phase, Window
from app.views.timeline_data import Lane as TimelineLane

DEVICES = ("cpu:1", "cpu:2", "cpu:3", "cpu:0")
STEPS = 300


def group(
    scope: str,
    device: str,
    rank: int,
    ops: dict[str, int],
    *,
    kind: str = "scope",
    hops: int = 0,
    expandable: bool = True,
    expanded: bool = False,
    site: str | None = "model.py:31",
    mix: tuple[tuple[str, int], ...] = (),
    label: str | None = None,
) -> Group:
    total = sum(ops.values())
    identity = f"7|{device}|{scope}"
    return Group(
        id=identity,
        label=label or scope.rpartition("/")[2],
        scope=scope,
        device=device,
        ops=total,
        op_histogram=tuple(sorted(ops.items(), key=lambda item: -item[1])),
        rank=rank,
        hops=hops,
        expandable=expandable and not expanded and kind in ("scope", "series"),
        expanded=expanded,
        kind=kind,
        site=site,
        members=tuple(
            Member(index, f"{scope}/{name}", name, f"/device:{device}", device, site)
            for index, name in enumerate(ops)
        ),
        device_histogram=mix or ((device, total),),
        graph="7",
        expand=f"7|{scope}" if kind in ("scope", "series") else "",
    )


def crossing(
    src: Group,
    dst: Group,
    size: int | None,
    count: int | None,
    cause: str = "explicit",
    severity: str = "info",
    hops: tuple[int, ...] = (0,),
    tensors: tuple[str, ...] = ("activation:0",),
    basis: str = "estimated",
) -> Crossing:
    known = size is not None and count is not None
    return Crossing(
        id=f"{src.id}>{dst.id}",
        src_group=src.id,
        dst_group=dst.id,
        src_device=src.device,
        dst_device=dst.device,
        bytes_total=size * count if size is not None and count is not None else None,
        count=count,
        hops=hops,
        cause=cause,
        severity=severity,
        tensors=tensors,
        bytes_known=0 if not known else (size or 0) * (count or 0),
        basis=basis,
    )


HOPS = [
    {
        "src": "cpu:0",
        "dst": "cpu:1",
        "tensor": "images",
        "op": "MatMul",
        "bytes": 32768,
        "count": STEPS,
        "site": "train.py:44",
        "cause": "host-upload",
        "basis": "estimated",
    },
    {
        "src": "cpu:1",
        "dst": "cpu:2",
        "tensor": "stage_0/Relu:0",
        "op": "MatMul",
        "bytes": 65536,
        "count": STEPS,
        "site": "model.py:31",
        "cause": "explicit",
        "basis": "estimated",
    },
    {
        "src": "cpu:2",
        "dst": "cpu:3",
        "tensor": "stage_1/Relu:0",
        "op": "MatMul",
        "bytes": 65536,
        "count": STEPS,
        "site": "model.py:31",
        "cause": "explicit",
        "basis": "estimated",
    },
    {
        "src": "cpu:0",
        "dst": "cpu:3",
        "tensor": "labels",
        "op": "SparseSoftmaxCrossEntropyWithLogits",
        "bytes": 512,
        "count": STEPS,
        "site": "train.py:47",
        "cause": "host-upload",
        "basis": "estimated",
    },
    {
        "src": "cpu:3",
        "dst": "cpu:0",
        "tensor": "gradient_tape/loss/Reshape:0",
        "op": "Mul",
        "bytes": 5120,
        "count": STEPS,
        "site": "train.py:52",
        "cause": "gradient-outside-scope",
        "basis": "estimated",
    },
    {
        "src": "cpu:0",
        "dst": "cpu:2",
        "tensor": "gradient_tape/stage_2/MatMul:0",
        "op": "ReluGrad",
        "bytes": 65536,
        "count": STEPS,
        "site": "train.py:52",
        "cause": "gradient-outside-scope",
        "basis": "estimated",
    },
    {
        "src": "cpu:2",
        "dst": "cpu:1",
        "tensor": "gradient_tape/stage_1/MatMul:0",
        "op": "ReluGrad",
        "bytes": 65536,
        "count": STEPS,
        "site": "model.py:31",
        "cause": "explicit",
        "basis": "estimated",
    },
    {
        "src": "cpu:3",
        "dst": "cpu:0",
        "tensor": "loss",
        "op": "numpy",
        "bytes": 4,
        "count": None,
        "site": "train.py:60",
        "cause": "host-sync",
        "basis": "unknown",
    },
]


def model_parallel(opened: frozenset[str] = frozenset(), steps: int = STEPS) -> Diagram:
    """Three stages on three stand-ins, whose gradient was taken outside the device scope."""
    dense = {"MatMul": 2, "AddV2": 2, "Relu": 2, "ReadVariableOp": 4}
    images = group(
        "images",
        "cpu:0",
        0,
        {"_Arg": 2},
        kind="input",
        hops=2,
        expandable=False,
        site="train.py:44",
        label="inputs",
    )
    s0 = group("stage_0", "cpu:1", 1, dense, hops=3)
    s1 = group("stage_1", "cpu:2", 2, dense, hops=4)
    loss = group(
        "loss",
        "cpu:3",
        4,
        {"SparseSoftmaxCrossEntropyWithLogits": 1, "Sum": 1, "Mul": 3},
        hops=3,
        site="train.py:47",
    )
    backward = {"MatMul": 4, "ReluGrad": 2, "BiasAddGrad": 2, "Mul": 2}
    mixed = (("cpu:0", 6), ("cpu:3", 5), ("cpu:2", 10), ("cpu:1", 10))
    g_loss = group(
        "gradient_tape/loss", "cpu:0", 5, {"Mul": 4, "Reshape": 2}, hops=2, site="train.py:52", mix=mixed
    )
    g1 = group("gradient_tape/stage_1", "cpu:2", 6, backward, hops=2, site="train.py:52")
    g0 = group("gradient_tape/stage_0", "cpu:1", 7, backward, hops=1, site="train.py:52")
    u0 = group("sgd", "cpu:1", 8, {"ResourceApplyGradientDescent": 4}, site="train.py:55", label="sgd")
    u1 = group("sgd", "cpu:2", 7, {"ResourceApplyGradientDescent": 4}, site="train.py:55", label="sgd")
    u2 = group("sgd", "cpu:3", 5, {"ResourceApplyGradientDescent": 4}, site="train.py:55", label="sgd")
    out = group(
        "outputs",
        "cpu:0",
        9,
        {"_Retval": 1},
        kind="output",
        hops=1,
        expandable=False,
        site="train.py:60",
        label="loss value",
    )
    stage_2: list[Group] = [group("stage_2", "cpu:3", 3, dense, hops=2)]
    inner: list[Link] = []
    if "7|stage_2" in opened:
        stage_2 = [
            group("stage_2/dense", "cpu:3", 3, {"MatMul": 1, "AddV2": 1, "Relu": 1}, hops=1),
            group("stage_2/dense_1", "cpu:3", 3, {"MatMul": 1, "AddV2": 1}),
            group("stage_2", "cpu:3", 3, {"ReadVariableOp": 4, "Identity": 1}, hops=1, expanded=True),
        ]
        inner = [Link(stage_2[0].id, stage_2[1].id, 1), Link(stage_2[2].id, stage_2[0].id, 2)]
    first = stage_2[0]
    groups = [images, s0, s1, *stage_2, loss, g_loss, g1, g0, u0, u1, u2, out]
    crossings = (
        crossing(images, s0, 32768, steps, "host-upload", "info", (0,), ("images",)),
        crossing(s0, s1, 65536, steps, hops=(1,), tensors=("stage_0/Relu:0",)),
        crossing(s1, first, 65536, steps, hops=(2,), tensors=("stage_1/Relu:0",)),
        crossing(images, loss, 512, steps, "host-upload", "info", (3,), ("labels",)),
        crossing(
            loss,
            g_loss,
            5120,
            steps,
            "gradient-outside-scope",
            "warning",
            (4,),
            ("gradient_tape/loss/Reshape:0",),
        ),
        crossing(
            g_loss,
            g1,
            65536,
            steps,
            "gradient-outside-scope",
            "warning",
            (5,),
            ("gradient_tape/stage_2/MatMul:0",),
        ),
        crossing(g1, g0, 65536, steps, hops=(6,), tensors=("gradient_tape/stage_1/MatMul:0",)),
        crossing(loss, out, 4, None, "host-sync", "warning", (7,), ("loss",), "unknown"),
    )
    links = (
        Link(first.id, loss.id, 1),
        Link(s0.id, g0.id, 4),
        Link(s1.id, g1.id, 4),
        Link(g0.id, u0.id, 4),
        Link(g1.id, u1.id, 4),
        Link(loss.id, u2.id, 4),
        *inner,
    )
    lanes = tuple(
        Lane(
            device,
            device != "cpu:0",
            tuple(one.id for one in groups if one.device == device),
            sum(one.ops for one in groups if one.device == device),
        )
        for device in DEVICES
    )
    ranks = 1 + max(one.rank for one in groups)
    return Diagram(
        lanes,
        tuple(groups),
        crossings,
        1,
        0,
        "",
        links,
        ranks,
        (GraphChoice("7", "train_step", 71, steps),),
        ("7",),
    )


def large(
    groups: int = 300, crossings: int = 150, devices: int = 4, seed: int = 5, columns: int = 0
) -> Diagram:
    """A big graph: layers of blocks over several devices, most links inside a device."""
    rng = random.Random(seed)
    names = [f"gpu:{index}" for index in range(devices)] + ["cpu:0"]
    columns = columns or max(8, groups // 8)
    kinds = (
        "attention",
        "layer_norm",
        "feed_forward",
        "dropout",
        "embedding",
        "softmax_cross_entropy",
        "batch_normalization",
        "add",
    )
    made: list[Group] = []
    for index in range(groups):
        rank = index * columns // groups
        home = names[min(devices - 1, rank * devices // columns)] if rng.random() < 0.8 else rng.choice(names)
        scope = f"encoder/layer_{index}/{rng.choice(kinds)}"
        made.append(
            group(
                scope,
                home,
                rank,
                {"MatMul": rng.randrange(1, 9), "AddV2": rng.randrange(1, 5)},
                hops=rng.choice((0, 0, 0, 1, 4)),
                kind=rng.choice(("scope", "scope", "op")),
            )
        )
    arrows: dict[str, Crossing] = {}
    tries = 0
    while len(arrows) < crossings and tries < 50 * crossings:
        tries += 1
        src = rng.choice(made)
        near = [one for one in made if 0 < one.rank - src.rank <= 4 and one.device != src.device]
        if not near:
            continue
        dst = rng.choice(near)
        alert = rng.random() < 0.12
        one = crossing(
            src,
            dst,
            int(10 ** rng.uniform(1, 6.5)),
            300,
            "default-device" if alert else "explicit",
            "warning" if alert else "info",
            (len(arrows),),
        )
        arrows[one.id] = one
    lanes = tuple(
        Lane(
            name,
            False,
            tuple(one.id for one in made if one.device == name),
            sum(one.ops for one in made if one.device == name),
        )
        for name in names
    )
    note = "Equal blocks are folded and parallel crossings merged: 20,412 ops in 300 groups."
    return Diagram(
        lanes,
        tuple(made),
        tuple(arrows.values()),
        2,
        0,
        note,
        (),
        columns,
        (GraphChoice("7", "train_step", 20412, 300),),
        ("7",),
    )


def empty() -> Diagram:
    return Diagram((), (), (), 1, 0)


def matrix(devices: tuple[str, ...] = DEVICES) -> Matrix:
    cells = (
        Cell("cpu:1", "cpu:2", 65536 * STEPS, STEPS, (1,), "info", 65536 * STEPS, "estimated"),
        Cell("cpu:2", "cpu:3", 65536 * STEPS, STEPS, (2,), "info", 65536 * STEPS, "estimated"),
        Cell("cpu:2", "cpu:1", 65536 * STEPS, STEPS, (6,), "info", 65536 * STEPS, "estimated"),
        Cell("cpu:0", "cpu:1", 32768 * STEPS, STEPS, (0,), "info", 32768 * STEPS, "estimated"),
        Cell("cpu:0", "cpu:3", 512 * STEPS, STEPS, (3,), "info", 512 * STEPS, "estimated"),
        Cell("cpu:0", "cpu:2", 65536 * STEPS, STEPS, (5,), "warning", 65536 * STEPS, "estimated"),
        Cell("cpu:3", "cpu:0", None, None, (4, 7), "warning", 5120 * STEPS, "unknown"),
    )
    return Matrix(devices, cells, frozenset(devices) - {"cpu:0"})


def big_matrix() -> Matrix:
    rng = random.Random(3)
    devices = (*(f"gpu:{index}" for index in range(8)), "cpu:0")
    cells = tuple(
        Cell(
            src,
            dst,
            int(10 ** rng.uniform(2, 10)),
            rng.randrange(1, 50000),
            (),
            "warning" if rng.random() < 0.1 else "info",
            0,
            "estimated",
        )
        for src in devices
        for dst in devices
        if src != dst and rng.random() < 0.6
    )
    return Matrix(devices, cells)


def overview(bins: int = 240) -> Overview:
    rng = random.Random(2)
    end = 42.5
    training = [0.0 if index < bins * 0.3 else 1.0 for index in range(bins)]
    lanes = (
        Binned(
            TimelineLane("call||train_step", "train_step", "call"),
            tuple(min(1.0, on * rng.uniform(0.7, 1.0)) for on in training),
            "busy",
        ),
        Binned(
            TimelineLane("call||evaluate", "evaluate", "call"),
            tuple(1.0 if on and index % 40 > 35 else 0.0 for index, on in enumerate(training)),
            "busy",
        ),
        *(
            Binned(
                TimelineLane(f"op|{device}", device, "op", device),
                tuple(
                    float(round(rng.uniform(0, 9) * (1 - on) + on * rng.uniform(0, 30) * (device == "cpu:0")))
                    for on in training
                ),
                "ops",
            )
            for device in ("cpu:0", "cpu:1", "cpu:2")
        ),
        Binned(
            TimelineLane("hop|cpu:0|cpu:1", "cpu:0 → cpu:1", "hop", "cpu:1"),
            tuple(float(round(on * rng.uniform(8, 12))) for on in training),
            "transfers",
        ),
        Binned(
            TimelineLane("hop|cpu:1|cpu:2", "cpu:1 → cpu:2", "hop", "cpu:2"),
            tuple(float(round(on * rng.uniform(4, 12))) for on in training),
            "transfers",
        ),
        Binned(
            TimelineLane("sync|cpu:1", "cpu:1", "sync", "cpu:1"),
            tuple(on * abs(math.sin(index / 9)) for index, on in enumerate(training)),
            "busy",
        ),
    )
    phases = (Phase("start", 0, 6.2), Phase("tracing", 6.2, 12.75), Phase("training", 12.75, end))
    return Overview(0.0, end, lanes, phases)


def window(bars: int = 120) -> Window:
    rng = random.Random(4)
    start, end = 20.0, 20.4
    call = TimelineLane("call||train_step", "train_step", "call")
    op = TimelineLane("op|cpu:0", "cpu:0", "op", "cpu:0")
    hop = TimelineLane("hop|cpu:0|cpu:1", "cpu:0 → cpu:1", "hop", "cpu:1")
    sync = TimelineLane("sync|cpu:3", "cpu:3", "sync", "cpu:3")
    node = TimelineLane("node|cpu:1", "cpu:1", "node", "cpu:1")
    made: list[Bar] = []
    step = 0
    at = start
    while at < end - 0.03 and len(made) < bars:
        made.append(
            Bar(call.id, at, 0.024, "train_step", None, "train.py:55", 1, 120 + step, None, "measured", 11)
        )
        made.append(
            Bar(sync.id, at + 0.024, 0.004, "numpy", "cpu:3", "train.py:60", 1, 120 + step, 4, "measured", 12)
        )
        made.append(
            Bar(
                hop.id,
                at + 0.001,
                0.0,
                "images",
                "cpu:1",
                "train.py:44",
                1,
                120 + step,
                32768,
                "estimated",
                13,
            )
        )
        made += [
            Bar(
                op.id,
                at + 0.025 + index * 0.001,
                0.0,
                "AssignAddVariableOp",
                "cpu:0",
                "train.py:57",
                1,
                120 + step,
                None,
                "measured",
                14,
            )
            for index in range(3)
        ]
        made += [
            Bar(
                node.id,
                at + 0.002 + index * 0.0035,
                rng.uniform(0.001, 0.004),
                name,
                "cpu:1",
                "model.py:31",
                1,
                120 + step,
                None,
                "sampled",
                15,
            )
            for index, name in enumerate(
                ("stage_0/MatMul", "stage_0/AddV2", "stage_0/Relu", "gradient_tape/MatMul")
            )
        ]
        at += 0.031
        step += 1
    return Window(start, end, (call, op, hop, sync, node), tuple(made), len(made) * 3)


def memory(steps: int = STEPS) -> list[MemorySeries]:
    times = tuple(round(index * 0.5, 2) for index in range(86 + (steps - STEPS) // 10))

    def curve(scale: float) -> tuple[int, ...]:
        return tuple(
            int(scale * (0.2 + 0.8 * min(1.0, at / 14)) * (1 + 0.06 * math.sin(at * 2.1))) for at in times
        )

    return [
        MemorySeries("cpu:1", "in_use", "estimated", "sizes of live tensors", times, curve(46e6)),
        MemorySeries("cpu:2", "in_use", "estimated", "sizes of live tensors", times, curve(31e6)),
        MemorySeries("cpu:0", "in_use", "measured", "", times, curve(120e6)),
        MemorySeries("cpu:0", "peak", "measured", "", times, (128_000_000,) * len(times)),
        MemorySeries("cpu:3", "in_use", "unsupported", "the allocator keeps no statistics", (), ()),
    ]


def progress() -> Progress:
    rng = random.Random(1)
    steps = tuple(range(0, 181, 5))
    return Progress(
        steps,
        tuple(2.3 * math.exp(-step / 60) + 0.1 + rng.uniform(0, 0.05) for step in steps),
        tuple(None if step == 0 else 31 + rng.uniform(-3, 2) for step in steps),
        300,
    )
