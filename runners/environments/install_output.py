"""What an install is doing and why it failed, read off what uv prints, and pip, which gets uv."""

from __future__ import annotations

import re

_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_RESOLVED = re.compile(r"^Resolved (\d+) package")
_BEGUN = re.compile(r"^ *Downloading (\S+)(?: \(download\))? \(([\d.]+)(B|KiB|MiB|GiB)\)")
_FETCHED = re.compile(r"^ *Downloaded (\S+)")
_BUILDING = re.compile(r"^ *Building (\S+)")
_PREPARED = re.compile(r"^Prepared (\d+) package")
_INSTALLED = re.compile(r"^Installed (\d+) package")
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_IN_PLACE, _COMPILED = 0.9, 0.95

_ERROR = re.compile(r"^\s*(?:(?:ERROR|error|cause|Caused by):|[├╰]─▶)\s*(.+)")
_NO_NETWORK = (
    r"dns error|error sending request|client error \(Connect\)|operation timed out|Connection refused"
    r"|NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError|Max retries exceeded"
    r"|RemoteDisconnected|Network is unreachable"
)
_REASONS = (
    (r"No space left on device|Disk quota exceeded|os error (?:28|122)\)", "no space left on the disk"),
    (
        r"invalid peer certificate|CERTIFICATE_VERIFY_FAILED",
        "the package index's certificate is not trusted (PIP_CERT names the file of who signed it)",
    ),
    (r"Hash mismatch for `([^=`]+)", "{} is not what was locked: its hash is another"),
    (r"DO NOT MATCH THE HASHES", "a package is not what was locked: its hash is another"),
    (
        rf"(?s)cpython-.*(?:{_NO_NETWORK})",
        "no network: the site that uv fetches Pythons from does not answer"
        " (UV_PYTHON_INSTALL_MIRROR names another)",
    ),
    (_NO_NETWORK, "no network: the package index does not answer (PIP_INDEX_URL names another)"),
    (
        r"requirement ([\w.-]+)\S* \(from versions: none\)",
        "the package index has no {}, or does not answer",
    ),
    (r"Because (\S+) was not found in the package registry", "the package index has no {}"),
    (
        r"(?:No matching distribution found for |Because )(\S+?)(?:[=<>][^ ]*)?(?:$| \(| has no wheels)",
        "the package index has no build of {} for this Python and system",
    ),
    (
        r"(?:failed to \w+ \w+ )?[`'\"]?(/[^`'\"]+)[`'\"]?: (?:Permission denied|Read-only)",
        "no permission to write {}",
    ),
)
"""Patterns of lines and what they mean in words, the surest first."""


class InstallOutput:
    """Follows an install's output line by line.

    `step` says in words what is done, `fraction` how far it is, 0 to 1, None while unknown.
    """

    def __init__(self, step: str = "asking the package index") -> None:
        self.step = step
        self.fraction: float | None = None
        self._sizes: dict[str, float] = {}
        self._under_way: dict[str, str] = {}
        self._lines: list[str] = []
        self._errors: list[str] = []

    def feed(self, line: str) -> None:
        """Take one line of the output, with or without its line end."""
        line = _COLOR.sub("", line.rstrip())
        self._lines.append(line)
        if found := _ERROR.match(line):
            self._errors.append(found.group(1))
        elif found := _RESOLVED.match(line):
            self.step = f"fetching {found.group(1)} packages"
        elif found := _BEGUN.match(line):
            name, size, unit = found.groups()
            self._sizes[name] = float(size) * _UNITS[unit]
            self._under_way[name] = f"{size} {unit}"
            self._show_downloads()
        elif found := _FETCHED.match(line):
            self._under_way.pop(found.group(1), None)
            self._show_downloads()
        elif found := _BUILDING.match(line):
            self.step = f"building {found.group(1)}"
        elif found := _PREPARED.match(line):
            self.step, self.fraction = f"installing {found.group(1)} packages", _IN_PLACE
        elif found := _INSTALLED.match(line):
            self.step, self.fraction = f"compiling {found.group(1)} packages", _COMPILED

    def _show_downloads(self) -> None:
        """Name the largest file that is under way; what has arrived counts by its size."""
        names = sorted(self._under_way, key=lambda name: -self._sizes[name])
        if names:
            others = f" and {len(names) - 1} more" if names[1:] else ""
            self.step = f"downloading {names[0]}, {self._under_way[names[0]]}{others}"
        missing = sum(self._sizes[name] for name in names)
        self.fraction = _IN_PLACE * (1 - missing / (sum(self._sizes.values()) or 1))

    def failure(self) -> str:
        """Why it failed, in part of a line."""
        text = "\n".join(self._lines)
        for pattern, words in _REASONS:
            if found := re.search(pattern, text, re.MULTILINE):
                return words.format(*found.groups())
        told = [error.partition(", we can conclude")[0] for error in self._errors]
        if told:
            return ": ".join(dict.fromkeys([told[0], told[-1]]))
        return next((line.strip() for line in reversed(self._lines) if line.strip()), "it does not say why")
