"""uv, which makes and fills every environment: where it is, and what pip was told that it must know."""

from __future__ import annotations

import configparser
import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from runners.environments.install_output import InstallOutput
from runners.environments.pythons import BASE
from runners.environments.virtualenv import Lock, Recipe, VirtualEnvironment
from runners.environments.workbench import Workbench, prepared
from runners.errors import HopscopeError

_REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements"
_DISK_BYTES = 150_000_000
_OLDEST = (0, 8)
_OFF = frozenset({"", "0", "false", "no", "off", "n", "f"})
_AS_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "constraint": "UV_CONSTRAINT",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "retries": "UV_HTTP_RETRIES",
}


def find_uv(side: Path) -> str | None:
    """The uv on PATH, if it is new enough, or the one that `get_uv` got; None without one."""
    on_path, own = shutil.which("uv"), _own(side).path / "bin" / "uv"
    if on_path and _version(on_path) >= _OLDEST:
        return on_path
    return str(own) if own.exists() else None


def get_uv(side: Path, work: Workbench, locked: bool) -> str:
    """Return the uv to use; where there is none, pip gets it, into an environment of its own in `side`."""
    own = _own(side)
    found = find_uv(side)
    lock = Lock((_REQUIREMENTS / "locked" / "uv.txt",)) if locked else None
    recipe = Recipe("uv", (_REQUIREMENTS / "uv.txt",), disk_bytes=_DISK_BYTES, lock=lock)
    if found is not None and (not found.startswith(str(own.path)) or own.is_current(recipe)):
        return found
    try:
        with prepared(own, recipe, lambda step: work.tell(f"getting uv: {step.text}", None)) as getting:
            if getting is not None:
                _fill(getting)
    except HopscopeError as error:
        raise HopscopeError(
            f"uv, which makes the environments, could not be had: {error}; mend that, or put uv on the PATH,"
            " and start again"
        ) from None
    return str(own.path / "bin" / "uv")


def pip_settings() -> dict[str, str]:
    """What pip was told in its files and variables, by option."""
    named = os.environ.get("PIP_CONFIG_FILE", "")
    files = configparser.RawConfigParser(strict=False)
    with contextlib.suppress(configparser.Error, UnicodeError):
        files.read([] if named == os.devnull else [*_pip_files(), named], encoding="utf-8")
    told: dict[str, str] = {}
    for section in ("global", "install"):
        told |= files.items(section) if files.has_section(section) else {}
    told |= {name[4:]: value for name, value in os.environ.items() if name.startswith("PIP_")}
    names = {name: name.lower().replace("_", "-") for name in told}
    return {names[name]: " ".join(value.split()) for name, value in told.items()}


def _pip_files() -> list[Path]:
    """Where pip reads what it was told: the system's, the user's, the interpreter's; the last counts most."""
    folders = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    own = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return [
        *(Path(folder) / "pip" / "pip.conf" for folder in folders.split(os.pathsep)),
        Path("/etc/pip.conf"),
        Path.home() / ".pip" / "pip.conf",
        own / "pip" / "pip.conf",
        Path(sys.prefix) / "pip.conf",
    ]


def as_uv_variables(settings: dict[str, str]) -> dict[str, str]:
    """The same as uv's variables; those that are set count for more."""
    told = {_AS_UV[name]: value for name, value in settings.items() if name in _AS_UV and value}
    if "UV_FIND_LINKS" in told:
        told["UV_FIND_LINKS"] = told["UV_FIND_LINKS"].replace(" ", ",")
    if "UV_INDEX" in told:
        # To pip all indexes are one.
        told["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return {name: value for name, value in told.items() if name not in os.environ}


def without_index(settings: dict[str, str]) -> bool:
    """Whether pip was told to ask no index."""
    return settings.get("no-index", "").lower() not in _OFF


def _own(side: Path) -> VirtualEnvironment:
    return VirtualEnvironment(side / "uv", side, "uv")


def _version(uv: str) -> tuple[int, ...]:
    try:
        told = subprocess.run([uv, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ()
    return tuple(map(int, re.findall(r"\d+", told)[:2]))


def _fill(work: Workbench) -> None:
    """Make uv's environment with what Python brings, and let pip install it there."""
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        raise HopscopeError(
            "this Python lacks the modules venv and ensurepip, install them (Debian and Ubuntu: apt-get"
            f" install {package})"
        )
    work.begin()
    options = ["--require-hashes", "--only-binary", ":all:"] if work.recipe.lock else []
    options += ["--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
    for file in (work.recipe.lock or work.recipe).requirements:
        options += ["-r", str(file)]
    for argv in (
        [BASE, "-I", "-m", "venv", "--clear", str(work.path)],
        [str(work.python), "-I", "-m", "pip", "install", *options],
    ):
        output = InstallOutput()
        if work.run(argv, output):
            raise HopscopeError(f"{output.failure()}; log: {work.log}")
