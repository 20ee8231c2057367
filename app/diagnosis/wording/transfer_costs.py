"""What transfers and waits cost, in words: each step where they happen every step, else in the whole run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from app.facts.basis import total, weakest
from app.facts.syncs import Sync
from app.facts.transfers.hops import Hop
from app.judgments.evidence import Waited
from app.views import units

_STALLING = 0.25
"""The part of the run that uploads of one line take, from which on they hold it up."""
_SLOW_NS_A_BYTE, _SLOW_CALL_NS = 2.0, 100_000
"""What slow copying may take, of a byte and besides; uploads that take more waited for something else."""
_SLOWER = 4.0
"""The same in estimates of the copying, where there are any."""
_MANY, _GOOD_PART = 50, 0.1
"""Waits at one line, and the part of the run that they take, from which on they are worth a change."""

_PART = 0.02
"""Of the steps, up to which a sum of shares is taken for a whole number: a last step may be lost."""


@dataclasses.dataclass(frozen=True)
class Telling:
    """What the words rest on."""

    rounds: int
    """How often "every step" is; 0 where that is not known."""
    word: str
    """step or call; what no step paces is told by its function's calls, or by how often it happens."""
    span_ns: int = 0
    """How long the run was recorded; 0 where that is not known."""

    def recurring(self, hops: Sequence[Hop]) -> list[Hop]:
        """Those of them that happen every step."""
        return [hop for hop in hops if self.times_a_step(hop)]

    def times_a_step(self, hop: Hop) -> float:
        """How often in every step, 0 for less; processes that are ended differ by a few steps."""
        if self.rounds <= 1:
            return 0
        if hop.each is not None:
            return hop.each
        return self.of_count(hop.count or 0)

    def of_count(self, count: int) -> int:
        """The same of what only its count tells of."""
        return (count + self.rounds // 100) // self.rounds

    def each_of(self, recurring: Sequence[Hop]) -> str:
        """``each step``, ``in each of 20 steps`` of their loop, ``each call``; '' for several paces."""
        if any(map(self._of_rounds, recurring)):
            return "each call" if _one_function(recurring) else ""
        loops = {hop.own.rounds if hop.own else 0 for hop in recurring}
        if len(loops) != 1:
            return ""
        # The program makes other steps besides, in another loop.
        return f"in each of {some} steps" if (some := loops.pop()) else f"each {self.word}"

    def in_steps(self, hop: Hop) -> bool:
        """Whether steps pace it, those of the run or of a loop of its own."""
        return not self._of_rounds(hop)

    def _of_rounds(self, hop: Hop) -> bool:
        return hop.own.word == "round" if hop.own else self.word == "call"

    def _regular(self, hops: Sequence[Hop]) -> tuple[list[Hop], list[Hop]]:
        """What is so many times in each step, and what is in some of them only: no step costs the mean of it.

        Of shapes and devices in turn each is in a part of the steps, and all together in every one.
        """
        parts: dict[tuple[Any, ...], float] = {}
        acts = [(hop.site, hop.kind, hop.op, hop.own and hop.own.rounds) for hop in hops]
        shares = [self.times_a_step(hop) % 1 for hop in hops]
        for act, share in zip(acts, shares, strict=True):
            parts[act] = parts.get(act, 0.0) + share
        regular: list[Hop] = []
        odd: list[Hop] = []
        for hop, act, share in zip(hops, acts, shares, strict=True):
            irregular = share and _PART < parts[act] % 1 < 1 - _PART
            (odd if irregular else regular).append(hop)
        return regular, odd

    def _besides(self, hops: Sequence[Hop]) -> float:
        """Bytes of transfers that are not of every step.

        What a line sends the same way in another row's stead, as in a first step the values that nothing has
        written to yet, is of every step.
        """
        left: dict[tuple[Any, ...], float] = {}
        for hop in hops:
            expected = self.times_a_step(hop) * (hop.own.rounds if hop.own else self.rounds)
            act = hop.site, hop.src, hop.dst, hop.kind, hop.bytes
            left[act] = left.get(act, 0.0) + (hop.count or 0) - expected
        return sum((act[-1] or 0) * max(0.0, times) for act, times in left.items())

    def waits_every_step(self, syncs: Sequence[Sync]) -> bool:
        """Whether Python waits so in every step; for several devices in turn perhaps."""
        if self.rounds <= 1:
            return False
        if any(sync.each is None for sync in syncs):
            return sum(sync.count for sync in syncs) >= self.rounds
        return any(sync.each for sync in syncs)

    def costly(self, syncs: Sequence[Sync]) -> str:
        """``, 38 % of the run`` for many waits that are a good part of it; '' for others."""
        stood = sum(sync.stood_ns or 0 for sync in syncs)
        if not self.span_ns or sum(sync.count for sync in syncs) < _MANY:
            return ""
        share = stood / self.span_ns
        return f", {units.percent(share)} of the run" if share >= _GOOD_PART else ""

    def stalling(self, hops: Sequence[Hop]) -> str:
        """``, 31 % of the run`` for many uploads whose time was measured and is a good part of it.

        Time that can't be copying is none of it: a call stands still behind other work too.
        """
        taken = sum(hop.took_ns or 0 for hop in hops if _may_be_copying(hop))
        if not self.span_ns or not self.recurring(hops) or (total(hop.count for hop in hops) or 0) < _MANY:
            return ""
        share = taken / self.span_ns
        return f", {units.percent(share)} of the run (measured)" if share >= _STALLING else ""

    def copying(self, hops: Sequence[Hop]) -> str:
        """``, about 1.3 ms of copying each step (estimated)``; '' where not all of it can be estimated."""
        every = total(hop.seconds_total for hop in hops)
        if every is None:
            return ""
        regular, now_and_then = self._regular(hops)
        recurring = self.recurring(regular)
        when = "" if now_and_then else self.each_of(recurring)
        each = sum((hop.seconds or 0.0) * self._times_each(hop) for hop in recurring)
        told = each if when else every
        about = "about " if told >= 1e-6 or not told else ""
        return f", {about}{units.estimated(told)} of copying{f' {when}' if when else ''} (estimated)"

    def cost(self, hops: Sequence[Hop]) -> str:
        """``4.2 MiB each step``, or in the whole run where it does not happen every step."""
        moved, count = total(hop.bytes_total for hop in hops), total(hop.count for hop in hops)
        known = sum(hop.bytes_total or 0 for hop in hops)
        if count is None or moved is None:
            unknown = (
                "how often is not known" if count is None else f"{units.plural(count, 'transfer')} in all"
            )
            return f"at least {units.size(known)}, {unknown}" if known else f"bytes not known, {unknown}"
        regular, now_and_then = self._regular(hops)
        recurring = self.recurring(regular)
        when = self.each_of(recurring)
        if not when:
            return f"{units.size(moved)} in the whole run, {units.plural(count, 'transfer')}"
        each = sum((hop.bytes or 0) * self._times_each(hop) for hop in recurring)
        # What happens in each call is told whole; what does not divide is not of every step.
        paced = [hop for hop in regular if not (self._of_rounds(hop) and self.times_a_step(hop))]
        besides = round(self._besides(paced))
        besides += sum(hop.bytes_total or 0 for hop in now_and_then)
        more = f", {units.size(besides)} more in the whole run" if besides else ""
        return f"{units.size(round(each))} {when}{more}"

    def _times_each(self, hop: Hop) -> float:
        """How often in each step, or of what no step paces in each call of its function."""
        return hop.per_call or 0 if self._of_rounds(hop) else self.times_a_step(hop)


def _one_function(recurring: Sequence[Hop]) -> bool:
    """Whether all of them are of one function's calls, a fixed number in each."""
    graphs = {hop.graphs for hop in recurring}
    return len(graphs) == 1 and 0 not in graphs.pop() and all(hop.per_call for hop in recurring)


def _may_be_copying(hop: Hop) -> bool:
    """Whether all the time that its transfers took can have gone into copying so many bytes."""
    one = (hop.bytes or 0) * _SLOW_NS_A_BYTE if hop.seconds is None else hop.seconds * 1e9 * _SLOWER
    return (hop.took_ns or 0) <= (hop.count or 0) * (one + _SLOW_CALL_NS)


def told_at(sync: Sync) -> tuple[str, str | None, bool]:
    """What a wait stands by that is told with a transfer: a value taken, or one sent to an array in use."""
    return sync.waited_for, sync.site, sync.kind == "upload"


def waited(syncs: Sequence[Sync]) -> Waited:
    """How long Python waited, the part of it that was copying, and which devices were idle, where known."""
    copied = total(sync.copy_ns for sync in syncs) if syncs else None
    split = None if copied is None else weakest(sync.split_basis for sync in syncs if sync.split_basis)
    brought = list(dict.fromkeys(line for sync in syncs for line in sync.brought_at if line != sync.site))
    return Waited(
        wait_ns=total(sync.wait_ns for sync in syncs),
        copy_ns=copied,
        split=split,
        brought_at=brought or None,
        idle_meanwhile=[f"{device} {units.percent(share)} of it (inferred)" for device, share in _idle(syncs)]
        or None,
    )


_LEAST_IDLE, _LEAST_STOOD_NS = 0.01, 100_000


def _idle(syncs: Sequence[Sync]) -> list[tuple[str, float]]:
    """Which devices had nothing to do, and for which part of all this standing still; none in a moment."""
    stood = sum(sync.stood_ns or 0 for sync in syncs)
    if stood < _LEAST_STOOD_NS:
        return []
    shares: dict[str, float] = {}
    for sync in syncs:
        for one in sync.idle:
            shares[one.device] = shares.get(one.device, 0.0) + one.share * (sync.stood_ns or 0)
    return [(device, part / stood) for device, part in shares.items() if part >= _LEAST_IDLE * stood > 0]


_PETTY = 0.05
"""The part of what was waited below which an estimate of its copying is not told."""


def standstill(syncs: Sequence[Sync]) -> str:
    """``, 10 ms waited, of it 2 ms copying (measured)``; without an estimate of a small part."""
    timed = [sync for sync in syncs if sync.wait_ns is not None]
    known = waited(timed)
    copying, split = known.copy_ns or 0, known.split
    stood = (known.wait_ns or 0) + copying
    if not stood:
        return ""
    basis, said = weakest(sync.basis for sync in timed), f", {units.duration(stood / 1e9)} waited"
    if not copying or (split == "estimated" and copying < _PETTY * stood):
        return f"{said} ({basis})"
    apart = "" if split == basis else f" ({basis})"
    shown = units.estimated if split == "estimated" else units.duration
    return f"{said}{apart}, of it {shown(copying / 1e9)} copying ({split})"


_BYTES_A_NS = 10
"""What a transfer is ranked by whose time nobody knows: a fast bus's 10 GB/s."""


def cost_ns(hops: Sequence[Hop], syncs: Sequence[Sync] = ()) -> int:
    """What findings are ranked by: time stood still as measured, and of copying as estimated, ns."""
    stood = sum(sync.stood_ns or 0 for sync in syncs)
    copying = sum(
        (hop.bytes_total or 0) / _BYTES_A_NS if hop.seconds_total is None else hop.seconds_total * 1e9
        for hop in hops
    )
    return stood + round(copying)
