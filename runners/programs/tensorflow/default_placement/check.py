"""The check of the claim of tf-default-placement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from runners.amounts import plural
from runners.device_names import default_device, is_gpu, is_host
from runners.programs.evidence import Shown, join, judged, ops
from runners.programs.verdicts import UNTESTABLE, Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
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
    where = join(f"{count} ran on {name}" for name, count in homes.items())
    if not rows or not seen:
        return [Verdict(UNTESTABLE, "the recorder saw no ops, or no devices to spread them over")]
    measured = f"of {plural(sum(homes.values()), 'op')} that name no device {where}"
    measured += f", and none on {join(empty)}" if empty else ""
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
