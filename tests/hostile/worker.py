"""One process that tries inputs of one entrance, and says on its standard output what each failure was.

A process of its own, because an input may end it; the number of the present input is in a file.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import random
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.hostile.ground import Ground, Harm, OverLimit, bounded, prepared, within_limits

ROOT = Path(__file__).resolve().parents[2]
AT = "at"
"""The file that holds the number of the present input."""
_LOOK_EVERY = 50
_MOST_HANDLES = 40
"""Open files that may come in a worker's life: libraries keep some."""


def entrance(name: str) -> ModuleType:
    """The module of an entrance."""
    return importlib.import_module(f"tests.hostile.entrances.{name}")


def random_of(seed: int, name: str, number: int) -> random.Random:
    """What makes one input, and makes it again."""
    return random.Random(f"{seed}/{name}/{number}")


def main(name: str, seed: int, first: int, end: int, folder: Path) -> None:
    """Try the inputs `first` to `end` - 1."""
    say = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is printed meanwhile must not stand among it
    module = entrance(name)
    bounded()
    with prepared(folder / "ground") as ground, module.opened(ground) as attempt:
        handles = None
        at = folder / AT
        for number in range(first, end):
            at.write_text(str(number))
            ground.notes, ground.harms = [], []
            rng = random_of(seed, name, number)
            found = _tried(ground, attempt, rng, number)
            if number % _LOOK_EVERY == _LOOK_EVERY - 1 or number == end - 1:
                found = found or _looked(ground)
                gc.collect()
                now = sum(1 for _ in Path("/proc/self/fd").iterdir())
                handles = handles or now
                if now > handles + _MOST_HANDLES and not found:
                    found = {"kind": "files stay open", "words": f"{now} open files, {handles} at first"}
                    handles = now
            if found:
                print(json.dumps({"number": number, **found, "notes": ground.notes}), file=say)
            elif number % 10 == 0 or number == end - 1:
                print(json.dumps({"tried": number}), file=say)
            say.flush()


def _tried(ground: Ground, attempt: Any, rng: random.Random, number: int) -> dict[str, str] | None:
    try:
        with within_limits():
            attempt(rng)
        if ground.harms:
            raise Harm("; ".join(ground.harms[:3]))
    except Harm as harm:
        return {"kind": str(harm)[:60], "words": str(harm)}
    except (Exception, OverLimit) as error:  # noqa: BLE001 - what escapes is what is looked for
        return {"kind": _kind(error), "words": "".join(traceback.format_exception(error))[-6000:]}
    return None


def _looked(ground: Ground) -> dict[str, str] | None:
    try:
        ground.check_outside()
    except Harm as harm:
        return {"kind": str(harm)[:60], "words": f"{harm} (at one of the last {_LOOK_EVERY} inputs)"}
    return None


def _kind(error: BaseException) -> str:
    """An error's type and the innermost line of the product: the same for all inputs of one fault."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(f"{ROOT}/") and "/.venv" not in frame.filename
    ]
    own = [frame for frame in frames if "/tests/" not in frame.filename] or frames
    where = f" at {Path(own[-1].filename).relative_to(ROOT)}:{own[-1].lineno}" if own else ""
    return f"{type(error).__name__}{where}"


if __name__ == "__main__":
    name, seed, first, end, folder = sys.argv[1:]
    main(name, int(seed), int(first), int(end), Path(folder))
