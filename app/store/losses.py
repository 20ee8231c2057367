"""What was recorded of a run and not kept: what its status counts of output and samples without room."""

from __future__ import annotations

from pathlib import Path

from app.store.ended import read_json
from probes.trace.rows import Unseen
from runners.runs import run_files
from runners.runs.run import LOG_NAME
from runners.runs.status import STATUS_NAME
from runners.supervise.run_log import OUTPUT_LOST
from runners.supervise.run_sampler import SAMPLES_CUT
from runners.supervise.sample_rows import SAMPLES_NAME

OUTPUT = "bytes of the program's output"
SAMPLES = "samples of the devices"
_FILES = {LOG_NAME: "the program's output", SAMPLES_NAME: SAMPLES}


def losses(folder: Path, samples_lost: int) -> list[Unseen]:
    """Return what was not kept beside the recording; `samples_lost` is how many samples found no room."""
    status = read_json(folder / STATUS_NAME)
    found = []
    if lost := _count(status.get(OUTPUT_LOST)):
        found.append(Unseen(OUTPUT, lost, f"out.log could not keep them: {status.get(f'{OUTPUT_LOST}_why')}"))
    if samples_lost:
        found.append(Unseen(SAMPLES, samples_lost, "there was no room for them on the disk"))
    if why := status.get(SAMPLES_CUT):
        found.append(Unseen("the end of the samples of the devices", 1, str(why)))
    return found + [row for name, what in _FILES.items() if (row := _unread(folder, name, what))]


def _unread(folder: Path, name: str, what: str) -> Unseen | None:
    """What a file that is there and cannot be read would have told: a link, say, which is never followed."""
    try:
        run_files.facts(folder, name)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Unseen(what, 1, f"{name} is not read: {error.strerror}")
    return None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
