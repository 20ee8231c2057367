"""The process that reads recordings for this one: in the dashboard's interpreter, one for all blocks."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import subprocess
import tempfile
import threading
from typing import Any, Optional

from .clone import HopscopeError, apart, clone, dashboard_python, recorder

_COMMAND = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.cli.judging import main; main()"
_PIECE = 1 << 16
_LAST_S = 5.0
"""What it gets to end by itself, once nobody asks it any more."""


class Judge:
    """One such process, of the process that made it: a fork makes one of its own."""

    def __init__(self) -> None:
        """Start it, without waiting until it is ready. HopscopeError where it cannot be started."""
        self.owner = os.getpid()
        self._python = dashboard_python()
        said, self._said = tempfile.mkstemp(prefix="hopscope-")
        ours, its = socket.socketpair()
        try:
            self._process = subprocess.Popen(
                [self._python, "-E", "-c", _COMMAND, clone()],
                env=apart(),
                stdin=its.fileno(),
                stdout=its.fileno(),
                stderr=said,
                cwd="/",
                start_new_session=True,  # Ctrl-C is for the tests: it ends when they have ended
            )
        except OSError as error:
            os.unlink(self._said)
            ours.close()
            raise HopscopeError(f"the dashboard's interpreter cannot be started: {error}") from None
        finally:
            its.close()
            os.close(said)
        # The program may close any number: no object of Python's may close it again later.
        self._held = recorder("trace.descriptors").Held(ours.detach())

    def report(self, folder: str) -> dict[str, Any]:
        """The report of the recording in a folder; HopscopeError where there is none."""
        line = b""
        with contextlib.suppress(OSError):
            line = self._answer(json.dumps({"folder": folder}).encode() + b"\n")
        try:
            answer = json.loads(line)
        except ValueError:
            raise Ended(self._last_words()) from None
        report = answer.get("report")
        if not isinstance(report, dict):
            raise HopscopeError(f"the recording of this block could not be read: {answer.get('error')}")
        return report

    def _answer(self, question: bytes) -> bytes:
        """The line that it answers a line with; b"" where it is gone, or the way to it was closed."""
        if not self._held.ours():
            return b""
        answer = b""
        connection = socket.socket(fileno=self._held.number)
        try:
            connection.sendall(question, socket.MSG_NOSIGNAL)
            while not answer.endswith(b"\n") and (piece := connection.recv(_PIECE)):
                answer += piece
        finally:
            connection.detach()
        return answer

    def end(self) -> None:
        """End it, if it is this process's own."""
        if self.owner != os.getpid():
            return
        self._held.close()
        try:
            self._process.wait(_LAST_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(OSError):
            os.unlink(self._said)

    def _last_words(self) -> str:
        try:
            with open(self._said, encoding="utf-8", errors="replace") as said:
                lines = said.read().strip().splitlines()
        except OSError:
            lines = []
        return f"{self._python} {f'said {lines[-1]!r}' if lines else 'ended without a word'}"


class Ended(HopscopeError):
    """The judge is there no more."""

    def __init__(self, said: str) -> None:
        """`said` is what it was and the last line that it wrote on standard error."""
        super().__init__(
            f"the recording of this block could not be read: {said}; it must be the dashboard's interpreter,"
            f" which python3 {os.path.join(clone(), 'app')} makes"
        )


_guard = threading.Lock()
_judge: Optional[Judge] = None


def prepare() -> None:
    """Have a judge ready, or on its way; HopscopeError where there can be none."""
    with _guard:
        _present()


def report(folder: str) -> dict[str, Any]:
    """The report of the recording in a folder; HopscopeError where it cannot be read."""
    with _guard:
        try:
            return _present().report(folder)
        except Ended:
            end_unguarded()
        try:
            return _present().report(folder)  # it was killed, perhaps for memory
        except Ended:
            end_unguarded()
            raise


def end() -> None:
    """End the judge of this process, if there is one; the next block starts another."""
    with _guard:
        end_unguarded()


def end_unguarded() -> None:
    """The same for who holds the guard already."""
    global _judge
    judge, _judge = _judge, None
    if judge is not None:
        judge.end()


def _present() -> Judge:
    global _judge
    if _judge is None or _judge.owner != os.getpid():
        _judge = Judge()
    return _judge


atexit.register(end)
os.register_at_fork(after_in_child=lambda: globals().update(_guard=threading.Lock()))
