"""A copy of a run's folder that names neither the machine, its user, nor their folders."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.store.run import open_run
from app.store.traced_devices import TRACE_FOLDER
from probes.trace.sources import FOLDER as SOURCES
from probes.trace.sources import kept_name

HOME = "/home/user"
"""Where folders of the recording machine are said to have been."""
_NO_BOOT = "00000000-0000-0000-0000-000000000000"
_LEFT_OUT = ("launch.mac", "tables")
"""A key of the machine signed the first; the second is made of the trace, and names paths as it does."""
_PATH = re.compile(rb"(?<![\w./<>=-])/(?!/)[\w.+-]+(?:/[\w.+-]+)+")


def anonymous_copy(run: Path, folder: Path, renamed: Mapping[str, str], sealed: bool) -> Path:
    """Copy a run into a folder with paths renamed: those that begin with a key begin with its value instead.

    With `sealed` the copy has its tables too. Raises ValueError where a path stays that no key is of.
    """
    copy = folder / run.name
    shutil.copytree(run, copy, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    host = json.loads((run / "spec.json").read_text())["host"]["name"]
    files = [path for path in copy.rglob("*") if path.is_file()]
    for file in files:
        if file.suffix == ".json" and file.parent == copy:
            _plain_host(file)
        if file.suffix in {".json", ".jsonl", ".log"}:
            file.write_bytes(renamed_text(file.read_bytes(), renamed, host))
    _rename_sources(run, copy, renamed)
    if left := sorted({path for file in files if file.exists() for path in foreign_paths(file.read_bytes())}):
        raise ValueError(f"{run.name} still names {', '.join(left)}")
    if sealed:
        store = open_run(copy)
        store.seal()
        store.close()
    return copy


def renamed_text(text: bytes, renamed: Mapping[str, str], host: str) -> bytes:
    """A file of the run with its paths renamed, and the host's name in a trace's header."""
    for old, new in renamed.items():
        text = text.replace(old.encode(), new.encode())
    return text.replace(f'"host":"{host}"'.encode(), b'"host":"host"')


def renamed_report(made: dict[str, Any], renamed: Mapping[str, str], host: str) -> dict[str, Any]:
    """A report with the same paths renamed."""
    again: dict[str, Any] = json.loads(renamed_text(json.dumps(made).encode(), renamed, host))
    return again


def foreign_paths(text: bytes) -> set[str]:
    """Absolute paths of two parts or more that are not said to be the user's, nor every machine's."""
    known = (f"{HOME}/", "/usr/", "/proc/", "/dev/", "/device:", "/job:", "/replica:", "/task:")
    return {path.decode() for path in _PATH.findall(text) if not path.decode().startswith(known)}


def _plain_host(file: Path) -> None:
    facts = json.loads(file.read_text("utf-8"))
    if "name" in facts.get("host", {}):
        facts["host"]["name"] = "host"
    if "boot_id" in facts:
        facts["boot_id"] = _NO_BOOT
    file.write_text(json.dumps(facts, indent=1), "utf-8")


def _rename_sources(run: Path, copy: Path, renamed: Mapping[str, str]) -> None:
    """Kept files are named by a digest of their path."""
    texts = [file.read_text("utf-8", "replace") for file in (run / TRACE_FOLDER).glob("*.jsonl")]
    paths = {path for text in texts for path in re.findall(r'"(/[^"]+)"', text)}
    for path in paths:
        kept = copy / TRACE_FOLDER / SOURCES / kept_name(path)
        if kept.is_file():
            again = renamed_text(path.encode(), renamed, "").decode()
            kept.rename(kept.with_name(kept_name(again)))
