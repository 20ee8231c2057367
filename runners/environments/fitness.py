"""Whether each framework would work on a machine: its driver, its cards, Python, and what is installed."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from runners.environments import cuda_libraries, environments
from runners.environments.environments import Environment
from runners.environments.frameworks import FRAMEWORKS, CudaBuild, Framework
from runners.environments.install import pythons_folder
from runners.environments.installed_versions import package_versions
from runners.environments.pythons import PythonRange, is_on_machine
from runners.environments.uv import find_uv
from runners.machine.cuda_order import mig_of
from runners.machine.gpus import Gpu, gpus_of
from runners.python_source import parse_expression
from runners.remembered import remembered

Status = Literal["works", "cpu", "warning", "no"]
"""`cpu`: it works, and there is no GPU that it could use."""
RANK = {"works": 0, "cpu": 1, "warning": 2, "no": 3}
_LIBDEVICE = "lib/python3*/site-packages/nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc"
_CODE = re.compile(r"(sm|compute)_(\d+)(\d)[af]?")
_READABLE_BYTES = 1 << 16
_PYTHON_KNOWN_FOR_S = 60.0


@dataclasses.dataclass(frozen=True)
class Part:
    """One thing that a framework needs, and whether it is there."""

    what: str
    """In a word or two: ``driver``, ``GPU 0``, ``environment``."""
    status: Status
    text: str
    named: str = ""
    """What of it is used, where that is not all."""


@dataclasses.dataclass(frozen=True)
class Fit:
    """Whether one framework would work here."""

    framework: str
    title: str
    status: Status
    text: str
    """The whole in a line."""
    parts: tuple[Part, ...]


def fitness(snapshot: Mapping[str, Any]) -> list[Fit]:
    """Return one answer a framework, for the machine of this snapshot and this server's environments."""
    return [_fit(framework, snapshot) for framework in FRAMEWORKS.values()]


def _fit(framework: Framework, snapshot: Mapping[str, Any]) -> Fit:
    found = environments.environment(framework.name)
    package = _cpu_package(framework, found)
    if package:
        found = dataclasses.replace(found, build="cpu")
    installed = _installed(framework, found, package)
    on_gpus = gpu_parts(framework, snapshot, cuda_build(framework, found))
    libraries = _libraries(framework, found) if found.state == "ready" and found.build == "gpu" else None
    if libraries is not None:
        on_gpus.append(libraries)
    if found.build == "gpu" and framework.libdevice:
        on_gpus.append(_libdevice(found.path))
    on_cpu: Status = "no" if installed.status == "no" else "works"
    needed = [part for part in (on_gpus[0], libraries) if part is not None]
    if framework.needs_driver and found.build == "gpu" and _worst(needed) == "no":
        # This build cannot be imported then, so that not even the host is left.
        on_cpu = "no"
    status, text = _sum_up(framework, found, installed, on_gpus, on_cpu)
    return Fit(framework.name, framework.title, status, text, (installed, *on_gpus))


def _sum_up(
    framework: Framework, found: Environment, installed: Part, on_gpus: Sequence[Part], on_cpu: Status
) -> tuple[Status, str]:
    """The status of all, and the line that says why."""
    cards = [part for part in on_gpus if part.what.startswith("GPU ")]
    usable = [part for part in cards if part.status != "no"]
    obstacle = next((part for part in on_gpus if part not in cards and part.status == "no"), None)
    if installed.status == "no":
        return "no", installed.text
    if on_cpu == "no":
        why = obstacle.text if obstacle else ""
        return "no", f"its GPU build does not even start: {why}; its CPU build would work"
    ready = found.state == "ready"
    works = "works" if ready else "would work once it is installed,"
    if obstacle is not None or not usable:
        why = obstacle.text if obstacle is not None else "; ".join(part.text for part in cards)
        # Cards that are there and of no use are worth a warning, a machine without any is not.
        return ("cpu" if ready and not cards else "warning"), f"{works} on the CPU: {why}"
    names = ", ".join(part.named or part.what for part in usable)
    if ready and found.build == "cpu":
        how = f"python3 -m app setup --framework {framework.name} --build gpu"
        return "warning", f"works on the CPU; its GPU build would use {names}: {how}"
    doubts = [part.text for part in on_gpus if part.status != "works"]
    text = f"{works} on {names}" + (f"; {'; '.join(doubts)}" if doubts else "")
    return ("works" if ready and not doubts else "warning"), text


def _cpu_package(framework: Framework, found: Environment) -> str:
    """The package that makes the environment one for the CPU, though it looks like one for GPUs; else ''."""
    if found.state != "ready" or found.build != "gpu":
        return ""
    installed = {
        info.name.split("-")[0]
        for site in cuda_libraries.sites(found.path)
        for info in site.glob("*.dist-info")
    }
    return next((name for name in framework.cpu_packages if name in installed), "")


def _libraries(framework: Framework, found: Environment) -> Part | None:
    """Whether the installed build would find the CUDA libraries that it opens; None where none are known."""
    build = cuda_build(framework, found)
    names = tuple(Path(file).name for file in framework.preloaded)
    if not names and build is not None:
        names = cuda_libraries.opened(build.cuda[0], build.cudnn)
    if not names:
        return None
    missing = cuda_libraries.not_found(found.path, names)
    what = "CUDA libraries"
    if not missing:
        return Part(what, "works", f"{', '.join(names)} are there")
    told = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} neither in the environment's nvidia"
    told += " packages nor known to the system's loader"
    if not cuda_libraries.sites(found.path) or cuda_libraries.loader_names() is None:
        return Part(what, "warning", f"{told}, as far as Hopscope can look: they may be found nevertheless")
    if framework.needs_driver:
        return Part(what, "no", told)
    return Part(what, "no", f"{told}, so it would say 'Cannot dlopen some GPU libraries' and leave the GPUs")


def _installed(framework: Framework, found: Environment, package: str = "") -> Part:
    oldest, newest = framework.oldest_python, framework.newest_python
    spoken = f"Python {oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
    if found.state == "ready":
        version = package_versions(found.python)
        build = f"{found.build.upper()} build" if found.build else "build not known"
        if package:
            build += f" (the package {package}, though its build_info.py says otherwise)"
        shown = f"{framework.title} {version.get(framework.name, '')}".strip()
        return Part("environment", "works", f"{shown}, {build}, Python {version.get('python', '?')}")
    if found.state == "installing":
        return Part("environment", "warning", "it is being installed")
    if found.state == "failed":
        return Part("environment", "no", f"its install failed: {found.reason or 'see the log'}")
    if has_python(environments.python_range(framework)):
        return Part("environment", "warning", f"not installed yet; there is a {spoken} for it")
    return Part("environment", "warning", f"not installed yet; it needs {spoken}, which uv would fetch")


@remembered(_PYTHON_KNOWN_FOR_S)
def has_python(wanted: PythonRange) -> bool:
    """Whether an environment can be made here; remembered for a while: interpreters are run for it."""
    side = environments.folder()
    return is_on_machine(wanted, find_uv(side), pythons_folder(side))


def gpu_parts(framework: Framework, snapshot: Mapping[str, Any], build: CudaBuild | None) -> list[Part]:
    """Return what the build for GPUs needs of the machine: the driver first, then each card."""
    found = gpus_of(snapshot)
    if not found.cards:
        return [Part("driver", "no", _no_cards(snapshot, found.problem))]
    if build is None:
        version = snapshot.get("driver")
        told = f"driver {version}" if isinstance(version, str) else "the driver does not tell its version"
        return [Part("driver", "works", told)]
    driver = driver_part(framework, snapshot, build)
    cuda, slices = _cuda_of(snapshot), mig_of(snapshot)
    cards = [(card, card_part(framework, card, build, cuda)) for card in found.cards]
    return [driver, *(_cut(part, slices.get(card.uuid)) for card, part in cards)]


def _cut(part: Part, instances: Sequence[object] | None) -> Part:
    """What is left of a card in MIG mode; None: it is not in it."""
    if instances is None or part.status == "no":
        return part
    if not instances:
        return Part(part.what, "no", f"{part.what} is in MIG mode and has no instance that CUDA could show")
    told = f"{part.what} is in MIG mode: CUDA shows a program one of its {len(instances)} instances"
    if len(instances) == 1:
        told = f"{part.what} is in MIG mode: CUDA shows a program its one instance"
    why = f"{told}, with that one's memory only, and no GPU beside it"
    if part.status != "works":
        why = f"{part.text}; {why}"
    return Part(part.what, "warning", why, f"one MIG instance of {part.what}")


def _no_cards(snapshot: Mapping[str, Any], problem: str | None) -> str:
    """Why there is no card, with the cards' names as everywhere on the Machine page."""
    told = problem or "NVML reports no GPU"
    for gpu in snapshot["gpus"]:
        told = told.replace(f"gpu:{gpu['index']} ", f"GPU {gpu['index']} ")
    return told


def driver_part(framework: Framework, snapshot: Mapping[str, Any], build: CudaBuild) -> Part:
    """Return whether the driver is new enough for what the build was compiled with."""
    version, cuda = snapshot.get("driver"), ".".join(map(str, build.cuda))
    branch = str(version).partition(".")[0] if isinstance(version, str) else ""
    if not branch.isdecimal():
        return Part("driver", "warning", "the driver does not tell its version")
    needs = f"{framework.title}'s CUDA {cuda} needs {build.least_driver} or newer"
    if int(branch) < build.least_driver:
        return Part("driver", "no", f"driver {version} is too old: {needs}")
    return Part("driver", "works", f"driver {version}; {needs}")


def card_part(framework: Framework, card: Gpu, build: CudaBuild, driver_cuda: tuple[int, int] | None) -> Part:
    """Return whether the build has code for a card, or what the driver can compile for it."""
    name = f"GPU {card.index}"
    if card.compute_capability is None:
        return Part(name, "warning", f"{name} does not tell its compute capability")
    capability = card.compute_capability
    told = f"{name} has compute capability {capability[0]}.{capability[1]}"
    if any(code[0] == capability[0] and code <= capability for code in build.machine_code):
        return Part(name, "works", f"{told}, which the build has code for")
    limit = framework.capability
    if limit is not None and capability >= limit.first:
        return Part(name, "no", f"{told}, and {limit.why}")
    if build.ptx is None or capability < build.ptx:
        least = min(build.machine_code)
        return Part(
            name, "no", f"{told}, and the build has no code for it: {least[0]}.{least[1]} is its least"
        )
    cuda = f"{build.cuda[0]}.{build.cuda[1]}"
    if driver_cuda is not None and driver_cuda < build.cuda:
        why = (
            f"the driver compiles CUDA {driver_cuda[0]}.{driver_cuda[1]} at most, and the build is of {cuda}"
        )
        return Part(name, "no", f"{told}, which the build has no machine code for, and {why}")
    if capability[0] == build.ptx[0]:
        why = "its kernels are compiled at first use, so the first start is slow"
    else:
        why = (
            "its kernels would be compiled for a card that is newer than the compiler knows; that is untried"
        )
    return Part(name, "warning", f"{told}, which the build has no machine code for: {why}")


def cuda_build(framework: Framework, found: Environment) -> CudaBuild | None:
    """Return what the installed build says of itself, else what Hopscope would install."""
    told = _told_by(found.path, framework.build_info) if found.build == "gpu" else None
    return told or framework.cuda


def _told_by(environment: Path, build_info: str) -> CudaBuild | None:
    """What a framework writes down of its own build; None where it cannot be read. Nothing is imported."""
    for file in environment.glob(f"lib/python3*/site-packages/{build_info}") if build_info else ():
        try:
            text = file.read_text()[:_READABLE_BYTES]
            written = text[text.index("OrderedDict(") + len("OrderedDict(") : text.rindex(")")]
            listed = ast.literal_eval(parse_expression(written))
            told = dict(listed)
            version = str(told["cuda_version"]).split(".")
            codes = [
                match for name in told["cuda_compute_capabilities"] if (match := _CODE.fullmatch(str(name)))
            ]
        except (OSError, ValueError, KeyError, TypeError, SyntaxError):
            continue
        pairs = [(match[1], (int(match[2]), int(match[3]))) for match in codes]
        code = tuple(capability for kind, capability in pairs if kind == "sm")
        ptx = [capability for kind, capability in pairs if kind == "compute"]
        # compute_90 names PTX; a bare capability in the list of the build's options means both.
        if code and int(version[0]) in (11, 12, 13):
            cudnn = str(told.get("cudnn_version", "")).partition(".")[0]
            known = int(cudnn) if cudnn.isdecimal() else CudaBuild.cudnn
            return CudaBuild((int(version[0]), int(version[1])), code, min(ptx, default=None), known)
    return None


def _libdevice(environment: Path) -> Part:
    if any(environment.glob(_LIBDEVICE)):
        return Part("XLA", "works", "XLA finds CUDA's libdevice in the environment")
    return Part(
        "XLA", "warning", "XLA finds no libdevice (the package nvidia-cuda-nvcc), so jit_compile may fail"
    )


def _cuda_of(snapshot: Mapping[str, Any]) -> tuple[int, int] | None:
    major, _, minor = str(snapshot.get("cuda_driver")).partition(".")
    return (int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else None


def _worst(parts: Sequence[Part]) -> Status:
    return max((part.status for part in parts), key=RANK.__getitem__, default="works")
