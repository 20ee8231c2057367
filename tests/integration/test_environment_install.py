"""What an install does beside pip: it finds or fetches a Python, adds files, and tries the import once."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.environments import builds, environments, frameworks
from runners.environments.environments import Environment, environment, install
from runners.environments.workbench import Step
from runners.errors import HopscopeError
from tests.integration.package_index import UV, PackageIndex, make_uv_wheel, make_wheel

HERE = sys.version_info[:2]
NEWER = (HERE[0], HERE[1] + 40)
NO_LIBRARY = "raise OSError('{}: cannot open shared object file: No such file or directory')\n"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_environment: Path) -> Iterator[PackageIndex]:
    """An index with an MXNet that can be imported, for this Python, and an environment with nothing in it."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    with PackageIndex(folder).serving() as serving:
        variables = {**serving.variables, "HOPSCOPE_ENVS": str(tmp_path / "envs"), "HOPSCOPE_MXNET": ""}
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        set_mxnet(monkeypatch, oldest_python=HERE, newest_python=HERE, disk_bytes={"cpu": 0, "gpu": 0})
        make_wheel(folder, "numpy", "1.23.5")
        make_mxnet(serving, "")
        shutil.copytree(empty_environment, tmp_path / "envs" / "mxnet", symlinks=True)
        yield serving


def set_mxnet(monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    changed = dataclasses.replace(frameworks.FRAMEWORKS["mxnet"], **changes)  # type: ignore[arg-type]
    monkeypatch.setitem(frameworks.FRAMEWORKS, "mxnet", changed)


def make_mxnet(index: PackageIndex, text: str, name: str = "mxnet", version: str = "1.9.1") -> None:
    make_wheel(index.folder, name, version, {"mxnet/__init__.py": text})


def fail() -> Environment:
    """Install, which fails, and return what is then shown."""
    with pytest.raises(HopscopeError) as caught:
        install("mxnet", "cpu")
    found = environment("mxnet")
    assert (found.state, found.reason) == ("failed", str(caught.value))
    assert "\n" not in str(caught.value)
    return found


@pytest.mark.usefixtures("index")
def test_it_is_ready_when_it_can_be_imported() -> None:
    steps: list[Step] = []
    found = install("mxnet", "cpu", steps.append)
    assert (found.state, found.build, found.reason) == ("ready", "cpu", None)
    assert steps[-1].text == "importing MXNet once"
    assert not list(found.path.parent.glob("*.tmp"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            NO_LIBRARY.format("libquadmath-none.so.0"),
            "lacks libquadmath-none.so.0: apt-get install libquadmath0, or dnf install libquadmath, and try",
        ),
        (
            NO_LIBRARY.format("libother.so.7"),
            "MXNet cannot be imported: this machine lacks libother.so.7; log: ",
        ),
        (
            NO_LIBRARY.format("libcuda.so.1") + "# with the others",
            "this machine lacks libquadmath-none.so.0 and libcuda.so.1: apt-get install libquadmath0",
        ),
        ("raise ValueError('first line\\nsecond')", "cannot be imported: ValueError: first line; log: "),
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "that ends with SIGILL"),
        ("import os; os._exit(3)", "that ends Python with status 3"),
        ("import sys; sys.exit('no')", "cannot be imported: SystemExit: no"),
    ],
)
def test_what_keeps_it_from_being_imported_is_told(
    index: PackageIndex, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    set_mxnet(
        monkeypatch,
        system_libraries={
            "libc.so.6": ("libc6", "glibc"),
            "libquadmath-none.so.0": ("libquadmath0", "libquadmath"),
        }
        if "libquadmath" in words
        else {},
    )
    make_mxnet(index, text)
    found = fail()
    assert words in (found.reason or "")
    assert str(found.log) in (found.reason or "")


def test_it_is_tried_again_without_asking_for_the_packages_again(index: PackageIndex) -> None:
    make_mxnet(index, "import os; assert os.environ.get('MENDED'), 'not mended'")
    assert "not mended" in (fail().reason or "")
    fetched = index.fetched()
    os.environ["MENDED"] = "1"
    try:
        assert install("mxnet", "cpu").state == "ready"
    finally:
        del os.environ["MENDED"]
    assert index.fetched() == fetched


def test_a_driver_that_goes_away_fails_no_install(
    index: PackageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_mxnet(monkeypatch, system_libraries={}, preloaded=("nvidia/one/lib/libc.so.6",))
    make_mxnet(index, NO_LIBRARY.format("libcuda.so.1"), "mxnet_cu112")
    requirements = index.folder / "mxnet-gpu.txt"
    requirements.write_text("mxnet-cu112==1.9.*\nnumpy>=1.21,<1.24\n")
    monkeypatch.setattr(frameworks, "REQUIREMENTS", index.folder)
    monkeypatch.setattr(builds, "driver_found", lambda: True)  # it goes while the install is under way
    found = install("mxnet", "gpu")
    assert (found.state, found.build) == ("ready", "gpu")
    (site,) = found.path.glob("lib/python*/site-packages")
    assert (site / "_hopscope_preload.py").exists() and (site / "hopscope-preload.pth").exists()


class TestLocked:
    """Only wheels whose hashes are known are installed."""

    @pytest.fixture(autouse=True)
    def lock(self, index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A locked set of what the index serves now."""
        folder = tmp_path / "locked"
        folder.mkdir()
        monkeypatch.setattr(frameworks, "LOCKED", folder)
        pins = [("mxnet", "1.9.1"), ("numpy", "1.23.5")]
        lines = [
            f"{name}=={version} --hash=sha256:{self.hash_of(index, name, version)}" for name, version in pins
        ]
        (folder / "mxnet.txt").write_text("\n".join(lines))
        return folder / "mxnet.txt"

    @staticmethod
    def hash_of(index: PackageIndex, name: str, version: str) -> str:
        wheel = index.folder / f"{name}-{version}-py3-none-any.whl"
        return hashlib.sha256(wheel.read_bytes()).hexdigest()

    def test_what_was_locked_is_installed_though_there_is_a_newer_one(self, index: PackageIndex) -> None:
        make_mxnet(index, "VERSION = 'newer'", version="1.9.2")
        found = install("mxnet", "cpu", locked=True)
        assert found.state == "ready" and found.path.joinpath("bin", "python").exists()
        (site,) = found.path.glob("lib/python*/site-packages")
        assert (site / "mxnet-1.9.1.dist-info").exists() and not (site / "mxnet-1.9.2.dist-info").exists()

    def test_what_was_changed_since_is_refused(self, index: PackageIndex) -> None:
        make_mxnet(index, "import evil")
        with pytest.raises(HopscopeError, match="mxnet is not what was locked: its hash is another"):
            install("mxnet", "cpu", locked=True)
        assert environment("mxnet").state == "failed"

    def test_what_has_no_hash_is_refused(self, index: PackageIndex, lock: Path) -> None:
        lock.write_text(
            f"mxnet==1.9.1 --hash=sha256:{self.hash_of(index, 'mxnet', '1.9.1')}\nnumpy==1.23.5\n"
        )
        with pytest.raises(HopscopeError, match="hash"):
            install("mxnet", "cpu", locked=True)

    def test_what_is_there_unlocked_is_made_anew_and_then_meets_both(self, index: PackageIndex) -> None:
        make_mxnet(index, "VERSION = 'newer'", version="1.9.2")
        found = install("mxnet", "cpu")
        (site,) = found.path.glob("lib/python*/site-packages")
        assert (site / "mxnet-1.9.2.dist-info").exists()
        install("mxnet", "cpu", locked=True)
        assert (site / "mxnet-1.9.1.dist-info").exists() and not (site / "mxnet-1.9.2.dist-info").exists()
        fetched = len(index.asked)
        for locked in (False, True):
            assert install("mxnet", "cpu", locked=locked).state == "ready"
        assert len(index.asked) == fetched


class TestWithoutAPythonThatFits:
    """The framework has builds only for a Python that is not on this machine."""

    @pytest.fixture(autouse=True)
    def machine(self, index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        set_mxnet(monkeypatch, oldest_python=NEWER, newest_python=NEWER)
        shutil.rmtree(tmp_path / "envs")
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.defpath}")

    def test_uv_fetches_one(self, tmp_path: Path) -> None:
        version = f"{NEWER[0]}.{NEWER[1]}"
        uv(
            tmp_path,
            f'if [ "$1" = venv ]; then\n'
            f'  [ "$5" = ">={version},<{NEWER[0]}.{NEWER[1] + 1}" ] || exit 9\n'
            f'  [ "$UV_PYTHON_INSTALL_DIR" = "{tmp_path}/envs/pythons" ] || exit 8\n'
            f'  echo "Downloading cpython-{version}.0-x (download) (21.2MiB)" >&2\n'
            f'  sleep 0.3; shift 5; set -- venv "$@" --python {sys.executable}\nfi',
        )
        steps: list[Step] = []
        assert install("mxnet", "cpu", steps.append).state == "ready"
        assert f"downloading cpython-{version}.0-x, 21.2 MiB" in [step.text for step in steps]
        assert "Downloading cpython" in environment("mxnet").log.read_text()

    def test_without_network_it_says_what_to_install(self, tmp_path: Path) -> None:
        uv(
            tmp_path,
            "echo 'error: Failed to download `https://example.org/cpython-3.x.tar.gz`' >&2\n"
            "echo '  cause: error sending request for url (https://example.org/x.tar.gz)' >&2\n"
            "echo '  cause: dns error' >&2\nexit 1",
        )
        version = f"{NEWER[0]}.{NEWER[1]}"
        reason = fail().reason or ""
        assert reason.startswith(f"MXNet needs Python {version} to {version}, none that works")
        assert "no network" in reason
        assert f"apt-get install python{version}, dnf" in reason


class TestWithoutUv:
    """There is none on PATH that could be used, so pip gets it."""

    @pytest.fixture(autouse=True)
    def path(self, index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        uv(tmp_path, "", "0.7.9")
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.defpath}")

    def test_the_index_has_it(self, index: PackageIndex) -> None:
        make_uv_wheel(index)
        assert install("mxnet", "cpu").state == "ready"
        assert (environments.folder() / "uv" / "bin" / "uv").exists()
        assert index.fetched("uv") == 1

    def test_it_says_what_to_do_where_the_index_has_none(self) -> None:
        reason = fail().reason or ""
        assert reason.startswith(
            "uv, which makes the environments, could not be had: the package index has no"
        )
        assert reason.endswith("or put uv on the PATH, and start again")


def test_what_pip_was_told_uv_is_told(
    index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIVEN two indexes, the second with the newer package, and a limit, all in pip's file."""
    second = tmp_path / "second"
    second.mkdir()
    make_wheel(second, "numpy", "1.23.4")
    (index.folder / "numpy-1.23.5-py3-none-any.whl").unlink()
    make_wheel(index.folder, "numpy", "1.22.0")
    make_mxnet(index, "VERSION = 'newer'", version="1.9.2")
    (tmp_path / "limits.txt").write_text("mxnet<1.9.2\n")
    with PackageIndex(second).serving() as other:
        settings = {"index-url": index.variables["PIP_INDEX_URL"], "constraint": f"{tmp_path}/limits.txt"}
        settings["extra-index-url"] = f"\n  {other.variables['PIP_INDEX_URL']}"
        text = "".join(f"{name} = {value}\n" for name, value in settings.items())
        (tmp_path / "pip.conf").write_text(f"[global]\n{text}[install]\ntimeout = 20\n")
        monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
        for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
            monkeypatch.delenv(name)
        found = install("mxnet", "cpu")
    (site,) = found.path.glob("lib/python*/site-packages")
    assert {path.name for path in site.glob("*.dist-info")} >= {
        "mxnet-1.9.1.dist-info",
        "numpy-1.23.4.dist-info",
    }


def uv(folder: Path, text: str, version: str = "0.9.0") -> None:
    """A uv of this version that does this first, on the only path."""
    (folder / "bin").mkdir(exist_ok=True)
    skip = 'if [ "$1" = --color ]; then shift 4; fi'
    told = f'if [ "$1" = --version ]; then echo uv {version}; exit; fi'
    script(folder / "bin" / "uv", f'{told}\n{skip}\n{text}\nexec {UV} "$@"')


def script(file: Path, text: str) -> None:
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
