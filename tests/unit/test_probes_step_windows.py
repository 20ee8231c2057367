"""Counts of a recording that looks at a few of every hundred steps, against what the program did."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from probes.trace import step_windows
from probes.trace.step_windows import AFTER_NEW, FIRST, PAUSE, PAUSE_NS, WINDOW, StepWindows

STEP_NS = 1_000_000
HOP, SOMETIMES = 1, 2


class Clock:
    """The monotonic clock of a program whose steps take a millisecond."""

    def __init__(self) -> None:
        self.now = 0

    def monotonic_ns(self) -> int:
        return self.now


@dataclasses.dataclass
class Program:
    """A program that counts, as hooks do, and is looked at four times a second, as a recording is."""

    clock: Clock
    hooked: list[int] = dataclasses.field(default_factory=lambda: [HOP, SOMETIMES])
    did: dict[int, int] = dataclasses.field(default_factory=lambda: {HOP: 0, SOMETIMES: 0})
    """What it did in truth."""
    looked_at: int = 0
    """Steps in which hooks did all their work."""
    unrecorded: int = 0
    step: int = 0

    def __post_init__(self) -> None:
        self.kept_counts = self.counts = memoryview(bytearray(8 * 10)).cast("q")
        self.windows = StepWindows(self)
        self.windows.allow()

    def does(self, key: int, times: int = 1) -> None:
        self.did[key] = self.did.get(key, 0) + times
        self.counts[key] += times

    def steps(self, count: int, hops: int = 1, sometimes: int = 0, step_ns: int = STEP_NS) -> None:
        """Train on: so many hops a step, and something else in every `sometimes`-th one."""
        for _ in range(count):
            self.looked_at += not self.windows.paused
            self.step += 1
            self.does(HOP, hops)
            if sometimes and self.step % sometimes == 0:
                self.does(SOMETIMES)
            self.clock.now += step_ns
            self.windows.stepped(1)
            if self.step % 50 == 0:
                self.tick()

    def tick(self, ending: bool = False) -> None:
        self.windows.look()
        self.unrecorded += self.windows.take_unrecorded(ending)[0]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Program:
    clock = Clock()
    monkeypatch.setattr(step_windows, "time", clock)
    return Program(clock)


def test_the_first_steps_are_all_recorded(program: Program) -> None:
    program.steps(FIRST, sometimes=7)
    assert program.looked_at == FIRST
    assert {key: program.kept_counts[key] for key in program.did} == program.did


def test_what_happens_in_each_step_has_its_exact_count(program: Program) -> None:
    program.steps(5000, hops=3)
    program.tick(ending=True)
    assert program.kept_counts[HOP] == program.did[HOP] == 15_000
    assert program.looked_at < FIRST + 5000 * 2 * (WINDOW + 1) / PAUSE
    recorded_or_settled = 5000 - program.unrecorded
    assert recorded_or_settled <= program.looked_at


@pytest.mark.parametrize("every", [2, 3, 5, 7, 10, 20])
def test_what_happens_every_few_steps_is_counted_within_a_tenth(program: Program, every: int) -> None:
    program.steps(5000, sometimes=every)
    program.tick(ending=True)
    assert program.kept_counts[SOMETIMES] == pytest.approx(program.did[SOMETIMES], rel=0.1)


def test_what_happened_once_counts_once(program: Program) -> None:
    program.steps(FIRST - 20)
    program.does(SOMETIMES)
    program.steps(3000)
    program.tick(ending=True)
    assert program.kept_counts[SOMETIMES] == 1


def test_hooks_count_nothing_in_a_pause_nor_in_the_step_after_it(program: Program) -> None:
    program.steps(FIRST)
    assert program.windows.paused
    before = program.kept_counts[HOP]
    program.steps(PAUSE)
    assert not program.windows.paused
    program.steps(1)
    assert program.kept_counts[HOP] - before == program.unrecorded
    program.steps(WINDOW)
    assert program.windows.paused


def test_something_new_ends_a_pause_and_is_recorded_for_some_steps(program: Program) -> None:
    program.steps(FIRST + 10)
    assert program.windows.paused
    program.windows.new()
    assert not program.windows.paused
    new = 3
    program.hooked.append(new)
    for _ in range(AFTER_NEW):
        program.does(new)
        program.steps(1)
    assert program.kept_counts[new] == AFTER_NEW
    assert program.windows.paused
    for _ in range(1000):
        program.does(new)
        program.steps(1)
    program.tick(ending=True)
    assert program.kept_counts[new] == program.did[new]


def test_what_stops_no_longer_counts_from_the_next_window_on(program: Program) -> None:
    program.steps(1000, hops=2)
    program.steps(2000, hops=0)
    program.tick(ending=True)
    assert program.did[HOP] <= program.kept_counts[HOP] <= program.did[HOP] + 2 * (PAUSE + 50)


def test_a_pause_ends_where_no_step_comes(program: Program) -> None:
    program.steps(FIRST + 10)
    program.clock.now += 300 * STEP_NS
    program.tick()
    assert program.windows.paused
    program.clock.now += 300 * STEP_NS
    program.tick()
    assert not program.windows.paused
    program.does(SOMETIMES, 5)
    assert program.kept_counts[SOMETIMES] == 5


def test_no_pause_is_longer_than_some_seconds(program: Program) -> None:
    slow = PAUSE_NS // 2
    program.steps(FIRST, step_ns=slow)
    assert program.windows.paused
    program.steps(2, step_ns=slow)
    assert not program.windows.paused


def test_a_program_that_asks_for_all_steps_gets_them(program: Program) -> None:
    program.steps(FIRST + 10)
    program.windows.forbid()
    looked = program.looked_at
    program.steps(1000)
    assert program.looked_at == looked + 1000


def test_a_forked_child_begins_with_its_own_first_steps(program: Program) -> None:
    program.steps(FIRST + 10)
    program.windows.reset()
    program.counts = program.kept_counts
    looked = program.looked_at
    program.steps(FIRST)
    assert program.looked_at == looked + FIRST


def test_keys_that_are_counted_otherwise_are_left_alone(program: Program) -> None:
    program.steps(FIRST)
    program.hooked.remove(HOP)
    before = program.kept_counts[HOP]
    program.steps(50)
    program.tick()
    assert program.kept_counts[HOP] == before


def test_a_signal_handler_may_do_something_new_while_a_step_is_counted(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    handled: list[int] = []

    class Interrupting(list[int]):
        """The keys, in whose look-up a signal comes once."""

        def __iter__(self) -> Iterator[int]:
            if not handled:
                handled.append(1)
                program.windows.new()
            return super().__iter__()

    program.hooked = Interrupting(program.hooked)
    program.steps(FIRST)
    assert handled
    program.steps(1000)
    program.tick(ending=True)
    assert program.kept_counts[HOP] == pytest.approx(program.did[HOP], rel=0.02)
