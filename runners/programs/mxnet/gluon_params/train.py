"""Where a Gluon network's parameters live: initialize(ctx=..), forward, save and load.

net.initialize(ctx=D) says where the parameters are to be. It allocates nothing where a layer's input size is
still unknown, as here: the first forward pass tells, and makes them then, on D.

A layer runs where its input is, and asks each parameter for its copy on that context. So data on D gives
results on D. Data that was left on the host does not follow the parameters: forward raises RuntimeError,
"Parameter .. was not initialized on context cpu(0)". Nothing is copied for you.

The gradients are made beside their parameters, and the Trainer updates both in place. With one context it
needs no kvstore: nothing leaves D but what is read. The program prints a loss now and then, and the
predictions at the end.

net.save_parameters(file) writes the values without their context. net.load_parameters(file, ctx=C) puts
them on C, whichever context they came from, so a network that was trained on a GPU loads on a machine
without one. Without ctx they go where the parameters of the loading network are, or cpu(0).

What to expect, with D the device: the first weights are drawn on the host, and go from cpu:0 to D once. In
each step the images (batch x pixels x 4 bytes) and the labels (batch x 4 bytes) go from cpu:0 to D. At the
end saving brings the parameters to cpu:0, and loading takes them from there to each device.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices
from shared import digits, progress, verdict

LEARNING_RATE = 0.1


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-gluon-params", __doc__)
    devices.add_training(parser)
    devices.add_pinned_device(parser)
    return parser


def make_network(width: int) -> Any:
    """Two hidden layers of `width` units and ten outputs. No layer knows the size of its input yet."""
    from mxnet import gluon

    net = gluon.nn.Sequential()
    for units in (width, width):
        net.add(gluon.nn.Dense(units, activation="relu"))
    net.add(gluon.nn.Dense(10))
    return net


def homes(net: Any) -> set[str]:
    """The devices that hold the network's parameters."""
    return {
        devices.name_of(context)
        for parameter in net.collect_params().values()
        for context in parameter.list_ctx()
    }


def main() -> None:
    """Train, save and load, and say where everything was."""
    parser = options()
    args = devices.parse(parser)
    import mxnet as mx
    from mxnet import autograd, gluon

    chosen = devices.set_up(parser, args)
    device = devices.pinned(parser, args, chosen)
    context = devices.context(device)
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)

    mx.random.seed(args.seed)
    net = make_network(args.width)
    net.initialize(mx.init.Xavier(), ctx=context)
    parameters = list(net.collect_params().values())
    unknown = sum(0 in (parameter.shape or (0,)) for parameter in parameters)
    print(f"initialize(ctx={context}): {unknown} of {len(parameters)} parameters wait for their shape")
    trainer = gluon.Trainer(parameters, "sgd", {"learning_rate": LEARNING_RATE})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()

    print(f"model on {device}; {train} {source}", flush=True)
    rng = np.random.default_rng(args.seed)
    watch = progress.Progress(args.steps, args.log_every)
    results: set[str] = set()
    for step in range(1, args.steps + 1):
        rows = rng.integers(train, size=args.batch)
        some_images = mx.nd.array(images[rows], ctx=context)
        some_labels = mx.nd.array(labels[rows], ctx=context)
        with autograd.record():
            scores = net(some_images)
            loss = loss_of(scores, some_labels)
        loss.backward()
        trainer.step(args.batch)
        results.update(devices.name_of(array.context) for array in (scores, loss))
        if watch.due(step):
            watch.report(step, float(loss.mean().asscalar()))

    held_out = mx.nd.array(images[train:], ctx=context)
    scores = net(held_out).asnumpy()
    print(f"accuracy {np.mean(scores.argmax(axis=1) == labels[train:]):.3f} on {len(scores)} held-out digits")
    try_elsewhere(net, images[train:], device)
    gradients = {devices.name_of(parameter.grad(context).context) for parameter in parameters}
    verdict.say(
        homes(net) == gradients == results == {device},
        f"initialize(ctx={context}) put {len(parameters)} parameters on {told(homes(net))} and their "
        f"gradients on {told(gradients)}; in {args.steps} steps all results were on {told(results)}",
    )
    save_and_load(net, images[train:], scores, chosen, args.width)


def told(names: set[str]) -> str:
    """`cpu:1`, or `cpu:0 and cpu:1`."""
    return " and ".join(sorted(names))


def try_elsewhere(net: Any, images: digits.Images, device: str) -> None:
    """Give the network data that is on the host, and print what comes of it."""
    import mxnet as mx

    if device == devices.HOST:
        return
    try:
        outcome = f"ran on {devices.name_of(net(mx.nd.array(images)).context)}"
    except RuntimeError as error:
        outcome = f"raised RuntimeError: {error}"
    print(f"forward with data on {devices.HOST} {outcome}", flush=True)


def save_and_load(
    net: Any, images: digits.Images, scores: np.ndarray[Any, Any], chosen: list[str], width: int
) -> None:
    """Save the parameters, load them on other devices, and print whether they say the same there."""
    import mxnet as mx

    [home] = homes(net)
    targets = list(dict.fromkeys([devices.HOST, *chosen]))
    loaded, furthest = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "network.params")
        net.save_parameters(file)
        for target in targets:
            context = devices.context(target)
            other = make_network(width)
            other.load_parameters(file, ctx=context)
            result = other(mx.nd.array(images, ctx=context))
            if homes(other) == {target} == {devices.name_of(result.context)}:
                loaded.append(target)
            furthest = max(furthest, float(np.abs(result.asnumpy() - scores).max()))
    verdict.say(
        loaded == targets,
        f"parameters saved from {home} were loaded on {len(loaded)} of {len(targets)} devices "
        f"({', '.join(targets)}), and gave results there that differ from {home}'s by {furthest:.2g} at most",
    )


if __name__ == "__main__":
    main()
