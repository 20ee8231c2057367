"""What the documents say of the code that they describe, and whether their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.analysis.severity import SEVERITY
from app.cli.dispatch import COMMANDS
from hopscope.forbidding import CODES

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#:]+)\)")


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_bytes()) <= 6 * 1024


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(document: Path) -> None:
    missing = [link for link in LINK.findall(document.read_text()) if not (document.parent / link).exists()]
    assert missing == []


def test_each_cause_is_explained_once() -> None:
    told = re.findall(r"(?m)^\| `([a-z-]+)` \|", (ROOT / "docs" / "causes.md").read_text())
    assert sorted(told) == sorted(SEVERITY)
    assert set(CODES) <= set(told)


def test_each_command_is_explained() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    rows = "\n".join(line.partition("|")[2].partition(" | ")[0] for line in text.splitlines())
    assert [name for name in COMMANDS if not re.search(rf"`{name}\b", rows)] == []
