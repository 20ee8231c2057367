"""The locked sets fit the requirement files that they were made from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runners.environments.frameworks import FRAMEWORKS, LOCKED
from runners.environments.lock_files import sources

packaging = pytest.importorskip("packaging.requirements", reason="packaging is not installed")
_PIN = re.compile(r"^([a-z0-9-]+)==(\S+)(?: ; .*?)? \\$", re.MULTILINE)


@pytest.mark.parametrize(("source", "name"), [(source, name) for source, name, _ in sources()])
def test_each_requirement_is_pinned_to_a_version_that_it_allows(source: Path, name: str) -> None:
    """After a change of a requirement: `python -m runners.environments.lock_files`."""
    pinned = _PIN.findall((LOCKED / name).read_text())
    for line in source.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            wanted = packaging.Requirement(line)
            versions = [
                version for found, version in pinned if found == wanted.name.lower().replace("_", "-")
            ]
            assert versions and all(wanted.specifier.contains(version) for version in versions), line


@pytest.mark.parametrize("name", [name for _, name, _ in sources()])
def test_each_package_has_hashes_and_comes_from_the_index(name: str) -> None:
    for entry in re.split(r"\n(?=\S)", (LOCKED / name).read_text().strip()):
        first, *hashes = entry.splitlines()
        assert _PIN.match(first), first
        assert hashes and all(re.fullmatch(r" +--hash=sha256:[0-9a-f]{64}(?: \\)?", line) for line in hashes)


def test_every_environment_has_a_locked_set() -> None:
    for framework in FRAMEWORKS.values():
        for build in framework.disk_bytes:
            lock = framework.recipe(build, locked=True).lock
            assert lock is not None
            plain = framework.recipe(build)
            assert all(file.exists() for file in (*lock.requirements, *lock.without_dependencies))
            assert len(lock.without_dependencies) == len(plain.without_dependencies)
