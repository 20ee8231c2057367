"""Records a block of a program: ``with hopscope.record() as run: ...``, and forbids what a test must not do.

    with hopscope.forbid("host-sync", "variable-home"):
        train_step(batch)

A thin name for what stays in Hopscope's clone; nothing else is installed with it.
"""

from .clone import HopscopeError
from .forbidding import ForbiddenTransfer, forbid
from .recorded import RecordedRun, record

__all__ = ["ForbiddenTransfer", "HopscopeError", "RecordedRun", "forbid", "record"]
