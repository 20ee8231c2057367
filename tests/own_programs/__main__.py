"""Programs of one's own, unharmed: python -m tests.own_programs [--only NAME..] [--quick] [--jobs N]

Runs each small program of scripts/ without the recorder and with it, and compares how it ended, its standard
output and error, and the files that it wrote, with their permissions. Prints one line a program and exits 1
where anything differed. A program whose two runs without the recorder differ is named `unsteady`.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from runners.environments import environments
from tests.own_programs.cases import FRAMEWORKS, Case, read_cases
from tests.own_programs.runs import EQUAL, Result, compare

_USES_SHOWN = 64


def main(argv: Sequence[str]) -> int:
    """Run the chosen programs; 0 where none differed, 1 where one did, 2 for a wrong command line."""
    args = _parse(argv)
    cases = [case for case in read_cases() if _chosen(case, args)]
    if not cases:
        print("own_programs: no program is named like that; --list names all", file=sys.stderr)
        return 2
    if args.list:
        print("\n".join(f"{case.name:44s} {case.uses}" for case in cases))
        return 0
    frameworks = {case.framework for case in cases}
    pythons = {name: python for name in frameworks if (python := _python(name)) is not None}
    missing = sorted(frameworks - pythons.keys())
    for name in missing:
        print(f"own_programs: {name} is not installed, its programs are left out", file=sys.stderr)
    cases = [case for case in cases if case.framework not in missing]
    start = time.monotonic()
    with _folder(args.keep) as folder, ProcessPoolExecutor(args.jobs) as pool:
        asked = [pool.submit(compare, case, pythons[case.framework], folder) for case in cases]
        results = []
        for number, done in enumerate(as_completed(asked), 1):
            results.append(done.result())
            print(f"{number:3d}/{len(cases)} " + "\n".join(lines(results[-1])), flush=True)
    bad = sorted(result.case.name for result in results if result.verdict != EQUAL)
    print(f"{len(results) - len(bad)} of {len(results)} equal, {time.monotonic() - start:.0f} s")
    if bad:
        print("not equal: " + " ".join(bad))
    return 1 if bad else 0


def lines(result: Result) -> list[str]:
    """A program's row of the table, and what differed under it."""
    took = f"{result.plain.seconds:.1f}/{result.recorded.seconds:.1f} s"
    row = f"{result.case.name:44s} {result.verdict:9s} {took:>13s}  {result.case.uses[:_USES_SHOWN]}"
    return [row, *(f"        {line}" for line in result.differences)]


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.own_programs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="parts of names")
    parser.add_argument("--framework", choices=FRAMEWORKS, help="programs of this one alone")
    parser.add_argument("--quick", action="store_true", help="those that CI runs")
    parser.add_argument("--list", action="store_true", help="name the programs and run none")
    parser.add_argument("--jobs", type=int, default=2, help="programs at a time")
    parser.add_argument("--keep", type=Path, help="keep the outputs in this folder")
    return parser.parse_args(argv)


def _chosen(case: Case, args: argparse.Namespace) -> bool:
    named = not args.only or any(part in case.name for part in args.only)
    return named and args.framework in (None, case.framework) and (case.quick or not args.quick)


def _python(framework: str) -> Path | None:
    if framework == "none":
        return Path(sys.executable)
    found = environments.environment(framework)
    return found.python if found.state == "ready" else None


@contextlib.contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="own-programs-") as folder:
        yield Path(folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
