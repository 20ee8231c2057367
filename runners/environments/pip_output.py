"""What pip is doing and why it failed, read off its output. Standard library only."""

from __future__ import annotations

import dataclasses
import re

_COLLECTING = re.compile(r"^Collecting ([A-Za-z0-9][A-Za-z0-9._-]*)")
_PROCESSING = re.compile(r"^Processing (\S+)")
_FETCHED = re.compile(r"^\s+(Downloading|Using cached) (\S+)(?: \(([\d.]+) (bytes|[kMG]?B)\))?")
_INSTALLING = re.compile(r"^Installing collected packages: (.+)")
_BUILDING = re.compile(r"^\s*Building wheel for (\S+)")
_METADATA = re.compile(r"^\s+Obtaining dependency information|\.metadata\b")
_RETRYING = re.compile(r"Retrying \(Retry\(total=(\d+)")
_UNITS = {"bytes": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}

_NO_NETWORK = re.compile(
    r"NewConnectionError|NameResolutionError|Temporary failure in name resolution|Network is unreachable"
    r"|ConnectTimeoutError|ConnectTimeout|ReadTimeoutError|Connection refused|ProxyError|RemoteDisconnected"
    r"|Connection aborted|Max retries exceeded|Could not find a suitable TLS|SSLError"
)
_NO_MATCH = re.compile(r"No matching distribution found for (\S+)")
_NO_VERSIONS = "(from versions: none)"
_NO_SPACE = re.compile(r"\[Errno 28\]|No space left on device|\[Errno 122\]|Disk quota exceeded")
_NOT_WRITABLE = re.compile(r"\[Errno (?:13|30)\][^'\"]*(?:['\"]([^'\"]+)['\"])?")
_OTHER_HASHES = "DO NOT MATCH THE HASHES"
_NAMED = re.compile(r"^    (\S+).* from \S+")
_ERROR = re.compile(r"^ERROR: (.+)")


@dataclasses.dataclass(frozen=True)
class Download:
    """The file that pip fetches now; `size` in bytes as pip announced it, None when it did not."""

    name: str
    size: int | None


class PipOutput:
    """Follows pip's output line by line.

    `step` says in words what pip does. `packages` are those named by then, `fetched` how many files of theirs
    are here; once `total` is set, pip installs that many packages. `download` is the file on its way.
    """

    def __init__(self, step: str = "asking the package index") -> None:
        self.step = step
        self.packages: list[str] = []
        self.fetched = 0
        self.total: int | None = None
        self.download: Download | None = None
        self._counted = False
        self._errors: list[str] = []
        self._network: str | None = None
        self._space = False
        self._not_writable: str | None = None
        self._no_match: str | None = None
        self._no_versions = False
        self._unlocked: list[str] | None = None

    def feed(self, line: str) -> None:
        """Take one line of pip's output, with or without its line end."""
        line = line.rstrip()
        self._feed_trouble(line)
        if _METADATA.search(line):
            # The index tells what a package needs apart from its file, so pip fetches the files at the end.
            self._counted = True
        elif found := _COLLECTING.match(line):
            self._found(found.group(1))
        elif found := _PROCESSING.match(line):
            self._found(found.group(1).rpartition("/")[2].partition("-")[0])
            self.fetched += 1
        elif found := _FETCHED.match(line):
            self._feed_file(*found.groups())
        elif found := _BUILDING.match(line):
            self._finish_download()
            self.step = f"building {found.group(1)}"
        elif found := _INSTALLING.match(line):
            self._finish_download()
            self.total = found.group(1).count(",") + 1
            self.step = f"installing {self.total} packages"

    def _found(self, name: str) -> None:
        self._network = None  # it answered after all
        self._finish_download()
        if name not in self.packages:
            self.packages.append(name)
        self.step = f"collecting {name} ({len(self.packages)} found so far)"

    def _feed_file(self, verb: str, file: str, size: str | None, unit: str | None) -> None:
        self._finish_download()
        self._network = None
        name = file.rpartition("/")[2]
        package = " ".join(name.split("-")[:2])
        if verb == "Using cached":
            self.fetched += 1
            self.step = f"using the cached {package}"
            return
        self.download = Download(name, int(float(size) * _UNITS[unit]) if size and unit else None)
        self.step = f"downloading {package}" + (f", {size} {unit}" if size else "")

    def _finish_download(self) -> None:
        if self.download is not None:
            self.fetched += 1
            self.download = None

    def _feed_trouble(self, line: str) -> None:
        if _NO_NETWORK.search(line):
            self._network = line
        if _NO_SPACE.search(line):
            self._space = True
        elif found := _NOT_WRITABLE.search(line):
            self._not_writable = found.group(1) or line
        if _OTHER_HASHES in line:
            self._unlocked = []
        elif self._unlocked is not None and (found := _NAMED.match(line)):
            self._unlocked.append(found.group(1).partition("=")[0])
        self._no_versions = self._no_versions or _NO_VERSIONS in line
        if found := _NO_MATCH.search(line):
            self._no_match = found.group(1)
        if found := _RETRYING.search(line):
            self.step = f"the package index does not answer; {found.group(1)} more tries"
        elif found := _ERROR.match(line):
            self._errors.append(found.group(1))

    def fraction(self, installed: int, downloaded: int | None) -> float | None:
        """How far pip is, 0 to 1: fetching and installing each package count the same; None while unknown.

        `installed`: packages put in place by now. `downloaded`: bytes of `download` that have arrived.
        """
        if self.total is not None:
            return min(1.0, (self.total + installed) / (2 * self.total))
        if not self._counted or not self.packages or not (self.fetched or self.download):
            return None
        part = 0.0
        if self.download is not None and self.download.size and downloaded:
            part = min(1.0, downloaded / self.download.size)
        return min(0.5, (self.fetched + part) / (2 * len(self.packages)))

    def failure(self) -> str | None:
        """Why pip failed, in part of a line; None if it did not say."""
        if self._space:
            return "no space left on the disk"
        if self._unlocked is not None:
            return f"{', '.join(self._unlocked) or 'a package'} is not what was locked: its hash is another"
        if self._network is not None:
            return "no network: the package index does not answer (PIP_INDEX_URL names another)"
        if self._no_match is not None:
            lacks = (
                f"no {self._no_match}, or does not answer"
                if self._no_versions
                else f"no build of {self._no_match} for this Python and system"
            )
            return f"the package index has {lacks}"
        if self._not_writable is not None:
            return f"no permission to write {self._not_writable}"
        return self._errors[-1] if self._errors else None
