"""Checks of the TensorFlow programs that place ops on devices: where the recorder saw them, what crossed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.analysis.claims.recorded import Row, among_devices, hops, judged, ops, pinned, times, told
from app.analysis.claims.shown import Shown
from app.analysis.devices import default_device, is_gpu, is_host
from app.views import units
from runners.programs.verdicts import UNTESTABLE, Verdict

GRADIENT = "gradient-outside-scope"
_MAKES_DATASET = re.compile(r"\w+Dataset(V\d+)?")
"""Op types that make a part of an input pipeline; DatasetCardinality and others only ask it."""
TAKEN = 2
"""How many times as much memory of a card must be used without growth to say that it was taken."""


def pin_model(shown: Mapping[str, Shown]) -> list[Verdict]:
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
        f"of {units.plural(len(rows), 'op')} of the model {here} ran on {device}: variables made at "
        f"{units.plural(there['variables'], 'line')}, {units.plural(there['the backward pass'], 'op')} of "
        f"the backward pass, {there['the update']} that update weights, slots and metrics, and the others; "
        f"the input pipeline's {len(ops(one)) - len(rows)} are not counted"
    )
    if elsewhere:
        measured += f"; {told(f'{count} on {name}' for name, count in elsewhere.items())}"
    missing = [what for what, part in parts.items() if not part]
    if missing:
        return Verdict(UNTESTABLE, f"the recorder saw no op of {told(missing)}; {measured}")
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
        why = f"no sample of the card's memory with memory-growth={told(lacking)}"
        return Verdict(UNTESTABLE, f"{why}; NVML has to answer, and the run to last for a second")
    return judged(
        taken > TAKEN * grown,
        f"without memory growth at most {units.size(taken)} of the card were used, and with it "
        f"{units.size(grown)} (sampled)",
    )


def _card_memory(one: Shown) -> int | None:
    cards = (one.report.get("samples") or {}).get("cards") or ()
    found = [card.get("peak_memory_bytes") for card in cards if pinned(one) in (card.get("devices") or ())]
    return found[0] if found else None


def visible_order(shown: Mapping[str, Shown]) -> list[Verdict]:
    """What TensorFlow said of the list that it was given, and which cards CUDA made of its variable.

    Of set_visible_devices the program asks TensorFlow itself: the recorder takes its rule for granted.
    """
    found = list(dict.fromkeys(verdict for one in shown.values() for verdict in one.said))
    found += [
        _cuda_order(one)
        for one in shown.values()
        if one.stand_ins is None
        and one.options.get("by") == "cuda-visible-devices"
        and one.options.get("order") == "backwards"
    ]
    return found or [Verdict(UNTESTABLE, "no run named several devices backwards")]


def _cuda_order(one: Shown) -> Verdict:
    given = [int(name.partition(":")[2]) for name in one.named or one.devices if is_gpu(name)]
    cards = {name: facts for name, facts in (one.report.get("device_map") or {}).items() if is_gpu(name)}
    got = [cards.get(f"gpu:{place}", {}).get("nvml_index") for place in range(len(given))]
    if len(given) < 2:
        return Verdict(UNTESTABLE, "one GPU has no order; it takes two")
    if one.options.get("subset") is not None:
        return Verdict(UNTESTABLE, "a part of the devices is numbered anew in any case; keep all of them")
    if any(index is None for index in got):
        return Verdict(UNTESTABLE, f"which cards {told(cards) or 'the devices'} were was not told by CUDA")
    named, became = (", ".join(map(str, order)) for order in (given[::-1], got))
    last = len(given) - 1
    measured = f"CUDA_VISIBLE_DEVICES named nvidia-smi's {named}, and gpu:0 to gpu:{last} are its {became}"
    if got not in (given, given[::-1]):
        return Verdict(UNTESTABLE, f"{measured}, which is neither that order nor the one before")
    return judged(got != given, f"{measured}: the order was {'ignored' if got == given else 'kept'}")


def default_placement(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Whether ops that name no device are spread over the devices, or land on one."""
    return [verdict for one in shown.values() for verdict in _spread(one)]


def _spread(one: Shown) -> list[Verdict]:
    rows = ops(one)
    homes = Counter(str(row["assigned"]) for row in rows if row["assigned"])
    # Those that the process had, which may be fewer than it was given.
    seen = [row["device"] for row in one.report.get("placement") or () if not is_host(row["device"])]
    if one.stand_ins is None:
        seen = [name for name in seen if is_gpu(name)]
    empty, used = [name for name in seen if not homes[name]], [name for name in seen if homes[name]]
    where = told(f"{count} ran on {name}" for name, count in homes.items())
    if not rows or not seen:
        return [Verdict(UNTESTABLE, "the recorder saw no ops, or no devices to spread them over")]
    measured = f"of {units.plural(sum(homes.values()), 'op')} that name no device {where}"
    measured += f", and none on {told(empty)}" if empty else ""
    if one.stand_ins is None and len(seen) < 2:
        return [Verdict(UNTESTABLE, f"there is one GPU, so nothing to spread over: {measured}")]
    if one.stand_ins is None:
        others = [name for name in homes if name not in seen]
        pipeline = "; on the host are the input pipeline, and ops without a GPU kernel" if others else ""
        return [judged(len(used) > 1, f"{measured}{pipeline}")]
    default = default_device(one.report.get("devices") or (), seen[0])
    return [
        judged(
            len(used) > 1,
            f"of stand-ins this is so: {measured}; {default} is the default device here, since TensorFlow "
            f"sees no GPU",
        ),
        Verdict(
            UNTESTABLE,
            "whether it spreads ops over GPUs takes two of them: TensorFlow prefers any GPU to the host, and "
            "the host to its other CPU devices, which stand-ins are",
        ),
    ]


def pin_gradients(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Outside of the scope the gradients ran on the default device, inside on the pinned one."""
    runs = {str(one.options.get("gradients")): one for one in shown.values()}
    outside, inside = runs.get("outside"), runs.get("inside")
    if outside is None or inside is None:
        return [Verdict(UNTESTABLE, "it takes a run outside and one inside of the scope")]
    device = pinned(outside)
    default = default_device(outside.report.get("devices") or (), device)
    if device == default:
        why = f"{device} is the default device, where gradients run with the scope or without; pin to another"
        return [Verdict(UNTESTABLE, why)]
    homes = {name: Counter(_homes(gradients(one))) for name, one in runs.items()}
    if not all(homes.values()):
        return [Verdict(UNTESTABLE, "the recorder saw no op of the backward pass; compiled by XLA they hide")]
    crossed = {name: [row for row in hops(one) if row.get("cause") == GRADIENT] for name, one in runs.items()}
    more = sum(row.get("bytes") or 0 for row in crossed["outside"])
    measured = (
        f"outside of the scope the backward pass ran {_counted(homes['outside'])}, with the model on "
        f"{device}, and {units.plural(len(crossed['outside']), 'tensor')}, {more:,} bytes, crossed in a step "
        f"because of it; inside it ran {_counted(homes['inside'])}, and {len(crossed['inside']) or 'none'} "
        f"crossed"
    )
    moved = set(homes["outside"]) == {default} and set(homes["inside"]) == {device}
    return [judged(moved and bool(crossed["outside"]) and not crossed["inside"], measured)]


def model_parallel(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Between neighbours activations cross forward and their gradients back; others exchange nothing."""
    return [_neighbours(one) for one in shown.values()]


def _neighbours(one: Shown) -> Verdict:
    place = {device: number for number, device in enumerate(one.devices)}
    rows = among_devices(hops(one))
    if len(place) < 2 or not rows:
        return Verdict(UNTESTABLE, f"the recorder saw nothing cross among {told(one.devices)}")

    def distance(row: Row) -> int:
        ends = place.get(str(row["dst"])), place.get(str(row["src"]))
        return 0 if ends[0] is None or ends[1] is None else ends[0] - ends[1]

    forward, back = ([row for row in rows if distance(row) == way] for way in (1, -1))
    stray = [row for row in rows if abs(distance(row)) != 1]
    sizes = sorted({row["bytes"] for row in forward + back if row["bytes"] is not None})
    measured = (
        f"{_ways(forward)} cross forward {times(forward)} times in the whole run, evaluation included, "
        f"and {_ways(back)} back {times(back)} times, each of "
        f"{told(f'{size:,}' for size in sizes) or 'unknown'} bytes (estimated)"
    )
    if stray:
        measured += f"; besides {_ways(stray)} between devices that are no neighbours"
    gradients_back = all(row.get("forward_site") for row in back)
    if not gradients_back:
        measured += "; what goes back is not all made by the backward pass"
    pairs = len(place) - 1
    whole = all(len({(row["src"], row["dst"]) for row in part}) == pairs for part in (forward, back))
    return judged(whole and not stray and gradients_back, measured)


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


def gradients(one: Shown) -> list[Row]:
    """The ops of the backward pass."""
    return [row for row in ops(one) if is_gradient(row)]


def is_gradient(row: Row) -> bool:
    """Whether a tape made the op: TensorFlow says so in its name."""
    return "gradient_tape/" in str(row["name"])


def _updates(row: Row) -> bool:
    return str(row["type"]).startswith("Assign")


def _homes(rows: Iterable[Row]) -> list[str]:
    return [str(row["assigned"]) for row in rows]


def _counted(homes: Mapping[Any, int]) -> str:
    """`on cpu:0 with 31 ops`."""
    return told(f"on {name} with {units.plural(count, 'op')}" for name, count in homes.items())


def _ways(rows: Iterable[Row]) -> str:
    """`cpu:1 to cpu:2, cpu:2 to cpu:3`."""
    ways = dict.fromkeys(f"{row['src']} to {row['dst']}" for row in rows)
    return ", ".join(ways) or "nothing"
