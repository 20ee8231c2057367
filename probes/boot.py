"""Starts recording in a user's process: waits for a framework to be imported, then installs its recorder."""

from __future__ import annotations

import atexit
import importlib
import os
import sys

from .imports import after_import

TYPE_CHECKING = False
# See imports.py: most starts of Python end without a framework.
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, Optional

    from .imports import Hook
    from .trace.recording import Recording

    FolderOf = Callable[[str], Optional[str]]
    """Gives the folder of the run in which a framework, by its name, is recorded; None for none now."""


class Recorder:
    """How a framework's recorder is started."""

    def __init__(
        self, framework: str, after: str, module: str, roles: Optional[tuple[str, str]] = None
    ) -> None:
        """`install` of `module`, in this package, starts it after the import of the module `after`.

        `roles` are (environment variable, value) where it starts only in processes of that role.
        """
        self.framework = framework
        self.after = after
        self.module = module
        self.roles = roles


_SERVING = "DMLC_ROLE"
_RECORDERS = (
    Recorder("tensorflow", "tensorflow", "tf.install"),
    Recorder("mxnet", "mxnet", "mx.install"),
    # A parameter server never gets past `import mxnet`: it serves in there, and then exits.
    Recorder("mxnet", "mxnet.kvstore.kvstore", "mx.serving", (_SERVING, "server")),
    Recorder("mxnet", "mxnet.kvstore.kvstore", "mx.serving", (_SERVING, "scheduler")),
)
_PREPARATIONS: dict[str, str] = {"mxnet.libinfo": "mx.room"}
"""The module whose import comes before the framework's library -> the one whose `prepare` is called then."""

_EDITS = "HOPSCOPE_EDITS"
"""As in edited.py."""
_PREFLIGHT = "HOPSCOPE_PREFLIGHT_STEPS"
"""As in preflight.py."""

NOT_RECORDED = 70
"""The exit status of a pre-flight that could not begin: EX_SOFTWARE of sysexits.h."""
_recordings: dict[str, Recording] = {}
_folder_of: FolderOf = lambda framework: None  # noqa: E731 - until there is one
_root: Optional[str] = None
_armed = False
whole: Optional[Callable[[], str]] = None
"""Gives the folder of the run into which this whole process is recorded; None where it is not."""


def start(run_dir: str) -> None:
    """Record this process into `run_dir`/trace from the moment it imports a framework."""
    global whole
    if os.environ.get(_EDITS):
        _part("trace.edited").install()
    if os.environ.get(_PREFLIGHT):
        _part("trace.preflight_end").prepare()
    whole = lambda: run_dir  # noqa: E731 - what others put in its place asks anew each time
    record_into(lambda framework: run_dir)


def record_into(folder_of: FolderOf, root: Optional[str] = None) -> None:
    """Record into the folders of `folder_of`, which is asked when a framework is imported, or now if it is.

    `root` is the folder that sites are relative to, where it is not the script's.
    """
    global _folder_of, _root, _armed
    _folder_of = folder_of
    _root = root or _root
    for framework, recording in list(_recordings.items()):
        folder = folder_of(framework)
        if folder:
            recording.open(os.path.join(folder, "trace"))
    if _armed:
        return
    _armed = True
    for name, preparation in _PREPARATIONS.items():
        after_import(name, _preparer(preparation))
    for recorder in _RECORDERS:
        if recorder.roles is None or os.environ.get(recorder.roles[0]) == recorder.roles[1]:
            after_import(recorder.after, _installer(recorder, late=recorder.after in sys.modules))


def pause() -> None:
    """End the traces as the process's end would; nothing is kept until `record_into` is called again."""
    global _folder_of
    _folder_of = lambda framework: None  # noqa: E731 - as before the first
    for recording in list(_recordings.values()):
        recording.close()


def _preparer(preparation: str) -> Hook:
    def prepare(module: ModuleType) -> None:
        _part(preparation).prepare(module)

    return prepare


def _part(name: str) -> Any:
    """A module of this package, under whatever name the package is loaded."""
    package = __name__.rsplit(".", 1)[0]
    return importlib.import_module(f"{package}.{name}")


def _end_preflight(recorder: Recorder, error: Exception) -> None:
    """End a pre-flight that records nothing: no step would end it, and it would train to its own end."""
    if not os.environ.get(_PREFLIGHT):
        return
    for recording in _recordings.values():
        recording.end()
    sys.stderr.write(f"hopscope: can't record {recorder.framework}: {type(error).__name__}: {error}\n")
    sys.stderr.write("hopscope: so this pre-flight ends before the first step\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(NOT_RECORDED)


def _installer(recorder: Recorder, late: bool) -> Hook:
    def install(module: ModuleType) -> None:
        from .trace.recording import Recording
        from .trace.refusals import note
        from .trace.rows import EVERYTHING

        folder = trace = None
        try:
            folder = _folder_of(recorder.framework)
            trace = os.path.join(folder, "trace") if folder else None
            recording = Recording(trace, recorder.framework, _root)
        except OSError as error:
            if trace:
                note(trace, EVERYTHING, f"a process could not begin a trace: {error.strerror or error}")
            else:  # there is no run that could say so
                sys.stderr.write(f"hopscope: this run is not recorded: {error}\n")
            _end_preflight(recorder, error)
            return
        recording.late = late
        recording.whole = whole is not None
        _recordings[recorder.framework] = recording
        atexit.register(recording.end)
        package = __name__.rsplit(".", 1)[0]
        try:
            importlib.import_module(f"{package}.{recorder.module}").install(recording, module)
        except Exception as error:
            recording.unseen(EVERYTHING, f"the recorder can't follow it: {type(error).__name__}: {error}")
            _end_preflight(recorder, error)
            raise
        if folder:
            recording.start_ticking()

    return install
