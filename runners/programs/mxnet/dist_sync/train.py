"""Data parallelism over processes: workers train, servers hold the weights, a scheduler brings them together.

All of them are started with the same variables and one that differs, DMLC_ROLE. The scheduler and the
servers run nothing but `import mxnet`, which does not return there: it serves until the workers have
finished. A worker makes a kvstore, `mx.kv.create("dist_sync")`, and gives it to its Trainer. The first step
sends the weights of worker 0, and the optimizer, to the servers. In each step every worker then sends them
its gradients, as many bytes as it has parameters, and pulls as many bytes of new weights:

    dist_sync         a server waits for the gradients of all workers, adds them up and updates its weights
                      once. All workers then pull the same weights. Within a worker, gradients of several
                      devices are added up on the host first.
    dist_device_sync  the same, but within a worker they are added up on its devices.
    dist_async        a server updates its weights with each gradient that comes, and waits for nobody. A
                      worker pulls whatever is there by then: no two need hold the same weights. A server
                      knows what to do with a gradient only once it has the optimizer: without one it aborts.

Each worker starts from weights of its own, trains on its own share of the digits and cuts its part of a batch
into even slices, one a device. Worker 0 prints the progress, with the loss of its part.

At the end the weights that the workers hold after their last step are compared; with dist_async also those
that they then pull from the servers. Each worker pushes its weights into a key of its own. There the servers,
told now to add and no more, keep them, and worker 0 pulls all of them.

If a process dies, the others wait for it without an end: whoever starts them has to watch them.
"""

from __future__ import annotations

import itertools
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices
from shared import digits, progress, verdict

LEARNING_RATE = 0.1
Row = NDArray[np.float32]
_keys = itertools.count(1_000_000)
"""For what is exchanged beside the parameters; every worker counts alike."""


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-dist-sync", __doc__)
    devices.add_training(parser)
    parser.add_argument(
        "--kvstore",
        choices=("dist_sync", "dist_device_sync", "dist_async"),
        default="dist_sync",
        help="whether a server waits for all workers, and where a worker adds up (default: dist_sync)",
    )
    return parser


def by_hand() -> str:
    """The command lines of two workers, a server and the scheduler, on this machine."""
    shared = "DMLC_PS_ROOT_URI=127.0.0.1 DMLC_PS_ROOT_PORT=23456 DMLC_NUM_SERVER=1 DMLC_NUM_WORKER=2"
    # Importing MXNet is all that the first two do: it returns when the workers have finished.
    own = ['-c "import mxnet"'] * 2 + [shlex.join(sys.argv)] * 2
    roles = ("scheduler", "server", "worker", "worker")
    return "\n".join(f"  {shared} DMLC_ROLE={role} python3 {words}" for role, words in zip(roles, own))


def main() -> None:
    """Train as one of the workers; worker 0 says how well, and whether all hold the same weights."""
    parser = options()
    args = devices.parse(parser)
    if os.environ.get("DMLC_ROLE") != "worker":
        parser.error(
            "this is one worker of several processes, and DMLC_ROLE, which says so, is not set to worker. To "
            f"start two with what they need, enter one of these lines in each of 4 terminals:\n{by_hand()}"
        )
    import mxnet as mx
    from mxnet import autograd, gluon

    chosen = devices.set_up(parser, args)
    contexts = [devices.context(name) for name in chosen]
    kvstore = mx.kv.create(args.kvstore)
    rank, workers = kvstore.rank, kvstore.num_workers
    share = args.batch * (rank + 1) // workers - args.batch * rank // workers
    if share < len(chosen):
        parser.error(
            f"--batch {args.batch} is too small for {workers} workers with {len(chosen)} devices each"
        )
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    own_images, own_labels = images[rank:train:workers], labels[rank:train:workers]

    mx.random.seed(args.seed + rank)
    net = make_net(images.shape[1], args.width)
    net.initialize(mx.init.Xavier(), ctx=contexts)
    trainer = gluon.Trainer(
        net.collect_params(), "sgd", {"learning_rate": LEARNING_RATE}, kvstore=kvstore, update_on_kvstore=True
    )
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    # What one update of the servers sums over: all workers' images, or those of one.
    images_an_update = args.batch / workers if args.kvstore == "dist_async" else args.batch

    print(
        f"worker {rank} of {workers} on {', '.join(chosen)}, kvstore {args.kvstore}; "
        f"{len(own_images)} of {train} {source}, {share} of {args.batch} images a step",
        flush=True,
    )
    rng = np.random.default_rng([args.seed, rank])
    watch = progress.Progress(args.steps, args.log_every)
    for step in range(1, args.steps + 1):
        rows = rng.integers(len(own_images), size=share)
        slices = zip(
            gluon.utils.split_and_load(own_images[rows], contexts, even_split=False),
            gluon.utils.split_and_load(own_labels[rows], contexts, even_split=False),
        )
        with autograd.record():
            losses = [loss_of(net(some_images), some_labels) for some_images, some_labels in slices]
        autograd.backward(losses)
        trainer.step(images_an_update)
        if watch.due(step):
            # In every worker: one that never waits would run ahead, with thousands of steps asked for.
            loss = sum(float(loss.sum().asscalar()) for loss in losses) / share
            if rank == 0:
                watch.report(step, loss)

    if rank == 0:
        scores = net(mx.nd.array(images[train:], ctx=contexts[0])).asnumpy()
        accuracy = np.mean(scores.argmax(axis=1) == labels[train:])
        print(f"accuracy {accuracy:.3f} on {len(scores)} held-out digits", flush=True)

    # A trainer's keys number its parameters in the order of their names.
    parameters = [parameter for _, parameter in sorted(net.collect_params().items())]
    held = join(parameter.data(contexts[0]) for parameter in parameters)
    rows = [held]
    if args.kvstore == "dist_async":
        rows.append(weights_of_servers(kvstore, parameters))
    tables = gather(kvstore, rows)
    if rank == 0:
        say_whether_equal(args.kvstore, args.steps, *map(compare, tables))


def make_net(pixels: int, width: int) -> Any:
    """A dense network."""
    from mxnet import gluon

    net = gluon.nn.Sequential()
    net.add(
        gluon.nn.Dense(width, activation="relu", in_units=pixels),
        gluon.nn.Dense(width, activation="relu", in_units=width),
        gluon.nn.Dense(10, in_units=width),
    )
    return net


def weights_of_servers(kvstore: Any, parameters: Sequence[Any]) -> Row:
    """The weights that the servers hold once they have every worker's last gradients."""
    import mxnet as mx

    wait_for_all(kvstore)
    kept = [mx.nd.zeros(parameter.shape) for parameter in parameters]
    kvstore.pull(list(range(len(kept))), out=kept)
    return join(kept)


def join(arrays: Iterable[Any]) -> Row:
    """The values of MXNet's arrays, one behind the other."""
    return np.concatenate([array.asnumpy().ravel() for array in arrays])


def wait_for_all(kvstore: Any) -> None:
    """Return when all workers have come here, and what they sent before has been dealt with."""
    import mxnet as mx

    mx.nd.waitall()
    # A key is made by all workers together, so none can go on before the last has come.
    kvstore.init(next(_keys), mx.nd.zeros(1))


def gather(kvstore: Any, rows: Sequence[Row]) -> list[list[Row]]:
    """For each of `rows` those of all workers in the order of their ranks; [] on all workers but worker 0."""
    import mxnet as mx

    # Until now a push was a gradient, and the servers took a step with it. Now they add it to what they hold.
    kvstore.set_optimizer(mx.optimizer.Test(rescale_grad=1.0))
    tables = []
    for row in rows:
        nothing = mx.nd.zeros(row.shape)
        keys = [next(_keys) for _ in range(kvstore.num_workers)]
        kvstore.init(keys, [nothing for _ in keys])
        for worker, key in enumerate(keys):
            # Servers that wait for all workers have to hear from all of them.
            kvstore.push(key, mx.nd.array(row) if worker == kvstore.rank else nothing)
        wait_for_all(kvstore)
        if kvstore.rank == 0:
            pulled = [mx.nd.zeros(row.shape) for _ in keys]
            kvstore.pull(keys, out=pulled)
            tables.append([array.asnumpy() for array in pulled])
    return tables


class Difference(NamedTuple):
    """How far the workers' weights are apart."""

    differing: int
    """How many weights are not the same on all workers."""
    share: float
    """The norm of the difference of worker 0 and the one farthest from it, over the norm of worker 0."""
    weights: int

    def __str__(self) -> str:
        if not self.differing:
            return f"all {self.weights:,} are the same, bit for bit"
        return (
            f"{self.differing:,} of {self.weights:,} differ, the relative difference being {self.share:.2%}"
        )


def compare(rows: Sequence[Row]) -> Difference:
    """Compare the workers' weights, a row each, with those of worker 0."""
    first, *others = rows
    differing = np.zeros(len(first), bool)
    farthest = 0.0
    for other in others:
        differing |= other != first
        farthest = max(farthest, float(np.linalg.norm(other - first)))
    return Difference(int(differing.sum()), farthest / float(np.linalg.norm(first)), len(first))


def say_whether_equal(kvstore: str, steps: int, held: Difference, kept: Difference | None = None) -> None:
    """Print whether the workers hold equal weights; `kept`: those that they pulled once all were done."""
    told = f"of the weights that all workers hold after {steps} steps, {held}"
    if kept is None:
        verdict.say(not held.differing, f"{kvstore} keeps the workers together: {told}")
    else:
        same = not kept.differing
        verdict.say(same, f"{kvstore} promises no equal weights: {told}; pulled once all were done, {kept}")


if __name__ == "__main__":
    main()
