"""What the Launch page says: the environment's state, and what a plan would run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Literal

from app.web.shared.command_words import command_text
from runners.catalogue import Option, Program, Value
from runners.environments import background_install
from runners.environments.environments import Environment
from runners.environments.frameworks import FRAMEWORKS
from runners.plan.plan import Plan

Tone = Literal["good", "busy", "alert", "quiet"]

_WRITTEN = {"cuda": "CUDA", "jit": "JIT", "kvstore": "KVStore", "ps": "PS", "us": "(µs)"}
_LABEL_REMARKS = {"jit-compile": " (XLA)"}


@dataclasses.dataclass(frozen=True)
class EnvironmentWords:
    """An environment's state for people."""

    tone: Tone
    title: str
    detail: str
    """'' when there is nothing to add."""


def title_of(framework: str) -> str:
    """``TensorFlow`` for ``tensorflow``."""
    known = FRAMEWORKS.get(framework)
    return known.title if known else framework


def environment_words(found: Environment, versions: Mapping[str, str]) -> EnvironmentWords:
    """What state a framework's environment is in; `versions` are its packages', where it is ready."""
    title = title_of(found.name)
    if found.state == "ready":
        build = f"{found.build.upper()} build" if found.build else ""
        shown = FRAMEWORKS[found.name].shown_packages
        packages = [f"{name} {versions[name]}" for name in shown if name in versions]
        python = f"Python {versions['python']}" if "python" in versions else ""
        head = f"{title} {versions.get(found.name, '')}".strip()
        detail = " · ".join(part for part in (build, python, *packages) if part)
        return EnvironmentWords("good", f"{head} is ready", _joined(detail, found.reason))
    if found.state == "installing":
        return EnvironmentWords("busy", f"{title} is being installed", found.step or "starting")
    if found.state == "failed":
        return EnvironmentWords("alert", f"{title} could not be installed", found.reason or "")
    words = _joined(background_install.room_words(found.name), found.reason)
    return EnvironmentWords("quiet", f"{title} is not installed", f"{words[:1].upper()}{words[1:]}")


def _joined(detail: str, reason: str | None) -> str:
    return f"{detail}; {reason}" if detail and reason else detail or reason or ""


def plan_text(plan: Plan) -> str:
    """The plan as a shell would take it: what is changed of the environment, the folder, the command."""
    return command_text(plan.env, str(plan.cwd), plan.command, plan.stages)


def plan_remarks(plan: Plan) -> str:
    """What the plan's text leaves open, and what else will happen; '' where it says all."""
    remarks = []
    processes = max((len(stage.members) for stage in plan.stages), default=1)
    if processes > 1:
        remarks.append(f"{processes} processes, started in this order; if one fails, the others are ended.")
    if "<port:" in plan_text(plan):
        remarks.append("<port:..> is a free TCP port, chosen at the launch.")
    if plan.time_limit_s is not None:
        remarks.append(f"After {plan.time_limit_s:g} s all of it is ended.")
    return " ".join(remarks)


def blocking(plan: Plan) -> list[str]:
    """What keeps a plan from being launched, without what the environment's own panel says and solves."""
    return [problem for problem in plan.problems if problem != plan.unready]


def waiting(plan: Plan) -> str:
    """Why a plan whose framework is not there yet cannot be launched."""
    return f"Launch waits for {title_of(plan.framework)}'s environment."


def concerning(options: Iterable[Option], code: str) -> list[Option]:
    """The options by which a finding of this code comes about or goes away, as the catalogue knows them."""
    return [option for option in options if code in option.concerns]


def changed_options(program: Program, values: Mapping[str, Value | None]) -> dict[str, Value]:
    """The options whose values are not the program's own defaults, so that the command names only those."""
    return {
        option.name: value
        for option in program.options
        if (value := values.get(option.name)) not in (None, "") and str(value) != str(option.default)
    }


def option_label(option: Option) -> str:
    """``Log every`` for ``log-every``; abbreviations as they are written."""
    words = option.name.split("-")
    told = [_WRITTEN.get(word, word if index else word.capitalize()) for index, word in enumerate(words)]
    return " ".join(told) + _LABEL_REMARKS.get(option.name, "")


def option_help(option: Option) -> str:
    """What the option is, as a sentence."""
    return option.help[:1].upper() + option.help[1:] + "."
