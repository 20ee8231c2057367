"""What a script would do on a machine with GPUs: the ordinary findings, of a run that is only foreseen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.diagnosis.explanation import Explained, explained
from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from app.facts.kernels.kernel_table import read_table, shipped_table
from app.facts.syncs import sync_table
from app.facts.tables import Tables, tables_of
from app.facts.transfers.hops import Hop
from app.judgments.finding import Finding
from app.preflight.amounts import moved_rows, of_these_steps
from app.preflight.dialects.tensorflow.library_rules import predicted
from app.preflight.dialects.tensorflow.missing_kernels import (
    fallen_findings,
    lacking_rows,
    rounds_of,
)
from app.preflight.dialects.tensorflow.op_places import Placing
from app.preflight.dialects.tensorflow.placer import RULES, Machine, Place, confidence
from app.preflight.dialects.tensorflow.transfers import Transfers
from app.preflight.dialects.tensorflow.unknowns import unforeseen
from app.preflight.merged_processes import Foreseen, together
from app.preflight.provenance import nothing_foreseen, unsure_of_stand_ins
from app.store.dataflow import own_kernels, parse_flow, read_dataflow
from app.store.run import open_run
from probes.tf.kernel_table import KernelTable
from probes.trace.hop import HOST
from probes.trace.preflight_notes import Flow
from probes.trace.rows import Graph, Key, Location, Process
from runners.runs.run import Run

_SMALL = 64
"""Bytes each step below which falling to the host is a note."""
Fallen = Mapping[str | None, tuple[Finding, list[Place]]]
"""By line, the finding of ops without a GPU kernel and where they are placed."""
_HANDS_ON = "OptionalFromValue"
"""By which Keras' loop hands on what a step returns; its logs are told by themselves."""
TextOf = Callable[[str], str | None]
"""Gives the text of a file by its name in sites; None where it is not known: no code is proposed then."""


def predict(run: Run, gpus: int) -> dict[str, Any]:
    """What the pre-flight of a run predicts, all its processes together.

    HopscopeError where nothing in it can be read.
    """
    notes, problems = read_dataflow(run.path)
    version = str((run.spec.get("versions") or {}).get("tensorflow") or "")
    own = own_kernels(run.path)
    table = read_table(own) if own is not None else shipped_table()
    flows: list[Flow] = []
    for data in notes:
        try:
            flows.append(parse_flow(data))
        except (KeyError, TypeError, ValueError) as error:
            problems.append(_unreadable(data.get("pid"), error))
    # All processes of a run find the same GPUs.
    asked = max(map(named_gpus, flows), default=0)
    texts, names = _recorded(run.path)
    foreseen: list[Foreseen] = []
    for flow in flows:
        try:
            foreseen.append(foresee(flow, table, gpus or max(asked, 1), version, texts))
        except (KeyError, TypeError, ValueError) as error:
            problems.append(_unreadable(flow.pid, error))
    if not foreseen:
        raise nothing_foreseen(run, "; ".join(problems))
    report = together(foreseen, names)
    report["unforeseen"] += [{"what": "notes", "site": None, "count": 1, "why": text} for text in problems]
    return report


def _unreadable(pid: object, error: Exception) -> str:
    return f"the notes of process {pid} cannot be read: {error!r}"


def _recorded(path: Path) -> tuple[TextOf, dict[int, str]]:
    """What the run's recording tells: its files' texts, and its processes' names by their ids."""
    store = open_run(path)
    try:
        store.seal_own()
        tables = tables_of(store)
        return tables.text_of, {process.pid: _name(process) for process in tables.processes}
    finally:
        store.close()


def _name(process: Process) -> str:
    if process.role:
        rank = "" if process.rank is None else f" {process.rank}"
        return f"{process.role}{rank} (process {process.pid})"
    return f"process {process.pid}"


def foresee(
    flow: Flow, table: KernelTable, gpus: int = 0, version: str = "", text_of: TextOf = lambda file: None
) -> Foreseen:
    """Foresee a process's run on a machine with `gpus` GPUs, 0 for as many as the script names, at least one.

    `table` says which kernels there are; `version` is the script's own TensorFlow, ``2.21.0``.
    """
    asked = named_gpus(flow)
    hosts = [f"cpu:{number}" for number in range(max(_highest(flow, "cpu:"), 1))]
    machine = Machine((*hosts, *(f"gpu:{number}" for number in range(gpus or max(asked, 1)))), table)
    return foresee_on(flow, machine, asked, version, text_of)


def foresee_on(
    flow: Flow, machine: Machine, asked: int = 0, version: str = "", text_of: TextOf = lambda file: None
) -> Foreseen:
    """Foresee a process's run on a machine."""
    placing = Placing(flow, machine)
    noted = Transfers(placing)
    tables = _tables(flow, machine, noted.keys, text_of)
    hops = hop_table(tables)
    same = not version or f"TensorFlow {version}," in machine.table.source
    syncs = sync_table(tables)
    crossing = run_findings(tables, hops, syncs)
    lacking = fallen_findings(placing, same, crossing)
    told = explained(_with(crossing, lacking), tables, hops)
    found = [_told(one, hops, noted, same, lacking) for one in told if not _keras_own(one, hops)]
    for row in found:
        part = [hops[index] for index in row["hops"]]
        row["summary"] = of_these_steps(row["summary"], part, noted.early, tables)
    stand_ins = [one for one in machine.devices if machine.kind(one) == "CPU" and one != HOST]
    gpus = sum(machine.kind(device) == "GPU" for device in machine.devices)
    report = {
        "gpus": gpus,
        "gpus_named": asked,
        "stand_ins": stand_ins,
        "kernel_table": machine.table.source,
        "steps_made": flow.steps_made,
        **moved_rows(tables, hops, syncs, noted.early),
        "placement": _placement(tables),
        "no_kernel": lacking_rows(placing, same),
        "findings": found,
        "libraries": predicted(flow, placing, gpus, same),
        "unforeseen": list(unforeseen(flow, placing, same)),
    }
    report["unforeseen"] += [unsure_of_stand_ins(stand_ins)] if stand_ins else []
    return Foreseen(flow.pid, tables, hops, report)


def _with(crossing: Sequence[Finding], lacking: Fallen) -> list[Finding]:
    """The findings of ops behind the warnings of transfers, in the place of notes of what these ops send."""
    kept = [one for one in crossing if one.code != "no-kernel" or one.site not in lacking]
    loud = [one for one in kept if one.severity != "info"]
    return [*loud, *(one for one, _ in lacking.values()), *(one for one in kept if one not in loud)]


def named_gpus(flow: Flow) -> int:
    """How many GPUs a process's code names; 0 where it names none."""
    return _highest(flow, "gpu:")


def _highest(flow: Flow, kind: str) -> int:
    """How many devices of a kind the script names: one more than the highest number."""
    named = {record.requested for record in flow.records}
    named |= {node.requested for function in flow.functions.values() for node in function.nodes}
    numbers = [int(name[4:]) for name in named if name.startswith(kind) and name[4:].isdecimal()]
    return max(numbers, default=-1) + 1


def _tables(flow: Flow, machine: Machine, keys: Sequence[Key], text_of: TextOf) -> Tables:
    locations = {
        number: Location(number, site, via, site.rpartition(":")[0], int(site.rpartition(":")[2] or 0), "")
        for number, (site, via) in flow.sites.items()
    }
    process = Process(
        index=0,
        pid=flow.pid,
        name=str(flow.pid),
        framework="tensorflow",
        framework_version=None,
        role=None,
        rank=None,
        wall_ns=0,
        mono_ns=0,
        devices=list(machine.devices),
        device_map={device: {"stand_in": False} for device in machine.devices},
        ended=True,
        header={"default_device": machine.default},
    )
    calls = rounds_of(flow)
    marks = [Key(len(keys) + 1, "mark", {"name": "step"}, flow.steps)] if flow.steps else []
    graphs = [Graph(1, "", "", 0, 0, None, calls)] if calls and not flow.steps else []
    return Tables([process], locations, graphs, [*keys, *marks], [], text_of=text_of)


def _told(
    one: Explained, hops: Sequence[Hop], noted: Transfers, same: bool, lacking: Fallen
) -> dict[str, Any]:
    """A finding with the rules that foresee it, and how far to trust them."""
    row = one.row()
    part = [hops[index] for index in row["hops"]]
    if row["code"] == "colocation" and all((hop.via or "").startswith("keras/") for hop in part):
        row["fix"] = None  # Keras made the pipeline of what it was given
    places = [place for hop in part for key in hop.keys for place in noted.rules[key]]
    if row["code"] == "no-kernel":
        places += lacking[row["site"]][1] if row["site"] in lacking else []
        if part and all(hop.bytes is not None and hop.bytes <= _SMALL for hop in part):
            row |= {"severity": "info", "repair": None}
    trust, why = confidence(places, same)
    rules = [RULES[rule] for rule in dict.fromkeys(place.rule for place in places)]
    return row | {"rules": rules, "confidence": trust, "why": why}


def _keras_own(one: Explained, hops: Sequence[Hop]) -> bool:
    """Whether a note is of what Keras' loop does for itself."""
    part = [hops[index] for index in one.finding.hops] if one.finding.severity == "info" else []
    return bool(part) and all(hop.op == _HANDS_ON and (hop.via or "").startswith("keras/") for hop in part)


def _placement(tables: Tables) -> list[dict[str, Any]]:
    """How many ops each device would have, and how many of them because nobody asked for a device."""
    rows: dict[str, dict[str, Any]] = {}
    for key in tables.of_kind("op"):
        device = key.fields["device"]
        row = rows.setdefault(device, {"device": device, "ops": 0, "nobody_asked": 0})
        row["ops"] += 1
        row["nobody_asked"] += not key.fields["requested"]
    return [rows[device] for device in tables.devices if device in rows]
