"""Model parallelism: the layers of an LSTM are split over devices with ctx_group and group2ctx.

An image is read as a sequence, row by row: T = 8 time steps of 8 pixels (28 of 28 with MNIST). Each layer is
made inside mx.AttrScope(ctx_group=..), which marks its ops and its weights; simple_bind's group2ctx then says
which context a group is. The executor places the ops, allocates weights and gradients beside them, and puts a
_CrossDeviceCopy wherever an op's input is on another context: forward and backward.

What to expect: only what passes from one layer to the next crosses, where the next layer is on another
context. That is h, the layer's output, at every time step: T arrays of batch x width x 4 bytes. Back come as
many gradients of the same size. The cell's state c, the h of the step before, and the weights stay.
What crosses in a training step, with three devices A, B, C beside the host (cpu:0):

    cpu:0 -> A    the images            batch x pixels x 4 bytes
    cpu:0 -> C    the labels            batch x 4 bytes
    A -> B -> C   h of each time step   T x batch x width x 4 bytes each
    C -> B -> A   their gradients       T x batch x width x 4 bytes each

With the options' defaults a step has 8 arrays of 64 x 64 x 4 = 16,384 bytes over each boundary, either way.
The loss is made on the last device; its 4 bytes cross to the host when a line is printed. So do the
outputs, batch x 10 x 4 bytes, when the accuracy is measured at the end.

The gradient of h has two parts, for h is used twice: by the next layer, on the next device, and by this
layer's next time step, here. MXNet adds them up where the first of them comes from, and that is the next
device: with --boundary direct the part that belongs here goes there to be added, and the sum comes back.
That is T - 1 arrays more over each boundary, in the direction of the forward pass. With --boundary identity,
the default, an identity op at the end of a stage is the only one that hands h on. What comes back is one
gradient, the identity's own, and the sum is made here.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices
from shared import digits, layer_split, progress, verdict

LEARNING_RATE = 0.02
COPIED = re.compile(r"^Op:_CrossDeviceCopy, Name=.*\nInputs:\n\targ\[0\]=(\S+)\(\d+\)", re.MULTILINE)
"""In Executor.debug_str(): the op whose output is copied from one device to another."""


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-model-parallel-lstm", __doc__)
    devices.add_training(parser, width=64)
    layer_split.add_options(parser, 4, "LSTM layers")
    parser.add_argument(
        "--boundary",
        choices=("identity", "direct"),
        default="identity",
        help="what hands a layer's outputs to the next device (default: identity)",
    )
    return parser


def make_symbol(bounds: Sequence[int], width: int, steps: int, boundary: str) -> Any:
    """The network, its layers from bounds[i] to bounds[i + 1] in the group stage<i>."""
    import mxnet as mx

    stages = len(bounds) - 1
    with mx.AttrScope(ctx_group="stage0"):
        rows = mx.sym.SliceChannel(mx.sym.Variable("data"), num_outputs=steps, axis=1, squeeze_axis=True)
        outputs = list(rows)
    for stage in range(stages):
        with mx.AttrScope(ctx_group=f"stage{stage}"):
            for layer in range(bounds[stage], bounds[stage + 1]):
                cell = mx.rnn.LSTMCell(width, prefix=f"lstm{layer}_")
                # The unrolled cell begins with zeros, which are made in this group too.
                outputs, _ = cell.unroll(steps, outputs, merge_outputs=False)
            if boundary == "identity" and stage < stages - 1:
                outputs = [
                    mx.sym.identity(h, name=f"stage{stage}_t{step}_out") for step, h in enumerate(outputs)
                ]
    with mx.AttrScope(ctx_group=f"stage{stages - 1}"):
        scores = mx.sym.FullyConnected(outputs[-1], num_hidden=10, name="scores")
        # A variable has to be in a group as well, or its array would be on the executor's first context.
        return mx.sym.SoftmaxOutput(scores, mx.sym.Variable("label"), name="softmax")


def main() -> None:
    """Train, say how well, and what the executor copies."""
    parser = options()
    args = devices.parse(parser)
    import mxnet as mx

    chosen = devices.set_up(parser, args, least=2)
    bounds = layer_split.stage_bounds(parser, args, len(chosen))
    contexts = [devices.context(name) for name in chosen]
    flat, labels, source = digits.load(args.data)
    steps = math.isqrt(flat.shape[1])
    images = flat.reshape(-1, steps, steps)
    train = len(images) - digits.held_out(flat)

    symbol = make_symbol(bounds, args.width, steps, args.boundary)
    names = [name for name in symbol.list_arguments() if name not in ("data", "label")]
    executor = symbol.simple_bind(
        contexts[0],
        grad_req={"data": "null", "label": "null", **dict.fromkeys(names, "write")},
        group2ctx={f"stage{stage}": context for stage, context in enumerate(contexts)},
        data=(args.batch, steps, steps),
        label=(args.batch,),
    )

    # The weights are drawn on the host, layer after layer: the split changes no result.
    mx.random.seed(args.seed)
    attributes = symbol.attr_dict()
    for name in names:
        weights = mx.nd.zeros(executor.arg_dict[name].shape)
        mx.init.Xavier()(mx.init.InitDesc(name, attributes.get(name)), weights)
        weights.copyto(executor.arg_dict[name])
    # The updater makes the optimizer's state beside each weight.
    update = mx.optimizer.get_updater(mx.optimizer.Adam(LEARNING_RATE, rescale_grad=1 / args.batch))

    print(f"layers {bounds} on {', '.join(chosen)}; {train} {source}", flush=True)
    rng = np.random.default_rng(args.seed)
    watch = progress.Progress(args.steps, args.log_every)
    for step in range(1, args.steps + 1):
        rows = rng.integers(train, size=args.batch)
        executor.arg_dict["data"][:] = images[rows]
        executor.arg_dict["label"][:] = labels[rows]
        [scores] = executor.forward(is_train=True)
        executor.backward()
        for number, name in enumerate(names):
            update(number, executor.grad_dict[name], executor.arg_dict[name])
        if watch.due(step):
            right = mx.nd.pick(scores, executor.arg_dict["label"])
            watch.report(step, -float(right.log().mean().asscalar()))

    # The held-out digits, in batches of the same size; the last one is filled up with digits seen before.
    predictions: list[int] = []
    unseen = np.arange(train, len(images))
    for start in range(0, len(unseen), args.batch):
        executor.arg_dict["data"][:] = images[np.take(unseen, range(start, start + args.batch), mode="wrap")]
        [scores] = executor.forward(is_train=False)
        predictions.extend(scores.asnumpy().argmax(axis=1))
    accuracy = np.mean(predictions[: len(unseen)] == labels[unseen])
    print(f"accuracy {accuracy:.3f} on {len(unseen)} held-out digits", flush=True)

    homes = {name: devices.name_of(executor.arg_dict[name].context) for name in names}
    for device in chosen:
        print(f"weights: {list(homes.values()).count(device)} on {device}", flush=True)
    say_what_crosses(symbol, executor, bounds, (args.batch, steps, args.width))


class Copies(NamedTuple):
    """The ops whose outputs an executor copies to another device."""

    forward: list[str]
    backward: list[str]


def copies(symbol: Any, executor: Any) -> Copies:
    """Read them from the executor's own description of its graph."""
    made_forward = {name.rpartition("_output")[0] for name in symbol.get_internals().list_outputs()}
    copied = COPIED.findall(executor.debug_str())
    forward = [name for name in copied if name in made_forward]
    return Copies(forward, [name for name in copied if name not in made_forward])


def say_what_crosses(symbol: Any, executor: Any, bounds: Sequence[int], sizes: tuple[int, int, int]) -> None:
    """Print whether only the boundaries' outputs and their gradients are copied."""
    batch, steps, width = sizes
    found = copies(symbol, executor)
    inside = symbol.get_internals()
    shapes = dict(
        zip(inside.list_outputs(), inside.infer_shape(data=(batch, steps, steps), label=(batch,))[1])
    )
    passed = {math.prod(shapes[f"{name}_output"]) * 4 for name in found.forward}
    boundaries = len(bounds) - 2
    told = (
        f"a training step copies {len(found.forward)} arrays forward and {len(found.backward)} back over "
        f"{boundaries} boundar{'y' if boundaries == 1 else 'ies'} and {steps} time steps, "
        f"{' or '.join(f'{size:,}' for size in passed)} bytes each"
    )
    parts = [name for name in found.backward if name.endswith("_h2h_backward")]
    if parts:
        told += (
            f"; {len(parts)} of them ({parts[0]}, ..) are a part of a gradient that the layer itself needs, "
            "sent to the next device to be added up there"
        )
    as_many = len(found.forward) == len(found.backward) == boundaries * steps
    verdict.say(as_many and passed == {batch * width * 4}, told)


if __name__ == "__main__":
    main()
