"""Runs less usual ways of a framework's, and prints a line of each: what came of it, or the error it raised.

After `broken` it runs them once more, with all of the recorder's own functions made to raise.
"""

import importlib
import re
import sys
import threading
import types

PARTS = {
    "tensorflow": ("unusual_tf_values", "unusual_tf_graphs", "unusual_tf_training"),
    "mxnet": ("unusual_mx_arrays", "unusual_mx_python", "unusual_mx_training"),
}
KEPT = {
    *("Recording.guard", "Recording.failed", "Recording.unseen", "failed"),  # these keep the errors
    *("is_own", "_is_recorders", "_is_interpreters_call", "_is_of_program"),  # and these say whose they are
    *("Replicas.note", "RefusedDevices.op", "RefusedDevices.asked", "_Finder.find_spec"),  # guarded whole
    *("applying", "wall", "_now", "_set", "forward_words", "_of_mxnet", "_no_tape"),
    *("drop_frame", "_drop", "stands_for", "noted"),  # nothing in them can raise
}
CHANGING = re.compile(r"line \d+|0x[0-9a-f]+|\d{4,}|_\d+|hybridsequential\d+|[a-z]+\d+_")
MOST = 200
broken = False


class Odd:
    """Raises for whatever it is asked."""

    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError("odd eq")

    def __bool__(self):
        raise RuntimeError("odd bool")

    def __len__(self):
        raise RuntimeError("odd len")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise RuntimeError(f"odd {name}")


class OddThread(threading.Thread):
    """Takes no attribute of the recorder's."""

    def __setattr__(self, name, value):
        if name.startswith("_hopscope"):
            raise RuntimeError("not mine")
        super().__setattr__(name, value)


def raising(function):
    def raises(*args, **kwargs):
        if broken and threading.current_thread()._name != "hopscope":
            raise ValueError("made to fail")
        return function(*args, **kwargs)

    return raises


def break_all(owner, module):
    for name, value in list(vars(owner).items()):
        if name.startswith("__") or getattr(value, "__qualname__", "") in KEPT:
            continue
        if isinstance(value, types.FunctionType) and value.__module__.startswith("_hopscope."):
            setattr(owner, name, raising(value))
        elif isinstance(value, type) and value.__module__ == module and not issubclass(value, tuple):
            break_all(value, module)


def say(line):
    # As one write: where Python does not buffer, print() makes two, and the framework's log comes between.
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def run_all(framework):
    for part in PARTS[framework]:
        module = importlib.import_module(part)
        for name, function in list(vars(module).items()):
            if not isinstance(function, types.FunctionType) or not name.startswith("try_"):
                continue
            try:
                told = CHANGING.sub("#", str(function()))
            except Exception as error:  # noqa: BLE001 - whatever it raises is compared
                # Further on there may be frames, of the recorder's too.
                told = CHANGING.sub("#", f"{type(error).__module__}.{type(error).__name__}: {error}")[:MOST]
            say(f"{name}: {told}".replace("\n", " "))


if __name__ == "__main__":
    run_all(sys.argv[1])
    if sys.argv[2:] == ["broken"]:
        say("broken")
        for name, module in list(sys.modules.items()):
            if name.startswith("_hopscope.") and not name.endswith((".writer", ".guard")):
                break_all(module, name)
        broken = True
        run_all(sys.argv[1])
        broken = False
    say("done")
