"""Records a parameter server or scheduler: it runs inside `import mxnet`, where no later hook is reached."""

from __future__ import annotations

import sys
from types import ModuleType

from ..trace.recording import Recording
from . import install as whole


def install(recording: Recording, module: ModuleType) -> None:
    """Hook what there is of mxnet by now: arrays, ops, and what the updater does with them."""
    del module  # a part of mxnet; the package is under way in sys.modules
    whole.install(recording, sys.modules["mxnet"])
