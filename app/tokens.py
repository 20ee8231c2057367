"""The tokens of this home's dashboards, kept: what was bookmarked or is scraped works after a restart.

They stand in a file that only its owner can read. A file that others can read or that another user made is
not believed; new tokens replace it.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from runners.private_files import create_private, read_private, replace_private
from runners.runs.registry import home

Role = Literal["operator", "viewer"]
ROLES: tuple[Role, ...] = ("operator", "viewer")
NAME = "tokens.json"
LEAST_CHARACTERS = 32
_URL_SAFE = re.compile(r"[\w-]+", re.ASCII)


def new_tokens() -> dict[str, Role]:
    """A token for each role that nobody has had before."""
    return {secrets.token_urlsafe(24): role for role in ROLES}


def file() -> Path:
    """Where the tokens are kept."""
    return home() / NAME


def kept_tokens(renew: bool = False) -> tuple[dict[str, Role], str | None]:
    """The tokens of this home's dashboards, created where there are none or with `renew`.

    Also returns why they cannot be kept for the next start, None where they are.
    """
    tokens = new_tokens()
    content = json.dumps({role: token for token, role in tokens.items()}).encode()
    try:
        if not renew:
            # Of several servers that start at once all get those of the first.
            known = known_tokens() or (None if create_private(file(), content) else known_tokens())
            if known:
                return known, None
        if renew or known_tokens() != tokens:
            replace_private(file(), content)
    except OSError as error:
        return tokens, f"the tokens are new at the next start: {file()} cannot be written: {error.strerror}"
    return tokens, None


def known_tokens() -> dict[str, Role] | None:
    """The tokens that are kept, None where there are none to be believed."""
    try:
        held = json.loads(read_private(file()) or b"{}")
    except (ValueError, RecursionError):
        return None
    if not isinstance(held, dict):
        return None
    # An earlier version kept a pair for each port.
    return next(filter(None, map(_tokens, [held, *held.values()])), None)


def _tokens(entry: Any) -> dict[str, Role] | None:
    """The tokens of an entry, None where what was kept is not two of them."""
    found = entry if isinstance(entry, Mapping) else {}
    tokens: dict[str, Role] = {}
    for role in ROLES:
        token = found.get(role)
        if isinstance(token, str) and len(token) >= LEAST_CHARACTERS and _URL_SAFE.fullmatch(token):
            tokens[token] = role
    return tokens if len(tokens) == len(ROLES) else None
