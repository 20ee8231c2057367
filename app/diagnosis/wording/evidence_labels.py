"""What the proof of a finding calls its evidence, in the order in which it is shown."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Label:
    """How evidence of one name is shown, and what its values are."""

    text: str
    kind: str = "text"
    """Text, device, line, size or ppb."""
    alone: bool = False
    """Only where no way of a tensor has shown it already."""


_SHOWN = """
function how requested_inside not_followed called_at missing asked_at ran_on inputs_also_on
made_on_default made_on_default_at also_at also_unplaced read_in_place raised
forward_requested producer_forward_requested forward_at forward_op called_on placed_by lay_on
kernel kernels_of kept_in_host_memory kept_by_kernel_of dtype
colocated_with producer_colocated_with producer_placed_beside
variable lives_on gradient_goes_back unchanged_again kept_by created_at created_in object_made_at changed_at
result_on default_device producer_default_device scope_apart made_without_context made_at copied_at
call same_device copied_before sent_again result_of_a_call on_a_gpu argument_made_by by_another_thread
gradients_back_at tensor_again_at by causes
algorithm devices summed_on applied_at exchanged exchanged_of
kind device value_on made_by handed_by brought_at idle_meanwhile
exchange trainer_made_at parameters parameters_differing parameter_with_the_largest_difference
first_check_largest_difference_ppb last_check_largest_difference_ppb first_check_step last_check_step
first_check_updates last_check_updates
without_ops with_ops peak_bytes asked_for got lacking cards told_by launched_with in_the_process
counted_alike_with ops
"""
_KINDS = {
    **dict.fromkeys(("at", "apart", "unplaced"), "line"),
    **dict.fromkeys(("on", "in", "inside", "requested", "device", "devices", "missing", "lacking"), "device"),
    **dict.fromkeys(("followed", "before"), "device"),
    "bytes": "size",
    "ppb": "ppb",
}
"""By the last word of a name; others are text."""
_DEVICES = frozenset({"without_ops", "with_ops"})
_ALONE = frozenset({"missing", "ran_on", "by", "device", "made_by", "handed_by"})
_OTHERWISE = {
    "how": "Compiled because of",
    "also_unplaced": "No scope either at",
    "peak_bytes": "Peak memory",
    "forward_at": "Forward op",
    "by": "Handed on unchanged by",
    "causes": "Each hop by itself",
    "call": "Copied by",
    "scope_apart": "Scope open in another thread",
    "kernel": "Kernel lookup",
    "dtype": "Type",
    "devices": "Among",
    "kind": "Waits by",
    "device": "For",
    "producer_placed_beside": "Colocated with",
}


def _label(name: str) -> Label:
    text = _OTHERWISE.get(name) or name.removeprefix("producer_").replace("_", " ").capitalize()
    kind = "device" if name in _DEVICES else _KINDS.get(name.rpartition("_")[2], "text")
    return Label(text, kind, name in _ALONE)


LABELS = {name: _label(name) for name in _SHOWN.split()}
