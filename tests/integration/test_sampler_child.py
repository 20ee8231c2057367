"""A sampler that dies, hangs, closes its output or says nonsense; programs of a few lines play it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.runs.processes import Identity, identify, is_alive
from runners.supervise import sampler_child
from runners.supervise.sampler_child import SamplerChild
from tests.integration.waiting import LONG_S, until

TALK = """
import json, os, sys, time
def say(**more): print(json.dumps({"t": time.time(), "pid": os.getpid(), **more}), flush=True)
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler_child, "SILENT_S", 0.5)
    monkeypatch.setattr(sampler_child, "AGAIN_AFTER_S", (0.05,))


@pytest.fixture
def start() -> Iterator[Callable[[str], SamplerChild]]:
    made: list[SamplerChild] = []

    def start(text: str) -> SamplerChild:
        made.append(SamplerChild([sys.executable, "-c", TALK + text]))
        return made[-1]

    yield start
    for child in made:
        child.end()


def heard(child: SamplerChild) -> dict[str, Any]:
    """Attend to it as its owner does, until it says something."""

    def read() -> list[dict[str, Any]]:
        now = time.monotonic()
        messages = child.read(now)
        child.attend(now)
        return messages

    return until(read)[-1]


def told(child: SamplerChild) -> str:
    """Attend to it until it has ended, and return why it says nothing."""

    def read() -> bool:
        now = time.monotonic()
        child.read(now)
        child.attend(now)
        return child.why != "the sampler said nothing"

    until(read)
    return child.why


def process(message: dict[str, Any]) -> Identity:
    found = identify(message["pid"])
    assert found is not None
    return found


def test_it_is_read_line_by_line_and_nonsense_is_passed_over(start: Callable[[str], SamplerChild]) -> None:
    child = start("""
print("Traceback:\\n[1, 2]\\n{\\"t\\": null}\\n{")
say(part=1)
sys.stdin.read()
""")
    assert heard(child)["part"] == 1


def test_one_that_dies_is_started_again_and_what_ended_it_is_known(
    start: Callable[[str], SamplerChild], monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long it takes to end.
    monkeypatch.setattr(sampler_child, "SILENT_S", LONG_S)
    monkeypatch.setattr(sampler_child, "KILLED_S", LONG_S)
    child = start("say(); sys.exit(3)")
    first = heard(child)["pid"]
    assert told(child) == "the sampler exited with status 3"
    assert heard(child)["pid"] != first


def test_one_that_hangs_is_killed_and_started_again(start: Callable[[str], SamplerChild]) -> None:
    child = start("import signal; signal.signal(15, signal.SIG_IGN); say(); time.sleep(600)")
    first = process(heard(child))
    assert told(child) == "the sampler said nothing for long, so it is started again"
    second = process(heard(child))
    assert first != second
    assert not is_alive(first)
    assert child.why == "the sampler said nothing"


def test_one_that_takes_long_to_its_first_word_is_waited_for(
    start: Callable[[str], SamplerChild], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "go")
    child = start(f"open({str(tmp_path / 'go')!r}).read(); say(); sys.stdin.read()")
    begun = time.monotonic()
    child.attend(begun)
    # Longer than it may say nothing later on.
    child.attend(begun + 2 * sampler_child.SILENT_S)
    with (tmp_path / "go").open("w") as go:
        go.write("go")
    assert is_alive(process(heard(child)))


def test_one_without_output_is_ended(start: Callable[[str], SamplerChild]) -> None:
    child = start("say(); os.close(1); time.sleep(600)")
    first = process(heard(child))
    assert first != process(heard(child))
    assert not is_alive(first)


def test_one_that_cannot_be_started_is_tried_again(
    tmp_path: Path, start: Callable[[str], SamplerChild]
) -> None:
    program = tmp_path / "sampler"
    child = SamplerChild([str(program)])
    child.attend(time.monotonic())
    assert child.why.startswith("the sampler could not be started: ")
    program.write_text(f"#!{sys.executable}\n{TALK}say(); sys.stdin.read()")
    program.chmod(0o755)
    assert is_alive(process(heard(child)))
    child.end()


def test_while_one_cannot_be_ended_there_is_no_other(
    start: Callable[[str], SamplerChild], monkeypatch: pytest.MonkeyPatch
) -> None:
    child = start("say(); time.sleep(600)")
    first = process(heard(child))
    kill = os.kill
    # As in a call to the driver that does not return.
    monkeypatch.setattr(os, "kill", lambda pid, signum: None)
    now = time.monotonic()
    for later in (10, 20, 30):
        child.attend(now + later)
        assert child.read(now + later) == []
    assert child.why == "the sampler hangs in a call to the driver, where nothing can end it"
    assert is_alive(first)
    kill(first.pid, 9)
    until(lambda: not is_alive(first))
    monkeypatch.setattr(os, "kill", kill)
    child.attend(now + 40)
    child.attend(now + 50)
    assert process(heard(child)) != first


def test_its_end_ends_it(start: Callable[[str], SamplerChild]) -> None:
    child = start("import signal; signal.signal(15, signal.SIG_IGN); say(); time.sleep(600)")
    process_ = process(heard(child))
    child.end()
    until(lambda: not is_alive(process_))
