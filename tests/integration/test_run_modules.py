"""`run -- -m package.module`: relative imports work, and lines are told from the folder of the package on."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli import main
from app.reports.run_report import run_report
from runners.runs import registry

_MAIN = """
import sys
from . import parts
from .parts.copying import copy
from helper import pull
print(__name__, __package__, sys.argv[1:], sys.argv[0])
pull(copy())
"""
_COPYING = """
import mxnet as mx
def copy():
    return mx.nd.ones((4,), ctx=mx.cpu(1)).as_in_context(mx.cpu(2))
"""


@pytest.mark.parametrize(
    ("module", "file"), [("pack.train", "pack/train.py"), ("pack.sub", "pack/sub/__main__.py")]
)
def test_a_module_of_a_package(
    module: str,
    file: str,
    tmp_path: Path,
    hopscope_home: Path,
    mx_python: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / file
    folder = target.parent / "parts"
    folder.mkdir(parents=True)
    for made in {tmp_path / "pack", target.parent, folder}:
        (made / "__init__.py").touch()
    target.write_text(_MAIN)
    (folder / "copying.py").write_text(_COPYING)
    (tmp_path / "helper.py").write_text("def pull(x):\n    x.asnumpy()\n")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--python", str(mx_python), "--", "-m", module, "--epochs", "3"]) == 0
    out, _ = capfd.readouterr()
    package = ".".join(Path(file).parent.parts)
    assert out == f"__main__ {package} ['--epochs', '3'] {target}\n"
    (run,) = registry.runs()
    assert (run.framework, run.spec["command"][1:3]) == ("mxnet", ["-m", module])
    sites = {(hop["op"], hop["site"]) for hop in run_report(run.path)["hops"]}
    here = folder.relative_to(tmp_path)
    assert sites == {("_copyto", f"{here}/copying.py:4"), ("Python", "helper.py:2")}
