"""Every time Python takes a tensor's value: numpy(), float(), bool(), print and their kin."""

from __future__ import annotations

import os
import sys
import threading
from types import CodeType, FrameType
from typing import Any, Optional

from ..trace.frames import drop_frame, stands_for
from ..trace.hop import (
    ASSERTION,
    DISPATCH,
    END_OF_DATA,
    GRADIENTS,
    HOST,
    LIBRARYS_OWN,
    LOGS,
    ON_BATCH,
    OWN_THREAD,
    HopConsumer,
    HopProducer,
    HopTensor,
    hop_key,
    is_host,
)
from ..trace.pulled import PulledArrays
from ..trace.recording import Recording, clock
from ..trace.schema import SyncFields
from . import buffers
from .handed import Likeness
from .host_waits import Awaited, awaited_by
from .marks import UNRECORDED, noted
from .names import elsewhere, short_device, tensor_bytes

KINDS = {
    "numpy": "numpy",
    "__float__": "float",
    "__int__": "int",
    "__bool__": "bool",
    "__index__": "index",
    "__complex__": "complex",
    "__array__": "array",
    "__format__": "format",
    "numpy_text": "print",
    "__str__": "print",
    "__repr__": "print",
    "__len__": "len",
    "__reduce__": "pickle",
}
"""By the method of a tensor that the code calls, what that is told as."""
_KERAS = f"{os.sep}keras{os.sep}"
_DISTRIBUTE = os.path.join("tensorflow", "python", "distribute")
_ASK_FOR_MORE = (os.path.join(_DISTRIBUTE, "input_lib.py"), os.path.join("engine", "data_adapter.py"))
"""Where TensorFlow, and Keras 2, look whether there is another element, or another step to make."""
_TAKE_LOGS = ("pythonify_logs", "sync_to_numpy_or_python_type")
"""What Keras 3 and 2 call to take a batch's logs, where a callback may want them."""
_OPS = os.path.join("tensorflow", "python", "ops")
_ASSERTS = (os.path.join(_OPS, "check_ops.py"), os.path.join(_OPS, "control_flow_assert.py"))
_OF_AN_OP, _BACKPROP = "_gradient_function", os.path.join("tensorflow", "python", "eager", "backprop.py")
"""What the tape calls for each op's gradient; one of the code's own stands between it and a value taken."""
_USERS = "the user's own"
_roles: dict[int, str] = {}
"""By the ids of functions' code, which `_kept` keeps alive: what the library does in each."""
_kept: list[CodeType] = []
_COORDINATOR = os.path.join(_DISTRIBUTE, "coordinator", "cluster_coordinator.py")


class Reads:
    """Records the values that Python takes; each method is called by the hook itself, two frames below."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._pulled = PulledArrays.of(recording)
        self._known: dict[Any, int] = {}

    def taken(self, tensor: Any, kind: str, dur: int) -> None:
        """Python took a value in `dur` ns: by a method of this kind, or for a library's purpose."""
        recording = self._recording
        recording.windows.resume()
        home = noted(tensor, "_hopscope_home")
        location = recording.sites.current(2)
        purpose = purpose_of(recording, sys._getframe(2))
        kind = purpose or kind
        if home is not None and not home.known:
            lies = short_device(tensor.backing_device)
            like = Likeness(tensor)
            home.later(lambda device: self._told(like, device or lies, kind, location, None, dur))
            return
        device = (home is not None and home.device) or short_device(tensor.backing_device)
        awaited = awaited_by(tensor) if is_host(device) and purpose not in LIBRARYS_OWN else None
        if awaited is not None and _by_keras(recording, sys._getframe(2)):
            awaited = None
        self._told(tensor, device, kind, location, awaited, dur)

    def _told(
        self, tensor: Any, device: str, kind: str, location: int, awaited: Optional[Awaited], dur: int
    ) -> None:
        identity = ("sync", device, kind, location, tensor._datatype_enum(), tensor._shape_tuple(), awaited)
        key = self._known.get(identity)
        if key is None:
            size = tensor_bytes(tensor)
            fields = SyncFields(device=device, kind=kind, loc=location, bytes=size, basis="measured")
            if awaited is not None:
                fields["copied_from"], fields["copy_loc"] = awaited
            key = self._known[identity] = self._recording.key(identity, "sync", fields)
        self._recording.happened(key, "sync", dur)
        if not is_host(device) or elsewhere(device):
            _pull(self._recording, tensor, device, kind, location, dur)

    def array(self, tensor: Any, array: Any) -> None:
        """Python took an array, which may be sent on."""
        home = noted(tensor, "_hopscope_home")
        device = (home is not None and home.device) or short_device(tensor.backing_device)
        if not is_host(device) or elsewhere(device):
            self._pulled.took(array, device, self._recording.sites.current(2))


def install(recording: Recording) -> None:
    """Wrap the one method, and the one C slot, through which an eager tensor's value reaches Python."""
    import numpy as np
    from tensorflow.python.framework import ops

    base: Any = getattr(ops, "_EagerTensorBase", None) or ops.EagerTensor.__mro__[1]
    reads, windows, amount = Reads(recording), recording.windows, recording.windows.amount()
    guard = recording.guard("values that Python takes")
    original = base._numpy

    @stands_for(original)
    def _numpy(self: Any) -> Any:
        start = clock()
        try:
            value = original(self)
        except BaseException as error:
            drop_frame(error)
            raise
        amount.now += 1
        if windows.paused and amount.now <= amount.most:
            return value
        dur, kind = clock() - start, KINDS.get(sys._getframe(1).f_code.co_name, "other")
        with guard:
            reads.taken(self, kind, dur)
        return value

    base._numpy = _numpy
    take = base.numpy

    @stands_for(take)
    def numpy(self: Any) -> Any:
        try:
            array = take(self)
        except BaseException as error:
            drop_frame(error)
            raise
        if not windows.paused and type(array) is np.ndarray:
            with guard:
                reads.array(self, array)
        return array

    def read(tensor: Any, dur: int) -> None:
        with guard:
            reads.taken(tensor, "array", dur)

    base.numpy = numpy
    buffers.install(recording, ops.EagerTensor, read)


def purpose_of(recording: Recording, frame: Optional[FrameType]) -> str:
    """What a library takes a value for, '' where it is the code's own doing.

    Looked at each time: one call of `fit` takes values for several purposes. From the user's own code it is
    a step or two.
    """
    purpose = asserts = ""
    known = _roles
    while frame is not None:
        role = known.get(id(frame.f_code))
        if role is None:
            role = _role(recording, frame.f_code)
        if role:
            if role is _USERS:
                break
            if role in (DISPATCH, GRADIENTS):
                return role
            if role == LOGS:
                return _of_logs(recording, frame)
            if role == END_OF_DATA:
                purpose = role
            elif role == ASSERTION:
                asserts = role
        frame = frame.f_back
    if frame is not None:
        return purpose or asserts
    return purpose or ("" if threading.get_ident() == threading.main_thread().ident else OWN_THREAD)


def _role(recording: Recording, code: CodeType) -> str:
    """What a function has to do with the values that are taken below it; to be looked at once each."""
    _kept.append(code)
    role = _roles[id(code)] = _role_of(recording, code)
    return role


def _role_of(recording: Recording, code: CodeType) -> str:
    file, name = code.co_filename, code.co_name
    if recording.sites.is_user(file):
        return _USERS
    if file.endswith(_ASK_FOR_MORE):
        return END_OF_DATA
    if file.endswith(_COORDINATOR) and name == "_process_queue":
        # One such thread a worker runs what was scheduled, and makes the workers' iterators.
        return DISPATCH
    if name in _TAKE_LOGS:
        return LOGS
    if name == _OF_AN_OP and file.endswith(_BACKPROP):
        return GRADIENTS
    return ASSERTION if file.endswith(_ASSERTS) else ""


def _of_logs(recording: Recording, frame: FrameType) -> str:
    """The method that the code calls for each batch in a loop of its own; else Keras takes them itself."""
    caller: Optional[FrameType] = frame
    while caller is not None and caller.f_code.co_name in _TAKE_LOGS:
        caller = caller.f_back
    by = caller.f_back if caller is not None else None
    if caller is None or by is None or not recording.sites.is_user(by.f_code.co_filename):
        return LOGS
    return caller.f_code.co_name if caller.f_code.co_name in ON_BATCH else LOGS


def _by_keras(recording: Recording, frame: Optional[FrameType]) -> bool:
    """Whether Keras takes it, for itself: whether a step had data, say, which its own transfers tell."""
    while frame is not None and not recording.sites.is_user(frame.f_code.co_filename):
        if _KERAS in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def _pull(recording: Recording, tensor: Any, device: str, kind: str, location: int, dur: int) -> None:
    mark = noted(tensor, "_hopscope") or UNRECORDED
    shape = tuple(tensor.shape)
    place = ("pull", device, kind, location, tensor.dtype, shape)
    identity = (*place, mark[0], mark[1])
    key = recording.known_key(place if mark is UNRECORDED else identity)
    if key is None:
        fields = hop_key(
            HopProducer(device, mark[0], mark[1], mark[2], mark[3]),
            HopConsumer(HOST, "Python", location, names=[kind]),
            HopTensor(tensor_bytes(tensor), tensor.dtype.name, shape),
            "pull",
            facts={"sync": kind},
        )
        key = recording.key(identity, "hop", fields)
        recording.also_known(place, key)
    recording.happened(key, "hop", dur)
