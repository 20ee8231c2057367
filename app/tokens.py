"""The tokens of a server that others reach, kept: what was bookmarked or is scraped works after a restart.

They stand in a file that only its owner can read, by the port that is served. A file that others can read
or that another user made is not believed; new tokens replace it.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from runners.registry import home

Role = Literal["operator", "viewer"]
ROLES: tuple[Role, ...] = ("operator", "viewer")
NAME = "tokens.json"
LEAST_CHARACTERS = 32
MOST_BYTES = 1 << 16


def new_tokens() -> dict[str, Role]:
    """A token for each role that nobody has had before."""
    return {secrets.token_urlsafe(24): role for role in ROLES}


def kept_tokens(port: int, renew: bool = False) -> tuple[dict[str, Role], str | None]:
    """The tokens of the server at `port`, made where there are none or with `renew`.

    Also returns why they cannot be kept for the next start, None where they are.
    """
    file = home() / NAME
    held = _read(file)
    if not renew and (tokens := _tokens(held.get(str(port)))):
        return tokens, None
    tokens = new_tokens()
    try:
        _write(file, {**held, str(port): {role: token for token, role in tokens.items()}})
    except OSError as error:
        return tokens, f"the tokens are new at the next start: {file} cannot be written: {error.strerror}"
    return tokens, None


def _tokens(entry: Any) -> dict[str, Role] | None:
    """The tokens of one port, None where what was kept is not two of them."""
    found = entry if isinstance(entry, Mapping) else {}
    tokens: dict[str, Role] = {}
    for role in ROLES:
        token = found.get(role)
        if isinstance(token, str) and len(token) >= LEAST_CHARACTERS and token.isascii():
            tokens[token] = role
    return tokens if len(tokens) == len(ROLES) else None


def _read(file: Path) -> dict[str, Any]:
    """What is kept; nothing where the file is missing, damaged, or not its owner's alone."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as opened:
            facts = os.fstat(descriptor)
            own = facts.st_uid == os.geteuid() and not facts.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
            held = json.loads(opened.read(MOST_BYTES)) if own and stat.S_ISREG(facts.st_mode) else {}
            if isinstance(held, dict):
                return held
    return {}


def _write(file: Path, held: Mapping[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    made = file.with_name(f".{NAME}.{os.getpid()}")
    made.unlink(missing_ok=True)
    with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        json.dump(held, opened)
    made.replace(file)
