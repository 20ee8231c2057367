"""What a judged block costs: python benchmarks/forbid_block.py [--blocks N] [--framework F]

One process of the framework runs N blocks of `with hopscope.forbid("host-sync")` around a few ops on two CPU
devices, one after the other. Printed are the first block's time, in which the framework is told from its
recorder and whatever judges is started, and of the others the median and the longest; then how long the same
ops take without a block. Nothing else should run beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from runners.environments import environments  # noqa: E402 - the path to it stands above

_OPS = {
    "mxnet": """
import mxnet as mx
def ops():
    x = mx.nd.ones((8,), ctx=mx.cpu(1))
    for _ in range(5):
        x = (x.as_in_context(mx.cpu(0)) * 2).as_in_context(mx.cpu(1)) + 1
    mx.nd.waitall()
""",
    "tensorflow": """
import tensorflow as tf
cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
def ops():
    with tf.device("/CPU:1"):
        x = tf.ones([8])
    for _ in range(5):
        with tf.device("/CPU:0"):
            y = x * 2
        with tf.device("/CPU:1"):
            x = y + 1
""",
}
_TIMED = """
import json, sys, time
import hopscope
took, plain = [], []
for _ in range(int(sys.argv[1])):
    began = time.perf_counter()
    with hopscope.forbid("gradient-outside-scope"):
        ops()
    took.append(time.perf_counter() - began)
for _ in range(20):
    began = time.perf_counter()
    ops()
    plain.append(time.perf_counter() - began)
print(json.dumps({"blocks": took, "plain": plain}))
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=9, help="(default: 9)")
    parser.add_argument("--framework", choices=sorted(_OPS), default="mxnet")
    args = parser.parse_args()
    python = environments.environment(args.framework).python
    with tempfile.TemporaryDirectory(prefix="forbid-block-") as home:
        variables = {"HOPSCOPE_HOME": home, "HOPSCOPE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
        words = [str(python), "-W", "ignore", "-c", _OPS[args.framework] + _TIMED, str(args.blocks)]
        done = subprocess.run(
            words, env={**os.environ, **variables}, stdout=subprocess.PIPE, check=True, cwd=home
        )
    found = json.loads(done.stdout.splitlines()[-1])
    first, *rest = found["blocks"]
    print(f"{args.framework}, {args.blocks} blocks")
    print(f"  first       {first:8.3f} s")
    print(f"  the others  {statistics.median(rest):8.3f} s, at most {max(rest):.3f} s")
    print(f"  the ops     {statistics.median(found['plain']):8.3f} s, without a block, after the first one")


if __name__ == "__main__":
    main()
