"""How often a run does what it does: in each step, in each call, or in each round of a loop of its own.

Steps are optimizers' updates; a run without any goes by the gradients that are recorded, else by the calls of
its functions, and what these do not pace by the loop in which it stands.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from app.facts.frequency.iterations import LEAST_ROUNDS, Happened, Line, Loop, line_of, taken_by
from app.facts.frequency.loops import KINDS, loops, loops_after_steps
from app.facts.groups import grouped
from app.store.paces import Pace, Paces
from app.store.totals import KeyTotals
from probes.trace.rows import Graph, Key

_OFTEN = 2
"""Steps in which what workers do in turn must have been seen at least."""
_PETTY_BYTES = 4096
"""In a whole run: nothing that a few calls do has to be changed for it."""
_LEAST_PART = 0.1
"""Of all steps, that those are in each of which something happens."""
_MOST_EVENTS = 20_000
"""Of a run's single executions that are looked at for loops."""


SingleEvents = Callable[[Sequence[str], int, int], list[tuple[int, int, int]]]
"""(time in ns, key, thread) of the first so many single executions of some kinds after some time, by time."""


class Own(NamedTuple):
    """How often something happens in a loop of its own, where it is not of every step of the run."""

    each: float
    rounds: int
    """How often the program went round in that loop."""
    word: str
    """What a round is: a step where an optimizer is applied in each, else round."""


class Recurrence:
    """What tells it, of one snapshot of a run: `app.facts.tables.Tables` has the rows."""

    keys: list[Key]
    graphs: list[Graph]
    paces: Paces
    """In which steps things happened, where the events tell."""
    single_events: SingleEvents
    totals: Mapping[int, KeyTotals]
    """Sums over a key's events, where it has any."""

    @property
    @abc.abstractmethod
    def steps(self) -> int | None:
        """Optimizer applications in the run; None when it has none."""

    @abc.abstractmethod
    def site_of(self, key: Key) -> str:
        """``train.py:31``; '' for what has no line."""

    @functools.cached_property
    def rounds(self) -> int:
        """How often "every step" is: the steps, else what autograd recorded, else calls, else of a loop."""
        return self.steps or self._recorded or self._paced_calls or self._longest_loop or self._most_calls

    def each(self, keys: Sequence[int], count: int | None) -> float | None:
        """How often in every step (or call, or round of its loop) what these keys stand for happens.

        `count` times in all. 0 for less than that; None where nothing tells, or not how often it happened.
        Below 1 where the steps are several processes' or devices' in turn, and where the shape differs from
        step to step: then it is the part of the steps that are these keys'.
        """
        if count is None or self.rounds <= 1:
            return None
        marked = self._by_marks(keys, count)
        if marked and marked >= 1:
            return marked
        own = self.own(keys, count)
        if own is not None:
            return own.each
        if marked or self._judged_by_marks(marked):
            return marked
        # Where calls pace the run, what other threads do beside them is told by its count.
        return 0.0 if not self._paced_calls and self._seen_singly.intersection(keys) else marked

    def after_first(self, keys: Sequence[int], count: int | None) -> int | None:
        """How often of these `count` times once the first step was over; None where nothing tells."""
        found = [self._key_by_id[key] for key in keys if key in self._key_by_id]
        pace = self._paced(found, self.paces)
        return None if pace is None or count is None else max(0, count - pace.early)

    def comes_again(self, key: Key) -> bool:
        """Whether something comes many times at once, again and again between steps: an evaluation's."""
        pace = self._pace(key, self.paces) if self.steps else None
        return pace is not None and pace.in_bursts()

    def own(self, keys: Sequence[int], count: int | None) -> Own | None:
        """The loop of its own in which something recurs that is not of every step; None for all else."""
        if count is None:
            return None
        marked = self._by_marks(keys, count)
        found = [self._key_by_id[key] for key in keys if key in self._key_by_id]
        if marked:
            calls = 0 if self.steps or self._recorded or marked >= 1 else self._calls_of(found)
            return _own_rounds(count, calls) if LEAST_ROUNDS <= calls < self.rounds else None
        if self.steps:
            if (own := self._of_loop_of_steps(found)) is not None or self._behind(found, count):
                return own
            return self._of_loop(found, count, self._loops_after_steps)
        if self._judged_by_marks(marked):
            return None
        own = self._of_loop(found, count, self._loops)
        return own or _own_rounds(count, self._of_few_calls(found))

    @functools.cached_property
    def _recorded(self) -> int:
        """How often gradients were recorded by the line that does it most often."""
        marks = [key.count or 0 for key in self.of_kind("mark") if key.fields.get("name") == "record"]
        return max(marks, default=0)

    @property
    def _most_calls(self) -> int:
        return max((graph.calls for graph in self.graphs), default=0)

    @property
    def _paced_calls(self) -> int:
        """The same, where the run goes by them: a few are none of a program that has a loop."""
        return self._most_calls if self._most_calls >= LEAST_ROUNDS or not self._loops else 0

    @property
    def _longest_loop(self) -> int:
        return max(self._loops.values(), key=lambda loop: loop.course_ns).rounds if self._loops else 0

    @functools.cached_property
    def _loops(self) -> dict[Line, Loop]:
        """The loops of a run that nothing marks; none where steps do."""
        if self.steps:
            return {}
        keys = {key.id: key for key in self.keys if key.kind in KINDS}
        ends = {key: sums.end_ns for key, sums in self.totals.items()}
        return loops(self._happened, keys, self.site_of, ends)

    @functools.cached_property
    def _loops_after_steps(self) -> dict[Line, Loop]:
        return loops_after_steps(self.keys, self.totals, self.site_of, self._single)

    def _single(self, after_ns: int) -> list[Happened]:
        return [Happened(*row) for row in self.single_events(KINDS, _MOST_EVENTS, after_ns)]

    @functools.cached_property
    def _happened(self) -> list[Happened]:
        return self._single(-1)

    def of_kind(self, kind: str) -> list[Key]:
        """Keys of one kind, by id."""
        return [key for key in self.keys if key.kind == kind]

    def _of_loop_of_steps(self, keys: Sequence[Key]) -> Own | None:
        """By the steps of one of several loops that train: a pretraining's, or another network's.

        The last steps of a loop that trains several times are some too.
        """
        for mark, paces in self.paces.of_loops:
            pace = self._paced(keys, paces)
            each = (
                pace.times(pace.early + pace.within, pace.seen + 1)
                if pace
                else self._beside(keys, mark.count or 0, paces)
            )
            if each:
                return Own(each, mark.count or 0, "step")
        pace = self._paced(keys, self.paces)
        last = pace.last_steps(self.rounds) if pace else 0
        if pace is None or last < max(LEAST_ROUNDS, _LEAST_PART * self.rounds) or pace.within < last:
            return None
        return Own(float(pace.within // last), last, "step")

    def _beside(self, keys: Sequence[Key], steps: int, paces: Paces) -> float:
        """How often in each step of one of several loops other threads do this: once each, and never else.

        They may be ahead of the steps, or behind: another number may be that of a thread's own course.
        """
        known = [(key.count or 0, paces.by_key.get(key.id)) for key in keys]
        once = all(
            pace is not None and steps - 1 <= count <= steps and pace.once_in_each_step_elsewhere()
            for count, pace in known
        )
        return float(len(known)) if once and steps < self.rounds else 0.0

    def _behind(self, keys: Sequence[Key], count: int) -> bool:
        """Whether it is what each step asks other threads for, which may do it after the last step only."""
        steps, paces = self.steps or 1, [self.paces.by_key.get(key.id) for key in keys]
        times = round(count / steps)
        elsewhere = all(pace is not None and pace.elsewhere for pace in paces)
        return elsewhere and times > 0 and 0 <= times * steps - count <= times

    def _of_loop(self, keys: Sequence[Key], count: int, found: Mapping[Line, Loop]) -> Own | None:
        """By the rounds of the loop in which all their lines stand."""
        lines = {line for key in keys for line in self._lines_of(key)}
        known = [found[line].rounds for line in lines if line in found]
        if not known or len(known) != len(lines):
            return None
        calls = self._calls_of(keys)
        # A function that is not called in each round costs what it costs in each of its calls.
        return _own_rounds(count, min(max(known), calls) if calls >= LEAST_ROUNDS else max(known))

    def _of_few_calls(self, keys: Sequence[Key]) -> int | None:
        """Calls of a function whose work this is, where it is called most, if not often enough for a pace."""
        calls = self._calls_of(keys)
        return None if self._paced_calls or calls < max(2, self._most_calls) else calls

    def _calls_of(self, keys: Sequence[Key]) -> int:
        """Calls of the functions whose work this is, a fixed part of it in each call; 0 for other work."""
        if any(key.fields.get("per_call") is None for key in keys):
            return 0
        graphs = {key.fields.get("graph") for key in keys}
        return sum(graph.calls for graph in self.graphs if graph.id in graphs)

    def _judged_by_marks(self, each: float | None) -> bool:
        """Whether marks say all that there is to say; calls are no marks of what has a loop of its own."""
        return bool(self.steps) or (bool(self._recorded) and each is not None)

    def _lines_of(self, key: Key) -> list[Line]:
        """The line by which something happens; of what a graph does in each call the lines that call it."""
        graph = key.fields.get("graph")
        if not graph or key.fields.get("per_call") is None:
            return [line_of(key, self.site_of(key))]
        return [
            line_of(call, self.site_of(call))
            for call in self.of_kind("call")
            if call.fields.get("graph") == graph and call.count
        ]

    @functools.cached_property
    def _seen_singly(self) -> frozenset[int]:
        return frozenset(event.key for event in self._happened)

    def _by_marks(self, keys: Sequence[int], count: int) -> float | None:
        found = [self._key_by_id[key] for key in keys if key in self._key_by_id]
        by_calls = not self.steps and not self._recorded
        pace = None if by_calls and not self._paced_calls else self._paced(found, self.paces)
        if pace is None or self.rounds <= 1:
            return None
        if by_calls and self.rounds < LEAST_ROUNDS and all(map(_petty, found)):
            return 0.0  # a script that calls something a few times, and takes its results
        each = 0.0 if by_calls else self._instead(found) * count
        each = each or pace.times(count, self.rounds) or self._in_turn(keys, pace, count)
        return each or self._by_turns(found, pace, count)

    def _instead(self, keys: Sequence[Key]) -> float:
        """Times in each step for one execution of what goes a way of an eager line, whatever made it.

        A recurrent network's states are the last step's, and the first ones of each sequence come from
        elsewhere: neither is of every step by itself, and both together are. 0 where these do not stand in
        for others, nor others for them.
        """
        ways = {self._way(key) for key in keys}
        way = next(iter(ways), None)
        if len(ways) != 1 or way is None or len(self._of_way.get(way, ())) <= len(keys):
            return 0.0
        return self._each_of_one[way]

    def _each_in_turn(self, keys: Sequence[Key]) -> float:
        """The same of all that go one way; 0 where it is not the same number in each step."""
        known = [pace for key in keys if (pace := self.paces.of(key)) is not None]
        if len(known) < len(keys) or any(pace.in_each_step for pace in known):
            return 0.0
        together = functools.reduce(Pace.and_, known)
        times = round(together.within / together.seen) if together.seen else 0
        # The last of the steps that are looked at may be cut.
        if not times or not together.in_each_step or abs(together.within - times * together.seen) > times:
            return 0.0
        return times / (sum(key.count or 0 for key in keys) or 1)

    @functools.cached_property
    def _each_of_one(self) -> dict[Line, float]:
        return {way: self._each_in_turn(keys) for way, keys in self._of_way.items() if len(keys) > 1}

    @functools.cached_property
    def _of_way(self) -> dict[Line, list[Key]]:
        hops = [key for key in self.of_kind("hop") if key.count]
        return grouped((way, key) for key in hops if (way := self._way(key)) is not None)

    def _way(self, key: Key) -> Line | None:
        eager = key.kind == "hop" and not key.fields.get("graph")
        return self._alike(key, "kind", "src", "dst", "op", "bytes") if eager else None

    def _paced(self, keys: Sequence[Key], paces: Paces) -> Pace | None:
        of_keys = [self._pace(key, paces) for key in keys]
        known = [pace for pace in of_keys if pace is not None]
        return functools.reduce(Pace.and_, known) if of_keys and len(known) == len(of_keys) else None

    def _by_turns(self, keys: Sequence[Key], pace: Pace, count: int) -> float:
        """The same where a line does it in each step, each time with another device or shape."""
        if any(key.fields.get("graph") for key in keys) or not pace.mask:
            return 0.0
        together = [self._together[line] for line in {self._act(key) for key in keys}]
        if any(executions <= count or not regular for executions, regular in together):
            return 0.0
        return count / self.rounds

    @functools.cached_property
    def _together(self) -> dict[Line, tuple[int, bool]]:
        """How often an eager line does it, whatever the devices and shapes, and whether in each step."""
        found = {}
        for line, keys in self._of_line.items():
            pace, executions = self._paced(keys, self.paces), sum(key.count or 0 for key in keys)
            found[line] = executions, pace is not None and pace.times(executions, self.rounds) > 0
        return found

    @functools.cached_property
    def _of_line(self) -> dict[Line, list[Key]]:
        keys = [key for key in self.keys if key.kind in KINDS and not key.fields.get("graph")]
        return grouped((self._act(key), key) for key in keys)

    def _act(self, key: Key) -> Line:
        return self._alike(key, "kind", "op", "producer_op", "producer_loc")

    def _alike(self, key: Key, *names: str) -> Line:
        """What things of one line have in common that these fields do not tell apart."""
        same = (key.fields.get(name) for name in names)
        return (key.id >> 32, key.kind, self.site_of(key), *same, taken_by(key))

    def _in_turn(self, keys: Sequence[int], pace: Pace, count: int) -> float:
        """The same where a coordinator hands steps out in turn: each worker has a graph of the function."""
        graphs = {self._key_by_id[key].fields.get("graph") or 0 for key in keys}
        known = [self._graph_by_id[graph] for graph in graphs if graph in self._graph_by_id]
        if len(known) != len(graphs) or pace.mask.bit_count() < _OFTEN:
            return 0.0
        functions = {graph.function for graph in known if graph.step_marks}
        if len(functions) != 1 or not all(graph.step_marks for graph in known):
            return 0.0
        calls = sum(graph.calls for graph in self.graphs if graph.function in functions)
        return count / self.rounds if calls >= self.rounds else 0.0

    @functools.cached_property
    def _graph_by_id(self) -> dict[int, Graph]:
        return {graph.id: graph for graph in self.graphs}

    @functools.cached_property
    def _key_by_id(self) -> dict[int, Key]:
        return {key.id: key for key in self.keys}

    def _pace(self, key: Key, paces: Paces) -> Pace | None:
        """A key's own; of what happens a fixed number of times in each call of a graph, the calls'."""
        graph, per_call = key.fields.get("graph") or 0, key.fields.get("per_call")
        if not graph or per_call is None:
            return paces.of(key)
        calls = [pace for call in self._calls.get(graph, ()) if (pace := paces.of(call)) is not None]
        if not calls:
            return paces.by_process.get(key.id >> 32)
        together = functools.reduce(Pace.and_, calls)
        return dataclasses.replace(
            together, early=together.early * per_call, within=together.within * per_call
        )

    @functools.cached_property
    def _calls(self) -> dict[int, list[Key]]:
        return grouped((key.fields.get("graph") or 0, key) for key in self.of_kind("call"))


def _own_rounds(count: int, rounds: int | None) -> Own | None:
    if not rounds:
        return None
    return Own(float(count // rounds) if count >= rounds else count / rounds, rounds, "round")


def _petty(key: Key) -> bool:
    """Whether something beside a run's few calls is no cost: a value taken, or next to nothing moved."""
    fields = key.fields
    if fields.get("graph"):
        return False  # what a function does it does in each call, however few there are
    taken = key.kind == "sync" or fields.get("kind") == "pull"
    return taken or (fields.get("bytes") or 0) * (key.count or 0) <= _PETTY_BYTES
