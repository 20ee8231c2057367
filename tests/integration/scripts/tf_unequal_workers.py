"""tf-multiworker with a fault: the second worker takes every update twice.

`python tf_unequal_workers.py MULTIWORKER.PY ARGS..`
"""

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import keras

script = sys.argv[1]
sys.argv = sys.argv[1:]
sys.path[0] = str(Path(script).parent)
if json.loads(os.environ["TF_CONFIG"])["task"]["index"] == 1:
    update = keras.optimizers.SGD.update_step

    def update_twice(self: Any, gradient: Any, *more: Any) -> None:
        update(self, 2 * gradient, *more)

    keras.optimizers.SGD.update_step = update_twice
runpy.run_path(script, run_name="__main__")
