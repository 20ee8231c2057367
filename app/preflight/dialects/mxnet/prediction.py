"""What an MXNet script would do on GPUs: its run on CPU contexts that played them, told of the GPUs.

MXNet runs an op where its arrays lie, and those where the code puts them, so nothing has to be placed anew.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from app.diagnosis.causes.no_kernel.cause import Evidence
from app.diagnosis.explanation import explained
from app.diagnosis.findings import run_findings
from app.diagnosis.judge import hop_table
from app.facts.kernels.mxnet_table import host_only
from app.facts.placement import op_table, placement
from app.facts.syncs import sync_table
from app.facts.tables import Tables, tables_of
from app.facts.transfers.hops import Hop
from app.judgments.finding import Finding
from app.preflight.amounts import ALL_THAT_RAN, moved_rows
from app.preflight.provenance import HIGH, MEDIUM, nothing_foreseen, unsure_of_stand_ins
from app.store.run import open_run
from probes.trace.hop import HOST
from probes.trace.rows import Key, Node, Process
from runners.runs.run import Run

RULE = "an op runs where its arrays lie, and those where the code puts them"
PLAYED = f"{RULE} (mx.cpu(i+1) played mx.gpu(i))"
RAISES = "MXNet moves no op to the host: one without a GPU kernel raises where its arrays are on a GPU"
_KVSTORE = "where a kvstore sums is inferred from its type, and GPUs that reach each other may sum elsewhere"


def played_gpus(tables: Tables) -> dict[str, str]:
    """CPU context -> the GPU that it played."""
    found: dict[str, str] = {}
    for process in tables.processes:
        told = process.header.get("played")
        if isinstance(told, Mapping):
            found.update({str(context): str(gpu) for context, gpu in told.items()})
    return found


def predict(run: Run, gpus: int) -> dict[str, Any]:
    """What the pre-flight of a run predicts. HopscopeError where nothing was recorded."""
    store = open_run(run.path)
    try:
        store.seal_own()
        tables = tables_of(store)
        if not tables.processes:
            raise nothing_foreseen(run)
        return foresee_mxnet(tables, gpus)
    finally:
        store.close()


def foresee_mxnet(tables: Tables, gpus: int = 0) -> dict[str, Any]:
    """What a run with played GPUs foresees, as plain data; `gpus` is how many the foreseen machine has."""
    played = played_gpus(tables)
    there = _renamed(tables, played)
    hops, syncs = hop_table(there), sync_table(there)
    lacking = list(_lacking(there, set(played.values())))
    rule = PLAYED if played else RULE
    found = [_told(one.row(), hops, rule) for one in explained(run_findings(there, hops, syncs), there, hops)]
    named = max((int(gpu.partition(":")[2]) + 1 for gpu in played.values()), default=0)
    return {
        "gpus": gpus or max(named, 1),
        "gpus_named": named,
        "stand_ins": _own_contexts(tables, played),
        "kernel_table": "",
        "processes": [],
        **moved_rows(there, hops, syncs),
        "placement": [row | {"nobody_asked": 0} for row in placement(there)],
        "no_kernel": lacking,
        "findings": [*map(_raised, lacking), *found],
        "libraries": [],
        "unforeseen": list(_unforeseen(tables, there, played, gpus, named)),
    }


def _lacking(there: Tables, gpus: set[str]) -> Iterator[dict[str, Any]]:
    """The ops on a GPU that MXNet computes on the host only, by line."""
    table = host_only()
    versions = {process.framework_version for process in there.processes} - {None}
    same = all(f"MXNet {version}'" in table.source for version in versions)
    counts = Counter(
        (op.type, op.site, op.assigned)
        for op in op_table(there)
        if op.assigned in gpus and op.type in table.ops
    )
    for (kind, site, device), count in counts.items():
        yield {
            "op": kind,
            "site": site,
            "runs_on": device,
            "kernel": f"{kind} has kernels for the host only, and its arrays are on {device}: MXNet raises",
            "from": table.source,
            "confidence": HIGH if same else MEDIUM,
            "why": "" if same else "the kernel table is of another version of MXNet than the script's",
            "ops": count,
        }


def _raised(row: Mapping[str, Any]) -> dict[str, Any]:
    """The finding of an op that cannot run where its arrays are."""
    finding = Finding(
        code="no-kernel",
        severity="error",
        site=row["site"],
        summary=f"{row['op']} at {row['site'] or 'an unknown line'} has no GPU kernel, and its arrays are on"
        f' {row["runs_on"]}: MXNet raises there, "Operator {row["op"]} is not implemented for GPU."',
        evidence=Evidence(kernel=row["kernel"], kernels_of=row["from"]),
        fix="Bring its inputs to the host before it, x.as_in_context(mx.cpu()), and its result back after it;"
        " or take an op that has a GPU kernel.",
        hops=(),
    )
    more = {"because": "", "source": None, "repair": None, "rules": [RAISES]}
    return finding.row() | more | {"confidence": row["confidence"], "why": row["why"]}


def _told(row: dict[str, Any], hops: list[Hop], rule: str) -> dict[str, Any]:
    summed = any(hops[index].basis == "inferred" for index in row["hops"])
    return row | {
        "summary": row["summary"].replace("in the whole run", ALL_THAT_RAN),
        "rules": [rule],
        "confidence": MEDIUM if summed else HIGH,
        "why": _KVSTORE if summed else "",
    }


def _renamed(tables: Tables, played: Mapping[str, str]) -> Tables:
    """The tables with the GPUs' names for the contexts that played them."""

    def name(device: Any) -> Any:
        return played.get(device, device) if isinstance(device, str) else device

    def told(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: told(one) for key, one in value.items()}
        return [told(one) for one in value] if isinstance(value, list) else name(value)

    def key(one: Key) -> Key:
        fields = {field: told(value) for field, value in one.fields.items()}
        for end in ("src", "dst"):
            if one.fields.get(end) in played:
                fields[f"{end}_memory"] = "device"
        return dataclasses.replace(one, fields=fields)

    def process(one: Process) -> Process:
        devices = [name(device) for device in one.devices]
        return dataclasses.replace(one, devices=devices, device_map={d: {"stand_in": False} for d in devices})

    def node(one: Node) -> Node:
        return dataclasses.replace(one, requested=name(one.requested), assigned=name(one.assigned))

    return dataclasses.replace(
        tables,
        processes=[process(one) for one in tables.processes],
        keys=[key(one) for one in tables.keys],
        totals={},  # its times are not those of GPUs
        nodes_of=lambda graph: [node(one) for one in tables.nodes_of(graph)],
    )


def _own_contexts(tables: Tables, played: Mapping[str, str]) -> list[str]:
    """The contexts of the host that the script names besides its first, and that play none of its GPUs."""
    return [
        name for name in tables.devices if name.startswith("cpu:") and name != HOST and name not in played
    ]


def _unforeseen(
    tables: Tables, there: Tables, played: Mapping[str, str], gpus: int, named: int
) -> Iterator[dict[str, Any]]:
    table, playing = host_only(), _own_contexts(tables, played)
    yield _row(
        "kernels",
        f"{table.source} tells which ops have none for GPUs; that one lacks a type or a sparse storage"
        " there, it does not tell",
    )
    yield _row(
        "cuDNN", "what it does in place of MXNet's own kernels, and what memory it takes, no CPU run shows"
    )
    if not played and not playing:
        yield _row("GPUs", "the script names none here, so it is told as it ran; MXNet uses no GPU by itself")
    if gpus and named > gpus:
        why = f"the script names gpu({named - 1}), and there would be {gpus}: MXNet raises there"
        yield _row("gpu numbers", why)
    more = f", for it had yet to name {named}: with --gpus {named} it is told {named}"
    told = f"it was told {gpus or 1}{more if not gpus and named > 1 else ''}"
    for process in tables.processes:
        asked = process.header.get("asked_for_gpus")
        for number in asked.values() if isinstance(asked, Mapping) else ():
            site = tables.site((process.index << 32) + int(number))
            yield _row("the script asks how many GPUs there are", told, site)
    if playing:
        yield unsure_of_stand_ins(playing)
    if tables.steps is None:
        yield _row("steps", "it applied no optimizer before it ended: what is told is of all that ran")
    yield _row("waits", "how long Python waits there: between CPU contexts a copy takes no time")
    yield from (_row(row.what, row.why, count=row.count) for row in there.unseen)


def _row(what: str, why: str, site: str | None = None, count: int = 1) -> dict[str, Any]:
    return {"what": what, "site": site, "count": count, "why": why}
