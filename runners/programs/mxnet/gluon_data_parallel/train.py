"""Data parallelism with Gluon: split_and_load cuts each batch, and a Trainer keeps the copies together.

net.initialize(ctx=[A, B]) puts a copy of each parameter on every context, split_and_load cuts the batch into
even slices, one a context, and a layer runs where its input is. Each copy has the gradients of its own slice.
Nothing has added them up when backward() is done: Trainer.step does, by way of a kvstore. With G bytes of
parameters, and as many of gradients, on N contexts:

    local    sums on the host, and updates there: each context sends G bytes to cpu:0, and the new
             parameters, G bytes, come back to each. That is 2 x N x G bytes a step.
    device   sums each gradient on one of the contexts, the largest first, each on the one that has the
             least so far: the other N - 1 send theirs, and the new parameters come back. That is
             2 x (N - 1) x G bytes a step, and none of it through the host. For it each gradient has N
             buffers on the context that sums it; with `local` they take the host's memory.
    none     no kvstore: Trainer(kvstore=None) updates each copy with the gradients of its own slice. The
             program runs, the loss falls, nothing complains, and the copies drift apart.

Between stand-ins `device` keeps its own copy of the parameters on the host all the same: MXNet moves it
beside the sum only where that is a GPU. The update then reads the sum from there, and the parameters leave
from the host.

Beside that, only the slices cross: from cpu:0 to each context its images (pixels x 4 bytes each) and labels
(4 bytes each). The batch is an array on the host for that: of a numpy array split_and_load would first put
all on A, and B's slice would go there too. A loss stays on its context until a line is printed.

Four times, before and after the first step, half way and at the end, the program reads all copies to
compare them: G bytes from each context. The optimizer notes where the gradients are that it is given: that
is where they were summed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices, summing
from shared import digits, progress, verdict

LEARNING_RATE = 0.1


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-gluon-data-parallel", __doc__)
    devices.add_training(parser)
    parser.add_argument(
        "--kvstore",
        choices=("local", "device", "none"),
        default="local",
        help="where gradients are summed; none: nowhere (default: local)",
    )
    return parser


class Difference(NamedTuple):
    """How far the copies of the parameters are apart after a step."""

    step: int
    share: float
    """The norm of the first copy's difference from the farthest one, over the norm of the first."""
    parameter: str
    """The parameter that has most of it."""
    differing: int
    """How many parameters are not the same, bit for bit, on all contexts."""

    def __str__(self) -> str:
        return f"{self.share:.2%} after step {self.step}" if self.step else f"{self.share:.2%} at the start"


def compare(step: int, parameters: Sequence[Any], contexts: Sequence[Any]) -> Difference:
    """Read all copies of the parameters and compare them with the first one."""
    size = 0.0
    apart = {}
    for parameter in parameters:
        first, *others = (parameter.data(context).asnumpy() for context in contexts)
        size += float(np.sum(first**2))
        apart[parameter.name] = [float(np.sum((other - first) ** 2)) for other in others]
    farthest = max(sum(squares) for squares in zip(*apart.values()))
    most = max(apart, key=lambda name: max(apart[name]))
    differing = sum(max(squares) > 0 for squares in apart.values())
    return Difference(step, (farthest / size) ** 0.5, most, differing)


def main() -> None:
    """Train, and say how well, where the gradients were summed, and whether the copies are the same."""
    parser = options()
    args = devices.parse(parser)
    import mxnet as mx
    from mxnet import autograd, gluon

    chosen = devices.set_up(parser, args, least=2)
    if args.batch < len(chosen):
        parser.error(f"--batch {args.batch} is too small for {len(chosen)} devices: each needs an image")
    contexts = [devices.context(name) for name in chosen]
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)

    mx.random.seed(args.seed)
    net = gluon.nn.Sequential()
    net.add(
        gluon.nn.Dense(args.width, activation="relu", in_units=images.shape[1]),
        gluon.nn.Dense(args.width, activation="relu", in_units=args.width),
        gluon.nn.Dense(10, in_units=args.width),
    )
    net.initialize(mx.init.Xavier(), ctx=contexts)
    parameters = list(net.collect_params().values())
    sgd = summing.make_sgd(LEARNING_RATE)
    trainer = gluon.Trainer(
        net.collect_params(), sgd, kvstore=None if args.kvstore == "none" else args.kvstore
    )
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()

    print(f"copies on {', '.join(chosen)}, kvstore {args.kvstore}; {train} {source}", flush=True)
    rng = np.random.default_rng(args.seed)
    watch = progress.Progress(args.steps, args.log_every)
    differences = [compare(0, parameters, contexts)]
    for step in range(1, args.steps + 1):
        rows = rng.integers(train, size=args.batch)
        slices = zip(
            gluon.utils.split_and_load(mx.nd.array(images[rows]), contexts, even_split=False),
            gluon.utils.split_and_load(mx.nd.array(labels[rows]), contexts, even_split=False),
        )
        with autograd.record():
            losses = [loss_of(net(some_images), some_labels) for some_images, some_labels in slices]
        autograd.backward(losses)
        trainer.step(args.batch)
        if watch.due(step):
            watch.report(step, sum(float(loss.sum().asscalar()) for loss in losses) / args.batch)
        if step in (1, args.steps // 2, args.steps):
            differences.append(compare(step, parameters, contexts))

    # The copy on the first context tells the digits.
    scores = net(mx.nd.array(images[train:], ctx=contexts[0])).asnumpy()
    accuracy = np.mean(scores.argmax(axis=1) == labels[train:])
    print(f"accuracy {accuracy:.3f} on {len(scores)} held-out digits", flush=True)
    summed = summing.bytes_by_device(sgd.given)
    if args.kvstore != "none":
        say_where_summed(args.kvstore, chosen, summed)
    say_whether_together(args.kvstore, chosen, differences, len(parameters))
    if args.kvstore == "device":
        say_memory(chosen, {device: len(chosen) * size for device, size in summed.items()})


def say_where_summed(kvstore: str, chosen: Sequence[str], summed: dict[str, int]) -> None:
    """Print whether the gradients were summed where the kvstore's name says."""
    expected = {devices.HOST} if kvstore == "local" else set(chosen)
    told = ", ".join(f"{size:,} bytes on {device}" for device, size in summed.items())
    verdict.say(set(summed) <= expected, f"kvstore {kvstore} summed the gradients of a step: {told}")


def say_whether_together(
    kvstore: str, chosen: Sequence[str], differences: Sequence[Difference], parameters: int
) -> None:
    """Print whether the copies stayed the same with a kvstore, or drifted apart without one."""
    start, *later = differences
    last = later[-1]
    told = (
        f"{last.differing} of {parameters} parameters differ at the end; relative difference of the copies "
        f"on {', '.join(chosen)}: {', '.join(map(str, differences))}"
    )
    if kvstore == "none":
        drifted = not start.differing and all(difference.differing for difference in later)
        grew = later[0].share <= last.share
        verdict.say(drifted and grew, f"with no kvstore the copies drift: {told}, most in {last.parameter}")
    else:
        same = not any(difference.differing for difference in differences)
        verdict.say(same, f"with kvstore {kvstore} the copies stay the same: {told}")


def say_memory(chosen: Sequence[str], buffers: dict[str, int]) -> None:
    """Print what memory the sums take on the devices; one run has nothing to compare it with."""
    import mxnet as mx

    told = ", ".join(f"{size:,} bytes on {device}" for device, size in buffers.items())
    measured = f"By their sizes, the buffers of the sums take {told}; with kvstore local, the host's memory"
    if devices.stand_ins_only(chosen):
        verdict.say_not_testable("more memory on the devices? stand-ins share the host's memory", measured)
        return
    used = []
    for name in chosen:
        free, total = mx.context.gpu_memory_info(devices.context(name).device_id)
        used.append(f"{total - free:,} bytes on {name}")
    verdict.say_not_testable(
        "more memory on the devices? one run has one kvstore; compare with kvstore=local",
        f"{measured}. In use at the end: {', '.join(used)}",
    )


if __name__ == "__main__":
    main()
