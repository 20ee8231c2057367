"""Hostile inputs by one command: `python3 -m tests.hostile [--inputs N] [--seed N] [--only ENTRANCE]`.

The seed makes the same inputs again. Each failing input is written out, and then the exit status is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from app.bootstrap import dashboard_recipe, enter, tell_failure
from runners.errors import HopscopeError
from tests.hostile.campaign import ENTRANCES, Outcome, campaign, shares, table

ROOT = Path(__file__).resolve().parents[2]
_DEFAULT_SEED = 16
_EVERY_S = 10.0


def main() -> int:
    """Try the inputs and print what came of them."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.hostile", description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=100_000, metavar="N", help="inputs in all")
    parser.add_argument("--seed", type=int, default=_DEFAULT_SEED, metavar="N")
    parser.add_argument("--only", action="append", choices=ENTRANCES, help="an entrance; may be repeated")
    parser.add_argument("--input", type=int, metavar="N", help="one input of --only, again")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="entrances at the same time")
    parser.add_argument("--failures", type=Path, default=Path("hostile-failures"), metavar="FOLDER")
    given = parser.parse_args()
    try:
        again = ["-m", "tests.hostile", *sys.argv[1:]]
        enter(dashboard_recipe(), again)
        enter(dashboard_recipe("tests", ROOT / "tests" / "requirements.txt"), again)
    except HopscopeError as error:
        return tell_failure(error)
    names = given.only or list(ENTRANCES)
    if given.input is not None:
        numbers = dict.fromkeys(names, range(given.input, given.input + 1))
    else:
        numbers = {name: range(count) for name, count in shares(given.inputs, names).items()}
    print(f"seed {given.seed}", flush=True)

    def tried(name: str) -> Outcome:
        return campaign(name, given.seed, numbers[name], given.failures, _progress(name, len(numbers[name])))

    with ThreadPoolExecutor(given.jobs) as pool:
        outcomes = list(pool.map(tried, names))
    for one in outcomes:
        for kind, count in one.kinds.most_common():
            number, words = one.first[kind]
            print(f"\n{one.name}: {kind}: {count} inputs, the first --seed {given.seed} --input {number}")
            print("    " + "\n    ".join(words.splitlines()[-4:])[:1500])
    print(f"\n{table(outcomes)}")
    if any(one.failures for one in outcomes):
        print(f"the failing inputs are in {given.failures.resolve()}")
        return 1
    return 0


class _progress:
    """Says now and then on standard error how far an entrance is."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total, self._said = name, total, time.monotonic()

    def __call__(self, number: int, failures: int) -> None:
        now = time.monotonic()
        if now - self._said >= _EVERY_S:
            self._said = now
            print(
                f"{self._name}: {number:,} of {self._total:,}, {failures} failed", file=sys.stderr, flush=True
            )


if __name__ == "__main__":
    sys.exit(main())
