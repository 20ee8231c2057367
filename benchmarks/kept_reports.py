"""What a change of the code does to reports: python -m benchmarks.kept_reports keep FOLDER | compare FOLDER

  keep     record all labelled scripts, all catalogued programs on stand-ins with three steps, and pre-flights
           of both; keep the recordings and their reports in FOLDER (about 20 minutes; what is there is not
           recorded again)
  compare  make the reports of these recordings again, with the code as it is now, and print what differs

  --without-texts  leave out sentences and patches, which a change may mean to word anew
  --anew OTHER     compare with recordings of another folder, as a changed recorder makes them; times and
                   sampled memory and the order of rows, which no two recordings have in common, are left out
  NAME ..          only what is named so, or begins so: program/ preflight/tf- labelled/mxnet/vae_noise

Status 1 where anything differs or has no report.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.kept.differences import MEASURED, TEXTS, differences, in_order
from benchmarks.kept.recordings import Recordings, Subject, subjects
from runners.errors import HopscopeError

_SHOWN = 12


def main() -> int:
    """Record, or compare."""
    args = _parse()
    recordings = Recordings(args.folder)
    if args.command == "keep":
        return _keep(recordings, [one for one in subjects() if _asked(one.name, args.names)], args.jobs)
    other = Recordings(args.anew) if args.anew else recordings
    names = [name for name in recordings.names() if _asked(name, args.names)]
    if not names:
        print(f"kept_reports: {args.folder} keeps no such report; make some: kept_reports keep {args.folder}")
        return 2
    without = (TEXTS if args.without_texts else frozenset()) | (MEASURED if args.anew else frozenset())
    different = sum(_differs(recordings, other, name, without) for name in names)
    print(f"{len(names)} reports compared, {different} differ")
    return 1 if different else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="kept_reports"
    )
    parser.add_argument("command", choices=("keep", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=2, help="how many run at a time (default: 2)")
    parser.add_argument("--without-texts", action="store_true")
    parser.add_argument("--anew", type=Path, metavar="OTHER")
    return parser.parse_intermixed_args()


def _asked(name: str, asked: list[str]) -> bool:
    return not asked or any(name.startswith(one) for one in asked)


def _keep(recordings: Recordings, wanted: list[Subject], jobs: int) -> int:
    known = set(recordings.names())
    missing = [one for one in wanted if one.name not in known]
    print(f"{len(wanted) - len(missing)} are kept, {len(missing)} to record", flush=True)
    failed = 0
    with ThreadPoolExecutor(jobs) as pool:
        for number, (subject, problem) in enumerate(
            zip(missing, pool.map(lambda one: _recorded(recordings, one), missing), strict=True), 1
        ):
            failed += bool(problem)
            print(f"{number}/{len(missing)} {subject.name}{problem}", flush=True)
    return 1 if failed else 0


def _recorded(recordings: Recordings, subject: Subject) -> str:
    try:
        recordings.record(subject)
    except HopscopeError as error:
        return f": {error}"
    return ""


def _differs(recordings: Recordings, other: Recordings, name: str, without: frozenset[str]) -> bool:
    try:
        before = recordings.kept(name)
        if other is recordings:
            found = list(differences(before, recordings.report(name), without))
        else:
            found = list(differences(in_order(before, without), in_order(other.kept(name), without)))
    except (HopscopeError, OSError, KeyError, json.JSONDecodeError) as error:
        found = [str(error) or type(error).__name__]
    if found:
        print("\n".join(_shown(name, found)), flush=True)
    return bool(found)


def _shown(name: str, found: list[str]) -> Iterator[str]:
    yield name
    yield from (f"    {line}" for line in found[:_SHOWN])
    if len(found) > _SHOWN:
        yield f"    and {len(found) - _SHOWN} more"


if __name__ == "__main__":
    sys.exit(main())
