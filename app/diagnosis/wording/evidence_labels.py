"""What the proof of a finding calls the evidence that several causes have, or that stands for itself."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Label:
    """How evidence of one name is told, and what its values are."""

    text: str
    kind: str = "text"
    """Text, device, line, size, time or ppb."""
    alone: bool = False
    """Only where no way of a tensor has told it already."""


LABELS: dict[str, Label] = {
    # Of functions and ops that are no transfer.
    "function": Label("Function"),
    "how": Label("Compiled because of"),
    "requested_inside": Label("Asked for inside", "device"),
    "not_followed": Label("Not followed", "device"),
    "called_at": Label("Called at", "line"),
    "missing": Label("Asked for", "device", alone=True),
    "asked_at": Label("Asked for at", "line"),
    "ran_on": Label("Ran on", "device", alone=True),
    "inputs_also_on": Label("Inputs also on", "device"),
    "made_on_default": Label("Made on the default context by"),
    "made_on_default_at": Label("Made there at", "line"),
    "also_at": Label("Also at", "line"),
    "also_unplaced": Label("No scope either at", "line"),
    "read_in_place": Label("Read in place"),
    "raised": Label("Raised"),
    # Why a transfer's ends are where they are.
    "forward_requested": Label("Forward op asked for", "device"),
    "producer_forward_requested": Label("Forward op asked for", "device"),
    "forward_at": Label("Forward op", "line"),
    "forward_op": Label("Forward op"),
    "called_on": Label("Its function is called on", "device"),
    "placed_by": Label("Device scopes opened by"),
    "lay_on": Label("Lay on", "device"),
    "kernel": Label("Kernel lookup"),
    "kernels_of": Label("Looked up in"),
    "kept_in_host_memory": Label("Kept in host memory"),
    "kept_by_kernel_of": Label("By the kernel of"),
    "dtype": Label("Type"),
    "colocated_with": Label("Kept beside"),
    "producer_colocated_with": Label("Kept beside"),
    "producer_placed_beside": Label("Kept beside"),
    "variable": Label("Variable"),
    "lives_on": Label("Lives on", "device"),
    "gradient_goes_back": Label("Its gradient comes back"),
    "unchanged_again": Label("Copied again unchanged"),
    "kept_by": Label("Kept there by"),
    "created_at": Label("Created at", "line"),
    "created_in": Label("Created in a scope of", "device"),
    "object_made_at": Label("Its object made at", "line"),
    "changed_at": Label("Changed at", "line"),
    "result_on": Label("A function's result, on", "device"),
    "default_device": Label("Default device", "device"),
    "producer_default_device": Label("Default device", "device"),
    "scope_apart": Label("Scope open in another thread", "line"),
    "made_without_context": Label("Given no context"),
    "made_at": Label("Made at", "line"),
    "copied_at": Label("Copied at", "line"),
    "call": Label("Copied by"),
    "same_device": Label("Already on", "device"),
    "copied_before": Label("Copied before to", "device"),
    "sent_again": Label("The same tensor is sent"),
    "result_of_a_call": Label("A function's result, handed on by the default device"),
    "on_a_gpu": Label("On a GPU"),
    "argument_made_by": Label("Argument made by"),
    "by_another_thread": Label("Sent by another thread than the steps'"),
    # Of chains, sums and waits.
    "gradients_back_at": Label("Gradients go back at", "line"),
    "tensor_again_at": Label("Python's array becomes a tensor again at", "line"),
    "by": Label("Handed on unchanged by", alone=True),
    "causes": Label("Each hop by itself"),
    "algorithm": Label("Algorithm"),
    "devices": Label("Among", "device"),
    "summed_on": Label("Summed on", "device"),
    "applied_at": Label("Applied there at", "line"),
    "exchanged": Label("What"),
    "exchanged_of": Label("Of parameters"),
    "kind": Label("Waits by"),
    "device": Label("For", "device", alone=True),
    "value_on": Label("Value lies on", "device"),
    "made_by": Label("Made by", alone=True),
    "handed_by": Label("Handed over by", alone=True),
    "brought_at": Label("Copied to the host before, at", "line"),
    "idle_meanwhile": Label("Without work meanwhile"),
    # Of devices and replicas.
    "exchange": Label("Exchange of gradients"),
    "trainer_made_at": Label("Trainer made at", "line"),
    "parameters": Label("Parameters compared"),
    "parameters_differing": Label("Of them different"),
    "parameter_with_the_largest_difference": Label("The most different one"),
    "first_check_largest_difference_ppb": Label("Largest difference at first", "ppb"),
    "last_check_largest_difference_ppb": Label("Largest difference at last", "ppb"),
    "first_check_step": Label("First compared at step"),
    "last_check_step": Label("Last compared at step"),
    "first_check_updates": Label("Updates of each at first"),
    "last_check_updates": Label("Updates of each at last"),
    "without_ops": Label("Ran nothing", "device"),
    "with_ops": Label("Ran all ops", "device"),
    "peak_bytes": Label("Peak memory", "size"),
    "asked_for": Label("Asked for"),
    "got": Label("Got"),
    "lacking": Label("In no process", "device"),
    "cards": Label("Cards"),
    "told_by": Label("Told by"),
    "launched_with": Label("Launched with"),
    "in_the_process": Label("In the process"),
    "counted_alike_with": Label("Counted alike with"),
    "ops": Label("Ops"),
}
"""What is told, by its name in the evidence, in the order in which it is told."""
