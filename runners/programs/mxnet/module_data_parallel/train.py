"""Data parallelism with the Module API: Module(context=[A, B]) cuts each batch and trains a copy on each.

What to expect: every context gets a copy of the network and a slice of each batch, an even one, or one as
large as --work-load-list says: with 3,1 the first context gets three quarters. Each copy computes the
gradients of its own slice. A kvstore sums them over the contexts and updates one copy of the weights, which
it then sends to all. --kvstore says where. With G bytes of weights, and as many of gradients, on N contexts:

    local    on the host: each context sends its G bytes to cpu:0, and the new weights, G bytes, come
             back to each. That is 2 x N x G bytes a step.
    device   on the contexts: each gradient is summed on one of them, the largest first, each on the one
             that has the least so far; the other N - 1 send theirs, and the new weights come back.
             That is 2 x (N - 1) x G bytes a step, and none of it through the host.
    nccl     NVIDIA's library, on GPUs only

Between stand-ins `device` keeps its own copy of the weights on the host all the same: MXNet moves it beside
the sum only where that is a GPU. The update then reads the sum from there, and the weights leave from the
host.

Beside the gradients these cross in each step, as with one context: to each context its slice of the images
(pixels x 4 bytes an image) and of the labels (4 bytes), and back, since fit's metric reads them, the outputs
(40 bytes an image).

The sum of the slices' gradients is the gradient of the batch, so the result should be the one of a single
context, but for rounding: sums are made in another order. The program trains a second time on the first
context alone, with the same seed and batches, and compares the weights. In a recording that second training
shows too, at the line of its own fit, and steps are counted on through both.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices, summing, symbolic
from shared import digits, progress, slices, verdict

LEARNING_RATE = 0.1
ROUNDING = 1e-4
"""The largest difference between the two results, relative to the largest weight of an array, to be called
rounding. A float32 has 24 bits, 6e-8; what one step rounds, the next ones carry on."""


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-module-data-parallel", __doc__)
    devices.add_training(parser)
    parser.add_argument(
        "--work-load-list",
        type=devices.positive_list,
        metavar="I,J,..",
        help="shares of the batch, one a device (default: even ones)",
    )
    parser.add_argument(
        "--kvstore",
        choices=("local", "device", "nccl"),
        default="local",
        help="where gradients are summed (default: local)",
    )
    return parser


def check(parser: devices.Parser, args: argparse.Namespace, chosen: list[str], train: int) -> None:
    """Exit with 2 where the options cannot work on these devices."""
    names, loads = ", ".join(chosen), args.work_load_list or [1] * len(chosen)
    if args.batch > train:
        parser.error(f"--batch {args.batch} is more than the {train} images to train on")
    if len(loads) != len(chosen):
        parser.error(
            f"--work-load-list has {len(loads)} shares, and there are {len(chosen)} devices: {names}"
        )
    cut = slices.cut(args.batch, loads)
    if 0 in cut:
        shares = ", ".join(f"{images} for {name}" for images, name in zip(cut, chosen))
        parser.error(f"--batch {args.batch} leaves a device without an image: {shares}")
    if args.kvstore == "nccl" and any(name.startswith("cpu:") for name in chosen):
        parser.error(f"--kvstore nccl works on GPUs only, and the devices are {names}")


def main() -> None:
    """Train, say how well, and compare with one context."""
    parser = options()
    args = devices.parse(parser)
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    import mxnet as mx

    chosen = devices.set_up(parser, args, least=2)
    check(parser, args, chosen, train)
    logger = symbolic.set_up_log()
    contexts = [devices.context(name) for name in chosen]
    watch = progress.Progress(args.steps, args.log_every)

    def make(contexts: list[Any], loads: list[int] | None) -> tuple[Any, Any]:
        """A module with its first weights, and its batches: both the same for the same seed."""
        mx.random.seed(args.seed)
        batches = symbolic.batches(images[:train], labels[:train], args.batch, args.steps, args.seed)
        symbol = symbolic.network(args.width)
        module = mx.mod.Module(symbol, context=contexts, work_load_list=loads, logger=logger)
        module.bind(batches.provide_data, batches.provide_label)
        module.init_params(mx.init.Xavier())
        return module, batches

    def report(batch_end: Any) -> None:
        """Print the mean loss since the last line; the metric has read all outputs already."""
        step = batch_end.nbatch + 1
        if watch.due(step):
            [(_, loss)] = batch_end.eval_metric.get_name_value()
            watch.report(step, loss)
            batch_end.eval_metric.reset()

    print(f"copies on {', '.join(chosen)}, kvstore {args.kvstore}; {train} {source}", flush=True)
    sgd = summing.make_sgd(LEARNING_RATE, 1 / args.batch)
    module, batches = make(contexts, args.work_load_list)
    module.fit(
        batches,
        num_epoch=1,
        eval_metric="ce",
        kvstore=args.kvstore,
        optimizer=sgd,
        batch_end_callback=[mx.callback.Speedometer(args.batch, frequent=50, auto_reset=False), report],
    )
    cut = [outputs.shape[0] for outputs in module.get_outputs(merge_multi_context=False)[0]]
    share = symbolic.accuracy(module, images[train:], labels[train:], args.batch)
    print(f"accuracy {share:.3f} on {len(images) - train} held-out digits", flush=True)
    for device, size in summing.bytes_by_device(sgd.given).items():
        print(f"gradients summed on {device}: {size:,} bytes a step", flush=True)

    alone, batches = make(contexts[:1], None)
    alone.fit(
        batches,
        num_epoch=1,
        eval_metric="ce",
        optimizer=summing.make_sgd(LEARNING_RATE, 1 / args.batch),
    )
    difference, name = largest_difference(module.get_params()[0], alone.get_params()[0])
    as_asked = cut == slices.cut(args.batch, args.work_load_list or [1] * len(chosen))
    verdict.say(
        as_asked and difference <= ROUNDING,
        f"{args.batch} images are cut into {', '.join(map(str, cut))} for {', '.join(chosen)}; after "
        f"{args.steps} steps the weights differ from those of {chosen[0]} alone by at most {difference:.1e} "
        f"of the largest in {name}",
    )


def largest_difference(weights: dict[str, Any], others: dict[str, Any]) -> tuple[float, str]:
    """The largest difference between two sets of arrays, each relative to its largest number; and which."""
    differences = []
    for name, array in weights.items():
        one, other = array.asnumpy(), others[name].asnumpy()
        differences.append((float(np.abs(one - other).max() / np.abs(other).max()), name))
    return max(differences)


if __name__ == "__main__":
    main()
