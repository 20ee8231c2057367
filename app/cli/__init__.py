"""The command line: `python3 -m app COMMAND`, one module a command."""

from app.cli.dispatch import main

__all__ = ["main"]
