"""The check of the claim of tf-pin-model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from runners.amounts import plural, size
from runners.device_names import is_host
from runners.programs.evidence import Row, Shown, join, judged, ops, pinned
from runners.programs.tensorflow.evidence import is_gradient
from runners.programs.verdicts import UNTESTABLE, Verdict

_MAKES_DATASET = re.compile(r"\w+Dataset(V\d+)?")
"""Op types that make a part of an input pipeline; DatasetCardinality and others only ask it."""
TAKEN = 2
"""How many times as much memory of a card must be used without growth to say that it was taken."""


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Variables, forward, backward and update all ran on the pinned device; memory growth on GPUs."""
    pinned_runs = [one for one in shown.values() if one.options.get("memory-growth") != "off"]
    return [_pinned(one) for one in pinned_runs or shown.values()] + [_growth(list(shown.values()))]


def _pinned(one: Shown) -> Verdict:
    device, rows = pinned(one), without_pipeline(ops(one))
    if not rows:
        return Verdict(UNTESTABLE, "the recorder saw no ops of the model")
    if is_host(device):
        return Verdict(UNTESTABLE, f"{device} is where everything would run anyway; choose another device")
    elsewhere = Counter(str(row["assigned"]) for row in rows if row["assigned"] != device)
    parts = {
        "variables": [row for row in rows if row["type"] == "VarHandleOp"],
        "the backward pass": [row for row in rows if is_gradient(row)],
        "the update": [row for row in rows if row["function"] and _updates(row)],
    }
    there = {what: sum(row["assigned"] == device for row in part) for what, part in parts.items()}
    here = len(rows) - sum(elsewhere.values())
    measured = (
        f"of {plural(len(rows), 'op')} of the model {here} ran on {device}: variables made at "
        f"{plural(there['variables'], 'line')}, {plural(there['the backward pass'], 'op')} of "
        f"the backward pass, {there['the update']} that update weights, slots and metrics, and the others; "
        f"the input pipeline's {len(ops(one)) - len(rows)} are not counted"
    )
    if elsewhere:
        measured += f"; {join(f'{count} on {name}' for name, count in elsewhere.items())}"
    missing = [what for what, part in parts.items() if not part]
    if missing:
        return Verdict(UNTESTABLE, f"the recorder saw no op of {join(missing)}; {measured}")
    return judged(not elsewhere, measured)


def _growth(runs: Sequence[Shown]) -> Verdict:
    """Whether TensorFlow takes the card where its memory does not grow as needed."""
    used = {str(one.options.get("memory-growth")): _card_memory(one) for one in runs}
    if all(one.stand_ins is not None for one in runs):
        why = "memory growth is about a GPU's memory; a stand-in has the host's, which is taken as needed"
        return Verdict(UNTESTABLE, why)
    grown, taken = used.get("on"), used.get("off")
    if not grown or not taken:
        lacking = [name for name in ("on", "off") if not used.get(name)]
        why = f"no sample of the card's memory with memory-growth={join(lacking)}"
        return Verdict(UNTESTABLE, f"{why}; NVML has to answer, and the run to last for a second")
    return judged(
        taken > TAKEN * grown,
        f"without memory growth at most {size(taken)} of the card were used, and with it "
        f"{size(grown)} (sampled)",
    )


def _card_memory(one: Shown) -> int | None:
    cards = (one.report.get("samples") or {}).get("cards") or ()
    found = [card.get("peak_memory_bytes") for card in cards if pinned(one) in (card.get("devices") or ())]
    return found[0] if found else None


def without_pipeline(rows: Iterable[Row]) -> list[Row]:
    """The ops but those of the input pipeline, which is on the host whatever is pinned."""
    kept = list(rows)
    lines = {row["site"] for row in kept if _MAKES_DATASET.fullmatch(str(row["type"]))}
    return [
        row
        for row in kept
        if "Iterator" not in str(row["type"])
        and not (row["function"] is None and row["site"] in lines and not row["requested"])
    ]


def _updates(row: Row) -> bool:
    return str(row["type"]).startswith("Assign")
