"""How a dashboard is opened: the lines with its address, and what is not installed yet."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping

from app import tokens
from app.sign_in import TOKEN
from app.tokens import Role
from runners.environments import background_install, environments
from runners.environments.frameworks import FRAMEWORKS

COMMAND = "python3 -m app token"


def owner() -> str:
    """The user as whom this process runs, and so all that operators launch."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"


def opening_lines(url: str, held: Mapping[str, Role], secret: bool) -> list[str]:
    """The lines that say how the dashboard at `url` is opened.

    `secret`: a person reads them now. Elsewhere (a journal, a container's log) they go without the tokens.
    """
    if not held:
        return [
            f"Hopscope: {url}",
            "No token is required (--no-token): every user and every program of this machine can run any"
            f" code as {owner()} here.",
        ]
    if secret:
        return token_lines(url, held)
    return [
        f"Hopscope: {url}",
        f"A token is required: `{COMMAND}` prints the address that has it, from {tokens.file()}",
    ]


def token_lines(url: str, held: Mapping[str, Role]) -> list[str]:
    """The addresses that carry the tokens, one a role, and what that role may do."""
    may = {"operator": f"may run any code as {owner()}", "viewer": "may look"}
    return [f"Hopscope: {url}/?{TOKEN}={token}  ({role}: {may[role]})" for token, role in held.items()]


def missing_lines() -> list[str]:
    """What is not installed, and how it gets installed where that is wanted; nothing where all is there."""
    missing = [found for found in environments.environments() if found.state in ("missing", "failed")]
    names = [found.name for found in missing if not environments.is_users_own(found.name)]
    if not names:
        return []
    titles = " and ".join(FRAMEWORKS[name].title for name in names)
    only = f" --framework {names[0]}" if len(names) == 1 else ""
    return [
        f"{titles} {'is' if len(names) == 1 else 'are'} not installed. To install: `python3 -m app"
        f" setup{only}` or the button on the Launch page. Nothing is installed unless you ask.",
        *(f"  {FRAMEWORKS[name].title}: {background_install.room_words(name)}" for name in names),
    ]
