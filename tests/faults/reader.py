"""Reads run folders as the commands and pages do, one a line of its input; what is wrong is said a line each.

    python -m tests.faults.reader HOME

It answers `ok WORDS` or `crashed WORDS`; who asks judges an answer that does not come.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

os.environ["HOPSCOPE_HOME"] = sys.argv[1]

from app.reports.html import render_html
from app.reports.run_report import run_report
from app.reports.text import render_text
from app.store.progress import last_progress
from app.web.shared import run_rows
from app.web.shared.open_runs import OpenRun
from runners.errors import HopscopeError
from runners.runs import registry

MOST_BYTES = 4 << 30
"""Of address space: a damaged length must not fill the machine."""


def read(name: str) -> str:
    """Read a run in every form; return what was said to be wrong."""
    path = registry.runs_folder() / name
    said = []
    runs = {run.id: run for run in registry.runs()}
    for run in runs.values():
        row = run_rows.broken_row(run, True) if run.problem else _row_of(run)
        json.dumps(row)
    if name not in runs:
        return "is not listed"
    said += [word for word in (runs[name].problem, runs[name].reason) if word]
    try:
        report = run_report(path, ops=True, seal=False)
        json.dumps(report)
        render_text(report)
        render_html(report)
        said += [row["what"] for row in report["unseen"]]
        shown = OpenRun(path)
        snapshot = shown.look(False)
        for view in ("findings", "unseen", "hops", "matrix", "files", "memory", "collectives", "ops"):
            getattr(snapshot, view)
        shown.progress()
        shown.verdicts()
        shown.store.close()
    except HopscopeError as error:
        said.append(str(error))
    return "; ".join(said)


def _row_of(run: registry.Run) -> object:
    return run_rows.run_row(run, last_progress(run.path), True)


def main() -> int:
    """Answer each line of the input."""
    for line in sys.stdin:
        try:
            answer = "ok " + read(line.strip())
        except Exception:  # noqa: BLE001 - any is what is looked for
            answer = "crashed " + " | ".join(traceback.format_exc().splitlines()[-4:])
        print(answer.replace("\n", " "), flush=True)
    return 0


if __name__ == "__main__":
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    raise SystemExit(main())
