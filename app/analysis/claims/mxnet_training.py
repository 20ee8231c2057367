"""Checks of the MXNet programs that train: what they say, beside what the recorder saw cross."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from app.analysis.claims.recorded import (
    Row,
    among_devices,
    between,
    hops,
    judged,
    ops,
    pinned,
    size,
    times,
    told,
)
from app.analysis.claims.shown import Shown
from app.analysis.devices import is_host
from runners.programs.verdicts import UNTESTABLE, Verdict

HOST = "cpu:0"
FLOAT_BYTES = 4
_SUMMED_ON = re.compile(r"summed on (\S+)")


def gluon_params(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Parameters go to the device once; backward and update run there; saving and loading brings all."""
    found = []
    for one in shown.values():
        found += one.said
        device, rows = pinned(one), hops(one)
        training = [row for row in ops(one) if _is_training(str(row["type"]))]
        if not training or is_host(device):
            continue
        homes = {str(row["assigned"]) for row in training}
        explicit = [row for row in rows if row.get("cause") == "explicit"]
        saved = [row for row in between(explicit, device, HOST) if _via(row, "save_parameters")]
        first = [row for row in between(explicit, HOST, device) if not _via(row, "load_parameters")]
        loaded = {
            str(row["dst"]): size(_loads(explicit, str(row["dst"])))
            for row in explicit
            if _via(row, "load_parameters") and not is_host(str(row["dst"]))
        }
        measured = (
            f"the recorder saw {size(first):,} bytes of parameters go from {HOST} to {device}, backward and "
            f"update run on {told(sorted(homes))}, {size(saved):,} bytes come back to be saved, and "
            + (", ".join(f"{sent:,} bytes loaded on {dst}" for dst, sent in sorted(loaded.items())) or "none")
        )
        as_many = {size(first), size(saved), *loaded.values()}
        found.append(judged(homes == {device} and len(as_many) == 1, measured))
    return found


def module(shown: Mapping[str, Shown]) -> list[Verdict]:
    """The symbol and its update run on the one device; each step sends a batch and reads the outputs."""
    found = []
    for one in shown.values():
        found += one.said
        device, steps = pinned(one), one.report.get("steps")
        rows = [row for row in ops(one) if row.get("function") or _is_training(str(row["type"]))]
        if not rows or not steps or is_host(device):
            continue
        homes = sorted({str(row["assigned"]) for row in rows})
        # Once each are the weights, at the beginning and the end.
        fit = [row for row in hops(one) if _via(row, "fit")]
        read = [row for row in between(fit, device, HOST) if row.get("cause") == "host-sync"]
        sent = [row for row in between(fit, HOST, device) if row.get("count") == steps]
        measured = (
            f"the recorder saw all {len(rows)} ops of the symbol, its gradients and the update run on "
            f"{told(homes)}; in each of {steps} steps {size(sent) // steps:,} bytes went from {HOST} to "
            f"{device}, and fit's metric read {size(read) // steps:,} bytes of outputs, {times(read)} times"
        )
        found.append(judged(homes == [device] and times(read) == steps, measured))
    return found


def gluon_data_parallel(shown: Mapping[str, Shown]) -> list[Verdict]:
    """local sums on the host, device on the devices, and without a kvstore nothing is summed at all."""
    found = []
    for one in shown.values():
        found += one.said
        kvstore, steps = str(one.options.get("kvstore")), one.report.get("steps")
        if not ops(one) or not steps:
            continue
        rows = list(one.report.get("collectives") or ())
        sites = sorted({site for row in rows for site in _SUMMED_ON.findall(str(row.get("algorithm")))})
        if kvstore == "none":
            crossed = among_devices(hops(one))
            measured = (
                f"without a kvstore the recorder saw {len(rows)} sums of gradients, and {times(crossed)} "
                f"copies between {told(one.devices)}"
            )
            found.append(judged(not rows and not crossed, measured))
            continue
        expected = {HOST} if kvstore == "local" else set(one.devices)
        crossing = sum((row.get("wire_bytes") or 0) * (row.get("count") or 1) for row in rows) // steps
        measured = (
            f"with kvstore {kvstore} the recorder saw gradients summed on {told(sites) or 'no device'}, for "
            f"which {crossing:,} bytes cross in a step"
        )
        found.append(judged(bool(sites) and set(sites) <= expected, measured))
    return found


def model_parallel_lstm(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Between neighbours cross the outputs of a boundary forward, as many gradients back, nothing else."""
    found = []
    for one in shown.values():
        order = {device: place for place, device in enumerate(one.devices)}
        rows = among_devices(hops(one))
        if not rows or any(row["src"] not in order or row["dst"] not in order for row in rows):
            found.append(Verdict(UNTESTABLE, f"the recording shows no copies among {told(one.devices)}"))
            continue
        width = _number(one.options.get("batch")) * _number(one.options.get("width")) * FLOAT_BYTES
        backward = [row for row in rows if _via(row, "backward")]
        back = [row for row in backward if order[row["src"]] > order[row["dst"]]]
        parts = [row for row in backward if order[row["src"]] < order[row["dst"]]]
        forward = [row for row in rows if row not in backward]
        near = all(abs(order[row["src"]] - order[row["dst"]]) == 1 for row in rows)
        sizes = {row["bytes"] for row in rows}
        also = ""
        if parts:
            noun = f"{len(parts)} parts of gradients" if len(parts) > 1 else "1 part of a gradient"
            also = (
                f", and forward again {noun} ({parts[0]['producer']}, ..), to be added up on the next device"
            )
        measured = (
            f"with boundary={one.options.get('boundary')} the recorder saw {len(forward)} tensors of "
            f"{told(f'{one_size:,}' for one_size in sorted(sizes))} bytes cross forward between neighbours "
            f"in a step, and {len(back)} back{also}"
            + ("" if near else "; some of them between devices that are no neighbours")
        )
        only = near and not parts and len(forward) == len(back) and sizes == {width}
        found.append(judged(only, measured))
    return found


def _is_training(kind: str) -> bool:
    return kind.endswith(("(backward)", "_update")) or kind.startswith("_backward_")


def _loads(rows: Iterable[Row], device: str) -> list[Row]:
    return [row for row in between(rows, HOST, device) if _via(row, "load_parameters")]


def _via(row: Row, function: str) -> bool:
    """Whether a function of MXNet's made the copy."""
    return str(row.get("via")).endswith(f":{function}")


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
