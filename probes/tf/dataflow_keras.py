"""Notes, in a pre-flight, what Keras decides by whether there is a GPU: cuDNN's kernels, and XLA.

Both are decided when a layer is made or a model compiled, by what is noted here: a layer's arguments (Keras
3: `_do_lstm_arguments_support_cudnn` in backend/tensorflow/rnn.py; Keras 2: `_could_use_gpu_kernel`), and
whether every layer of a model allows XLA (Keras 3: `Trainer.compile`).
"""

from __future__ import annotations

import contextlib
import inspect
from types import ModuleType
from typing import Any, Callable

from ..imports import after_import
from ..trace.frames import PASSING, stands_for
from .dataflow import Dataflow

_LAYERS = {
    "keras.src.layers.rnn.lstm": "LSTM",
    "keras.src.layers.rnn.gru": "GRU",
    "tf_keras.src.layers.rnn.lstm": "LSTM",
    "tf_keras.src.layers.rnn.gru": "GRU",
}
_FORESEEN = "what Keras decides by the GPUs there are"
_TRAINER = "keras.src.trainers.trainer"


def install(flow: Dataflow) -> None:
    """Wrap them where Keras is imported, now or later."""
    for module, layer in _LAYERS.items():
        after_import(module, _layer_hook(flow, layer))
    after_import(_TRAINER, _trainer_hook(flow))


def _layer_hook(flow: Dataflow, name: str) -> Callable[[ModuleType], None]:
    def hook(module: ModuleType) -> None:
        owner: Any = getattr(module, name, None)
        if owner is None:
            return
        made: dict[int, int] = {}
        runs = "inner_loop" if "inner_loop" in vars(owner) else "call"
        init, original = owner.__init__, vars(owner)[runs]
        guard = flow.recording.guard(_FORESEEN)

        @stands_for(init)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            with PASSING:
                init(self, *args, **kwargs)
            with guard:
                made[id(self)] = flow.recording.sites.current()

        @stands_for(original)
        def called(self: Any, *args: Any, **kwargs: Any) -> Any:
            with guard:
                location = made.get(id(self)) or flow.recording.sites.current()
                masked = kwargs.get("mask") is not None or _second(runs, args) is not None
                facts = {"layer": name, "name": self.name, "against": against(self), "masked": masked}
                flow.note(f"rnn {self.name}", location, {**facts, "keras": 3 if runs == "inner_loop" else 2})
            with PASSING:
                return original(self, *args, **kwargs)

        owner.__init__ = __init__
        setattr(owner, runs, called)

    return hook


def _second(runs: str, args: Any) -> Any:
    """A mask that was given by its place: inner_loop(sequences, state, mask), call(inputs, mask)."""
    at = 2 if runs == "inner_loop" else 1
    return args[at] if len(args) > at else None


def against(layer: Any) -> list[str]:
    """Which of a layer's arguments keep Keras from taking cuDNN's kernel for it; empty where none does."""
    found = []
    for argument, wanted in (("activation", "tanh"), ("recurrent_activation", "sigmoid")):
        chosen = getattr(getattr(layer, argument, None), "__name__", None)
        if chosen != wanted:
            found.append(f"{argument} is {chosen or 'of its own'}, not {wanted}")
    if getattr(layer, "recurrent_dropout", 0):
        found.append("it has recurrent_dropout")
    if getattr(layer, "unroll", False):
        found.append("it is unrolled")
    if not getattr(layer, "use_bias", True):
        found.append("it has no bias")
    if getattr(layer, "reset_after", None) is False:
        found.append("reset_after is False")
    if getattr(layer, "use_cudnn", "auto") is False:
        found.append("use_cudnn is False")
    return found


def _trainer_hook(flow: Dataflow) -> Callable[[ModuleType], None]:
    def hook(module: ModuleType) -> None:
        owner: Any = getattr(module, "Trainer", None)
        supports: Any = getattr(module, "model_supports_jit", None)
        original: Any = getattr(owner, "compile", None)
        if supports is None or original is None:
            return
        signature = inspect.signature(original)
        guard = flow.recording.guard(_FORESEEN)

        @stands_for(original)
        def compiled(self: Any, *args: Any, **kwargs: Any) -> Any:
            # Keras tells of wrong arguments itself.
            with guard, contextlib.suppress(TypeError):
                given = signature.bind(self, *args, **kwargs)
                given.apply_defaults()
                if given.arguments.get("jit_compile") == "auto" and not given.arguments.get("run_eagerly"):
                    flow.note("keras-jit", flow.recording.sites.current(), _compiled(self, supports))
            with PASSING:
                return original(self, *args, **kwargs)

        owner.compile = compiled

    return hook


def _compiled(model: Any, supports: Callable[[Any], Any]) -> dict[str, Any]:
    """Whether Keras would have XLA compile the model's steps, were there a GPU."""
    cudnn = []
    for layer in model._flatten_layers():
        if type(layer).__name__ in _LAYERS.values() and hasattr(layer, "use_cudnn"):
            # Not asked: recurrent_dropout. Keras rules XLA out for such a layer all the same.
            cudnn += [layer.name] if set(against(layer)) <= {"it has recurrent_dropout"} else []
    spread = getattr(model, "_distribute_strategy", None) is not None
    return {"model": model.name, "compiles": bool(supports(model)) and not cudnn and not spread}
