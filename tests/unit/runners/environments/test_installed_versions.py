"""Asking an interpreter for its packages."""

from __future__ import annotations

import importlib.metadata
import os
import sys
import time
from pathlib import Path

from runners.environments.installed_versions import package_versions


def package(folder: Path, name: str, version: str) -> None:
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_this_interpreters_packages() -> None:
    versions = package_versions(Path(sys.executable))
    assert versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert versions["pytest"] == importlib.metadata.version("pytest")
    assert next(iter(versions)) == "python"


def test_a_package_that_came_since_is_seen(tmp_path: Path, monkeypatch: object) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}/lib exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    package(tmp_path / "lib", "tensorflow_cpu", "2.21.0")
    versions = package_versions(python)
    assert (versions["tensorflow-cpu"], versions["tensorflow"]) == ("2.21.0", "2.21.0")
    package(tmp_path / "lib", "mxnet_cu112", "1.9.1")
    # A folder's time may have the clock's coarse ticks.
    os.utime(tmp_path / "lib", (time.time() + 5, time.time() + 5))
    assert package_versions(python)["mxnet"] == "1.9.1"


def test_what_is_no_interpreter_has_no_packages(tmp_path: Path) -> None:
    assert package_versions(tmp_path / "python") == {}
    assert package_versions(Path("/bin/false")) == {}
