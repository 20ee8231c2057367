"""What the documents say of the code that they describe, and whether their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.cli.dispatch import COMMANDS
from app.diagnosis.registry import BY_CODE
from benchmarks import causes_page
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


def test_what_is_written_of_the_list_of_causes_is_up_to_date() -> None:
    again = "python -m benchmarks.causes_page writes it"
    assert causes_page.PAGE.read_text() == causes_page.page(), again
    text = causes_page.CODES.read_text()
    assert text == causes_page.with_codes(text), again
    assert tuple(BY_CODE) == CODES


def test_each_command_is_explained() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    rows = "\n".join(line.partition("|")[2].partition(" | ")[0] for line in text.splitlines())
    assert [name for name in COMMANDS if not re.search(rf"`{name}\b", rows)] == []


def test_the_architecture_names_files_that_exist() -> None:
    named = re.findall(
        r"`((?:app|runners|probes|hopscope)/[a-z_/]+(?:\.py)?)`", (ROOT / "ARCHITECTURE.md").read_text()
    )
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []
