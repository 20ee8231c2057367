"""A real dashboard that hostile inputs are sent to, and what must be true of it after each."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from app.access import Policy
from app.tokens import known_tokens
from runners.supervise.ports import free_ports
from tests.hostile.folders import put_folder
from tests.hostile.ground import Ground, Harm, check_secret, memory_of
from tests.hostile.seeds import seeds
from tests.hostile.worker import ROOT

MOST_MEMORY = 700 << 20
"""Bytes of the server, sessions that may come back included."""
_START_S = 120.0
_ALIVE_S = 30.0
_WRONG = re.compile(r"^.*(?:Traceback \(most recent|\bERROR\b|\bCRITICAL\b|Exception in).*$", re.MULTILINE)


class Served:
    """A running server; `port`, its `cookies` by role, and what it printed since it was last asked."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process = process
        self.port = port
        self.cookies: dict[str, str] = {}
        self._log = log
        self._read = 0

    def let_in(self) -> None:
        """Learn the cookies, by role, from the tokens that the server keeps in its home."""
        tokens = known_tokens() or {}
        name = Policy(tokens).cookie
        self.cookies = {role: f"{name}={token}" for token, role in tokens.items()}

    def check(self) -> None:
        """Raise Harm where it is gone, takes too much memory, or complains of an error."""
        if self.process.poll() is not None:
            raise Harm(f"the server ended with {self.process.returncode}: {self.printed()[-3000:]}")
        if (grown := memory_of(self.process.pid)) > MOST_MEMORY:
            raise Harm(f"the server holds {grown >> 20} MB")
        new = self.printed()
        if found := _WRONG.search(new):
            said = new[found.start() : found.start() + 5000]
            raise Harm(f"the server's log says {found[0].strip()[:100]!r}:\n{said}")
        check_secret(new)

    def printed(self) -> str:
        """What it printed since this was last asked."""
        with self._log.open("rb") as log:
            log.seek(self._read)
            new = log.read()
        self._read += len(new)
        return new.decode("utf-8", "replace")

    def answers(self) -> bool:
        """Whether it answers an ordinary request now."""
        with contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=_ALIVE_S)
        ) as asked:
            try:
                asked.request("GET", "/hopscope/health", headers={"Cookie": self.cookies.get("viewer", "")})
                return asked.getresponse().status in (200, 403)
            except (OSError, http.client.HTTPException):
                return False

    def connect(self) -> socket.socket:
        """A connection to it."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=_ALIVE_S)


@contextlib.contextmanager
def served(ground: Ground) -> Iterator[Served]:
    """A server of the ground's home, which has a few sound runs."""
    for number, seed in enumerate(seeds()[:3]):
        files = {"trace/main.jsonl": b"\n".join(seed.trace) + b"\n", "trace/main.counts": seed.counts}
        put_folder(
            ground.home / "runs" / f"20261122-19192{number}-sound-000{number}", {**files, **seed.files}
        )
    port = free_ports(["server"])["server"]
    log = ground.folder / "server.log"
    # What a click could install is nowhere to be had.
    nowhere = {"PIP_NO_INDEX": "1", "PIP_INDEX_URL": "http://127.0.0.1:9/", "UV_OFFLINE": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--port", str(port)],
            cwd=ROOT,
            env={**os.environ, **nowhere},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    server = Served(process, port, log)
    try:
        deadline = time.monotonic() + _START_S
        while not server.answers():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start: {server.printed()}")
            time.sleep(0.05)
        server.let_in()
        server.printed()
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
