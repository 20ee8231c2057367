"""How many labelled lines get their cause: python -m benchmarks.labelled_causes [--framework F] [CASE..]

Runs the scripts of tests/labelled/ as `python3 -m app run` does and compares the findings of each report with
the labels in the script (benchmarks/labelled/cases.py says how they are written). Printed are, a case a line:

  labels   lines that an expert would name, with their code
  found    those told with that code at exactly that line, severe enough
  false    warnings and errors at lines or with codes that no label has
  wrong    labelled lines told with other causes only, `unknown` not counted

and in all: recall (found of labels), precision (labelled of all warnings and errors), exact lines (found of
those whose code was told in the case at all). Status 1 where a case's script did not end as it should.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from app.reports.prediction_report import preflight_report
from app.reports.run_report import run_report
from benchmarks.labelled.cases import FRAMEWORKS, Case, CaseError, read_cases
from benchmarks.labelled.scoring import Score, Totals, failed, score_report, totals
from runners.errors import HopscopeError
from runners.plan import launcher
from runners.plan.plan import LaunchOptions, Plan
from runners.plan.preflight_plan import plan_preflight
from runners.plan.script_plan import plan_script
from runners.runs import registry

LIMIT_S = 300
LOG_SHOWN = 400


def main() -> int:
    """Run the cases, print the table, and with --json one object as the last line."""
    args = _parse()
    try:
        cases = [case for case in read_cases(args.framework or FRAMEWORKS) if _asked(case, args.cases)]
    except CaseError as error:
        print(f"labelled_causes: {error}", file=sys.stderr)
        return 2
    unknown = [name for name in args.cases if not any(_asked(case, [name]) for case in cases)]
    if unknown:
        print(f"labelled_causes: no case is named like {' or '.join(unknown)}", file=sys.stderr)
        return 2
    with _home(args.keep), ThreadPoolExecutor(args.jobs) as pool:
        scores = []
        print(_line("case", "labels", "found", "false", "wrong"))
        for one in pool.map(run, cases):
            scores.append(one)
            print("\n".join(case_lines(one)), flush=True)
    negative = [case.name for case in cases if case.negative]
    sums = totals(scores, negative)
    print("\n".join(total_lines(sums)), flush=True)
    if args.json:
        found = {"cases": [dataclasses.asdict(one) for one in scores], "totals": sums.row()}
        print(json.dumps(found))
    return 1 if sums.failed else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="labelled_causes"
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names, or their beginnings; all without")
    parser.add_argument("--framework", action="append", choices=FRAMEWORKS)
    parser.add_argument("--jobs", type=int, default=1, help="how many run at a time (default: 1)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the runs there, as $HOPSCOPE_HOME")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _asked(case: Case, names: Sequence[str]) -> bool:
    return not names or any(case.name.startswith(name) for name in names)


@contextlib.contextmanager
def _home(kept: Path | None) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        home = kept or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labelled-")))
        os.environ["HOPSCOPE_HOME"] = str(home.absolute())
        yield


def run(case: Case) -> Score:
    """Run a case's script, recorded, and score its report."""
    try:
        started = launcher.launch(plan(case))
        ended = registry.wait(started, LIMIT_S)
        if not ended.ended:
            registry.stop(ended, grace_s=0)
            return failed(case, f"still running after {LIMIT_S} s")
        if ended.exit_code != case.exit:
            log = ended.log.read_text(errors="replace").strip()[-LOG_SHOWN:]
            return failed(case, f"ended with status {ended.exit_code}, not {case.exit}: {log}")
        report = preflight_report(ended.path) if case.preflight else run_report(ended.path)
        return score_report(case, report)
    except HopscopeError as error:
        return failed(case, str(error))


def plan(case: Case) -> Plan:
    """The run of a case, as the command line would plan it."""
    words = [case.module or str(case.script), *case.args]
    if case.preflight:
        foreseen = plan_preflight(words, framework=case.framework, cwd=case.folder, module=bool(case.module))
        return dataclasses.replace(foreseen, env=foreseen.env | dict(case.env))
    planned = plan_script(
        words,
        framework=case.framework,
        cwd=case.folder,
        module=bool(case.module),
        launch=LaunchOptions(exact=case.exact),
    )
    return dataclasses.replace(planned, env=planned.env | dict(case.env))


def case_lines(one: Score) -> Iterator[str]:
    """A case's line of the table, and below it what is not as it should be."""
    yield _line(one.case, one.labels, len(one.found), len(one.false), len(one.wrong))
    if one.failure:
        yield f"    {one.failure}"
    for miss in one.missed:
        instead = f"; told there: {', '.join(miss.instead)}" if miss.instead else ""
        elsewhere = f"; told at {', '.join(miss.elsewhere)}" if miss.elsewhere else ""
        yield f"    missed: {miss.label}{instead}{elsewhere}"
    for told in one.false:
        yield f"    false:  {told}: {told.summary}"


def total_lines(sums: Totals) -> Iterator[str]:
    """The sums and shares."""
    yield _line("all", sums.labels, sums.found, sums.false, sums.wrong)
    yield f"{sums.cases} cases, {sums.negative} of them negative; {sums.reached} without a fault"
    yield f"recall       {_share(sums.recall)}"
    yield f"precision    {_share(sums.precision)}"
    yield f"exact lines  {_share(sums.exact)}"
    yield f"wrong causes {sums.wrong}"


def _line(name: str, *figures: object) -> str:
    return f"{name:<44}" + "".join(f"{figure:>8}" for figure in figures)


def _share(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


if __name__ == "__main__":
    sys.exit(main())
