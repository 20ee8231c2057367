"""Scripts in forks of one process that has imported their framework: each is spared the import."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_SERVER = Path(__file__).with_name("script_server.py")


class Forks:
    """One process of `script_server.py`, with what `imported` names, to the end of the `with` block."""

    def __init__(self, python: Path, imported: str) -> None:
        self._process = subprocess.Popen(
            [python, _SERVER, imported],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def execute(self, words: Sequence[str | Path], **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a script with its arguments to its end."""
        command = [str(word) for word in words]
        status, out, err = self._ask({"words": command, "env": environment})
        return subprocess.CompletedProcess(command, status, out, err)

    def _ask(self, request: dict[str, Any]) -> tuple[int, str, str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([request]) + "\n")
        self._process.stdin.flush()
        ((status, out, err),) = json.loads(self._process.stdout.readline())
        return status, out, err
