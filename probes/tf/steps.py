"""Marks optimizer applications: what this project calls a step."""

from __future__ import annotations

import functools
import threading
from types import ModuleType
from typing import Any, Callable

from ..trace.frames import PASSING, stands_for
from ..trace.recording import Recording

OPTIMIZER_MODULES: dict[str, tuple[str, str]] = {
    "keras.src.optimizers.base_optimizer": ("BaseOptimizer", "apply"),
    "keras.src.optimizers.loss_scale_optimizer": ("LossScaleOptimizer", "apply"),
    "keras.src.optimizers.optimizer": ("_BaseOptimizer", "apply_gradients"),
    "keras.src.optimizers.optimizer_experimental.optimizer": ("_BaseOptimizer", "apply_gradients"),
    "tf_keras.src.optimizers.optimizer": ("_BaseOptimizer", "apply_gradients"),
    "tf_keras.src.optimizers.legacy.optimizer_v2": ("OptimizerV2", "apply_gradients"),
    "keras.src.optimizers.legacy.optimizer_v2": ("OptimizerV2", "apply_gradients"),
    "tensorflow.python.training.optimizer": ("Optimizer", "apply_gradients"),
}
"""Module -> (class, method) whose every outermost call is one optimizer application.

Keras 3 has `base_optimizer`; Keras 2 has `optimizer._BaseOptimizer`; a subclass that overrides the
method is covered where it calls its parent's. That of loss scales, which mixed_float16 wraps every
optimizer in, calls another one's in a branch, which is another graph.
"""


class _Nesting(threading.local):
    depth = 0
    handed_over = False
    """This thread does for a replica's what that asked for while it applied an optimizer."""
    optimizer: Any = None
    """The one that is applied, the innermost."""


_nesting = _Nesting()
_optimizers: dict[int, int] = {}
_MOST_TOLD_APART = 64


def applying() -> bool:
    """Whether an optimizer is being applied: what replicas sum then are gradients."""
    return _nesting.depth > 0 or _nesting.handed_over


def optimizer_now() -> Any:
    """The optimizer that this thread applies, or traces the application of; None where it does not."""
    return _nesting.optimizer


def while_applying(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, to be called by another thread on behalf of one that applies an optimizer now."""

    @functools.wraps(function)
    def handed_over(*args: Any, **kwargs: Any) -> Any:
        _nesting.handed_over = True
        try:
            with PASSING:
                return function(*args, **kwargs)
        finally:
            _nesting.handed_over = False

    return handed_over


def hook_for(recording: Recording, module_name: str) -> Callable[[ModuleType], None]:
    """The post-import hook that wraps the optimizer class of `module_name`."""
    class_name, method = OPTIMIZER_MODULES[module_name]

    def hook(module: ModuleType) -> None:
        owner: Any = getattr(module, class_name, None)
        if owner is None or method not in vars(owner):
            return
        _wrap(recording, owner, method)

    return hook


def _wrap(recording: Recording, owner: Any, method: str) -> None:
    original = vars(owner)[method]
    guard = recording.guard("steps")

    @stands_for(original)
    def applied(self: Any, *args: Any, **kwargs: Any) -> Any:
        outer = _nesting.optimizer
        _nesting.depth += 1
        _nesting.optimizer = self
        try:
            with PASSING:
                result = original(self, *args, **kwargs)
        finally:
            _nesting.depth -= 1
            _nesting.optimizer = outer
        with guard:
            if _nesting.depth == 0 and _first_replica():
                _mark(recording, self, result)
        return result

    setattr(owner, method, applied)


def _first_replica() -> bool:
    """Several replicas apply the same step: it counts once."""
    from tensorflow.python.distribute import distribute_lib

    context = distribute_lib.get_replica_context()
    if context is None:
        return True
    replica = getattr(context, "_replica_id_in_sync_group", 0)
    return not isinstance(replica, int) or replica == 0


def _mark(recording: Recording, optimizer: Any, result: Any) -> None:
    from tensorflow.python.framework import ops

    graph: Any = (
        None if ops.executing_eagerly_outside_functions() and not _tracing() else ops.get_default_graph()
    )
    if graph is None:
        recording.stepped(loc=recording.sites.current(2), by=_number(optimizer))
    else:
        # Several optimizers that one traced step applies, one a replica say, make one step together.
        applied = getattr(graph, "_hopscope_applied", None)
        if applied is None:
            applied = graph._hopscope_applied = {}
        applied[id(optimizer)] = applied.get(id(optimizer), 0) + 1
        graph._hopscope_steps = max(applied.values())
        # A session of TensorFlow 1 runs what the method returned, once a step.
        made: set[str] = getattr(graph, "_hopscope_train_ops", set())
        graph._hopscope_train_ops = made | {getattr(result, "name", "")}


def _number(optimizer: Any) -> int:
    """Tells optimizers apart that one line applies: by turns they make a step together."""
    return _optimizers.setdefault(id(optimizer), min(len(_optimizers), _MOST_TOLD_APART))


def _tracing() -> bool:
    from tensorflow.python.eager import context

    return not context.executing_eagerly()
