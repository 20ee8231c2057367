"""Files of run folders are opened in one place, and that place opens nothing else."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from runners.runs import run_files

ROOT = Path(__file__).resolve().parents[2]
_READS = {"open", "read_bytes", "read_text", "glob", "rglob", "iterdir", "listdir", "scandir", "ParquetFile"}
RUNNERS = ("environments", "export", "machine", "plan", "recordings", "runs", "supervise")
ELSEWHERE = {
    "app/facts/kernels/mxnet_table.py": "a table of the project",
    "app/bootstrap.py": "requirements of the project",
    "app/components/shared/assets.py": "scripts and styles of the project",
    "app/components/shared/bundle.py": "scripts of the project",
    "app/components/shared/palette.py": "a table of the project",
    "app/components/stream/going_on.py": "/proc",
    "app/lessons/verdict_cache.py": "the project's code, and names and sizes of a trace's files",
    "app/web/launch/environment_panel.py": "the log of an install",
    "app/web/lessons/lessons_detail.py": "programs of the project",
    "app/server.py": "the settings of the project",
    "app/lessons/detached.py": "the log of the lessons' driver",
    "app/__main__.py": "the null device",
    "app/cli/output.py": "the null device",
    "app/store/sealing.py": "the tables that it writes",
    "runners/private_files.py": "tokens and keys",
    "runners/runs/registry.py": "the names of the registry's folders",
    "runners/runs/removal.py": "names of what is deleted",
    "runners/runs/leases.py": "the leases",
    "runners/supervise/supervisor.py": "the log of its own run",
    "runners/recordings/recordings.py": "names of the recordings' folder",
    "runners/recordings/recording_file.py": "a recording that is written",
    "runners/export/one_file.py": "programs of the project",
    "runners/export/program_parts.py": "programs of the project",
    "runners/plan/script_plan.py": "the folder of a user's script",
    "runners/plan/script_folders.py": "folders of users' scripts",
    "runners/plan/imports.py": "a user's script",
    "runners/plan/own_script.py": "what the page launched last",
    "runners/machine/copy_costs.py": "the machine's own measurements",
    "runners/environments/fitness.py": "an environment",
    "runners/environments/pythons.py": "interpreters",
    "app/store/database.py": "what databases spilled",
    "runners/environments/install.py": "an environment",
    "runners/environments/cuda_libraries.py": "an environment",
    "runners/environments/interpreters.py": "interpreters",
    "runners/environments/environments.py": "an environment",
    "runners/environments/virtualenv.py": "an environment",
    "runners/environments/workbench.py": "an environment",
    "runners/environments/logged_command.py": "the log of an install",
    "runners/environments/frameworks.py": "the project's code",
    "runners/runs/processes.py": "/proc",
    "runners/supervise/run_usage.py": "/proc",
}
"""What else these modules read; a new one reads run folders by run_files, or belongs here."""


def reads(source: str) -> list[int]:
    """The lines that open a file or list a folder in a usual way."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in _READS:
                found.append(node.lineno)
            case _:
                pass
    return found


def test_no_reader_of_run_folders_opens_files_itself() -> None:
    files = [*(ROOT / "app").rglob("*.py"), *(ROOT / "runners").glob("*.py")]
    files += [file for room in RUNNERS for file in (ROOT / "runners" / room).rglob("*.py")]
    strays = {}
    for file in files:
        name = str(file.relative_to(ROOT))
        if name in ELSEWHERE or name == "runners/runs/run_files.py":
            continue
        lines = file.read_text().splitlines()
        own = [line for line in reads(file.read_text()) if "run_files." not in lines[line - 1]]
        own = [line for line in own if "ParquetFile(opened)" not in lines[line - 1]]
        if own:
            strays[name] = own
    assert strays == {}


def test_the_list_of_others_is_true() -> None:
    assert [name for name in ELSEWHERE if not reads((ROOT / name).read_text())] == []


def test_only_the_runs_own_folder_is_sealed() -> None:
    files = [file for file in (ROOT / "app").rglob("*.py") if ".seal()" in file.read_text()]
    assert [str(file.relative_to(ROOT)) for file in files] == ["app/store/run.py"]


@pytest.mark.parametrize("name", ["", ".", "..", "a/../b", "/etc/passwd", "a//b", "a\0b", "../x", "trace/"])
def test_names_lead_nowhere_else(tmp_path: Path, name: str) -> None:
    with pytest.raises(OSError):
        run_files.read_file(tmp_path, name)


def test_a_file_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "trace").mkdir()
    (tmp_path / "trace" / "a").write_bytes(b"12345")
    assert run_files.read_file(tmp_path, "trace/a") == b"12345"
    assert run_files.names(tmp_path, "trace") == ["a"]
    with pytest.raises(OSError, match="larger than"):
        run_files.read_file(tmp_path, "trace/a", 4)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "trace").mkdir()
    os.mkfifo(tmp_path / "trace" / "fifo")
    (tmp_path / "trace" / "link").symlink_to("fifo")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for name in ("trace/fifo", "trace/link", "trace/missing", "missing/a", "trace"):
        with pytest.raises(OSError):
            run_files.descriptor(tmp_path, name)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
