"""Input pipelines of TensorFlow: they prepare elements ahead, and deliver them where these are used."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change
from app.fixes.code.device_notation import tensorflow, tf_device
from app.fixes.code.names import called, dotted, value_of
from app.fixes.situation import Draft, Situation
from app.judgments.evidence import TransferEvidence

_AHEAD = frozenset({"prefetch", "prefetch_to_device", "copy_to_device", "experimental_distribute_dataset"})


def prefetched(situation: Situation) -> Draft | None:
    """The pipeline of the loop's header, or of the loop around the line, prepares elements ahead.

    None for what is kept beside a variable: no pipeline delivers that.
    """
    source = situation.source
    if (
        situation.framework != "tensorflow"
        or not situation.evidence(TransferEvidence).producer_colocated_with
    ):
        return None
    for stmt in situation.statements:
        loop = stmt if isinstance(stmt, ast.For | ast.AsyncFor) else source.loop_of(stmt)
        while loop is not None:
            if isinstance(loop, ast.For) and (draft := _pipeline(situation, loop)) is not None:
                return draft
            loop = source.loop_of(loop)
    return None


def _pipeline(situation: Situation, loop: ast.For) -> Draft | None:
    """The input pipeline that the loop goes over prepares ahead, if it does not already."""
    source, over = situation.source, loop.iter
    while isinstance(over, ast.Call) and called(over) in ("enumerate", "tqdm", "iter") and over.args:
        over = over.args[0]
    value = value_of(source, over.id, loop) if isinstance(over, ast.Name) else over
    if not isinstance(value, ast.Call) or (tf := tensorflow(source, value)) is None:
        return None
    paths = [dotted(part) for part in ast.walk(value)]
    names = {part.attr for part in ast.walk(value) if isinstance(part, ast.Attribute)}
    if names & _AHEAD or not any(path.startswith(f"{tf}.data.") for path in paths):
        return None
    change, device = Change(source), situation.dst
    argument = tf_device(source, value, device) if device else None
    if argument is not None and "gpu" in argument.lower():
        added = f".apply({tf}.data.experimental.prefetch_to_device({argument}))"
        words = (
            f"Has elements prepared ahead and delivered on {device}; it has to be the pipeline's last step."
        )
    else:
        added = f".prefetch({tf}.data.AUTOTUNE)"
        words = (
            "Has elements prepared while a step runs; they are still copied to the device when they are used."
        )
    change.insert(source.span(value)[1], added)
    return situation.draft(words, change)
