"""The verdicts on a program's claim, by the check in its folder."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping

from runners import catalogue
from runners.programs.evidence import Check, Shown, said
from runners.programs.verdicts import Verdict


def judge(program: str, shown: Mapping[str, Shown]) -> list[Verdict]:
    """The verdicts on a program's claim by what its runs showed.

    What only some of several runs said is told with the variants that said it: ``resumed: ...``.
    """
    return [_with_variant(verdict, shown) for verdict in check_of(program)(shown)]


def check_of(program: str) -> Check:
    """The check in the program's folder; without one, what the runs said themselves is the verdict."""
    about = catalogue.program(program).script.with_name("about.py")
    if not about.with_name("check.py").is_file():
        return said
    framework, folder = about.parts[-3:-1]
    check: Check = importlib.import_module(f"runners.programs.{framework}.{folder}.check").check
    return check


def _with_variant(verdict: Verdict, shown: Mapping[str, Shown]) -> Verdict:
    names = [name for name, one in shown.items() if verdict in one.said]
    if not names or len(names) == len(shown):
        return verdict
    return dataclasses.replace(verdict, text=f"{', '.join(names)}: {verdict.text}")
