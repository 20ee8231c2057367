"""Starting from a bare Python: the first start, the second, and what may go wrong between them."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.package_index import PackageIndex, make_uv_wheel, make_wheel

ROOT = Path(__file__).resolve().parents[2]
BARE_PYTHON = getattr(sys, "_base_executable", sys.executable)
COMMAND = 'import left\n\n\ndef main(argv):\n    print("ran", left.VERSION, *argv)\n    return 7\n'


@pytest.fixture
def index(tmp_path: Path) -> Iterator[PackageIndex]:
    folder = tmp_path / "wheels"
    folder.mkdir()
    make_wheel(folder, "left", "1.0")
    make_wheel(folder, "right", "1.0")
    with PackageIndex(folder).serving() as serving:
        yield serving


@pytest.fixture
def clone(bare_clone: Path, empty_environment: Path) -> Path:
    """A bare clone in which the environment is made, but empty."""
    shutil.copytree(empty_environment, bare_clone / ".venv", symlinks=True)
    return bare_clone


@pytest.fixture
def bare_clone(tmp_path: Path) -> Path:
    """The project's start with requirements of two small packages, and a command that uses one."""
    clone = tmp_path / "clone"
    for name in ("__init__.py", "__main__.py", "bootstrap.py", "console_progress.py"):
        (clone / "app").mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "app" / name, clone / "app" / name)
    (clone / "app" / "cli.py").write_text(COMMAND)
    (clone / "runners" / "environments").mkdir(parents=True)
    for name in ("__init__", "errors"):
        shutil.copy(ROOT / "runners" / f"{name}.py", clone / "runners" / f"{name}.py")
    for name in (
        *(
            "__init__",
            "install",
            "install_output",
            "logged_command",
            "pythons",
            "uv",
            "virtualenv",
            "workbench",
        ),
    ):
        file = Path("runners", "environments", f"{name}.py")
        shutil.copy(ROOT / file, clone / file)
    (clone / "runners" / "requirements" / "locked").mkdir(parents=True)
    (clone / "runners" / "requirements" / "uv.txt").write_text("uv>=0.8,<1\n")
    (clone / "requirements.txt").write_text("left>=1,<2\nright>=1,<2\n")
    return clone


def begin(clone: Path, index: PackageIndex, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HOPSCOPE_")}
    return subprocess.Popen(
        [BARE_PYTHON, "-m", "app", *arguments],
        cwd=clone,
        env={**environment, **index.variables, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def start(clone: Path, index: PackageIndex, *arguments: str, **variables: str) -> tuple[int, str, str]:
    process = begin(clone, index, *arguments, **variables)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def wait_until(condition: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def assert_one_line(err: str) -> str:
    """The error's line: the last, after the title and the steps, and there is no traceback."""
    assert "Traceback" not in err
    *_steps, line = err.strip().splitlines()
    assert line.startswith("hopscope: ")
    return line


def test_first_start_installs_and_second_only_runs(bare_clone: Path, index: PackageIndex) -> None:
    code, out, err = start(bare_clone, index, "programs", "--json")
    assert (code, out) == (7, "ran 1.0 programs --json\n")
    assert "Preparing" in err and "ready" in err

    requests = len(index.asked)
    code, out, err = start(bare_clone, index, "runs")
    assert (code, out, err) == (7, "ran 1.0 runs\n", "")
    assert len(index.asked) == requests


def test_first_start_gets_uv_by_pip(bare_clone: Path, index: PackageIndex) -> None:
    make_uv_wheel(index)
    code, out, err = start(bare_clone, index, PATH=os.defpath)
    assert (code, out) == (7, "ran 1.0\n"), err
    assert (bare_clone / ".venvs" / "uv" / "bin" / "uv").exists()


def test_new_requirements_are_installed_at_the_next_start(clone: Path, index: PackageIndex) -> None:
    start(clone, index)
    make_wheel(index.folder, "left", "1.5.1")
    (clone / "requirements.txt").write_text("left>=1.5,<2\nright>=1,<2\n")
    assert start(clone, index)[1] == "ran 1.5.1\n"


def test_a_locked_setup_makes_the_dashboards_environment_anew_of_known_wheels(
    clone: Path, index: PackageIndex
) -> None:
    start(clone, index)
    make_wheel(index.folder, "left", "1.5")
    lock = clone / "runners" / "requirements" / "locked" / "dashboard.txt"
    lines = []
    for name in ("left-1.5", "right-1.0"):
        digest = hashlib.sha256((index.folder / f"{name}-py3-none-any.whl").read_bytes()).hexdigest()
        lines.append(f"{name.replace('-', '==')} --hash=sha256:{digest}\n")
    lock.write_text("".join(lines))
    assert start(clone, index, "setup", "--locked")[:2] == (7, "ran 1.5 setup --locked\n")
    requests = len(index.asked)
    assert start(clone, index, "setup", "--locked")[:2] == (7, "ran 1.5 setup --locked\n")
    assert start(clone, index)[:2] == (7, "ran 1.5\n")
    assert len(index.asked) == requests


def test_starts_from_any_folder(clone: Path, index: PackageIndex, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HOPSCOPE_")}
    done = subprocess.run(
        [BARE_PYTHON, str(clone / "app"), "here"],
        cwd=tmp_path,
        env={**environment, **index.variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (7, "ran 1.0 here\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_interrupted_install_is_finished_by_the_next_start(
    clone: Path, index: PackageIndex, number: signal.Signals
) -> None:
    index.held = {"right"}
    first = begin(clone, index)
    assert index.wait_wanted(120)
    os.killpg(first.pid, number)
    first.communicate(timeout=120)
    assert first.returncode == (-number if number == signal.SIGKILL else 130)
    index.let_go()
    assert start(clone, index)[:2] == (7, "ran 1.0\n")


def test_half_made_environment_is_made_again(bare_clone: Path, index: PackageIndex) -> None:
    first = begin(bare_clone, index)
    wait_until((bare_clone / ".venv" / "pyvenv.cfg").exists, 120)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate(timeout=120)
    assert start(bare_clone, index)[:2] == (7, "ran 1.0\n")


def test_half_installed_package_is_installed_again(clone: Path, index: PackageIndex) -> None:
    start(clone, index)
    (site,) = (clone / ".venv").glob("lib/python*/site-packages")
    (site / "left-1.0.dist-info" / "RECORD").unlink()
    (site / "left.py").unlink()
    (clone / ".venv" / ".hopscope-dashboard.json").unlink()
    assert start(clone, index)[:2] == (7, "ran 1.0\n")


def test_start_killed_alone_leaves_uv_to_finish_and_the_next_waits(clone: Path, index: PackageIndex) -> None:
    index.held = {"right"}
    first = begin(clone, index)
    assert index.wait_wanted(120)
    first.kill()
    second = begin(clone, index)
    assert second.stderr is not None
    lines = iter(second.stderr.readline, "")
    assert any("waiting for another start" in line for line in lines)
    index.let_go()
    out, err = second.communicate(timeout=120)
    assert (second.returncode, out) == (7, "ran 1.0\n")
    assert "ready" in err
    first.communicate(timeout=60)


def test_two_starts_at_once_install_once(clone: Path, index: PackageIndex) -> None:
    index.held = {"right"}
    both = [begin(clone, index, "first"), begin(clone, index, "second")]
    assert index.wait_wanted(120)
    index.let_go()
    outputs = [process.communicate(timeout=120) for process in both]
    assert [out for out, _ in outputs] == ["ran 1.0 first\n", "ran 1.0 second\n"]
    assert index.fetched("right") == 1


def test_no_network_is_one_line(clone: Path, index: PackageIndex) -> None:
    code, out, err = start(clone, index, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0")
    assert (code, out) == (1, "")
    assert "no network" in assert_one_line(err)
    assert start(clone, index)[:2] == (7, "ran 1.0\n")


def test_missing_package_is_one_line(clone: Path, index: PackageIndex) -> None:
    (clone / "requirements.txt").write_text("left>=1,<2\nmiddle>=1\n")
    code, _, err = start(clone, index)
    assert code == 1
    assert "has no middle" in assert_one_line(err)


def test_unusable_folder_is_one_line(bare_clone: Path, index: PackageIndex) -> None:
    (bare_clone / "file").write_text("")
    code, out, err = start(bare_clone, index, HOPSCOPE_ENVS=str(bare_clone / "file" / "envs"))
    assert (code, out) == (1, "")
    assert "HOPSCOPE_ENVS" in assert_one_line(err)


def test_a_folder_that_is_no_environment_is_left_alone(bare_clone: Path, index: PackageIndex) -> None:
    (bare_clone / ".venv").mkdir()
    (bare_clone / ".venv" / "precious").write_text("mine")
    code, _, err = start(bare_clone, index)
    assert code == 1
    assert "no virtual environment" in assert_one_line(err)
    assert (bare_clone / ".venv" / "precious").read_text() == "mine"


def test_environments_folder_can_be_moved(bare_clone: Path, index: PackageIndex, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    assert start(bare_clone, index, HOPSCOPE_ENVS=str(moved))[0] == 7
    assert (moved / "dashboard" / "bin" / "python").exists()
    assert not (bare_clone / ".venv").exists() and not (bare_clone / ".venvs").exists()


@pytest.mark.parametrize("entry", ["app", "tests"])
@pytest.mark.parametrize(
    ("pretend", "told"),
    [
        ("sys.version_info = (3, 6, 0, 'final', 0)", "this is Python 3.6;"),
        ("sys.platform = 'win32'", "Linux"),
    ],
)
def test_old_python_and_other_systems_are_one_line(entry: str, pretend: str, told: str) -> None:
    code = f"import runpy, sys; {pretend}; runpy.run_module({entry!r}, run_name='__main__')"
    done = subprocess.run([BARE_PYTHON, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert told in assert_one_line(done.stderr)
