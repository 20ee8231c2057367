"""Sessions of TensorFlow 1: what they are fed and what is fetched from them, at the line of ``session.run``.

What is fed arrives on the host and is sent to the device of the ops that take it; what is fetched is sent
from its op's device to the host (both are given ``_Arg`` and ``_Retval`` nodes on the client's device:
`RewriteGraphForExecution` in subgraph.cc). What goes on inside is read from the graphs that the session
placed (`session_graphs`); without them an op that names no device is on the host if there are no GPUs, and
its device is not known otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Optional

from ..trace.frames import PASSING, stands_for
from ..trace.hop import HOST, HopConsumer, HopProducer, HopTensor, hop_key, is_host
from ..trace.pulled import PulledArrays
from ..trace.recording import Recording, clock
from ..trace.schema import DeviceFacts, SyncFields
from .devices import facts_of
from .functions import Functions
from .names import short_device
from .session_graphs import SessionGraph, SessionGraphs
from .syncs import purpose_of

_INSIDE = "ops inside a session of TensorFlow 1"
_TOLD = "its placed graph was not given out; only what is fed to it and fetched from it is told"
_CALLABLES = "calls of a session's callable (make_callable)"
_REMOTE = "the session's ops run in other processes"
_HANDLES = ("resource", "variant", "string")


class _Session(NamedTuple):
    """What is known of a session whose ops run in this process."""

    devices: frozenset[str]
    default: str
    """Where ops go that name no device; '' where that is not known."""
    nodes: Mapping[str, tuple[int, str]] = MappingProxyType({})
    """Where the graph of a run has its ops: name -> (number, device)."""


class _Run(NamedTuple):
    """A run that is over."""

    targets: Any
    fetches: Any
    feeds: Any
    """Tensors' references, each with the numpy data that it was fed."""
    values: Any
    """What it gave for the fetches."""
    dur: int


class Sessions:
    """Records the runs of this process's sessions."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._pulled = PulledArrays.of(recording)

    def here(self, session: Any) -> bool:
        """Whether the session's ops run in this process."""
        return self._known(session) is not None

    def ran(self, session: Any, run: _Run, location: int, graph: Optional[SessionGraph]) -> None:
        """A run is over; `graph` is what was run, None where it is not known."""
        known = self._known(session)
        if known is None:
            return
        if graph is None:
            self.recording.unseen(_INSIDE, _TOLD)
        else:
            known = known._replace(nodes=graph.placed.nodes)
        for reference, value in run.feeds.items():
            tensor = reference.deref()
            sent = graph.fed.get(tensor.name) if graph is not None else None
            self._fed(sent if sent is not None else _taken_on(known, tensor), tensor, value, location)
        purpose = purpose_of(self.recording, sys._getframe(2))
        # One wait for all of them: told of the first that a device other than the host made.
        homes = [_device(known, [tensor.op]) for tensor in run.fetches]
        waited = next((at for at, home in enumerate(homes) if home and not is_host(home)), 0)
        for at, (tensor, value) in enumerate(zip(run.fetches, run.values)):
            self._fetched(homes[at], tensor, value, location, purpose, run.dur if at == waited else 0)
        # The caller's own count, so that a run is one step however many optimizers it applies.
        if any(applies(op) for op in (*run.targets, *(tensor.op for tensor in run.fetches))):
            self.recording.stepped(loc=location)

    def unseen(self, session: Any) -> None:
        """A callable of this session was made: its calls go past `run`."""
        self.recording.unseen(_CALLABLES, _REMOTE if session._target else _TOLD)

    def _known(self, session: Any) -> Optional[_Session]:
        known: Any = getattr(session, "_hopscope", None)
        if known is None:
            known = session._hopscope = self._look(session)
            if not known:
                self.recording.unseen(_INSIDE, _REMOTE)
        return known or None

    def _look(self, session: Any) -> Any:
        """What is to be known of the session; False where its ops run elsewhere."""
        if session._target:
            return False
        from tensorflow.python.eager import context

        names = [short_device(device.name) for device in session.list_devices()]
        names = [name for name in names if not name.startswith("xla_")]
        on_host_only = all(name.startswith("cpu:") for name in names)
        if on_host_only:
            # The context of eager execution has no more than one CPU, if there is one at all.
            here = context.context_safe()
            eager = facts_of(here) if here is not None and here._initialized else {}
            mapped: dict[str, DeviceFacts] = {name: {"stand_in": not is_host(name)} for name in names}
            mapped |= eager.get("device_map", {})
            both = dict.fromkeys([*eager.get("devices", ()), *names])
            self.recording.fact({"devices": list(both), "device_map": mapped, "devices_complete": True})
        return _Session(frozenset(names), HOST if on_host_only else "")

    # -- values ------------------------------------------------------------------------------------

    def _fetched(self, device: str, tensor: Any, value: Any, location: int, purpose: str, dur: int) -> None:
        dtype, shape, size = tensor.dtype.base_dtype.name, _shape(value), getattr(value, "nbytes", None)
        if size is None or dtype in _HANDLES:
            return
        if not device:
            self.recording.unseen("values fetched from a session", "their op's device is not known")
            return
        kind = purpose or "session.run"
        identity = ("fetched", device, tensor.name, location, kind, dtype, shape)
        fields = SyncFields(device=device, kind=kind, loc=location, bytes=size, basis="measured")
        self.recording.happened(self.recording.key(identity, "sync", fields), "sync", dur)
        if is_host(device):
            return
        key = self.recording.known_key(("pull", identity))
        if key is None:
            op = tensor.op
            hop = hop_key(
                HopProducer(device, op.type, _line(tensor), op.name, short_device(op.device)),
                HopConsumer(HOST, "Python", location, names=[kind]),
                HopTensor(size, dtype, shape),
                "pull",
                facts={"sync": kind},
            )
            key = self.recording.key(("pull", identity), "hop", hop)
        self.recording.happened(key, "hop", dur)
        if hasattr(value, "ctypes"):
            self._pulled.took(value, device, location)

    def _fed(self, devices: Iterable[str], tensor: Any, value: Any, location: int) -> None:
        """Data was fed, and is sent to these devices; '' for one that is not known."""
        if getattr(value, "nbytes", None) is None or tensor.dtype.base_dtype.name in _HANDLES:
            return
        for device in devices:
            if not device:
                why = "the device of what takes it is not known, or there are several"
                self.recording.unseen("data fed to a session", why)
            elif not is_host(device):
                self._sent(device, tensor, value, location)

    def _sent(self, device: str, tensor: Any, value: Any, location: int) -> None:
        dtype, shape, size = tensor.dtype.base_dtype.name, _shape(value), value.nbytes
        pulled = self._pulled.origin(value)
        identity = ("fed", device, tensor.name, location, dtype, shape, pulled)
        key = self.recording.known_key(identity)
        if key is None:
            made = pulled.loc if pulled is not None else location
            names = [op.name for op in tensor.consumers()]
            fields = hop_key(
                HopProducer(HOST, "Python", made, tensor.op.name),
                HopConsumer(device, tensor.op.type, location, names=names),
                HopTensor(size, dtype, shape),
                "upload",
                facts=pulled.facts if pulled is not None else None,
            )
            key = self.recording.key(identity, "hop", fields)
        self.recording.happened(key, "hop")


def applies(op: Any) -> bool:
    """Whether running an op applies an optimizer: it is what its method returned, or a group with that."""
    names = getattr(op.graph, "_hopscope_train_ops", None)
    if not names:
        return False
    known: Optional[dict[str, bool]] = getattr(op.graph, "_hopscope_applies", None)
    if known is None:
        known = op.graph._hopscope_applies = {}
    found = known.get(op.name)
    if found is None:
        queue, seen, found = [op], {op.name}, False
        while queue and not found:
            one = queue.pop()
            found = one.name in names
            if one.type in ("NoOp", "Identity"):
                more = [other for other in one.control_inputs if other.name not in seen]
                seen.update(other.name for other in more)
                queue += more
        known[op.name] = found
    return found


def _taken_on(known: _Session, tensor: Any) -> list[str]:
    """The device of the ops that take what is fed, where the graph that was placed is not known."""
    return [_device(known, tensor.consumers())] if tensor.consumers() else []


def _device(known: _Session, ops: Iterable[Any]) -> str:
    """The one device of these ops; '' where it is not known or there are several."""
    places = (known.nodes.get(op.name, (0, ""))[1] or short_device(op.device) for op in ops)
    found = {place or known.default for place in places}
    return found.pop() if len(found) == 1 and found <= known.devices else ""


def _line(tensor: Any) -> int:
    places: dict[str, tuple[int, int, str, Any, str]] = getattr(tensor.graph, "_hopscope_ops", {})
    return places.get(tensor.op.name, (0,))[0]


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(getattr(value, "shape", ()))


def install(recording: Recording, functions: Functions) -> None:
    """Wrap what every `run` of a session comes down to; `functions` knows those that its ops may call."""
    from tensorflow.python.client import session as sessions_of_tensorflow

    base: Any = sessions_of_tensorflow.BaseSession
    sessions, graphs = Sessions(recording), SessionGraphs(recording, functions)
    guard = recording.guard("runs of sessions")
    run = base.run
    do_run, make, make_from_options = base._do_run, base.make_callable, base._make_callable_from_options

    @stands_for(do_run)
    def _do_run(
        self: Any, handle: Any, targets: Any, fetches: Any, feeds: Any, options: Any, metadata: Any
    ) -> Any:
        request = None
        with guard:
            if handle is None and sessions.here(self):  # not one that goes on later
                request = graphs.asks(self, targets, fetches, feeds, options, metadata)
        if request is not None:
            options, metadata = request.options, request.metadata
        start = clock()
        try:
            with PASSING:
                values = do_run(self, handle, targets, fetches, feeds, options, metadata)
        finally:
            dur = clock() - start
            if request is not None:
                with guard:
                    graphs.read(request, self, targets, fetches, feeds)
        with guard:
            recording.windows.forbid()
            location = recording.sites.current()
            graph = graphs.ran(self, targets, fetches, feeds, start, dur, location)
            sessions.ran(self, _Run(targets, fetches, feeds, values, dur), location, graph)
        return values

    @stands_for(make)
    def make_callable(self: Any, *args: Any, **kwargs: Any) -> Any:
        with guard:
            sessions.unseen(self)
        with PASSING:
            return make(self, *args, **kwargs)

    @stands_for(make_from_options)
    def _make_callable_from_options(self: Any, *args: Any, **kwargs: Any) -> Any:
        with guard:
            sessions.unseen(self)
        with PASSING:
            return make_from_options(self, *args, **kwargs)

    @stands_for(run)
    def run_asked(
        self: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        with PASSING:
            values = run(self, fetches, feed_dict, options, run_metadata)
        with guard:
            # The code's own metadata holds what the code asked for.
            asked = options is not None and options.output_partition_graphs
            if run_metadata is not None and not asked:
                run_metadata.ClearField("partition_graphs")
        return values

    base.run = run_asked
    base._do_run, base.make_callable = _do_run, make_callable
    base._make_callable_from_options = _make_callable_from_options
