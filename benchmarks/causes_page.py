"""Write what is made of the list of causes: docs/causes.md, and the codes that hopscope.forbid takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.diagnosis.cause import Cause
from app.diagnosis.registry import CAUSES
from app.judgments.severity import INFO

ROOT = Path(__file__).resolve().parents[1]
PAGE, CODES = ROOT / "docs" / "causes.md", ROOT / "hopscope" / "forbidding.py"
_HEAD = """# Causes

Every hop and sync has a cause. A finding is one mistake, at the line to change. A cause comes with its\
 evidence, or it is `unknown`.

| cause | reported where | as |
|---|---|---|
"""
_EXAMPLES = """
Each section below has an example: code for one or two GPUs, without its imports. The comment `# <- cause` is\
 at the line that the finding names. Where nothing is wrong, nothing is fixed.
"""
_LISTED = re.compile(r"(?ms)^CODES = \(\n.*?^\)\n")


def page(causes: Sequence[Cause[Any]] = CAUSES) -> str:
    """docs/causes.md of these causes: a table, and a section for each."""
    rows = (f"| [`{one.code}`](#{one.code}) | {one.meaning} | {_severity(one)} |\n" for one in causes)
    return _HEAD + "".join(rows) + _EXAMPLES + "".join(map(_section, causes))


def _section(cause: Cause[Any]) -> str:
    example = cause.example
    unmarked = "" if example.marked_line(cause.code) else " The finding names no line."
    before = f"{example.about}{unmarked}\n\n{_code(example.before)}"
    after = f"\nAfter the fix:\n\n{_code(example.after)}" if example.after else ""
    return f"\n## {cause.code}\n\n{cause.meaning}\n\nReported as: {_severity(cause)}.\n\n{before}{after}"


def _code(text: str) -> str:
    return f"```python\n{text}```\n"


def _severity(cause: Cause[Any]) -> str:
    return cause.sometimes or ("note" if cause.severity == INFO else cause.severity)


def with_codes(text: str, causes: Sequence[Cause[Any]] = CAUSES) -> str:
    """The text of hopscope/forbidding.py with the codes of these causes."""
    lines = "".join(f'    "{one.code}",\n' for one in causes)
    return _LISTED.sub(f"CODES = (\n{lines})\n", text)


def main() -> None:
    """Write both."""
    PAGE.write_text(page())
    CODES.write_text(with_codes(CODES.read_text()))


if __name__ == "__main__":
    main()
