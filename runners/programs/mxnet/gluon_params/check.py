"""The check of the claim of mx-gluon-params."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runners.device_names import is_host
from runners.programs.evidence import Row, Shown, between, hops, join, judged, ops, pinned, size
from runners.programs.mxnet.evidence import HOST, is_training, via
from runners.programs.verdicts import Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Parameters go to the device once; backward and update run there; saving and loading brings all."""
    found = []
    for one in shown.values():
        found += one.said
        device, rows = pinned(one), hops(one)
        training = [row for row in ops(one) if is_training(str(row["type"]))]
        if not training or is_host(device):
            continue
        homes = {str(row["assigned"]) for row in training}
        explicit = [row for row in rows if row.get("cause") == "explicit"]
        saved = [row for row in between(explicit, device, HOST) if via(row, "save_parameters")]
        first = [row for row in between(explicit, HOST, device) if not via(row, "load_parameters")]
        loaded = {
            str(row["dst"]): size(_loads(explicit, str(row["dst"])))
            for row in explicit
            if via(row, "load_parameters") and not is_host(str(row["dst"]))
        }
        measured = (
            f"the recorder saw {size(first):,} bytes of parameters go from {HOST} to {device}, backward and "
            f"update run on {join(sorted(homes))}, {size(saved):,} bytes come back to be saved, and "
            + (", ".join(f"{sent:,} bytes loaded on {dst}" for dst, sent in sorted(loaded.items())) or "none")
        )
        as_many = {size(first), size(saved), *loaded.values()}
        found.append(judged(homes == {device} and len(as_many) == 1, measured))
    return found


def _loads(rows: Iterable[Row], device: str) -> list[Row]:
    return [row for row in between(rows, HOST, device) if via(row, "load_parameters")]
