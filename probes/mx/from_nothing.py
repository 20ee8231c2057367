"""Arrays that come from nothing, on the host because nobody named a context, and that are copied elsewhere.

From nothing: of sizes and numbers alone, such as random draws, zeros and ranges, and what ops make of such
arrays; not of Python's data, of parameters, or of anything that lies on the host for its own sake. It may be
made only to be sent, in one expression with the copy, or while a model is computed or updated; or a statement
makes it, and nothing is done with it but that another copies it. What a generator or a loader hands out to
feed the steps of a loop is none of these.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple, Optional

from ..trace.hop import HOST
from ..trace.recording import Recording
from ..trace.schema import HopFields, KeptFields
from .arrays import Arrays
from .copy_calls import copied_directly
from .marks import Mark
from .op_names import MOVERS
from .tape import COPIES, Tape

Made = tuple[str, int]
"""(op, location) of what made an array."""
TO_BE_SENT = "to be sent"
IN_A_MODEL = "in a model"
ONLY_COPIED = "only copied"
_UNKNOWN = ("", "?")
_FORWARD = ("forward", "hybrid_forward")
_UPDATE = ("update", "update_multi_precision", "step", "fused_step")
_HAND_ON = ("begin_state", "rand", "randn")
"""Functions that hand a context on among others of their arguments."""
_MOST = 8
"""Ops that make arrays from nothing of which one array's way is followed."""
_FEEDING = ("__next__", "next", "__getitem__")
"""Functions that hand out data, besides generators."""
_BETWEEN = ("STORE_", "POP_TOP", "RETURN_", "YIELD_")
"""What begins the names of instructions that end an expression, or give its value a name."""


class _Way(NamedTuple):
    """How an array came to be on the host."""

    makers: tuple[Made, ...]
    in_a_model: bool
    """All of it was made while a model is computed."""
    code: Optional[CodeType]
    """The user's that made it first, and how far that was: together they stand for an expression."""
    at: int
    as_made: bool
    """Nothing but that expression computed it; at most its shape is another since."""
    called_in: frozenset[CodeType]
    """What was being called as it was made."""
    fed_by: frozenset[CodeType]
    """What of that hands out data."""
    thread: int


class FromNothing:
    """What is known of such arrays, by the op and line that a mark has."""

    def __init__(self, recording: Recording, arrays: Arrays, tape: Tape) -> None:
        """Nothing ran yet."""
        self._recording = recording
        self._arrays = arrays
        self._tape = tape
        self._ways: dict[Made, Optional[_Way]] = {}
        self._taken: set[tuple[Made, Made]] = set()
        """What takes arrays of these, and is known to."""

    def ran(self, op: str, location: int, device: str, inputs: Sequence[Any]) -> None:
        """An op runs at a line for the first time; what has inputs is where they are."""
        if device is not HOST:
            return
        if inputs:
            self._ways[(op, location)] = self._of_all(op, location, inputs)
            return
        frame, caller = self._user()
        if frame is None or caller is None or not _names_none(caller):
            self._ways[(op, location)] = None
            return
        made: Made = (op, location)
        calls = frozenset(_calls(frame))
        self._ways[made] = _Way(
            makers=(made,),
            in_a_model=self._computes_a_model(frame),
            code=frame.f_code,
            at=frame.f_lasti,
            as_made=True,
            called_in=calls,
            fed_by=frozenset(filter(_hands_out, calls)),
            thread=threading.get_ident(),
        )

    def taken(self, op: str, location: int, inputs: Sequence[Any]) -> None:
        """An op of a known line takes what it had not taken there before."""
        for array in inputs:
            mark = self._arrays.mark(array.handle)
            way = self._of(mark)
            pair = (mark.op, mark.loc), (op, location)
            if way is not None and pair not in self._taken:
                self._taken.add(pair)
                if not self._goes_on(way, op):
                    self._has_reasons(way, "worked on")

    def used(self, handle: Any) -> None:
        """Something else than an op took an array's values on the host."""
        mark = self._arrays.mark(handle)
        way = self._of(mark)
        if way is not None:
            self._has_reasons(way, "worked on")

    def sent(self, source: Any, fields: HopFields) -> None:
        """Add to the fields of a transfer why an array of this kind that it copies is on the host.

        To be called when the code has it copied so for the first time.
        """
        mark = self._arrays.mark(source.handle)
        way = self._of(mark)
        if way is None or source.handle.value in self._arrays.wanted:
            return
        if mark.sent:  # it goes to another device, or by another line, as well
            self._has_reasons(way, "sent")
        frame, caller = self._user()
        if frame is None or caller is None:
            return
        if way.code is frame.f_code and _one_expression(frame.f_code, way.at, frame.f_lasti):
            why = TO_BE_SENT
        elif way.in_a_model and self._computes_a_model(frame):
            why = IN_A_MODEL
        elif self._only_copied(way, mark, source, frame, caller):
            why = ONLY_COPIED
        else:
            return
        fields["from_nothing"] = why
        fields["from_nothing_ops"] = [op for op, _ in way.makers]
        fields["from_nothing_locs"] = [location for _, location in way.makers]

    def _of(self, mark: Mark) -> Optional[_Way]:
        if mark.device is not HOST or mark.op in _UNKNOWN or mark.origin is not None:
            return None
        return self._ways.get((mark.op, mark.loc))

    def _of_all(self, op: str, location: int, inputs: Sequence[Any]) -> Optional[_Way]:
        """The way of what an op makes of these; what meets others on the host has a reason to be there."""
        marks = [self._arrays.mark(array.handle) for array in inputs]
        ways = [self._of(mark) for mark in marks]
        known = [way for way in ways if way is not None]
        makers = tuple(dict.fromkeys(made for way in known for made in way.makers))
        if not known or len(makers) > _MOST or len(known) < len(ways):
            for way in known if op not in COPIES else ():
                self._has_reasons(way, "used")
                self._has_reasons(way, "worked on")
            return None
        as_made = op in COPIES or all(self._goes_on(way, op) for way in known)
        for way in known if not as_made else ():
            self._has_reasons(way, "worked on")
        self._taken.update(((array_of.op, array_of.loc), (op, location)) for array_of in marks)
        return known[0]._replace(
            makers=makers,
            in_a_model=all(way.in_a_model for way in known),
            as_made=as_made and all(way.as_made for way in known),
            called_in=frozenset.intersection(*(way.called_in for way in known)),
            fed_by=frozenset().union(*(way.fed_by for way in known)),
        )

    def _goes_on(self, way: _Way, op: str) -> bool:
        """Whether an op belongs to the expression that makes an array, or gives it another shape only."""
        if op in MOVERS or op in COPIES:
            return True
        frame, _ = self._user()
        code = None if frame is None else frame.f_code
        return frame is not None and code is way.code and _one_expression(frame.f_code, way.at, frame.f_lasti)

    def _only_copied(self, way: _Way, mark: Mark, source: Any, frame: FrameType, caller: FrameType) -> bool:
        """Whether the code copies all of what a statement made, as it is, and from no loader."""
        if not way.as_made or way.thread != threading.get_ident() or not copied_directly(caller):
            return False
        if mark.base is not None and mark.base.bytes != self._arrays.size(source.handle):
            return False
        # What a function is handed to copy may be a batch; its own helpers make what it asks for.
        return frame.f_code in way.called_in and way.fed_by <= frozenset(_calls(frame))

    def _has_reasons(self, way: _Way, how: str) -> None:
        for op, location in way.makers:
            fields = KeptFields(op=op, loc=location, how=how)
            self._recording.key(("kept", op, location, how), "kept", fields, counted=False)

    def _computes_a_model(self, frame: FrameType) -> bool:
        """Whether autograd records, or a Block's forward or an optimizer's update is at work."""
        if self._tape.on:
            return True
        from mxnet.gluon import Block
        from mxnet.optimizer import Optimizer

        around: Optional[FrameType] = frame
        while around is not None:
            name = around.f_code.co_name
            kind = Block if name in _FORWARD else Optimizer if name in _UPDATE else None
            if kind is not None and isinstance(around.f_locals.get("self"), kind):
                return True
            around = around.f_back
        return False

    def _user(self) -> tuple[Optional[FrameType], Optional[FrameType]]:
        """The user's innermost frame, and that of the library's function that it called."""
        caller: Optional[FrameType] = None
        frame: Optional[FrameType] = sys._getframe(2)
        while frame is not None and not self._recording.sites.is_user(frame.f_code.co_filename):
            frame, caller = frame.f_back, frame
        return frame, caller


def _calls(frame: FrameType) -> Iterator[CodeType]:
    """The code of a frame, and of those that led to it."""
    around: Optional[FrameType] = frame
    while around is not None:
        yield around.f_code
        around = around.f_back


def _hands_out(code: CodeType) -> bool:
    """Whether its calls hand out data to those who loop over it."""
    return bool(code.co_flags & inspect.CO_GENERATOR) or code.co_name in _FEEDING


def _names_none(caller: FrameType) -> bool:
    """Whether a function of the library takes a context and was given none, with no context open."""
    from mxnet.base import _Null
    from mxnet.context import Context

    current = getattr(Context._default_ctx, "value", None)
    if current is not None and current._old_ctx is not None:
        return False
    given, hands_on = dict(caller.f_locals), caller.f_code.co_name in _HAND_ON
    if hands_on:
        given.update(given.get("kwargs") or {})
    names = [name for name in ("ctx", "device") if name in given]
    # A function that was given none may have put the current one in its place, this very object.
    none = all(given[name] is None or given[name] is _Null or given[name] is current for name in names)
    return none and bool(names or hands_on)


def _one_expression(code: CodeType, first: int, last: int) -> bool:
    """Whether nothing between two of its instructions ends an expression or gives a value a name."""
    import dis

    return first < last and not any(
        instruction.opname.startswith(_BETWEEN)
        for instruction in dis.get_instructions(code)
        if first < instruction.offset < last
    )
