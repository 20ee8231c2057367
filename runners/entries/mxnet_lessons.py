"""The MXNet programs that each show one thing about contexts, copies or time."""

from __future__ import annotations

from runners.entries.options import NETWORK, PINNED, REPEATS, SEED, TRAINING
from runners.program import FOLDER, Option, Program

_CONTEXTS = (
    Program(
        name="mx-contexts",
        framework="mxnet",
        title="Contexts and missing GPUs",
        summary="cpu(), gpu(), gpu(i), num_gpus, try_gpu and try_all_gpus, and where arrays are made",
        script=FOLDER / "mxnet" / "contexts" / "train.py",
        options=(SEED, PINNED),
        min_devices=1,
        max_devices=None,
        default_devices=2,
        claim="gpu() is gpu(0), and a missing GPU falls back to cpu(). Testable on any machine, by asking "
        "for one GPU more than there is.",
    ),
    Program(
        name="mx-context-scope",
        framework="mxnet",
        title="The current context",
        summary="with mx.gpu(i) against a bare mx.gpu(i), and against ctx=",
        script=FOLDER / "mxnet" / "context_scope" / "train.py",
        options=(SEED, PINNED),
        min_devices=1,
        max_devices=None,
        default_devices=2,
        claim="Only the with-block, or ctx=, puts an array elsewhere than on cpu(0); naming a context does "
        "nothing by itself. Testable on stand-ins.",
    ),
    Program(
        name="mx-copy",
        framework="mxnet",
        title="copyto and as_in_context",
        summary="Copies to another device and to the same one: which of them make a new array",
        script=FOLDER / "mxnet" / "copy" / "train.py",
        options=(SEED, Option("size", "rows, and columns, of the matrices", 256, type="count")),
        min_devices=2,
        max_devices=2,
        default_devices=2,
        claim="copyto always makes a new array; as_in_context and as_in_ctx to the same device return the "
        "same array. Testable on stand-ins; copy times on GPUs only.",
    ),
    Program(
        name="mx-mixed-context",
        framework="mxnet",
        title="Inputs on two contexts",
        summary="x + y with x and y on two contexts: refused for GPU and host, unnoticed for CPU contexts",
        script=FOLDER / "mxnet" / "mixed_context" / "train.py",
        options=(SEED, Option("size", "rows, and columns, of the matrices", 64, type="count")),
        min_devices=2,
        max_devices=2,
        default_devices=2,
        claim="It raises on GPUs: testable with a GPU and the host, --devices gpu:0,cpu:0. On CPU contexts "
        "it silently runs on the first input's: testable on stand-ins.",
    ),
    Program(
        name="mx-gluon-params",
        framework="mxnet",
        title="Where a network's parameters live",
        summary="initialize(ctx=..), training on the data's context, saving, and loading across contexts",
        script=FOLDER / "mxnet" / "gluon_params" / "train.py",
        options=(*TRAINING, PINNED),
        min_devices=1,
        max_devices=None,
        default_devices=2,
        claim="Parameters, gradients and results stay on the context, and saved parameters load on any "
        "other. Testable on stand-ins.",
    ),
)

_TIMES = (
    Program(
        name="mx-matmul-size",
        framework="mxnet",
        title="Small and large products",
        summary="Matrix products of several sizes, on the host and on a device",
        script=FOLDER / "mxnet" / "matmul_size" / "train.py",
        options=(
            SEED,
            PINNED,
            Option("sizes", "rows, and columns, of the matrices", "64,256,1024", type="counts", least=2),
            REPEATS,
        ),
        min_devices=1,
        max_devices=None,
        default_devices=1,
        claim="The device wins on large work, not on small. Testable on a GPU only: a stand-in is the host's "
        "own processor.",
        default_steps=10,
        timed=True,
        beside_host=True,
    ),
    Program(
        name="mx-log-norm",
        framework="mxnet",
        title="Fetching each of many values",
        summary="1000 products of 100 x 100: tr(M M^T) fetched each time, or kept on the device",
        script=FOLDER / "mxnet" / "log_norm" / "train.py",
        options=(
            SEED,
            PINNED,
            Option(
                "variant",
                "how the values are fetched; all: compare these ways",
                "all",
                ("all", "fetch-each", "asnumpy-log", "assign-log", "fetch-once"),
                concerns=("host-sync",),
            ),
            Option("size", "rows, and columns, of the matrices", 100, type="count"),
            REPEATS,
        ),
        min_devices=1,
        max_devices=None,
        default_devices=1,
        claim="Fetching each value stalls: keeping them on the device and fetching once is faster. Testable "
        "on stand-ins, where Python waits as well, but no bus is crossed.",
        default_steps=1000,
        timed=True,
    ),
    Program(
        name="mx-two-devices",
        framework="mxnet",
        title="Two devices at once",
        summary="Two series of matrix products: at once on two devices, and in sequence on one",
        script=FOLDER / "mxnet" / "two_devices" / "train.py",
        options=(
            SEED,
            Option("sizes", "rows, and columns, of the matrices", "256,512", type="counts"),
            REPEATS,
        ),
        min_devices=2,
        max_devices=2,
        default_devices=2,
        claim="Two devices are nearly twice as fast as one. Testable on two GPUs only: stand-ins share one "
        "processor.",
        default_steps=40,
        timed=True,
    ),
    Program(
        name="mx-host-sync",
        framework="mxnet",
        title="The loss of each minibatch",
        summary="asscalar() or asnumpy() in every step, against losses kept on the device",
        script=FOLDER / "mxnet" / "host_sync" / "train.py",
        options=(
            SEED,
            *NETWORK,
            PINNED,
            Option(
                "variant",
                "how the loss is fetched; all: compare these ways",
                "all",
                ("all", "asscalar", "asnumpy", "log"),
                concerns=("host-sync",),
            ),
            REPEATS,
        ),
        min_devices=1,
        max_devices=None,
        default_devices=1,
        claim="Fetching the loss in every step stalls it, by waiting and by copying, and the GIL makes every "
        "Python thread wait. Testable on stand-ins, where the copy crosses no bus.",
        timed=True,
    ),
)

PROGRAMS = (*_CONTEXTS, *_TIMES)
