"""The frameworks that programs run in, and what their environments are made of."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from runners.environments.virtualenv import Lock, Recipe

BUILDS = ("cpu", "gpu")
DRIVER_LIBRARY = "libcuda.so.1"
_RUNNERS = Path(__file__).resolve().parents[1]
REQUIREMENTS = _RUNNERS / "requirements"
LOCKED = REQUIREMENTS / "locked"
_TENSORFLOW_BUILD = "tensorflow/python/platform/build_info.py"


@dataclasses.dataclass(frozen=True)
class CapabilityLimit:
    """From which compute capability on a framework's build for GPUs holds no code for a card."""

    first: tuple[int, int]
    refused: bool
    """Whether nothing at all can run there; else it may, and the user is only told."""
    why: str
    """Follows `which has compute capability 9.0, and`."""


@dataclasses.dataclass(frozen=True)
class CudaBuild:
    """What a framework's build for GPUs was compiled with and for."""

    cuda: tuple[int, int]
    machine_code: tuple[tuple[int, int], ...]
    """Compute capabilities; each runs on cards of the same first number and the same or a higher second."""
    ptx: tuple[int, int] | None = None
    """From which capability on the driver can compile it at its first use; None where it has no PTX."""
    cudnn: int = 9

    @property
    def least_driver(self) -> int:
        """The oldest branch of drivers that runs it: NVIDIA's CUDA Compatibility guide."""
        return _LEAST_DRIVERS[self.cuda[0]]


_LEAST_DRIVERS = {11: 450, 12: 525, 13: 580}


@dataclasses.dataclass(frozen=True)
class ExactWay:
    """How the recorder measures what it otherwise infers or samples."""

    env: dict[str, str]
    """The variables that ask for it."""
    note: str
    """What it changes, for the plan of a run."""
    help: str
    """What it is for, and what it costs, for who chooses."""
    brief: str = ""
    """The same in one clause, for the command line."""


@dataclasses.dataclass(frozen=True)
class Framework:
    """A framework that programs run in: its names, where it can run, and what its builds are made of."""

    name: str
    title: str
    module: str
    oldest_python: tuple[int, int]
    newest_python: tuple[int, int]
    """An environment is made with a Python from the oldest to the newest."""
    disk_bytes: dict[str, int]
    """By build: what is there once while it is installed, downloads included."""
    gpu_sign: tuple[str, str]
    """How a build for GPUs is known: files beside the module's folder, as a pattern, that hold this text."""
    imported_as: tuple[str, ...] = ()
    """The modules whose import says that a script uses it."""
    other_packages: tuple[str, ...] = ()
    """The names, or their beginnings, of packages other than `name` that hold it."""
    shown_packages: tuple[str, ...] = ("numpy",)
    """Which packages' versions are worth a look beside its own."""
    newer_python: str | None = None
    """Why it cannot run on a Python newer than the newest at all; None where it may, if the user has that."""
    capability: CapabilityLimit | None = None
    cuda: CudaBuild | None = None
    """What the build for GPUs that is installed by default was made with."""
    cpu_packages: tuple[str, ...] = ()
    """Packages that are no build for GPUs, whatever stands in them."""
    libdevice: bool = False
    """Whether its build for GPUs compiles with XLA, which takes CUDA's libdevice."""
    system_libraries: dict[str, tuple[str, str]] = dataclasses.field(default_factory=dict)
    """What it needs of the system: library -> the packages that have it, apt's name and dnf's."""
    needs_driver: bool = False
    """Whether its build for GPUs cannot even be imported without the driver's library."""
    exact: ExactWay = ExactWay({}, "", "")
    device: str = ""
    """What its code calls a GPU, with ``{}`` for the number."""
    numbering: str = ""
    """Where its numbers are not CUDA's, in a sentence."""
    memory_habit: str = ""
    """What it does with a GPU's memory that surprises, in a sentence."""
    build_info: str = ""
    """The Python file in which it writes down what its build was made with, beside the module's folder."""
    preloaded: tuple[str, ...] = ()
    """What its build for GPUs does not find by itself: libraries beside the module's folder, in order."""

    def recipe(self, build: str, locked: bool = False) -> Recipe:
        """What an environment of this build holds; `locked`, in the versions and wheels that were locked."""
        stem = self.name if build == "cpu" else f"{self.name}-{build}"
        files = preloading_files(self.module, self.preloaded) if build == "gpu" and self.preloaded else {}
        recipe = read_recipe(stem, self.name, self.disk_bytes[build], build, files)
        return dataclasses.replace(recipe, lock=read_lock(stem)) if locked else recipe


FRAMEWORKS = {
    "tensorflow": Framework(
        "tensorflow",
        "TensorFlow",
        "tensorflow",
        (3, 10),
        (3, 13),
        {"cpu": 2_100_000_000, "gpu": 10_000_000_000},
        (_TENSORFLOW_BUILD, "'is_cuda_build', True"),
        imported_as=("tensorflow", "keras", "tf_keras"),
        other_packages=("tensorflow-cpu", "tf-nightly"),
        shown_packages=("keras", "tf-keras", "numpy"),
        capability=CapabilityLimit(
            (12, 0), False, "TensorFlow's builds up to 2.21 hold no code for it: it may abort"
        ),
        cuda=CudaBuild((12, 5), ((6, 0), (7, 0), (8, 0), (8, 9)), (9, 0)),
        # Its build_info.py says is_cuda_build True nevertheless.
        cpu_packages=("tensorflow_cpu",),
        libdevice=True,
        exact=ExactWay(
            {"HOPSCOPE_EXACT": "1"},
            "exact counts: TensorFlow's verbose log is on while loops and branches run, and standard error"
            " goes through a file meanwhile, so steps with loops or branches take several times as long",
            "Transfers inside loops and branches are counted one by one from TensorFlow's verbose log, not "
            "sampled. Steps with loops or branches then take several times as long, and standard error goes "
            "through a file.",
            "count each transfer inside TensorFlow's loops and branches",
        ),
        device="/GPU:{}",
        numbering=(
            "TensorFlow leaves out cards with far fewer multiprocessors than the best one (fewer than 8, and"
            " fewer than it has); the numbers of those behind them then move up."
        ),
        memory_habit="TensorFlow takes all memory at once unless memory growth is set.",
        build_info=_TENSORFLOW_BUILD,
    ),
    "mxnet": Framework(
        "mxnet",
        "MXNet",
        "mxnet",
        (3, 9),
        (3, 11),
        {"cpu": 400_000_000, "gpu": 6_800_000_000},
        ("mxnet_cu*.dist-info/METADATA", "Name: mxnet-cu"),
        imported_as=("mxnet", "gluonnlp", "gluoncv"),
        other_packages=("mxnet-cu", "mxnet-mkl"),
        newer_python="it needs numpy below 1.24, which has no builds for Python 3.12",
        capability=CapabilityLimit(
            (9, 0),
            True,
            "MXNet's CUDA 11.2 build has machine code up to 8.6 and no PTX: nothing of it can run there",
        ),
        cuda=CudaBuild((11, 2), ((5, 0), (6, 0), (7, 0), (8, 0), (8, 6))),
        system_libraries={
            "libgomp.so.1": ("libgomp1", "libgomp"),
            "libquadmath.so.0": ("libquadmath0", "libquadmath"),
        },
        needs_driver=True,
        exact=ExactWay(
            {"MXNET_ENGINE_TYPE": "NaiveEngine", "HOPSCOPE_EXACT_LINES": "1"},
            "exact lines: one operation runs at a time, so times and overlap are not those of a normal run",
            "One operation runs at a time, so that copies which the framework makes by itself are measured "
            "at the line that causes them, not inferred. Times and overlap are then not those of a normal "
            "run.",
            "run MXNet one operation at a time, to measure which line copies what it copies by itself",
        ),
        device="gpu({})",
        # Each stands behind those that it links with.
        preloaded=(
            "nvidia/cuda_runtime/lib/libcudart.so.11.0",
            "nvidia/nvtx/lib/libnvToolsExt.so.1",
            "nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2",
            "nvidia/cublas/lib/libcublasLt.so.11",
            "nvidia/cublas/lib/libcublas.so.11",
            "nvidia/cufft/lib/libcufft.so.10",
            "nvidia/curand/lib/libcurand.so.10",
            "nvidia/cusparse/lib/libcusparse.so.11",
            "nvidia/cusolver/lib/libcusolver.so.11",
            "nvidia/cudnn/lib/libcudnn.so.8",
            "nvidia/nccl/lib/libnccl.so.2",
        ),
    ),
}


# Older versions that the recorder is tested with; programs do not run in these.
TESTED_BESIDE = {
    "2.15": dataclasses.replace(
        FRAMEWORKS["tensorflow"],
        name="tensorflow-2.15",
        title="TensorFlow 2.15",
        oldest_python=(3, 9),
        newest_python=(3, 11),
        disk_bytes={"cpu": 1_400_000_000},
    ),
}


def read_recipe(
    stem: str, label: str, disk_bytes: int, build: str, files: dict[str, str] | None = None
) -> Recipe:
    """The recipe in runners/requirements/`stem`.txt and, where there is one, `stem`.no-deps.txt."""
    alone = REQUIREMENTS / f"{stem}.no-deps.txt"
    return Recipe(
        label,
        (REQUIREMENTS / f"{stem}.txt",),
        (alone,) if alone.exists() else (),
        disk_bytes,
        {"build": build},
        files or {},
    )


def read_lock(stem: str) -> Lock:
    """The locked set that was made from `stem`'s requirement files: see locking.py."""
    alone = LOCKED / f"{stem}.no-deps.txt"
    return Lock((LOCKED / f"{stem}.txt",), (alone,) if alone.exists() else ())


def preloading_files(module: str, libraries: tuple[str, ...]) -> dict[str, str]:
    """The files that make an environment load `libraries` when `module` is imported, and not before."""
    call = f"import _hopscope_preload; _hopscope_preload.before_import({module!r}, {libraries!r})\n"
    return {
        "_hopscope_preload.py": (_RUNNERS / "preload.py").read_text(),
        "hopscope-preload.pth": call,
    }
