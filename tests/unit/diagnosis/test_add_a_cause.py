"""A cause is added by touching the files that CONTRIBUTING.md names, and no others."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path("app/diagnosis/causes/toy_cause")
REGISTRY, JUDGE = Path("app/diagnosis/registry.py"), Path("app/diagnosis/judge.py")
WRITTEN = {Path("docs/causes.md"), Path("hopscope/forbidding.py")}
CAUSE = '''"""Toys lie about."""

import dataclasses

from app.diagnosis.cause import Cause
from app.diagnosis.example import Example
from app.diagnosis.wording.evidence_labels import Label
from app.judgments.evidence import Known, TransferEvidence
from app.judgments.finding import Finding
from app.judgments.severity import WARNING
from app.views.naming import told


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    toys: Known[str]


def lies_about(transfer):
    return Evidence(toys=transfer.text("tensor")) if transfer.text("op") == "Toy" else None


CAUSE = Cause(
    code="toy-cause",
    severity=WARNING,
    evidence=Evidence,
    meaning="Toys lie about.",
    example=Example("mxnet", "A ball on the floor.", "play(ball)  # <- toy-cause\\n", "tidy(ball)\\n"),
    summary="{toys} lies about at {at}, {way}",
    because=lambda evidence: f"Seen: {told(evidence.toys)}.",
    advice="Put it away.",
    detect=lambda run: [Finding("toy-cause", WARNING, None, "Full.", Evidence(toys=["car"]), None, ())],
    labels={"toys": Label("Toys")},
)
'''
REPORT = """
import json
from app.reports.run_report import build_report
from hopscope.forbidding import CODES
from tests.unit.reports.test_run_report import hop, tables

report = build_report({}, tables(hop(1, "cpu:1", "cpu:0", 3, op="Toy", tensor="ball")))
print(json.dumps([report["findings"], [row["cause"] for row in report["hops"]], CODES]))
"""


def test_a_cause_is_added_by_the_files_that_the_page_names(tmp_path: Path) -> None:
    """WHEN a cause is added as told THEN reports, docs/causes.md and hopscope's codes have it."""
    for name in ("app", "benchmarks", "docs", "hopscope"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("probes", "runners", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    before = texts(tmp_path)

    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "__init__.py").touch()
    (tmp_path / FOLDER / "cause.py").write_text(CAUSE)
    insert(tmp_path / REGISTRY, "explicit ", "toy_cause")
    insert(
        tmp_path / JUDGE, "from app.diagnosis.registry", "from app.diagnosis.causes.toy_cause import cause"
    )
    insert(tmp_path / JUDGE, '    ("reduce-on-host",', '    ("toy-cause", "consumer", cause.lies_about),')
    python(tmp_path, "from benchmarks.causes_page import main; main()")

    findings, causes, codes = json.loads(python(tmp_path, REPORT))
    assert causes == ["toy-cause"] and "toy-cause" in codes
    assert {(one["code"], one["fix"], one["because"]) for one in findings} == {
        ("toy-cause", "Put it away.", "Seen: ball."),
        ("toy-cause", "Put it away.", "Seen: car."),
    }
    assert any(one["summary"].startswith("ball lies about at") for one in findings)
    assert all(line in one["proof"] for one, line in zip(findings, ("Toys: ball", "Toys: car"), strict=True))
    page = (tmp_path / "docs/causes.md").read_text()
    assert "| [`toy-cause`](#toy-cause) | Toys lie about. | warning |" in page
    assert "A ball on the floor.\n\n```python\nplay(ball)  # <- toy-cause\n```\n" in page
    assert "After the fix:\n\n```python\ntidy(ball)\n```\n" in page

    after = texts(tmp_path)
    touched = {path for path in after if after[path] != before.get(path)}
    assert touched == {REGISTRY, JUDGE, FOLDER / "__init__.py", FOLDER / "cause.py"} | WRITTEN
    assert touched == named_in_the_page()


def insert(file: Path, before: str, line: str) -> None:
    """Put a line before the one that begins so."""
    text = file.read_text()
    assert f"\n{before}" in text
    file.write_text(text.replace(f"\n{before}", f"\n{line}\n{before}", 1))


def texts(root: Path) -> dict[Path, bytes]:
    """Every file of the copied folders."""
    folders = (root / name for name in ("app", "benchmarks", "docs", "hopscope"))
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(root): path.read_bytes() for path in files}


def python(root: Path, program: str) -> str:
    """What the program prints, run with the modules of this tree."""
    asked = [sys.executable, "-B", "-c", program]
    return subprocess.run(asked, cwd=root, check=True, capture_output=True, text=True).stdout


def named_in_the_page() -> set[Path]:
    """The files that the steps of the page name."""
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## Add a cause\n")[2].partition("\n## ")[0]
    named = re.findall(r"`([\w/.<>]+\.(?:py|md))`", section)
    return {Path(name.replace("<code>", "toy_cause")) for name in named}
