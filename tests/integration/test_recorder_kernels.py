"""Kernels by type: what the recorder says of an op that has some; and the shipped table, made anew."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from app.facts.kernels.kernel_table import FILE, shipped_table
from runners.plan.plan import ROOT
from tests.integration.recording import SCRIPTS, Recorded, record


@pytest.fixture(scope="module")
def ran(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        return record(tf_python, SCRIPTS / "no_kernel_type.py")


@pytest.mark.parametrize(("line", "times"), [(17, 3), (23, 1)], ids=["in a graph", "eager"])
def test_an_op_without_a_kernel_for_its_type_is_named_with_those_it_has(
    ran: Recorded, line: int, times: int
) -> None:
    hops = ran.hops("src", "dst", "op", "count", site=f"no_kernel_type.py:{line}", cause="no-kernel")
    assert set(hops) == {("xla_cpu:0", "cpu:0", "Cumsum", times)}, ran.log[-2000:]
    told = [row for row in ran.report["findings"] if row["site"] == f"no_kernel_type.py:{line}"]
    assert "none for complex64" in told[0]["evidence"]["kernel"]


def test_the_same_op_with_a_type_that_has_a_kernel_stays(ran: Recorded) -> None:
    assert ran.hops("src", "dst", site="no_kernel_type.py:25", op="Cumsum", src="xla_cpu:0") == []


def test_the_script_makes_the_shipped_table_of_the_same_build(tf_python: Path, tmp_path: Path) -> None:
    made = tmp_path / "made.json.gz"
    words = [str(tf_python), "-m", "probes.tf.kernel_registry", str(made)]
    quiet = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(words, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    if "has no GPU kernels in its registry" in done.stderr:
        assert done.returncode == 1
        assert not made.exists()
        pytest.skip("this TensorFlow is a CPU build, whose registry has no GPU kernels")
    build = done.stdout.partition(":")[0]
    if not shipped_table().source.endswith(build):
        pytest.skip(f"the shipped table is not of this build, {build}")
    assert made.read_bytes() == FILE.read_bytes()
