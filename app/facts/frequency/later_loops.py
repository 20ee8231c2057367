"""The loops that a program goes through when it has made all its steps: sampling, ranking, simulating.

Of what comes between steps, an evaluation, only its cost tells whether it matters: it is made now and then.
What comes after them and has many rounds is a part of the program of its own. A single call that goes round
inside, such as a library's scoring of the whole data, is once more an evaluation.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Mapping, Sequence

from app.facts.frequency.iterations import Happened, Line, Loop, line_of
from app.facts.frequency.loops import KINDS, loops
from app.store.courses import step_marks
from app.store.totals import KeyTotals
from probes.trace.rows import Key

_LEAST_PART = 0.02
"""Of the time of the steps, that such a loop takes at least."""


def loops_after_steps(
    keys: Sequence[Key],
    totals: Mapping[int, KeyTotals],
    site_of: Callable[[Key], str],
    single_after: Callable[[int], list[Happened]],
) -> dict[Line, Loop]:
    """The loop of each line that has one, and nothing to do before its process has made all its steps.

    `single_after` gives the executions that are told by themselves after some time in ns.
    """
    found: dict[Line, Loop] = {}
    told = [key for key in keys if key.kind in KINDS]
    spans = {key.id: totals.get(key.id, KeyTotals()) for key in keys}
    for process, marks in step_marks(keys).items():
        begin = min(spans[mark.id].first_ns for mark in marks)
        end = max(spans[mark.id].end_ns for mark in marks)
        # What ran before as well, such as the network itself, is work by which rounds are seen.
        own = {key.id: key for key in told if key.id >> 32 == process}
        before = {
            line_of(key, site_of(key))
            for key in own.values()
            if key.kind != "op" and spans[key.id].first_ns <= end
        }
        ends = {number: spans[number].end_ns for number in own}
        happened = single_after(end)
        for line, loop in loops(happened, own, site_of, ends).items():
            long = loop.course_ns >= _LEAST_PART * (end - begin)
            if line not in before and long and _of_several_lines(loop, happened, own, site_of):
                found[line] = loop
    return found


def _of_several_lines(
    loop: Loop, happened: Sequence[Happened], keys: Mapping[int, Key], site_of: Callable[[Key], str]
) -> bool:
    at = bisect.bisect_left(happened, loop.first_ns, key=lambda event: event.ts_ns)
    sites = set()
    for event in itertools.takewhile(lambda event: event.ts_ns <= loop.end_ns, happened[at:]):
        if event.key in keys:
            sites.add(site_of(keys[event.key]))
        if len(sites) > 1:
            return True
    return False
