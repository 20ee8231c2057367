"""Records every eager op: where it ran, its line, and whose values the host makes something of.

All generated functions of `mx.nd` and `mx.np` go through one Python function; the few that take
MXNet's newer call interface (`mx.np.zeros`, `mx.np.tensordot`) go through one method. What this costs
is paid on every op, so the common case is look-ups in tables and one increment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

from ..trace.hop import HOST
from ..trace.recording import SINGLE_EVENTS, Recording, clock
from ..trace.schema import OpFields, TogetherFields
from .arrays import Arrays
from .copied_again import CopiedAgain
from .copies import Copies
from .copy_calls import SLICE_ASSIGNMENT, copy_call
from .from_nothing import FromNothing
from .marks import Mark, Moved, Origin
from .mixed_inputs import MixedInputs
from .op_entries import Entry
from .op_names import op_names
from .refused_devices import RefusedDevices
from .scopes import scope_device, scope_line
from .tape import COPIES, Tape
from .uploads import Uploads
from .without_context import WithoutContext


class Ops:
    """What is known of the ops that ran, and what to call after each."""

    def __init__(self, recording: Recording, arrays: Arrays, tape: Tape) -> None:
        """`tape` follows what autograd records."""
        self.recording = recording
        self.arrays = arrays
        self.tape = tape
        self.names = op_names()
        self.again = CopiedAgain(recording, arrays)
        self.without_context = WithoutContext(arrays)
        self.from_nothing = FromNothing(recording, arrays, tape)
        arrays.on_used = self.from_nothing.used
        self.mixed = MixedInputs(recording, arrays, self.names, self.without_context)
        self.refused = RefusedDevices(recording, self.names)
        self.uploads = Uploads(recording, arrays, self.without_context)
        self._copied = Copies(recording, arrays, tape, self.again, self.from_nothing).copied
        self._mixed_inputs = self.mixed.taken
        self._entries: dict[Any, Entry] = {}

    def hook(self) -> Callable[[Any, Sequence[Any], Any, Any], None]:
        """What to call after an op: (C handle or name, inputs, what it returned, what it was given as out).

        A closure, because it runs with every op and a closure's names cost less than attributes.
        """
        recording, arrays, tape = self.recording, self.arrays, self.tape
        current, event, marks, entries = recording.sites.current, recording.event, arrays.marks, self._entries

        def invoked(name: Any, inputs: Sequence[Any], outputs: Any, out: Any) -> None:
            try:
                location = current(2)
                device: Any = None
                mark: Any = None
                mixed = False
                for array in inputs:
                    mark = marks.get(array.handle.value)
                    if mark is None:
                        mark = arrays.mark(array.handle)
                    if device is None:
                        device = mark.device
                    elif mark.device is not device:
                        mixed = True
                simple = device is not None and out is None and not mixed
                entry = entries.get((name, location, device)) if simple else None
                if entry is None or entry.apart or type(outputs) is list:
                    self._unusual(name, inputs, outputs, out, location, device, mixed)
                    return
                # The rest is the common case: one new array from arrays of one device, and the line is known.
                counts, key = recording.counts, entry.key
                count = counts[key] + 1
                counts[key] = count
                if count <= SINGLE_EVENTS:
                    event("op", clock(), 0, key)
                if tape.on:
                    tape.made(inputs, (outputs,), entry.forward)
                made = entry.made_from.get(mark)
                if made is None:
                    made = self._first_made(entry, mark, inputs, outputs.handle, location)
                marks[outputs.handle.value] = made
                total = made.total
                size = made.bytes + total[0]
                total[0] = size
                if size > total[1]:  # noqa: PLR1730 - a call of max costs more than all the rest here
                    total[1] = size
            except Exception as error:  # noqa: BLE001 - the program's op must not fail by it
                recording.failed("operators", error)

        return invoked

    def _first_made(
        self, entry: Entry, mark: Mark, inputs: Sequence[Any], handle: Any, location: int
    ) -> Mark:
        """Mark of what an op at a known line made of inputs that are new there; `mark` is that of the last.

        The mark is kept, so that the next time one look-up finds it.
        """
        device = entry.mark.device
        if device is HOST:
            self.from_nothing.taken(entry.name, location, inputs)
        moved = mark.moved if entry.moves else None
        origin = self._origin(device, inputs, location)
        made = self._marked(entry, self.arrays.size(handle), device, origin, moved)
        # What nothing is known of may have any size next time; a mark of its own has none.
        if mark.op != "?" and mark.sent is None:
            entry.made_from[mark] = made
        return made

    def _unusual(
        self,
        name: Any,
        inputs: Sequence[Any],
        outputs: Any,
        out: Any,
        location: int,
        device: Any,
        mixed: bool,
    ) -> None:
        """The first op at a line, several outputs, outputs that were there before, copies, mixed inputs."""
        group: Sequence[Any] = outputs if isinstance(outputs, (list, tuple)) else (outputs,)
        if not group:
            # Without outputs, as `reset_arrays` of `zero_grad`, it writes to what it is given.
            group = out = inputs
        if not group:
            return
        fresh = group[0].handle.value not in self.arrays.marks
        if out is not None:
            first = self._filled(name, group[0].handle)
            mixed = mixed or (device is not None and first is not device)
            device = first
        elif device is None:
            device = self.arrays.device(group[0].handle)
        entry = self._entries.get((name, location, device))
        if entry is None:
            entry = self._define(name, location, device, inputs, () if out is None else group)
        self.recording.happened(entry.key, "op")
        copy = None
        if entry.copies:
            copy = self._copied(inputs[0], group[0], entry, location)
        elif mixed:
            self._mixed_inputs(entry.name, inputs, device, location, "read")
        if entry.writes:
            self.again.written(inputs)
        if self.tape.on:
            self.tape.made(inputs, group, entry.forward, copy)
        origin, moved = self._origin(device, inputs, location), None
        if entry.copies or entry.moves:
            origin, moved = self._handed_on(entry, inputs[0].handle, group[0].handle, origin)
        if out is None:
            self._created(entry, group, origin, moved)
        else:
            self._written(entry, inputs, group, fresh, origin, moved)

    def _handed_on(
        self, entry: Entry, source: Any, target: Any, origin: Optional[Origin]
    ) -> tuple[Optional[Origin], Optional[Moved]]:
        """The origin, and where from, of values that an op copies or only gives another shape."""
        device, location = entry.mark.device, entry.mark.loc
        mark = self.arrays.marks[source.value]
        moved = mark.moved if self.arrays.told_of(source) else None
        if entry.copies and mark.device is not device:
            moved = (mark.device, location)
            origin = Origin(*moved) if device is HOST else origin
        return origin, moved if self.arrays.told_of(target) else None

    def _created(
        self, entry: Entry, outputs: Sequence[Any], origin: Optional[Origin], moved: Optional[Moved]
    ) -> None:
        """An op made these arrays anew."""
        arrays, device = self.arrays, entry.mark.device
        for output in outputs:
            size = arrays.size(output.handle)
            arrays.made(output.handle, self._marked(entry, size, device, origin, moved))

    def _written(
        self,
        entry: Entry,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        fresh: bool,
        origin: Optional[Origin],
        moved: Optional[Moved],
    ) -> None:
        """An op gave new values to these arrays, which keep their place and size.

        `fresh`: of none of them was anything known, as of those that `copyto` makes.
        """
        arrays, location = self.arrays, entry.mark.loc
        marks = arrays.marks
        value = inputs[0] if inputs else None
        for output in outputs:
            handle = output.handle
            old = marks.get(handle.value) or arrays.mark(handle)
            mark = self._marked(entry, old.bytes or arrays.size(handle), old.device, origin, moved)
            if fresh:  # no view of it can be there yet
                marks.pop(handle.value, None)
            arrays.made(handle, mark)
            arrays.overwritten(handle, entry.name, value, location)

    def _filled(self, name: Any, handle: Any) -> str:
        """Where the array lies that an op was given for its values.

        To assign to an array of an operator in Python, which says cpu(0) on any CPU context, the library
        copies the value to cpu(0) first: on a GPU, whose arrays say where they are, it would not.
        """
        device = self.arrays.mark(handle).device
        inside = getattr(self.arrays.inside, "device", HOST)
        if inside is HOST or device is not HOST or self.names.get(name, name) not in COPIES:
            return device
        if copy_call(self.recording.sites, 5)[0] != SLICE_ASSIGNMENT:
            return device
        self.arrays.marks[handle.value] = Mark("?", 0, inside)
        return inside

    def _marked(
        self, entry: Entry, size: int, device: str, origin: Optional[Origin], moved: Optional[Moved]
    ) -> Mark:
        mark = entry.marks.get((size, device, origin, moved))
        if mark is None:
            mark = entry.mark.holding(origin, moved, size, self.arrays.totals[device], device)
            entry.marks[(size, device, origin, moved)] = mark
        return mark

    def _define(
        self, name: Any, location: int, device: str, inputs: Sequence[Any], written: Sequence[Any]
    ) -> Entry:
        """What is constant for an op that runs at a line for the first time; `written` was there before."""
        text = str(self.names.get(name, name) if isinstance(name, int) else name)
        scope = scope_device()
        requested = device if not inputs and (scope == device or device != HOST) else ""
        fields = OpFields(
            op=text,
            device=device,
            requested=requested,
            loc=location,
            forward_loc=0,
            scope_loc=scope_line() if requested else 0,
        )
        key = self.recording.key(("op", text, device, location), "op", fields)
        entry = Entry(text, key, Mark(text, location, device, requested, 0, self.arrays.totals[device]))
        self._entries[(name, location, device)] = entry
        taken = (*inputs, *written)
        self.without_context.ran(text, location, device, taken)
        self.from_nothing.ran(text, location, device, taken)
        return entry

    def _origin(self, device: str, inputs: Sequence[Any], location: int) -> Optional[Origin]:
        """Where the value of what the host makes of these comes from; None on other devices: they hold it."""
        if device is not HOST:
            return None
        marks, wanted = self.arrays.marks, self.arrays.wanted
        origins = list(filter(None, (marks[array.handle.value].origin for array in inputs)))
        if len(origins) > 1 and len({origin[0] for origin in origins}) > 1:
            # A weight that takes one device's gradient, and another's the next time, puts none together.
            if any(array.handle.value in wanted for array in inputs):
                return origins[0]
            for source, copied, _ in origins:
                fields = TogetherFields(loc=copied, device=source, made_loc=location)
                self.recording.key(("together", copied, source, location), "together", fields, counted=False)
        if len(origins) < 2:
            return origins[0] if origins else None
        first = origins[0]
        devices = {one for origin in origins for one in (origin.device, *origin.others)}
        return Origin(first.device, first.loc, tuple(sorted(devices - {first.device})))
