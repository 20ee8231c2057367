"""Whether a framework would find the CUDA libraries that it opens at its start. Nothing is loaded for it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from runners.remembered import remembered

_NUMBERS = {
    11: {
        "cudart": "11.0",
        "cublas": "11",
        "cublasLt": "11",
        "cufft": "10",
        "cusolver": "11",
        "cusparse": "11",
    },
    12: {"cudart": "12", "cublas": "12", "cublasLt": "12", "cufft": "11", "cusolver": "11", "cusparse": "12"},
    13: {"cudart": "13", "cublas": "13", "cublasLt": "13", "cufft": "12", "cusolver": "12", "cusparse": "12"},
}
"""By CUDA's first number: each library with the one in its file's name."""
_SITES = "lib*/python3*/site-packages"
LDCONFIGS = ("/sbin/ldconfig", "/usr/sbin/ldconfig")
_KNOWN_FOR_S = 60.0
_TIMEOUT_S = 10.0


def opened(cuda: int, cudnn: int) -> tuple[str, ...]:
    """What TensorFlow opens before it uses a GPU, as files: `libcudart.so.12` and so on."""
    numbers = {**_NUMBERS[cuda], "cudnn": str(cudnn)}
    return tuple(f"lib{name}.so.{number}" for name, number in numbers.items())


def sites(environment: Path) -> list[Path]:
    """The folders with an environment's packages."""
    return [*environment.glob(_SITES)]


def not_found(environment: Path, names: Iterable[str]) -> list[str]:
    """Which of these files are neither in the environment's nvidia packages nor where the loader looks."""
    packed = {
        file.name for site in sites(environment) for file in site.glob("nvidia/*/lib/*.so*") if file.exists()
    }
    folders = [Path(part) for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part]
    known = loader_names() or frozenset()
    return [
        name
        for name in names
        if name not in packed and name not in known and not any((one / name).exists() for one in folders)
    ]


@remembered(_KNOWN_FOR_S)
def loader_names() -> frozenset[str] | None:
    """What the system's loader knows, as `ldconfig -p` prints it; None where that cannot be asked."""
    for program in LDCONFIGS:
        try:
            done = subprocess.run(
                [program, "-p"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return frozenset(line.split()[0] for line in done.stdout.splitlines() if " => " in line)
    return None
