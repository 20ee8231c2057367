"""Rounds of faults: each by a random generator of its own, so that one can be tried again alone."""

from __future__ import annotations

import dataclasses
import random
import shutil
import time
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from tests.faults.bench import Skipped
from tests.faults.catalogue import Fault

PROGRESS_S = 10.0


@dataclasses.dataclass
class Tally:
    """What came of one fault's rounds."""

    fault: Fault
    tried: int = 0
    failures: list[tuple[int, str]] = dataclasses.field(default_factory=list)
    """Number and words of each round that failed."""
    skipped: str = ""
    """Why it could not be tried here."""
    took_s: float = 0.0


def play(fault: Fault, numbers: Iterable[int], seed: str, folder: Path, progress: TextIO) -> Tally:
    """Play rounds of a fault, and say now and then how far that is."""
    tally = Tally(fault)
    rounds = list(numbers)
    begun = said = time.monotonic()
    print(f"{fault.name}: {len(rounds)} rounds", file=progress, flush=True)
    for number in rounds:
        place = folder / f"{fault.name}-{number}"
        try:
            fault.play(place, number, random.Random(f"{seed}/{fault.name}/{number}"))
            tally.tried += 1
        except Skipped as why:
            tally.skipped = str(why)
            break
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in a round is what is looked for
            tally.tried += 1
            words = f"{type(error).__name__}: {error}"
            tally.failures.append((number, words))
            print(f"{fault.name} {number}: {words}\n{traceback.format_exc()}", file=progress, flush=True)
        shutil.rmtree(place, ignore_errors=True)
        if time.monotonic() - said > PROGRESS_S:
            said = time.monotonic()
            print(
                f"  {tally.tried} of {len(rounds)}, {len(tally.failures)} failed", file=progress, flush=True
            )
    tally.took_s = time.monotonic() - begun
    return tally


def table(tallies: list[Tally]) -> str:
    """Return what was tried, how often, what failed and what could not be tried, a fault a line."""
    lines = [f"{'fault':24} {'tried':>6} {'failed':>6} {'time':>7}"]
    for tally in tallies:
        numbers = f"{tally.tried:6} {len(tally.failures):6} {tally.took_s:5.0f} s"
        lines.append(f"{tally.fault.name:24} {numbers}  {_remark(tally)}".rstrip())
    return "\n".join(lines)


def _remark(tally: Tally) -> str:
    if tally.skipped:
        return f"skipped: {tally.skipped}"
    if not tally.failures:
        return ""
    number, words = tally.failures[0]
    return f"round {number}: {' '.join(words.split())[:200]}"
