"""The Module API on one context: symbol, Module(context=..), bind, init_params, fit.

A symbol describes the network and holds no number. Module(symbol, context=C) ties it to the context C:
bind allocates an array on C for each argument, each gradient and each output, init_params fills the
weights, and fit trains: forward, backward and update of each batch run on C. The update is done in place
there; with one context Module makes no kvstore, whatever kvstore= says.

What to expect: the whole model is on C. The batches come from the host, and what is read goes back to it:

    cpu:0 -> C   once          the first weights, which init_params draws on the host
    cpu:0 -> C   every step    the images, batch x pixels x 4 bytes, and the labels, batch x 4 bytes
    C -> cpu:0   every step    the ten outputs an image, batch x 10 x 4 bytes: fit's metric reads them

The last line is a sync: EvalMetric.update calls asnumpy() on the outputs, so Python waits for the device in
every step, however seldom Speedometer or this program prints. At the end fit copies the weights to the
host and back, and the accuracy reads the outputs of the held-out digits.

With the same seed two runs end with the same weights, bit for bit, and print the same checksum of them. The
seeds of MXNet and of numpy decide the first weights and the order of the images, and on one context the ops
run in the order of their dependencies. The number of threads (OMP_NUM_THREADS) must be the same too: it
decides how a long sum is cut. Stand-ins have one thread each.
"""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices, symbolic
from shared import digits, progress, verdict

LEARNING_RATE = 0.1


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-module", __doc__)
    devices.add_training(parser)
    devices.add_pinned_device(parser)
    return parser


def main() -> None:
    """Train, and say how well and where."""
    parser = options()
    args = devices.parse(parser)
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    if args.batch > train:
        parser.error(f"--batch {args.batch} is more than the {train} images to train on")
    import mxnet as mx

    device = devices.pinned(parser, args, devices.set_up(parser, args))
    logger = symbolic.set_up_log()
    mx.random.seed(args.seed)
    batches = symbolic.batches(images[:train], labels[:train], args.batch, args.steps, args.seed)
    watch = progress.Progress(args.steps, args.log_every)

    module = mx.mod.Module(symbolic.network(args.width), context=devices.context(device), logger=logger)
    module.bind(batches.provide_data, batches.provide_label)
    module.init_params(mx.init.Xavier())
    print(f"model on {device}; {train} {source}", flush=True)

    def report(batch_end: Any) -> None:
        """Print the mean loss since the last line; the metric has read all outputs already."""
        step = batch_end.nbatch + 1
        if watch.due(step):
            [(_, loss)] = batch_end.eval_metric.get_name_value()
            watch.report(step, loss)
            batch_end.eval_metric.reset()

    module.fit(
        batches,
        num_epoch=1,
        eval_metric="ce",
        optimizer="sgd",
        optimizer_params={"learning_rate": LEARNING_RATE},
        batch_end_callback=[mx.callback.Speedometer(args.batch, frequent=50, auto_reset=False), report],
    )

    share = symbolic.accuracy(module, images[train:], labels[train:], args.batch)
    print(f"accuracy {share:.3f} on {len(images) - train} held-out digits", flush=True)
    checksum = 0
    for _, weights in sorted(module.get_params()[0].items()):
        checksum = zlib.crc32(weights.asnumpy().tobytes(), checksum)
    print(f"checksum of the weights {checksum:08x}", flush=True)
    say_where(module, device)


def say_where(module: Any, device: str) -> None:
    """Print whether all arrays of the module are on its device."""
    [executor] = module._exec_group.execs  # Module itself does not tell
    kinds = {
        "arguments": executor.arg_dict.values(),
        "gradients": [gradient for gradient in executor.grad_dict.values() if gradient is not None],
        "outputs": executor.outputs,
    }
    found = {kind: [devices.name_of(array.context) for array in arrays] for kind, arrays in kinds.items()}
    told = ", ".join(
        f"{kind} ({len(names)} arrays) on {' and '.join(sorted(set(names)))}" for kind, names in found.items()
    )
    verdict.say(all(set(names) == {device} for names in found.values()), f"one context holds it all: {told}")


if __name__ == "__main__":
    main()
