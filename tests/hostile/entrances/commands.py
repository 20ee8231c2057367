"""Words on the command line, carried out in this process; nothing that they ask for is started."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator

import app.server
from app.cli.dispatch import COMMANDS
from runners.errors import HopscopeError
from tests.hostile import material
from tests.hostile.entrances.folders import carried_out, check_command
from tests.hostile.entrances.output import captured
from tests.hostile.folders import put_folder
from tests.hostile.ground import Ground, watch
from tests.hostile.seeds import seeds

SHARE = 210
CHECKED = "exit status 0, 1, 2 or 130; at most one line of error, no traceback, no control character"

_OPTIONS = (
    *(
        "--json",
        "--help",
        "-h",
        "--version",
        "--port",
        "--listen",
        "--new-tokens",
        "--no-token",
        "--scripts",
        "--build",
    ),
    *("--watch", "--record", "--bandwidth", "--framework", "--devices", "--python", "--share", "--no-record"),
    *(
        "--exact-lines",
        "--stand-ins",
        "--steps",
        "--set",
        "--notes",
        "--ops",
        "--html",
        "--grace",
        "--yes",
        "--run",
    ),
    *("--env", "--name", "--off", "--gpus", "--", "-m", "-", "--=", "--json=x"),
)
_GOOD = (
    "20261122-191920-sound",
    "tf-mirrored",
    "mx-dist-sync",
    "gpu:0",
    "cpu:1,cpu:2",
    "tensorflow",
    "cpu",
    "batch=64",
    "5",
)
_NEVER = ("setup", "serve")
"""What these are for is not tried: to install, to serve. Their words are, behind one that is wrong."""


@contextlib.contextmanager
def opened(ground: Ground) -> Iterator[Callable[[random.Random], None]]:
    """What tries one input."""
    seed = seeds()[0]
    files = {"trace/main.jsonl": b"\n".join(seed.trace) + b"\n", **seed.files}
    put_folder(ground.home / "runs" / "20261122-191920-sound-0001", files)
    ground.may_start = True
    app.server.serve = _refused  # type: ignore[assignment]  # it would serve on
    watch(ground)

    def attempt(rng: random.Random) -> None:
        words = hostile_words(rng)
        ground.note("words", words)
        with captured() as (out, err):
            status = carried_out(words)
        check_command(words, status, out.content().decode(), err.content().decode())

    yield attempt


def _refused(*_arguments: object, **_options: object) -> int:
    raise HopscopeError("nothing is served here")


def hostile_words(rng: random.Random) -> list[str]:
    """A command with words that mean something, nothing, or what they must not."""
    command = rng.choice(list(COMMANDS)) if rng.random() < 0.9 else _word(rng)
    words = [_word(rng) for _ in range(rng.choice((0, 1, 1, 2, 3, 8)))]
    if command in _NEVER and not {"--help", "-h"} & set(words):
        words.append(f"--{material.COMMAND}")
    if command == "devices":
        words = [word for word in words if word != "--watch"]  # it goes on until it is interrupted
    return [command, *words] if rng.random() < 0.97 else words[:1] or [_word(rng)]


def _word(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.4:
        return rng.choice(_OPTIONS)
    if kind < 0.6:
        return rng.choice(_GOOD)
    # A word of a process can hold any byte but NUL; Python reads what is no UTF-8 as lone surrogates.
    text = material.text(rng).replace("\0", "")
    return text.encode("utf-8", "surrogatepass")[:100_000].decode("utf-8", "surrogateescape")
