"""A run's status.json: written whole or not at all, also when the disk is full."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from pathlib import Path
from typing import Any

from probes import private_files
from runners.errors import HopscopeError
from runners.runs import run_files

STATUS_NAME = "status.json"
SPARE_NAME = ".status.spare"
SPARE_BYTES = 4096
MOST_BYTES = 8 << 20
"""Of a spec or a status; a command line has up to 2 MiB."""
ENDED_STATES = ("finished", "failed", "stopped", "lost")
LIVE_STATES = ("starting", "running")
RETRY_S = (0.2, 0.5, 1.0, 2.0, 5.0)
GIVE_UP_WRITING_S = 24 * 3600.0


class StatusFile:
    """The status of one run folder, for its one writer.

    The next version is written over a spare file whose blocks were allocated beforehand and then renamed,
    so a disk that fills up meanwhile keeps the old status whole and mostly still takes the new one.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / STATUS_NAME
        self.spare = folder / SPARE_NAME

    def write(self, status: dict[str, Any], last: bool = False) -> bool:
        """Replace the status; return False, with the old one kept, when there is no room for it now.

        FileNotFoundError passes through: the folder is gone, so trying again is pointless.
        """
        data = json.dumps(status, indent=1).encode() + b"\n"
        try:
            descriptor = self._open_spare()
            try:
                done = 0
                while done < len(data):
                    done += os.pwrite(descriptor, data[done:], done)
                os.ftruncate(descriptor, len(data))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            self.spare.replace(self.path)
        except FileNotFoundError:
            raise
        except OSError:
            return False
        if not last:
            self._reserve()
        return True

    def _open_spare(self) -> int:
        # A folder from elsewhere may have another file under this name: a spare of ours has no second one.
        with contextlib.suppress(FileNotFoundError):
            facts = self.spare.lstat()
            if facts.st_nlink != 1 or not stat.S_ISREG(facts.st_mode):
                self.spare.unlink()
        return private_files.open_file(str(self.spare), os.O_WRONLY | os.O_CREAT)

    def _reserve(self) -> None:
        # Without room for a spare the next write just has to find room itself.
        with contextlib.suppress(OSError):
            descriptor = self._open_spare()
            try:
                os.posix_fallocate(descriptor, 0, SPARE_BYTES)
            finally:
                os.close(descriptor)

    def clear(self) -> None:
        """Remove the spare file."""
        with contextlib.suppress(OSError):
            self.spare.unlink(missing_ok=True)


class StatusBoard:
    """The status of a run as its supervisor knows it, and its way into the file."""

    def __init__(self, folder: Path, values: dict[str, Any]) -> None:
        self.values = values
        self.unpublished = False
        """The file lacks something that `values` says: there was no room, or it is not urgent."""
        self._file = StatusFile(folder)

    def note(self, reason: str) -> None:
        """Say why the run is in this state."""
        if self.values["reason"] != reason:
            self.values["reason"] = reason
            self.publish()

    def publish(self) -> None:
        """Write the status as it is now; what finds no room is to be tried again."""
        with contextlib.suppress(FileNotFoundError):
            self.unpublished = not self._file.write(self.values)

    def publish_last(self) -> None:
        """Write the final status; wait for room where there is none, unless the folder is gone."""
        deadline = time.monotonic() + GIVE_UP_WRITING_S
        attempt = 0
        with contextlib.suppress(FileNotFoundError):
            while not self._file.write(self.values, last=True) and time.monotonic() < deadline:
                time.sleep(RETRY_S[min(attempt, len(RETRY_S) - 1)])
                attempt += 1
        self._file.clear()


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file of a run folder; raises HopscopeError that says what is wrong."""
    try:
        value = json.loads(run_files.read_file(path.parent, path.name, MOST_BYTES))
    except FileNotFoundError:
        raise HopscopeError(f"{path.name} is missing") from None
    except OSError as error:
        raise HopscopeError(f"{path.name} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise HopscopeError(f"{path.name} is damaged: it is not JSON") from None
    if not isinstance(value, dict):
        raise HopscopeError(f"{path.name} is damaged: it does not hold a JSON object")
    return value
