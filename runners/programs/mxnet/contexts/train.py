"""Contexts: what mx.cpu(), mx.gpu() and mx.gpu(i) name, and where an array is made.

A context is a name for a device: a kind and a number, nothing more. mx.gpu(7) can be written on a machine
without any GPU, and mx.cpu(7) on one with two cores: making the name asks nobody. mx.gpu() is short for
mx.gpu(0), and mx.cpu() for mx.cpu(0), which stands for all of the host's processors and memory.
Only mx.context.num_gpus() asks the driver how many GPUs there are.

An array lives on the context that it is made on: the one given as ctx=, else the current one, which is
cpu(0) where nobody changed it. That is so with GPUs too: MXNet never takes a GPU by itself.

What happens where the GPU is missing? MXNet falls back to nothing: making an array there raises MXNetError.
The two functions that tutorials use, try_gpu(i) and try_all_gpus(), look at num_gpus() first, and fall back
to cpu(). They are a few lines each, and not part of MXNet; here they are.

What to expect: of each step's three small arrays one is made without a context, one on --device, and one on
the GPU after the last one, by way of try_gpu. Nothing crosses between devices.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices
from shared import progress, verdict

SHAPE = (2, 3)


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-contexts", __doc__, step="times that each array is made")
    devices.add_pinned_device(parser)
    return parser


def try_gpu(index: int = 0) -> Any:
    """The context of a GPU where there is one of this number, else that of the host."""
    import mxnet as mx

    return mx.gpu(index) if index < mx.context.num_gpus() else mx.cpu()


def try_all_gpus() -> list[Any]:
    """The contexts of all GPUs, or that of the host where there is none."""
    import mxnet as mx

    return [mx.gpu(index) for index in range(mx.context.num_gpus())] or [mx.cpu()]


def make_on_missing(index: int) -> tuple[bool, str]:
    """Make an array on a GPU that is not there: whether that raised, and what came of it."""
    import mxnet as mx

    try:
        array = mx.nd.ones(SHAPE, ctx=mx.gpu(index))
        array.wait_to_read()
    except mx.MXNetError as error:
        return True, f"raised MXNetError ({str(error).strip().splitlines()[-1].removeprefix('MXNetError: ')})"
    return False, f"gave one on {devices.name_of(array.context)}"


def main() -> None:
    """Make arrays, and say where they are."""
    parser = options()
    args = devices.parse(parser)
    import mxnet as mx

    device = devices.pinned(parser, args, devices.set_up(parser, args))
    gpus = mx.context.num_gpus()
    print(f"mx.cpu() is {mx.cpu()}, mx.gpu() is {mx.gpu()}, num_gpus() is {gpus}")
    print(
        f"current context {mx.current_context()}, try_gpu({gpus}) is {try_gpu(gpus)}, "
        f"try_all_gpus() is {try_all_gpus()}",
        flush=True,
    )

    nobody, named, tried = "no context", f"ctx={devices.context(device)}", f"ctx=try_gpu({gpus})"
    made: Counter[tuple[str, str]] = Counter()
    watch = progress.Progress(args.steps, 10)
    for step in range(1, args.steps + 1):
        arrays = {
            nobody: mx.nd.ones(SHAPE),
            named: mx.nd.ones(SHAPE, ctx=devices.context(device)),
            tried: mx.nd.ones(SHAPE, ctx=try_gpu(gpus)),
        }
        made.update((how, devices.name_of(array.context)) for how, array in arrays.items())
        if watch.due(step):
            watch.report(step)
    for (how, where), count in made.items():
        print(f"{how}: {count} arrays on {where}")

    verdict.say(
        mx.gpu() == mx.gpu(0) and mx.gpu(0) != mx.gpu(1),
        f"mx.gpu() == mx.gpu(0) is {mx.gpu() == mx.gpu(0)}, and mx.gpu(0) == mx.gpu(1) is "
        f"{mx.gpu(0) == mx.gpu(1)}; GPUs that are here: {gpus}",
    )
    fell_back = made[tried, devices.HOST]
    verdict.say(
        fell_back == args.steps,
        f"with try_gpu({gpus}), a GPU that is not here, {fell_back} of {args.steps} arrays were made on "
        f"{devices.HOST}",
    )
    raised, outcome = make_on_missing(gpus)
    verdict.say(
        not raised, f"without try_gpu, an array asked for on gpu({gpus}), which is not here, {outcome}"
    )


if __name__ == "__main__":
    main()
