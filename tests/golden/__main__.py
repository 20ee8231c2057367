"""Golden runs, written anew on purpose: python -m tests.golden write | add FOLDER NAME ..

write  make the reports of the golden runs and the sentences of the causes anew, with the code as it is now;
       what changed is then a difference in git, to be read before it is committed
add    take recordings from a folder of `benchmarks.kept_reports`, without what names the machine;
       --path OLD=NEW renames folders in them, --report keeps their reports too, --sealed their tables
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.kept.differences import differences
from tests.golden import runs, wording
from tests.golden.anonymous import anonymous_copy, renamed_report


def main() -> int:
    """Write, or add."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="tests.golden"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write")
    add = commands.add_parser("add")
    add.add_argument("folder", type=Path)
    add.add_argument("names", nargs="+", metavar="NAME")
    add.add_argument("--path", action="append", default=[], metavar="OLD=NEW")
    add.add_argument("--report", action="store_true")
    add.add_argument("--sealed", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["HOPSCOPE_HOME"] = scratch
        if args.command == "write":
            _write(Path(scratch))
            return 0
        renamed = dict(pair.split("=", 1) for pair in args.path)
        return max([_add(args, name, Path(scratch), renamed) for name in args.names])


def _write(scratch: Path) -> None:
    for name in runs.reported():
        runs.write_report(name, runs.report(runs.unpack(name, scratch)))
    wording.write(wording.examples(scratch))


def _add(args: argparse.Namespace, name: str, scratch: Path, renamed: dict[str, str]) -> int:
    """The copy must give the report that the recording gave, but for what was renamed."""
    run = args.folder / "runs" / json.loads((args.folder / "index.json").read_text())[name]
    host = json.loads((run / "spec.json").read_text())["host"]["name"]
    before = json.loads((args.folder / "reports" / f"{name}.json").read_text("utf-8"))
    copy = anonymous_copy(run, scratch, renamed, args.sealed)
    runs.pack(name, copy)
    now = runs.report(copy)
    found = list(differences(renamed_report(before, renamed, host), now))
    print("\n".join([f"{name}: {len(found)} differences", *(f"    {line}" for line in found)]))
    if args.report:
        runs.write_report(name, now)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
