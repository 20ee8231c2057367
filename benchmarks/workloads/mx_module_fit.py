"""Module.fit on the handwritten digits, on one stand-in: the time from one batch's end to the next one's."""

import itertools
import json
import sys
import time
from pathlib import Path

import mx_start
import mxnet as mx
import stopwatch

sys.path.append(str(Path(__file__).resolve().parents[2] / "runners" / "programs" / "helpers"))

from mx_shared import symbolic
from shared import digits

mx_start.start_profiler_if_asked()
mx.random.seed(0)
images, labels, _ = digits.load()
warmup, steps = stopwatch.steps()
batches = symbolic.batches(images, labels, batch=64, steps=warmup + steps, seed=0)
module = mx.mod.Module(symbolic.network(256), context=mx.cpu(1))
ends: list[int] = []
module.fit(
    batches,
    num_epoch=1,
    eval_metric="ce",
    initializer=mx.init.Xavier(),
    optimizer_params={"learning_rate": 0.1},
    batch_end_callback=lambda _: ends.append(time.perf_counter_ns()),
)
ends = ends[warmup - 1 :]
print(json.dumps([end - begin for begin, end in itertools.pairwise(ends)]), flush=True)
