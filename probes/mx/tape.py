"""Follows what autograd records, to know what the backward pass does: it runs inside one call of MXNet.

An op that a loss depends on has its gradient computed where the op ran, and a copy between contexts has
its gradient copied the other way round. Each recorded op is a node with the nodes that it depends on; a
backward pass counts those that its heads reach. That is inferred, and told so: the exact-line mode
measures it.

As in MXNet a node belongs to its array: it goes when the array is freed, since another may get its
address, and a backward pass forgets the nodes that it reached, not those of other losses (`RunGraph` and
`AGInfo::Clear` in imperative.cc).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Callable, Optional

from ..trace.hop import COPIED_BACK, HopConsumer, HopProducer, HopTensor, hop_key
from ..trace.recording import SINGLE_EVENTS, Recording, clock
from ..trace.schema import MarkFields, OpFields
from .arrays import Arrays
from .exact import BACKWARD, ExactLines
from .variables import marked

MOST_NODES = 200_000
"""Recorded ops that are kept while no backward pass comes; then they are forgotten, and that is told."""
_LOOKS = 4
"""So many backward passes of a line are looked at for what one loss depends on."""
_VIEWS = {"_slice": "slice", "_at": "slice", "reshape": "Reshape"}
"""The op that autograd records where a method makes a view (`SliceWithRecord`, `ReshapeWithRecord`)."""
_SHARING = frozenset({"as_np_ndarray", "as_nd_ndarray"})
"""Methods whose result is the same array by another name."""
COPIES = frozenset({"_copyto", "_np_copyto", "_npi_copyto"})
_STOPS = frozenset({"BlockGrad", "stop_gradient", "zeros_like", "ones_like", "argmax", "argmin", "argsort"})
"""Ops that hand no gradient back."""
Copy = tuple[str, str, tuple[int, ...], tuple[str, int], str]
"""(source, destination, shape, (dtype, bytes an element), producer's op) of a forward copy."""


class Forward:
    """What is constant for an op that autograd records at a line on a device."""

    __slots__ = ("device", "keys", "loc", "name", "stops")

    def __init__(self, name: str, loc: int, device: str) -> None:
        self.name = name
        self.loc = loc
        self.device = device
        self.stops = name in _STOPS
        self.keys: dict[int, int] = {}
        """Key of its backward op by the location that asked for the backward pass."""


Node = tuple[Forward, list[Any], Optional[Copy]]
"""One recorded execution of an op: (op, the nodes that it depends on, what it copied)."""


class Tape(threading.local):
    """Of each thread, as autograd's is."""

    def __init__(self, recording: Recording, arrays: Arrays, exact: Optional[ExactLines]) -> None:
        """Nothing is recorded yet; `exact` measures what backward passes do, where it runs."""
        self.on = False
        """Autograd records now."""
        self._recording = recording
        self._exact = exact
        self._arrays = arrays
        self._wanted = arrays.wanted
        self._nodes: dict[int, Node] = arrays.nodes
        self._made = 0
        self._views: dict[tuple[str, int, str], Forward] = {}
        self._keys: dict[Any, int] = {}
        self._looked: dict[int, int] = {}
        self._scopes: dict[int, int] = {}
        """Key of each line that has autograd record."""

    def began(self, location: int) -> None:
        """Autograd records from now on: what a loop without an optimizer object does once a round."""
        key = self._scopes.get(location)
        if key is None:
            fields = MarkFields(name="record", loc=location)
            key = self._scopes[location] = self._recording.key(
                ("record", location), "mark", fields, counted=False
            )
        self._recording.counts[key] += 1
        self._recording.event("mark", clock(), 0, key)

    def made(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        forward: Forward,
        copy: Optional[Copy] = None,
    ) -> None:
        """An op ran while autograd recorded; only one that depends on a variable is of interest."""
        nodes, wanted = self._nodes, self._wanted
        parents: list[Any] = []
        depends = False
        for array in inputs:
            address = array.handle.value
            parent = nodes.get(address)
            if parent is not None:
                parents.append(parent)
                depends = True
            elif address in wanted:
                depends = True
        if depends and not forward.stops:
            node = (forward, parents, copy)
            made = self._made + 1
            self._made = made
            if made > MOST_NODES:
                self._forget()
            for output in outputs:
                nodes[output.handle.value] = node
        else:
            for output in outputs:
                nodes.pop(output.handle.value, None)

    def viewed(self, name: str, handle: Any, of: Any) -> None:
        """`handle` is a view of `of` by this method: while autograd records, that is an op like others."""
        nodes = self._nodes
        node = nodes.get(of.value)
        if name in _SHARING:
            if node is not None:
                nodes[handle.value] = node
        elif self.on and name in _VIEWS and (node is not None or of.value in self._wanted):
            place = _VIEWS[name], self._recording.sites.current(), self._arrays.mark(of).device
            forward = self._views.get(place)
            if forward is None:
                forward = self._views[place] = Forward(*place)
            nodes[handle.value] = (forward, [] if node is None else [node], None)

    def _forget(self) -> None:
        self._recording.unseen(
            "ops recorded for a backward pass", f"over {MOST_NODES} came before it", self._made
        )
        self._nodes.clear()
        self._made = 0

    def backward(self, heads: Sequence[int], location: int, retain: bool) -> None:
        """A backward pass from the arrays at these addresses was run by the code at `location`."""
        recording, exact = self._recording, self._exact
        counts = recording.counts
        inferred = exact is None or not exact.running
        waiting = list(filter(None, map(self._nodes.get, heads)))
        if self._arrays.apart is not None and self._arrays.apart.on:
            self._tell_together(waiting, location)
        seen = set(map(id, waiting))
        while waiting:
            forward, parents, copy = waiting.pop()
            if inferred:
                key = forward.keys.get(location)
                if key is None:
                    key = forward.keys[location] = self._op_key(forward, copy, location)
                    counts = recording.counts
                count = counts[key] + 1
                counts[key] = count
                if count <= SINGLE_EVENTS:
                    recording.event("op", clock(), 0, key)
            if copy is not None:
                self._copied_back(forward, copy, location)
                counts = recording.counts
            elif exact is not None and forward.name in COPIES:
                exact.stays(location, BACKWARD, forward.device)
            for parent in parents:
                if id(parent) not in seen:
                    seen.add(id(parent))
                    waiting.append(parent)
        if not retain:
            self._forget_reached(seen)

    def _forget_reached(self, reached: set[int]) -> None:
        """Forget the nodes that a backward pass reached, by their ids."""
        # Other threads have theirs in the same table: copied at once, not walked through.
        for address, node in list(self._nodes.items()):
            if id(node) in reached:
                self._nodes.pop(address, None)
        self._made = 0

    def _tell_together(self, heads: Sequence[Node], location: int) -> None:
        """Tell, the first times at a line, of the devices that one loss depends on."""
        looked = self._looked[location] = self._looked.get(location, 0) + 1
        if looked > _LOOKS or self._arrays.apart is None:
            return
        for head in heads:
            waiting, seen, devices = [head], {id(head)}, set()
            while waiting:
                forward, parents, copy = waiting.pop()
                devices.add(copy[0] if copy else forward.device)
                waiting += (parent for parent in parents if id(parent) not in seen)
                seen.update(map(id, parents))
            if len(devices) > 1:
                self._arrays.apart.together(frozenset(devices))

    def _op_key(self, forward: Forward, copy: Optional[Copy], location: int) -> int:
        fields = OpFields(
            op=f"{forward.name} (backward)",
            device=copy[0] if copy else forward.device,
            requested="",
            loc=location,
            forward_loc=forward.loc,
            basis="inferred",
        )
        return self._recording.key(
            ("backward", forward.name, forward.loc, forward.device, location), "op", fields
        )

    def _copied_back(self, forward: Forward, copy: Copy, location: int) -> None:
        identity = ("reverse", copy, forward.loc, location)
        key = self._keys.get(identity)
        if key is None:
            src, dst, shape, dtype, producer = copy
            size = dtype[1]
            for extent in shape:
                size *= extent
            fields = hop_key(
                HopProducer(dst, f"{forward.name} (backward)"),
                HopConsumer(src, f"{producer} (backward)", location, forward_loc=forward.loc),
                HopTensor(size, dtype[0], shape, "inferred"),
                "copy",
                facts={"copy_call": COPIED_BACK, "within": BACKWARD},
            )
            key = self._keys[identity] = self._recording.key(identity, "hop", fields)
        self._recording.happened(key, "hop")


def install(recording: Recording, arrays: Arrays, exact: Optional[ExactLines]) -> Tape:
    """Follow when autograd records, which arrays it wants gradients for, and when it runs backward."""
    from mxnet.base import _LIB

    lib: Any = _LIB
    tape = Tape(recording, arrays, exact)
    arrays.on_view = tape.viewed
    guard = recording.guard("backward passes")
    set_recording: Callable[..., int] = lib.MXAutogradSetIsRecording
    mark_variables: Callable[..., int] = lib.MXAutogradMarkVariables
    run_backward: Callable[..., int] = lib.MXAutogradBackwardEx

    def MXAutogradSetIsRecording(on: Any, before: Any) -> int:
        tape.on = bool(getattr(on, "value", on))
        if tape.on:
            with guard:
                tape.began(recording.sites.current())
        return set_recording(on, before)

    def MXAutogradMarkVariables(count: Any, handles: Any, *rest: Any) -> int:
        with guard:
            addresses = handles[: getattr(count, "value", count)]
            arrays.wanted.update(addresses)
            marked(arrays, addresses, recording.sites.current())
        return mark_variables(count, handles, *rest)

    def MXAutogradBackwardEx(count: Any, heads: Any, *rest: Any) -> int:
        status = run_backward(count, heads, *rest)
        if status == 0:
            # (gradients of the heads, number of variables, variables, retain_graph, ..)
            with guard:
                location = recording.sites.current()
                retain = bool(getattr(rest[3], "value", rest[3]))
                tape.backward(heads[: getattr(count, "value", count)], location, retain)
        return status

    lib.MXAutogradSetIsRecording = MXAutogradSetIsRecording
    lib.MXAutogradMarkVariables = MXAutogradMarkVariables
    lib.MXAutogradBackwardEx = MXAutogradBackwardEx
    return tape
