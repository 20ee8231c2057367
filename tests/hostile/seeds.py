"""Sound run folders from which hostile ones are made: small recorded runs, kept beside this file."""

from __future__ import annotations

import array
import base64
import dataclasses
import functools
import gzip
import json
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("seeds")
PACKAGES = Path(__file__).resolve().parents[2]
_FIELD = re.compile(r"(?:fields|facts|row|header|spec|status)(?:\.get\(|\[)\"(\w+)\"")


@dataclasses.dataclass(frozen=True)
class Seed:
    """A run folder in memory."""

    name: str
    trace: tuple[bytes, ...]
    """Its lines."""
    counts: bytes
    files: dict[str, bytes]
    """The other files by their path in the folder, spec.json and status.json among them."""


@functools.cache
def seeds() -> tuple[Seed, ...]:
    """All of them, by name."""
    return tuple(_read(path) for path in sorted(FOLDER.glob("*.json.gz")))


def _read(path: Path) -> Seed:
    held: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    counts = array.array("q", held["counts"]).tobytes()
    files = {name: base64.b64decode(text) for name, text in held["files"].items()}
    return Seed(path.name.partition(".")[0], tuple(held["trace"].encode().splitlines()), counts, files)


def write(path: Path, trace: str, counts: list[int], files: dict[str, bytes]) -> None:
    """Keep a seed."""
    kept = {name: base64.b64encode(data).decode() for name, data in files.items()}
    content = json.dumps({"trace": trace, "counts": counts, "files": kept}).encode()
    path.write_bytes(gzip.compress(content, mtime=0))


_READERS = (
    *(
        "app/diagnosis",
        "app/diagram",
        "app/facts",
        "app/fixes",
        "app/lessons",
        "app/preflight",
        "app/reports",
    ),
    *("app/store", "app/web", "runners"),
)


@functools.cache
def field_names() -> tuple[str, ...]:
    """Every name of a field that the readers ask for, from their source."""
    found: set[str] = set()
    for package in _READERS:
        for path in (PACKAGES / package).rglob("*.py"):
            found.update(_FIELD.findall(path.read_text()))
    return tuple(sorted(found))
