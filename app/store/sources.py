"""The kept text of the files that a run's lines are in, as lines that are safe to show."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable
from pathlib import Path

from app.store.traced_devices import TRACE_FOLDER
from probes.trace.sources import FOLDER, MOST_BYTES, kept_name
from runners.runs import run_files

LONGEST_LINE = 2000
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Would not be seen, or would make a line look other than it is."""


def has_sources(folder: Path) -> bool:
    """Whether the text of any file was kept with the run; not so of runs recorded by earlier versions."""
    return (folder / TRACE_FOLDER / FOLDER).is_dir()


def read_source(folder: Path, files: Iterable[str]) -> list[str] | None:
    """The lines of the first of these files, absolute paths of the recorded machine, whose text was kept."""
    text = kept_text(folder, files)
    return None if text is None else shown_lines(text)


def shown_lines(text: str) -> list[str]:
    """A text as lines that are safe to show."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return [_shown(line) for line in text.removesuffix("\n").split("\n")]


def kept_text(folder: Path, files: Iterable[str]) -> str | None:
    """The text of the first of these files that was kept, as it is; to be shown only as `shown_lines`."""
    for file in files:
        try:
            with run_files.open_file(folder, f"{TRACE_FOLDER}/{FOLDER}/{kept_name(file)}") as reading:
                data = reading.read(MOST_BYTES)
        except OSError:
            continue
        return _decoded(data)
    return None


def _decoded(data: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding, "replace")
    except (SyntaxError, LookupError, ValueError):  # a file may name any codec, also one that is none of text
        return data.decode("utf-8", "replace")


def _shown(line: str) -> str:
    text = _ODD.sub("\N{REPLACEMENT CHARACTER}", line.expandtabs(8))
    if len(text) <= LONGEST_LINE:
        return text
    return f"{text[:LONGEST_LINE]} .. ({len(text) - LONGEST_LINE:,} more characters)"
