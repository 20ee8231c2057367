"""`with hopscope.record()` in programs of a user's own: one run a block, whenever the framework came."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.reports.run_report import run_report
from runners.errors import UsageError
from runners.plan.plan import ROOT
from runners.runs import registry
from runners.runs.run import Run
from tests.integration.recording import SCRIPTS
from tests.integration.users_packages import environment, install_hopscope

LIMIT_S = 200


def run_script(python: Path, name: str, tmp_path: Path, home: Path, *args: str) -> tuple[str, str]:
    packages = install_hopscope(tmp_path / "packages")
    done = subprocess.run(
        [python, str(SCRIPTS / name), *args],
        env=environment(packages, home),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def named(name: str) -> tuple[Run, dict[str, Any]]:
    (run,) = (run for run in registry.runs() if run.name == name)
    return run, run_report(run.path)


def hops(report: dict[str, Any]) -> set[tuple[Any, ...]]:
    return {tuple(hop[name] for name in ("op", "src", "dst", "count", "cause")) for hop in report["hops"]}


def line_with(script: str, text: str) -> str:
    lines = (SCRIPTS / script).read_text().splitlines()
    return f"{script}:{next(number for number, line in enumerate(lines, 1) if text in line)}"


@pytest.mark.parametrize("late", [False, True], ids=["before the import", "after the import"])
def test_each_block_is_a_run(late: bool, tmp_path: Path, hopscope_home: Path, mx_python: Path) -> None:
    out, err = run_script(mx_python, "recorded_blocks.py", tmp_path, hopscope_home, *["late"] * late)
    passed, first_id, second_id, address = out.splitlines()
    assert passed == "passed through: it <b>broke</b>"
    assert address == f"http://127.0.0.1:8501/run?run={first_id}"
    assert err == f"hopscope: recording {first_id}: {address} (once python3 {ROOT / 'app'} serves)\n"

    first, report = named("first block")
    assert (first.id, first.state, first.reason, report["steps"]) == (first_id, "finished", None, 6)
    assert (first.framework, first.spec["origin"]) == ("mxnet", "block")
    assert {"python", "mxnet"} <= first.spec["versions"].keys()
    # Where it was seen to be made, it is known to be the same each time.
    copied = "explicit" if late else "redundant-copy"
    each = {("_copyto", "cpu:2", "cpu:1", 6, copied), ("Python", "cpu:1", "cpu:0", 6, "host-sync")}
    made = {("_copyto", "cpu:0", "cpu:1", 1, "explicit")}
    assert hops(report) == (each if late else each | made)
    assert {hop["site"] for hop in report["hops"] if hop["count"] == 6} == {
        line_with("recorded_blocks.py", "x.as_in_context"),
        line_with("recorded_blocks.py", "loss.asscalar"),
    }

    second, report = named("second")
    assert (second.id, second.state, second.reason) == (second_id, "failed", "ValueError: it <b>broke</b>")
    assert (second.exit_code, report["status"], report["steps"]) == (None, "failed", 4)
    assert hops(report) == {(op, src, dst, 4, cause) for op, src, dst, _, cause in each}
    before = [{"what": "ops of hybridized blocks", "count": 4, "why": "traced before the recorder came"}]
    assert report["unseen"] == (before if late else [])
    assert (second.path / "trace" / "source").is_dir()

    nothing, report = named("nothing")
    assert (nothing.state, report["hops"], report["steps"]) == ("finished", [], None)
    assert report["unseen"] == []
    assert (nothing.path / "tables").is_dir()
    registry.remove(nothing)


def test_blocks_of_tensorflow(tmp_path: Path, hopscope_home: Path, tf_python: Path) -> None:
    run_script(tf_python, "recorded_tensorflow.py", tmp_path, hopscope_home)
    for name, calls, loops in (("one", 6, 3), ("two", 4, 5)):
        run, report = named(name)
        assert (run.state, run.framework) == ("finished", "tensorflow")
        found = {(hop["op"], hop["site"]): hop["count"] for hop in report["hops"]}
        assert found["Sum", line_with("recorded_tensorflow.py", "# reads across")] == calls
        inside = line_with("recorded_tensorflow.py", "# reads across in a loop")
        assert found["Mean", inside] == loops, report["hops"]
        assert report["unseen"] == []


def test_one_pip_command_installs_it_without_the_network(tmp_path: Path, empty_environment: Path) -> None:
    before = sorted(path.name for path in (ROOT / "hopscope").iterdir())
    python = empty_environment / "bin" / "python"
    words = ["-m", "pip", "install", "--no-index", "--disable-pip-version-check", "--target", str(tmp_path)]
    subprocess.run([python, *words, str(ROOT / "hopscope")], check=True, capture_output=True, timeout=LIMIT_S)
    names = {path.name for path in tmp_path.iterdir()}
    assert {name.partition("-")[0] for name in names} == {"hopscope"}
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); before = set(sys.modules); import hopscope; "
        "print(json.dumps([hopscope.clone.clone(), sorted(set(sys.modules) & {'app', 'probes', 'runners'})]))"
    )
    done = subprocess.run([python, "-I", "-c", code, str(tmp_path)], capture_output=True, check=True)
    assert json.loads(done.stdout) == [str(ROOT), []]
    assert sorted(path.name for path in (ROOT / "hopscope").iterdir() if path.name != "__pycache__") == [
        name for name in before if name != "__pycache__"
    ]


def test_a_process_that_is_recorded_as_a_whole_keeps_its_run(
    tmp_path: Path, hopscope_home: Path, mx_python: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    packages = install_hopscope(tmp_path / "packages")
    script = tmp_path / "own.py"
    script.write_text(
        f"import sys; sys.path.append({str(packages)!r})\n"
        "import hopscope, mxnet as mx\n"
        "with hopscope.record('mine') as run: mx.nd.ones((2,), ctx=mx.cpu(1)).asnumpy()\n"
        "print(run.id)\n"
        "with hopscope.forbid('host-sync'): pass\n"
    )
    assert main(["run", "--python", str(mx_python), "--framework", "mxnet", "--", str(script)]) == 1
    (run,) = registry.runs()
    out, _ = capfd.readouterr()
    assert out.splitlines()[0] == run.id
    assert "this process is recorded already" in run.log.read_text()
    with pytest.raises(UsageError, match="there is no run 'mine'"):
        registry.find("mine")

    words = ["run", "--no-record", "--python", str(mx_python), "--framework", "mxnet", "--", str(script)]
    script.write_text(script.read_text().replace("with hopscope.forbid('host-sync'): pass", "pass"))
    assert main(words) == 0
    plain = registry.runs()[0]
    assert (capfd.readouterr().out.splitlines(), plain.id != run.id) == ([plain.id], True)
    assert len(registry.runs()) == 2
    assert not list((plain.path / "trace").glob("*.jsonl"))
