"""The sentences of each cause over the golden runs, as one text a cause: code in, findings and patch out."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.diagnosis.registry import BY_CODE
from tests.golden import runs
from tests.golden.made_runs import MADE

FOLDER = Path(__file__).resolve().parent / "wording"
Findings = Sequence[Mapping[str, Any]]
_FIGURES_AND_NAMES = re.compile(r"\w+\.py:\d+|[cg]pu:\d+|\d[\d.]*( [KMG]iB)?|\b[A-Z_]\w+|\b\w+_\w+|`[^`]*`")
NOT_FOUND = {
    "explicit": ("labelled/tensorflow/gradient_in_scope", "all of it is in the scope of one device"),
    "default-device": ("labelled/tensorflow/model_parallel_layers", "each layer is called in its scope"),
    "gradient-outside-scope": (
        "labelled/tensorflow/model_parallel_layers",
        "the tape is asked for gradients in the scope of the layer",
    ),
    "variable-home": (
        "labelled/tensorflow/model_parallel_layers",
        "each variable is created on the device that reads it",
    ),
    "no-kernel": (
        "labelled/tensorflow/foreseen_int32_constants",
        "kernels of a device read them from host memory",
    ),
    "host-memory": (
        "labelled/tensorflow/foreseen_int32_constants",
        "shapes and axes are constants, which are read where they are",
    ),
    "colocation": (
        "labelled/tensorflow/model_parallel_layers",
        "each variable is updated in the scope that it was created in",
    ),
    "host-sync": ("labelled/tensorflow/print_inside_graph", "the graph prints, and Python waits for nothing"),
    "host-upload": ("labelled/mxnet/copied_where_it_is", "batches are created on the device"),
    "redundant-copy": (
        "labelled/tensorflow/eager_copy_is_kept",
        "eager code asks for the copy itself, which is `explicit`",
    ),
    "bounce": (
        "labelled/tensorflow/moments_of_two_cards",
        "values go from device to device, not by the host",
    ),
    "collective": ("labelled/mxnet/gradients_added_on_host", "arrays are copied and added by hand"),
    "reduce-on-host": ("labelled/tensorflow/gradients_averaged_on_card", "a device averages the gradients"),
    "unknown": ("labelled/tensorflow/model_parallel_layers", "each transfer has a cause"),
    "mixed-context": ("labelled/mxnet/copied_where_it_is", "the inputs of each op are on one device"),
    "replica-drift": ("labelled/tensorflow/gradients_averaged_on_card", "the towers share their gradients"),
    "device-order": ("made/asked_for_and_got", "the run has the GPUs that it asked for"),
    "xla-opaque": ("labelled/tensorflow/nested_functions_two_cards", "XLA compiles none of the functions"),
    "unbalanced": ("made/both_used", "both GPUs run ops"),
    "missing-device": ("labelled/tensorflow/nested_functions_two_cards", "both devices are there"),
}
"""Cause -> a run that looks like it and has none, and why."""


@dataclasses.dataclass(frozen=True)
class Example:
    """A run's name and what is found in it."""

    name: str
    findings: Findings

    def found(self, code: str) -> list[Mapping[str, Any]]:
        """Its findings of this cause."""
        return [row for row in self.findings if row["code"] == code]


def examples(folder: Path) -> list[Example]:
    """All golden runs, unpacked into a folder, and those made of small tables."""
    recorded = [Example(name, runs.report(runs.unpack(name, folder))["findings"]) for name in runs.names()]
    return recorded + [Example(name, make()) for name, make in MADE.items()]


def wording(code: str, given: Sequence[Example]) -> str:
    """The text of one cause: a block for each finding, and one for the run that has none.

    Findings whose sentences differ in figures, lines and names alone are one block, that of the first.
    """
    blocks: dict[str, str] = {}
    for one in given:
        for row in one.found(code):
            said = f"{row['severity']} {row['summary']} {row.get('because')} {row['fix']}"
            blocks.setdefault(_FIGURES_AND_NAMES.sub("", said), _block(one.name, row))
    name, reason = NOT_FOUND[code]
    return "\n".join([*blocks.values(), f"== not in {name}: {reason}\n"])


def write(given: Sequence[Example]) -> None:
    """Write the files of all causes, and remove those of causes that are gone."""
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.txt"):
        file.unlink()
    for code in BY_CODE:
        (FOLDER / f"{code}.txt").write_text(wording(code, given), "utf-8")


def _block(name: str, row: Mapping[str, Any]) -> str:
    return "\n".join([f"== {name}: {row['severity']} at {row['site'] or 'no line'}", *_lines(row), ""])


def _lines(row: Mapping[str, Any]) -> Iterator[str]:
    source = row.get("source")
    if source:
        for number, line in enumerate(source["lines"], source["first"]):
            mark = ">" if number == source["line"] else " "
            yield f"{mark} {line}".rstrip()
    yield f"summary: {row['summary']}"
    if row.get("because"):
        yield f"because: {row['because']}"
    if row["fix"]:
        yield f"advice: {row['fix']}"
    if repair := row.get("repair"):
        yield "patch:"
        yield from (f"  {line}".rstrip() for line in repair["diff"].splitlines())
