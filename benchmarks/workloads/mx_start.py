"""What MXNet workloads begin with: one thread a stand-in, and MXNet's own profiler where asked for."""

import atexit
import os

# As the catalogued programs do on stand-ins. OpenMP reads it when MXNet is imported.
os.environ["OMP_NUM_THREADS"] = "1"

import mxnet as mx


def start_profiler_if_asked() -> None:
    """Profile operators and memory where $HOPSCOPE_BENCHMARK_PROFILE names a file, and write it at the end.

    The calls of the C interface, ten times as many, are left out.
    """
    file = os.environ.get("HOPSCOPE_BENCHMARK_PROFILE")
    if file:
        mx.profiler.set_config(
            profile_symbolic=True,
            profile_imperative=True,
            profile_memory=True,
            profile_api=False,
            filename=file,
        )
        mx.profiler.set_state("run")
        atexit.register(mx.profiler.dump)
