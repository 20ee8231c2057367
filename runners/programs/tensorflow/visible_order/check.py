"""The check of the claim of tf-visible-order."""

from __future__ import annotations

from collections.abc import Mapping

from runners.device_names import is_gpu
from runners.programs.evidence import Shown, join, judged, said
from runners.programs.verdicts import UNTESTABLE, Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """What TensorFlow said of the list that it was given, and which cards CUDA made of its variable.

    Of set_visible_devices the program asks TensorFlow itself: the recorder takes its rule for granted.
    """
    found = said(shown)
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
        return Verdict(UNTESTABLE, f"which cards {join(cards) or 'the devices'} were was not told by CUDA")
    named, became = (", ".join(map(str, order)) for order in (given[::-1], got))
    last = len(given) - 1
    measured = f"CUDA_VISIBLE_DEVICES named nvidia-smi's {named}, and gpu:0 to gpu:{last} are its {became}"
    if got not in (given, given[::-1]):
        return Verdict(UNTESTABLE, f"{measured}, which is neither that order nor the one before")
    return judged(got != given, f"{measured}: the order was {'ignored' if got == given else 'kept'}")
