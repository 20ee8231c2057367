"""The records of a trace: every field with its type, its unit and its meaning.

Recorders write what is declared here, mypy checks that they do, and readers derive their checks and columns
from it. docs/trace-format.md is generated from it: ``python -m benchmarks.trace_format``.

Records are frozen dataclasses, one JSON array a line. The fields of a key and the facts of a process are
TypedDicts: the recorder's dict goes into the line as it is, fields in the order in which it was built, and
fields that are not required may be absent. Standard library only, Python 3.9.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, Optional, TypedDict, Union

FORMAT = "hopscope-trace"
VERSION = 1


class Unit(NamedTuple):
    """What a number or a text stands for."""

    text: str
    below: Optional[int] = None
    """Readers reject numbers from here on, and below its negative: sums over all events fit into 64 bits."""


LONGEST_NS = 1 << 60
"""No process runs for 36 years; a later time would not fit where it is added to the run's start."""
INTERNED = Unit("an S id in the line; 0 for ''")
Interned = Annotated[str, INTERNED]
InternedOrNone = Annotated[Optional[str], INTERNED]
Device = Annotated[str, Unit("device")]
OpType = Annotated[str, Unit("op type")]
Basis = Annotated[str, Unit("measured, estimated, inferred, sampled, unknown or unsupported")]
Bytes = Annotated[int, Unit("bytes")]
Count = Annotated[int, Unit("count")]
LocationId = Annotated[int, Unit("L id; 0 for none")]
GraphId = Annotated[int, Unit("G id; 0 for none")]
NodeNumber = Annotated[int, Unit("node of the graph")]
Time = Annotated[int, Unit("ns since mono_ns", LONGEST_NS)]
Duration = Annotated[int, Unit("ns", LONGEST_NS)]
KeyId = Annotated[int, Unit("K id", 1 << 32)]
Executions = Annotated[int, Unit("executions", 1 << 40)]
Step = Annotated[int, Unit("steps", 1 << 40)]
Value = Annotated[int, Unit("by the kind of key", 1 << 60)]
Thread = Annotated[int, Unit("thread id", 1 << 63)]


# -- keys -----------------------------------------------------------------------------------------------


class _OpAlways(TypedDict):
    op: OpType
    """Type of the op."""
    device: Device
    """Device that ran the op."""
    requested: Device
    """Device that the code requested; '' where the code requested none."""
    loc: LocationId
    """Line that called the op."""
    forward_loc: LocationId
    """Line of the forward op where this is an op of the backward pass."""


class OpFields(_OpAlways, total=False):
    """An eager op at a line on a device."""

    scope_loc: LocationId
    """Line that opened the device scope around the op."""
    forward_requested: Device
    """Device that the code requested for the forward op."""
    basis: Basis
    """How the execution is known; absent where the recorder saw the op run."""


class _CallAlways(TypedDict):
    graph: GraphId
    """Graph that the call ran; 0 where no graph was placed."""
    function: str
    """Name of the function, for people."""


class CallFields(_CallAlways, total=False):
    """A call of a placed graph at a line; an event's dur is the time that Python spent in the call."""

    runtime_name: str
    """Name that the runtime gave the function."""
    loc: LocationId
    """Line that called the function."""


class HopFacts(TypedDict, total=False):
    """Evidence for the cause of a hop: each fact is absent where it does not hold."""

    copy_call: str
    """Function that the code called to copy, or the op that copied."""
    sync: str
    """Kind of the host read that needed the transfer."""
    within: str
    """MXNet call that made the transfer."""
    collective: str
    """Algorithm of the exchange that the transfer is part of."""
    summed_on: Device
    """Device that added the gradients up."""
    exchange_devices: list[str]
    """Devices that took part in the exchange."""
    exchanged: str
    """What was exchanged: gradients, weights or arrays."""
    gradient: bool
    """The tensor is a gradient."""
    autograd_copies: bool
    """Autograd recorded the copy, so its gradient is copied back."""
    variable: str
    """Variable whose value is transferred."""
    kept_by: str
    """Distribution strategy that keeps the variable in one place."""
    pulled_from: Device
    """Device from which the code had read the array, unchanged since."""
    changed_from: Device
    """Device from which the code had read the array, changed in place since."""
    made_by_function: bool
    """A traced function returned the tensor."""
    result_of_function: bool
    """A traced function returned the tensor, of a type that functions return in host memory."""
    argument_lay_on: Device
    """Device of an argument whose type functions take in host memory."""
    returned: bool
    """Only the function's result takes the tensor."""
    result: Union[bool, str]
    """The consumer hands out the result of a function (true) or of 'a branch or loop'."""
    producer_result: Union[bool, str]
    """The producer hands out the result of a function (true) or of 'a branch or loop'."""
    through: str
    """Op that handed the value on unchanged; the producer's line is that of the op behind it."""
    rewritten: bool
    """TensorFlow's graph optimizer created the consumer."""
    producer_rewritten: bool
    """TensorFlow's graph optimizer created the producer."""
    forward_requested: Device
    """Device that the code requested for the consumer's forward op."""
    producer_forward_requested: Device
    """Device that the code requested for the producer's forward op."""
    forward_op: str
    """Type and name of the consumer's forward op."""
    producer_forward_op: str
    """Type and name of the producer's forward op."""
    gradients_of: list[str]
    """Devices requested for the forward ops of a line's backward ops, where there are several."""
    scope_opener: str
    """Library function that opened the device scope around the consumer."""
    producer_scope_opener: str
    """Library function that opened the device scope around the producer."""
    called_on: Device
    """Device scope around the call of the function that has the consumer."""
    producer_called_on: Device
    """Device scope around the call of the function that has the producer."""
    colocated_with: str
    """Variable or op that decided the consumer's device."""
    producer_colocated_with: str
    """Variable or op that decided the producer's device."""
    works_on: str
    """Variable or other resource that the consumer works on."""
    producer_works_on: str
    """Variable or other resource that the producer works on."""
    input_slots: list[int]
    """Input positions at which the consumers take the tensor."""
    no_kernel: str
    """Kernels that exist instead of one for the device requested for the consumer."""
    kernel_from: str
    """Source of no_kernel: which table of kernels."""
    producer_no_kernel: str
    """Kernels that exist instead of one for the device requested for the producer."""
    producer_kernel_from: str
    """Source of producer_no_kernel: which table of kernels."""


_In = TypedDict("_In", {"in": Optional[str]})
"""Where a graph's hop happens: loop or branch; null outside of both."""


class _HopAlways(_In):
    src: Device
    """Device that the tensor leaves."""
    dst: Device
    """Device that the tensor reaches."""
    src_memory: str
    """Memory that the tensor leaves: device or host."""
    dst_memory: str
    """Memory that the tensor reaches: device or host."""
    tensor: str
    """Name of the tensor: producer and output number."""
    op: OpType
    """Type of the op that takes the tensor; Python for a host read."""
    producer: str
    """Name of the op or variable that the tensor comes from."""
    producer_op: OpType
    """Type of the op that created the tensor; Python for data of the code's own, ? where unknown."""
    consumers: list[str]
    """Names of the ops that take the tensor."""
    bytes: Optional[Bytes]
    """Size of one transfer; null where unknown."""
    dtype: str
    """Element type."""
    shape: str
    """Extents such as 64x256; '' for a scalar."""
    loc: LocationId
    """Line of the op that takes the tensor."""
    producer_loc: LocationId
    """Line that created the tensor."""
    forward_loc: LocationId
    """Line of the forward op where the hop is part of the backward pass."""
    kind: str
    """copy, upload (from Python), pull (to Python) or arg (a graph's argument)."""
    basis: Basis
    """How the size and the transfer are known."""
    graph: GraphId
    """Graph that has the hop; 0 for an eager hop."""
    per_call: Optional[Count]
    """Transfers in each call of the graph; null where events count them."""
    requested: Device
    """Device that the code requested for the consumer; '' for none."""
    assigned: Device
    """Device that runs the consumer."""
    producer_requested: Device
    """Device that the code requested for the producer; '' for none."""
    facts: HopFacts
    """Evidence for the cause."""


class HopFields(_HopAlways, total=False):
    """A transfer of a tensor between devices; with a graph and per_call it happens calls x per_call times.

    An event's value is 1 where some executions before it were not observed, 0 where its count was sampled.
    """

    scope_loc: LocationId
    """Line that opened the device scope around the consumer."""
    producer_scope_loc: LocationId
    """Line that opened the device scope around the producer."""
    scope_apart_loc: LocationId
    """Line of a scope open in another thread while the consumer ran in no scope."""
    producer_scope_apart_loc: LocationId
    """Line of a scope open in another thread while the producer ran in no scope."""
    variable_loc: LocationId
    """Line that created the variable."""
    variable_call_loc: LocationId
    """Line that created the object whose __init__ created the variable."""
    variable_alone: Count
    """1 where variable_loc has created no other variable."""
    origin_loc: LocationId
    """Line of the copy that brought the host's value from another device."""
    copied_from: Device
    """Device from which another copy had brought the unchanged values."""
    copy_loc: LocationId
    """Line of that copy."""
    pulled_loc: LocationId
    """Line of the host read that the tensor was created from."""
    from_nothing: str
    """Use of an array that the code could create on dst: to be sent, in a model or only copied."""
    from_nothing_ops: list[str]
    """Ops that created the array."""
    from_nothing_locs: list[LocationId]
    """Lines of those ops."""


class _CollectiveAlways(TypedDict):
    op: str
    """What is done: AllReduce, or the framework's name of it."""
    devices: list[Device]
    """This process's devices that take part."""
    tensors: Count
    """Tensors exchanged together."""
    payload_bytes: Optional[Bytes]
    """Size of one member's tensors."""
    wire_bytes: Optional[Bytes]
    """Bytes that cross between the members."""
    algorithm: str
    """Algorithm or implementation."""
    loc: LocationId
    """Line that asked for the exchange."""
    basis: Basis
    """How the sizes are known."""
    graph: GraphId
    """Graph that has the collective; 0 for an eager one."""
    per_call: Optional[Count]
    """Executions in each call of the graph; null where events count them."""


class CollectiveFields(_CollectiveAlways, total=False):
    """A collective exchange among devices, of all tensors that one line exchanges together.

    An event's value is 0 where its count was sampled.
    """

    gradients: bool
    """An optimizer was applying gradients."""
    members: Count
    """Devices that take part, over all processes."""
    group: str
    """Group, equal in all processes: key:instances in a graph, else the key; '' where unknown."""


class _SyncAlways(TypedDict):
    device: Device
    """Device that Python waits for; '' for all."""
    kind: str
    """Method or reason: numpy, float, print, wait_to_read, end-of-data check, .."""
    loc: LocationId
    """Line that waited."""
    bytes: Optional[Bytes]
    """Size of the value that was read; 0 where nothing was read."""
    basis: Basis
    """How the wait is known."""


class SyncFields(_SyncAlways, total=False):
    """A host read or a wait: Python stands until a device has a value.

    An event's value is 0 where its count was sampled, if it is not split.
    """

    split: bool
    """An event's value is the part of its dur, in ns, that was copying and not waiting."""
    copied_from: Device
    """Device from which the code had copied the value to the host before the wait."""
    copy_loc: LocationId
    """Line of that copy."""
    copied_from_too: list[Device]
    """Other devices whose values were combined with it on the host."""


class MemoryFields(TypedDict):
    """Memory of a device over time; an event's value is bytes."""

    device: Device
    """Device whose memory it is."""
    what: str
    """in_use or peak."""
    basis: Basis
    """How the figure is known."""
    why: str
    """What the figure covers, or why there is none."""


class _MarkAlways(TypedDict):
    name: str
    """step: an optimizer was applied; record: autograd began to record."""


class MarkFields(_MarkAlways, total=False):
    """A point of the program; its events number the steps."""

    loc: LocationId
    """Line of the call."""


class NodeFields(TypedDict):
    """An op of a placed graph, seen to run in a short window of the profiler."""

    graph: GraphId
    """Graph that has the op."""
    node: NodeNumber
    """Op."""
    device: Device
    """Device that ran the op."""
    basis: Basis
    """sampled."""


class _MixedAlways(TypedDict):
    op: OpType
    """Op that was called."""
    device: Device
    """Device of the op."""
    reads: list[Device]
    """Devices of the inputs that lay elsewhere."""
    bytes: Optional[Bytes]
    """Size of those inputs together."""
    loc: LocationId
    """Line that called the op."""
    producer_op: OpType
    """Op that created the first of those inputs."""
    producer_loc: LocationId
    """Line of that op."""
    outcome: str
    """read: the op read the inputs in place; raised: the framework refused."""
    elsewhere: str
    """What happens on other kinds of devices, in words."""
    basis: Basis
    """measured."""


class MixedFields(_MixedAlways, total=False):
    """An op that was called with inputs on several devices, which MXNet does not copy."""

    without_context_op: OpType
    """Op that created an input on the host because the code named no context."""
    without_context_loc: LocationId
    """Line of that op."""


class AbsentFields(TypedDict):
    """A request for a GPU that the build or the machine lacks; MXNet raised."""

    op: str
    """Op or request that was refused."""
    missing: Device
    """Device that is not there."""
    loc: LocationId
    """Line that asked."""
    gpus: Count
    """GPUs that MXNet sees."""
    built_for_gpus: bool
    """MXNet was built with CUDA."""
    basis: Basis
    """measured."""


class _ReplicasAlways(TypedDict):
    devices: list[Device]
    """Devices of the replicas."""
    exchange: Optional[str]
    """How the replicas exchange gradients; null for not at all."""
    loc: LocationId
    """Line that updates the replicas."""
    made_loc: LocationId
    """Line that created the trainer."""


class ReplicaFields(_ReplicasAlways, total=False):
    """Which replicas of a model a comparison is of."""

    variables_locs: list[LocationId]
    """Lines that created the variables, that of the largest difference first."""
    variables_loc: LocationId
    """The first of them, in traces of earlier recorders."""


class _DriftAlways(ReplicaFields):
    what: str
    """Figure: differing (parameters that differ), largest_ppb (largest difference, in parts per billion of
    the largest value), updates (applied by each replica) or assigned (the replicas are none after all)."""
    basis: Basis
    """measured."""


class DriftFields(_DriftAlways, total=False):
    """A comparison of a model's replicas; an event's value is the figure."""

    parameters: Count
    """Parameters that were compared."""
    parameter: Optional[str]
    """Parameter with the largest difference."""


class _CopiesAlways(TypedDict):
    device: Device
    """Device that the copy leaves."""
    op: str
    """Name of the copy in MXNet's profiler."""
    within: str
    """MXNet call that was underway."""
    loc: LocationId
    """Line of that call."""
    basis: Basis
    """measured."""


class CopiesFields(_CopiesAlways, total=False):
    """Copies that MXNet's profiler saw during a call."""

    stays: bool
    """The copies stay on the device."""


class _AgainAlways(TypedDict):
    graph: GraphId
    """Graph of the hop; 0 for an eager hop."""
    tensor: str
    """Tensor of the hop."""
    src: Device
    """Device that the tensor leaves."""
    dst: Device
    """Device that the tensor reaches."""


class AgainFields(_AgainAlways, total=False):
    """Executions of a hop that transferred what an earlier one had transferred already.

    In a graph: a captured or unchanged tensor. Without one: an array unchanged since the line copied it.
    """

    loc: LocationId
    """Line of the copy."""
    producer_loc: LocationId
    """Line that created the array."""
    shape: str
    """Extents."""
    dtype: str
    """Element type."""


class PulledFields(_AgainAlways):
    """Executions of a graph's hop whose argument was created from an array that the code had read."""

    pulled_loc: LocationId
    """Line of the host read."""
    facts: HopFacts
    """pulled_from or changed_from."""


class TogetherFields(TypedDict):
    """Values of several devices that the host combines after copies to it."""

    loc: LocationId
    """Line of the copy."""
    device: Device
    """Device that the value came from."""
    made_loc: LocationId
    """Line that combines the values."""


class KeptFields(TypedDict):
    """An array made of sizes and numbers that has a reason to be on the host."""

    op: OpType
    """Op that created the array."""
    loc: LocationId
    """Line of the op."""
    how: str
    """Reason: used, worked on or sent."""


class ReturnedFields(TypedDict):
    """A traced function that returned gradients."""

    op: str
    """Name of the function, for people."""
    loc: LocationId
    """Line that called the function."""
    device: Device
    """Device of the gradients."""


class OpaqueFields(TypedDict):
    """Calls of what XLA compiled: its ops have no placement of their own."""

    function: str
    """Name of the function, for people."""
    ops: Optional[Count]
    """Ops of the function; null where unknown."""
    asked: list[Device]
    """Devices that the code requested for its ops."""
    devices: list[Device]
    """Devices that ran it."""
    how: str
    """jit_compile or auto-clustering."""
    loc: LocationId
    """Line that created the function."""
    called_loc: LocationId
    """Line that called the function."""


KindName = Literal[
    "op",
    "call",
    "hop",
    "collective",
    "sync",
    "memory",
    "mark",
    "node",
    "mixed",
    "absent",
    "drift",
    "copies",
    "again",
    "pulled",
    "together",
    "kept",
    "returned",
    "opaque",
]
KeyFields = Union[
    OpFields,
    CallFields,
    HopFields,
    CollectiveFields,
    SyncFields,
    MemoryFields,
    MarkFields,
    NodeFields,
    MixedFields,
    AbsentFields,
    DriftFields,
    CopiesFields,
    AgainFields,
    PulledFields,
    TogetherFields,
    KeptFields,
    ReturnedFields,
    OpaqueFields,
]
KINDS: Mapping[KindName, type] = {
    "op": OpFields,
    "call": CallFields,
    "hop": HopFields,
    "collective": CollectiveFields,
    "sync": SyncFields,
    "memory": MemoryFields,
    "mark": MarkFields,
    "node": NodeFields,
    "mixed": MixedFields,
    "absent": AbsentFields,
    "drift": DriftFields,
    "copies": CopiesFields,
    "again": AgainFields,
    "pulled": PulledFields,
    "together": TogetherFields,
    "kept": KeptFields,
    "returned": ReturnedFields,
    "opaque": OpaqueFields,
}
IDENTIFYING: Mapping[str, tuple[str, ...]] = {"node": ("graph", "node")}
"""Fields without which a key of a kind means nothing: readers reject it where one is missing or null."""


# -- facts of a process ---------------------------------------------------------------------------------


class DeviceFacts(TypedDict, total=False):
    """What a device of a process is."""

    stand_in: bool
    """The device stands in for a GPU, or is a part of one."""
    cuda_ordinal: Count
    """Number that CUDA gives the GPU in this process."""
    source: str
    """Who identified the GPU: the CUDA driver or CUDA_VISIBLE_DEVICES."""
    uuid: str
    """UUID of the GPU."""
    parent_uuid: str
    """UUID of the GPU that the device is a part of."""
    pci_bus_id: str
    """PCI bus id of the GPU."""
    name: Optional[str]
    """Product name."""


class HostCopy(TypedDict):
    """A timed copy within the host's memory."""

    bytes: Bytes
    """Size of the copy."""
    ns: Annotated[int, Unit("ns")]
    """Duration of the fastest copy."""


class Preflight(TypedDict):
    """A pre-flight's end."""

    ended_after: Count
    """Steps that the script made."""


class HeaderFacts(TypedDict):
    """What a trace begins with."""

    run: str
    """Name of the run's folder."""
    host: str
    """Name of the machine."""
    pid: int
    """Id of the process."""
    ppid: int
    """Id of the parent process."""
    process: str
    """main, fork, or block for a recorded block of code."""
    role: Optional[str]
    """Role in a distributed run."""
    rank: Optional[int]
    """Number among the processes of the role."""
    framework: str
    """tensorflow or mxnet."""
    python: str
    """Version of Python."""
    argv: list[str]
    """Arguments of the program."""
    root: str
    """Folder that sites are relative to."""
    wall_ns: Annotated[int, Unit("ns since 1970")]
    """Wall clock at mono_ns."""
    mono_ns: Annotated[int, Unit("ns of the monotonic clock")]
    """Zero of the trace's times."""


class FormatFacts(TypedDict):
    """What a reader looks for first, in the header."""

    format: str
    """hopscope-trace."""
    version: int
    """1."""


class LaterFacts(TypedDict, total=False):
    """What became known later; each replaces the header's fact of its name."""

    framework_version: str
    """Version of the framework."""
    devices: list[Device]
    """Devices of the process."""
    devices_complete: bool
    """The process has no other devices."""
    device_map: dict[str, DeviceFacts]
    """What each device is."""
    cuda_environment: dict[str, Optional[str]]
    """Variables that CUDA numbers GPUs by; null for one that is not set."""
    default_device: Device
    """Device of ops for which the code requests none."""
    role: str
    """Role in a distributed run."""
    rank: int
    """Number among the processes of the role."""
    kvstore_rank: int
    """Number that MXNet's scheduler gave the worker."""
    host_copy: HostCopy
    """Speed of the host's memory."""
    serialised: str
    """Why times are not those of a normal run."""
    source_notes: dict[str, str]
    """Notes on source files by their paths; notes of several records add up."""
    played: dict[str, str]
    """CPU contexts that stand in for GPUs in a pre-flight: context -> GPU."""
    asked_for_gpus: dict[str, LocationId]
    """Lines that asked how many GPUs there are, in a pre-flight."""
    preflight: Preflight
    """End of a pre-flight."""
    ended: bool
    """The process said goodbye."""


FACTS: Mapping[str, type] = {"H": HeaderFacts, "I": LaterFacts}


# -- records --------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Header:
    """The first record: which process it is."""

    version: int
    """Version of the format."""
    facts: dict[str, Any]
    """Facts of the process."""


@dataclasses.dataclass(frozen=True)
class Facts:
    """Facts that became known later; they are merged over the header's."""

    ts_ns: Time
    """When the facts became known."""
    facts: dict[str, Any]
    """Facts of the process."""


@dataclasses.dataclass(frozen=True)
class String:
    """An interned string."""

    id: int
    """Id, dense from 1."""
    text: str
    """The string."""


@dataclasses.dataclass(frozen=True)
class Location:
    """A place in the source: the innermost user frame, and the library frame below it."""

    id: int
    """Id, dense from 1."""
    site: Interned
    """Path relative to the script's folder and line: ``train.py:31``."""
    via: InternedOrNone
    """Library frame that the user's frame called."""
    file: Interned
    """Absolute path."""
    line: int
    """Line number."""
    function: Interned
    """Function of the user's frame."""


@dataclasses.dataclass(frozen=True)
class Key:
    """All that is constant over the repeated events of one thing."""

    id: int
    """Id, dense from 1."""
    kind: str
    """Kind of key."""
    fields: dict[str, Any]
    """Fields of the kind."""


@dataclasses.dataclass(frozen=True)
class Graph:
    """One instantiation of a traced function: ops with the devices the runtime chose for them.

    What follows the id is one JSON object.
    """

    id: int
    """Id, dense from 1."""
    name: str
    """For people: the Python function's name."""
    function: str
    """The runtime's name, ``__inference_step_38``."""
    loc: LocationId
    """Line of the first call."""
    step_marks: Count
    """Optimizer applications in one call."""
    partial: Optional[str]
    """Why something in it could not be seen; null when all was."""


@dataclasses.dataclass(frozen=True)
class Node:
    """One op of a placed graph; `op` is ``_Arg`` or ``_Retval`` for the call's inputs and outputs."""

    graph: GraphId
    """Graph that has the op."""
    node: NodeNumber
    """Number of the op in the graph, from 1."""
    name: Interned
    """Name of the op."""
    op: Interned
    """Type of the op."""
    requested: Interned
    """Device that the code requested; '' where the code requested none."""
    assigned: Interned
    """Device that the runtime chose."""
    loc: LocationId
    """Line that created the op."""
    forward_loc: LocationId
    """Line of the forward op where this is an op of the backward pass."""


@dataclasses.dataclass(frozen=True)
class Edge:
    """A tensor that one op of a graph hands to another, on any devices."""

    graph: GraphId
    """Graph that has the ops."""
    src_node: NodeNumber
    """Op that creates the tensor."""
    src_slot: int
    """Output of that op."""
    dst_node: NodeNumber
    """Op that takes the tensor."""
    dst_slot: int
    """Input of that op."""
    bytes: Optional[Bytes]
    """Size of the tensor; null where unknown."""
    dtype: Interned
    """Element type."""
    shape: Interned
    """``64x256``; unknown extents as ``?``; '' for a scalar."""


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that happened at a time; `count` > 1 where executions were counted together."""

    kind: str
    """Kind of the key."""
    ts_ns: Time
    """Start."""
    dur_ns: Duration
    """Duration; 0 where it is not known."""
    key: KeyId
    """What happened."""
    count: Executions
    """How often it happened."""
    step: Optional[Step]
    """Optimizer applications before the event; null before the first."""
    value: Optional[Value]
    """A number whose meaning depends on the kind."""
    thread: Thread
    """Thread of the event."""


@dataclasses.dataclass(frozen=True)
class Unseen:
    """What the recorder knows that it could not see, how often, and why; counts of equal rows add up."""

    what: str
    """What was not seen."""
    count: Count
    """How often."""
    why: str
    """Reason."""


Record = Union[Header, Facts, String, Location, Key, Graph, Node, Edge, Event, Unseen]
RECORDS: Mapping[str, type[Record]] = {
    "H": Header,
    "I": Facts,
    "S": String,
    "L": Location,
    "K": Key,
    "G": Graph,
    "N": Node,
    "E": Edge,
    "e": Event,
    "U": Unseen,
}
"""Records by their tag, the first item of a line."""
DEFINING = "SLKGNE"
"""Tags of the records that define what others refer to by number."""


def length(tag: str) -> int:
    """Items of a record's line, its tag included."""
    return 3 if tag == "G" else 1 + len(dataclasses.fields(RECORDS[tag]))
