"""Would a framework work here: its driver, its cards, its environment."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.environments import cuda_libraries
from runners.environments import fitness as module
from runners.environments.cuda_libraries import opened
from runners.environments.environments import Environment
from runners.environments.fitness import Fit, cuda_build, driver_part, fitness
from runners.environments.frameworks import FRAMEWORKS, CudaBuild
from tests.unit.machine_snapshots import UNSUPPORTED, gpu, lost_gpu, machine, without_gpus

TENSORFLOW, MXNET = FRAMEWORKS["tensorflow"], FRAMEWORKS["mxnet"]


@pytest.fixture
def asked_anew() -> Iterator[None]:
    module.has_python.cache_clear()
    cuda_libraries.loader_names.cache_clear()
    asked = module.has_python, cuda_libraries.loader_names
    yield
    for one in asked:
        one.cache_clear()


@pytest.fixture
def installed(asked_anew: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Says which build of both frameworks is installed, None for none."""
    monkeypatch.setattr(
        module, "package_versions", lambda _python: {"python": "3.11.7", "tensorflow": "2.21.0"}
    )
    monkeypatch.setattr(module, "is_on_machine", lambda *_asked: True)
    libdevice = tmp_path / "lib/python3.11/site-packages/nvidia/cuda_nvcc/nvvm/libdevice"
    libdevice.mkdir(parents=True)
    (libdevice / "libdevice.10.bc").touch()
    for file in (*opened(12, 9), *(Path(file).name for file in MXNET.preloaded)):
        folder = tmp_path / "lib/python3.11/site-packages/nvidia" / file.partition(".")[0] / "lib"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    monkeypatch.setattr(cuda_libraries, "loader_names", lambda: frozenset({"libz3.so.4"}))

    def install(build: str | None, state: str | None = None, reason: str | None = None) -> Path:
        def environment(name: str) -> Environment:
            now: Any = state or ("ready" if build else "missing")
            python = tmp_path / "bin/python"
            return Environment(name, tmp_path, python, now, reason, None, None, tmp_path / "log", build)

        monkeypatch.setattr("runners.environments.environments.environment", environment)
        return tmp_path

    install("cpu")
    return install


def fits(*cards: dict[str, Any], **fields: Any) -> tuple[Fit, Fit]:
    tensorflow, mxnet = fitness(machine(*cards, **fields))
    assert (tensorflow.framework, mxnet.framework) == ("tensorflow", "mxnet")
    return tensorflow, mxnet


def card(capability: str, index: int = 0) -> dict[str, Any]:
    return gpu(index, compute_capability=capability)


@pytest.mark.parametrize(
    ("capability", "tensorflow", "mxnet"),
    [
        ("3.7", "no", "no"),
        ("5.2", "no", "works"),
        ("6.1", "works", "works"),
        ("7.5", "works", "works"),
        ("8.0", "works", "works"),
        ("8.6", "works", "works"),
        ("8.9", "works", "works"),
        ("9.0", "warning", "no"),
        ("10.0", "warning", "no"),
        ("12.0", "no", "no"),
    ],
)
def test_each_card_is_judged_by_the_code_that_the_build_has(
    capability: str, tensorflow: str, mxnet: str, installed: Any
) -> None:
    installed("gpu")
    found = [{part.what: part.status for part in fit.parts}["GPU 0"] for fit in fits(card(capability))]
    assert found == [tensorflow, mxnet]


def test_the_whole_is_told_in_a_line(installed: Any) -> None:
    installed("gpu")
    works, _ = fits(card("8.0"), card("8.6", 1))
    assert (works.status, works.text) == ("works", "works on GPU 0, GPU 1")
    slow, refused = fits(card("9.0"))
    assert slow.status == "warning"
    assert slow.text == (
        "works on GPU 0; GPU 0 has compute capability 9.0, which the build has no machine code for: its"
        " kernels are compiled at first use, so the first start is slow"
    )
    assert refused.status == "warning"
    assert refused.text.startswith(
        "works on the CPU: GPU 0 has compute capability 9.0, and MXNet's CUDA 11.2 build"
    )
    mixed, _ = fits(card("12.0"), card("8.0", 1))
    assert mixed.text.startswith("works on GPU 1; GPU 0 has compute capability 12.0, and TensorFlow's builds")


def test_a_cpu_build_works_anyway_and_says_how_to_use_the_cards(installed: Any) -> None:
    tensorflow, _ = fits(card("8.0"))
    assert (tensorflow.status, tensorflow.text) == (
        "warning",
        "works on the CPU; its GPU build would use GPU 0: python3 -m app setup --framework tensorflow"
        " --build gpu",
    )
    for fit in fitness(without_gpus()):
        assert fit.status == "cpu"
        assert fit.text.startswith("works on the CPU: no NVIDIA driver is installed")
    # Cards that it could not use anyway are worth a word, and no command.
    tensorflow, mxnet = fits(card("12.0"))
    assert "setup" not in tensorflow.text + mxnet.text


def test_what_is_not_installed_yet_would_work(installed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(None)
    tensorflow, _ = fits(card("8.0"))
    assert (tensorflow.status, tensorflow.text) == ("warning", "would work once it is installed, on GPU 0")
    assert tensorflow.parts[0].text == "not installed yet; there is a Python 3.10 to 3.13 for it"
    (without, _) = fitness(without_gpus())
    assert without.status == "warning"
    module.has_python.cache_clear()
    monkeypatch.setattr(module, "is_on_machine", lambda *_asked: False)
    _, mxnet = fits(card("8.0"))
    assert mxnet.parts[0].text == "not installed yet; it needs Python 3.9 to 3.11, which uv would fetch"
    installed(None, "failed", "the disk is full")
    failed, _ = fits(card("8.0"))
    assert (failed.status, failed.text) == ("no", "its install failed: the disk is full")
    installed("gpu", "installing")
    assert fits(card("8.0"))[0].parts[0].text == "it is being installed"


def test_mxnets_gpu_build_does_not_start_without_a_driver(installed: Any) -> None:
    installed("gpu")
    tensorflow, mxnet = fitness(without_gpus())
    assert (tensorflow.status, mxnet.status) == ("cpu", "no")
    assert mxnet.text.startswith("its GPU build does not even start: no NVIDIA driver is installed")
    assert mxnet.text.endswith("its CPU build would work")


@pytest.mark.parametrize(
    ("driver", "tensorflow", "mxnet"),
    [
        ("440.33.01", "no", "no"),
        ("470.82.01", "no", "works"),
        ("524.9", "no", "works"),
        ("525.60.13", "works", "works"),
        ("580.65.06", "works", "works"),
    ],
)
def test_the_driver_must_be_new_enough(driver: str, tensorflow: str, mxnet: str, installed: Any) -> None:
    installed("gpu")
    found = [{part.what: part for part in fit.parts}["driver"] for fit in fits(card("8.0"), driver=driver)]
    assert [part.status for part in found] == [tensorflow, mxnet]
    if tensorflow == "no":
        assert found[0].text == f"driver {driver} is too old: TensorFlow's CUDA 12.5 needs 525 or newer"
    assert fits(card("8.0"), driver=driver)[0].status == ("works" if tensorflow == "works" else "warning")


def test_a_driver_that_does_not_tell_its_version_is_doubted(installed: Any) -> None:
    build = CudaBuild((12, 5), ((8, 0),))
    assert driver_part(TENSORFLOW, machine(gpu(0), driver=UNSUPPORTED), build).status == "warning"


def test_what_must_be_compiled_needs_a_driver_of_the_builds_cuda(installed: Any) -> None:
    installed("gpu")
    old, _ = fits(card("9.0"), cuda_driver="12.2")
    assert old.status == "warning"
    assert "the driver compiles CUDA 12.2 at most, and the build is of 12.5" in old.text
    assert fits(card("8.0"), cuda_driver="12.2")[0].status == "works"


def test_cards_that_say_little_or_nothing(installed: Any) -> None:
    installed("gpu")
    silent, _ = fits(gpu(0, compute_capability=UNSUPPORTED))
    assert (silent.status, silent.text) == (
        "warning",
        "works on GPU 0; GPU 0 does not tell its compute capability",
    )
    gone, _ = fits(lost_gpu(0))
    assert gone.text == "works on the CPU: GPU 0 cannot be read: NVML_ERROR_GPU_IS_LOST"


def test_without_libdevice_xla_is_doubted(installed: Any) -> None:
    path = installed("gpu")
    assert {part.what: part.status for part in fits(card("8.0"))[0].parts}["XLA"] == "works"
    next(path.rglob("libdevice.10.bc")).unlink()
    tensorflow, mxnet = fits(card("8.0"))
    assert "XLA finds no libdevice" in tensorflow.text
    assert "XLA" not in {part.what for part in mxnet.parts}


def test_without_its_cuda_libraries_tensorflow_leaves_the_cards(
    installed: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = installed("gpu")
    parts = {part.what: part for part in fits(card("8.0"))[0].parts}
    assert parts["CUDA libraries"].status == "works"
    next(path.rglob("libcudnn.so.9")).unlink()
    tensorflow, mxnet = fits(card("8.0"))
    assert (tensorflow.status, mxnet.status) == ("warning", "works")
    assert tensorflow.text == (
        "works on the CPU: libcudnn.so.9 is neither in the environment's nvidia packages nor known to the"
        " system's loader, so it would say 'Cannot dlopen some GPU libraries' and leave the GPUs"
    )
    # MXNet's build links with its libraries, so that not even its import works.
    next(path.rglob("libcudnn.so.8")).unlink()
    mxnet = fits(card("8.0"))[1]
    assert mxnet.text.startswith("its GPU build does not even start: libcudnn.so.8 is neither")
    # Whether the loader knows it, a variable names its folder, or the loader could not be asked.
    monkeypatch.setattr(cuda_libraries, "loader_names", lambda: frozenset({"libcudnn.so.9"}))
    assert fits(card("8.0"))[0].status == "works"
    monkeypatch.setattr(cuda_libraries, "loader_names", lambda: None)
    doubted = fits(card("8.0"))[0]
    assert doubted.text.startswith("works on GPU 0; libcudnn.so.9 is neither")
    (tmp_path / "own").mkdir()
    (tmp_path / "own/libcudnn.so.9").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f":{tmp_path / 'own'}")
    assert fits(card("8.0"))[0].status == "works"


def test_what_the_loader_knows_is_asked_of_ldconfig(
    asked_anew: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "ldconfig"
    program.write_text("#!/bin/sh\necho '1 libs found'\necho ' libcudnn.so.9 (libc6,x86-64) => /lib/x'\n")
    program.chmod(0o755)
    monkeypatch.setattr(cuda_libraries, "LDCONFIGS", (str(tmp_path / "none"), str(program)))
    assert cuda_libraries.loader_names() == frozenset({"libcudnn.so.9"})
    cuda_libraries.loader_names.cache_clear()
    monkeypatch.setattr(cuda_libraries, "LDCONFIGS", (str(tmp_path / "none"),))
    assert cuda_libraries.loader_names() is None


def test_the_package_for_cpus_is_none_for_gpus_whatever_its_build_info_says(installed: Any) -> None:
    path = installed("gpu")
    (path / "lib/python3.11/site-packages/tensorflow_cpu-2.21.0.dist-info").mkdir()
    tensorflow, _ = fits(card("8.0"))
    assert tensorflow.status == "warning"
    assert tensorflow.text.startswith("works on the CPU; its GPU build would use GPU 0: python3 -m app setup")
    assert "CPU build (the package tensorflow_cpu, though" in tensorflow.parts[0].text


def test_a_card_in_mig_mode_is_not_like_any_other(installed: Any) -> None:
    installed("gpu")
    one = {"uuid": "MIG-1", "gpu_instance": 1, "compute_instance": 0}
    cut = card("8.0") | {"mig_mode": "on", "mig": [one, {**one, "uuid": "MIG-2"}]}
    tensorflow, _ = fits(cut, card("8.0", 1))
    assert (tensorflow.status, tensorflow.text) == (
        "warning",
        "works on one MIG instance of GPU 0, GPU 1; GPU 0 is in MIG mode: CUDA shows a program one of its 2"
        " instances, with that one's memory only, and no GPU beside it",
    )
    assert "its one instance, with" in fits(cut | {"mig": [one]})[0].text
    empty = fits(cut | {"mig": []})[0]
    assert empty.text == "works on the CPU: GPU 0 is in MIG mode and has no instance that CUDA could show"


class TestTheBuildsOwnWord:
    """What the installed TensorFlow writes down of its build goes before what is known of the default one."""

    def told(self, text: str, path: Path) -> CudaBuild | None:
        folder = path / "lib/python3.11/site-packages/tensorflow/python/platform"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "build_info.py").write_text(text)
        python = path / "bin/python"
        found = Environment("tensorflow", path, python, "ready", None, None, None, path / "log", "gpu")
        assert cuda_build(TENSORFLOW, dataclasses.replace(found, build="cpu")) == TENSORFLOW.cuda
        return cuda_build(TENSORFLOW, found)

    def test_it_is_read(self, tmp_path: Path) -> None:
        text = (
            "import collections\n\nbuild_info = collections.OrderedDict([('cpu_compiler', 'clang'), "
            "('cuda_compute_capabilities', ['sm_75', 'sm_90a', 'compute_120']), ('cuda_version', '12.8.1'), "
            "('cudnn_version', '8'), ('is_cuda_build', True)])\n"
        )
        assert self.told(text, tmp_path) == CudaBuild((12, 8), ((7, 5), (9, 0)), (12, 0), 8)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "build_info = collections.OrderedDict([('cuda_version', '12.5')])",
            "build_info = collections.OrderedDict(__import__('os').getcwd())",
            "x = OrderedDict([('cuda_version', '9.2'), ('cuda_compute_capabilities', ['sm_60'])])",
            "build_info = collections.OrderedDict([(",
        ],
    )
    def test_what_cannot_be_read_is_not_believed(self, text: str, tmp_path: Path) -> None:
        assert self.told(text, tmp_path) == TENSORFLOW.cuda


def test_mxnets_limit_is_where_its_code_ends() -> None:
    assert MXNET.cuda is not None and MXNET.capability is not None
    assert MXNET.capability.first > max(MXNET.cuda.machine_code)
    assert MXNET.cuda.ptx is None
