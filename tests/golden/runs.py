"""Golden runs as files: the archive of a recording, and the report of it that must stay as it is."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

from app.reports.prediction_report import preflight_report
from app.reports.run_report import run_report
from runners.runs.purpose import is_preflight
from runners.runs.run import read_run

FOLDER = Path(__file__).resolve().parent
RECORDINGS, REPORTS = FOLDER / "recordings", FOLDER / "reports"
_ENDING = ".tar.xz"


def names() -> list[str]:
    """All of them, ``labelled/mxnet/push_and_pull`` say; some have no report, only sentences."""
    return sorted(
        str(path.relative_to(RECORDINGS)).removesuffix(_ENDING) for path in RECORDINGS.rglob(f"*{_ENDING}")
    )


def reported() -> list[str]:
    """Those with a report."""
    return sorted(str(path.relative_to(REPORTS).with_suffix("")) for path in REPORTS.rglob("*.json"))


def unpack(name: str, folder: Path) -> Path:
    """Put the run's folder into this one, and return its path."""
    with tarfile.open(RECORDINGS / f"{name}{_ENDING}") as archive:
        (run,) = {member.name.partition("/")[0] for member in archive.getmembers()}
        archive.extractall(folder, filter="data")
    return folder / run


def pack(name: str, run: Path) -> None:
    """Write the archive of a run's folder; the same folder gives the same bytes."""
    archive = RECORDINGS / f"{name}{_ENDING}"
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for file in sorted(path for path in run.rglob("*") if path.is_file()):
            member = tarfile.TarInfo(f"{run.name}/{file.relative_to(run)}")
            member.size, member.mode = file.stat().st_size, 0o600
            packed.addfile(member, io.BytesIO(file.read_bytes()))


def report(run: Path) -> dict[str, Any]:
    """The report of a run's folder, as JSON has it: tuples are lists there, and keys are text."""
    made = preflight_report(run) if is_preflight(read_run(run)) else run_report(run, ops=True)
    plain: dict[str, Any] = json.loads(json.dumps(made))
    return plain


def golden_report(name: str) -> dict[str, Any]:
    """The report that a golden run must have."""
    golden: dict[str, Any] = json.loads((REPORTS / f"{name}.json").read_text("utf-8"))
    return golden


def write_report(name: str, made: dict[str, Any]) -> None:
    """Make this the report that a golden run must have."""
    file = REPORTS / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
