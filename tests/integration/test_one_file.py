"""Programs copied as one file, run alone in an empty folder, with neither this project nor its data about."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from runners.export import one_file
from runners.program import HELPERS

DIGITS = HELPERS / "shared" / "digits.csv.gz"
LIMIT_S = 120


def run_alone(python: Path, folder: Path, name: str, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a program's one file there, with no module of ours to be found."""
    script = folder / one_file.file_name(name)
    script.write_text(one_file.one_file(name))
    command = [str(python), "-I", script.name, *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("tf-mirrored", "--steps 3 --loop custom"),
        ("tf-pin-gradients", "--stand-ins 1 --steps 3"),
    ],
)
def test_of_tensorflow(
    tf_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, args: str
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    one_file.write(name, tmp_path)
    done = run_alone(tf_python, tmp_path, name, *args.split())
    assert done.returncode == 0, done.stderr[-3000:]
    by_itself = "TensorFlow sees no GPU here, so the host is split into stand-ins: --stand-ins 2\n"
    assert done.stdout.startswith(by_itself) is ("--stand-ins" not in args)
    assert "step 3/3 loss " in done.stdout
    assert "1498 UCI 8x8 digits" in done.stdout


def test_of_mxnet(mx_python: Path, tmp_path: Path) -> None:
    args = ["--stand-ins", "2", "--steps", "3", "--width", "16"]
    without = run_alone(mx_python, tmp_path, "mx-gluon-data-parallel", *args)
    if without.returncode:  # this environment has no scikit-learn
        (told,) = without.stderr.splitlines()
        assert without.returncode == 2
        name = "mx-gluon-data-parallel"
        assert told.startswith(f"{name}: there are no digits: digits.csv.gz has to be in {tmp_path}; ")
    shutil.copy(DIGITS, tmp_path)
    done = run_alone(mx_python, tmp_path, "mx-gluon-data-parallel", *args)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "step 3/3 loss " in done.stdout
    assert "verdict holds: with kvstore local the copies stay the same" in done.stdout
