"""Statements that go on with what a statement made: where that moves, they have to move along."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable

from app.facts.devices import default_device
from app.facts.placement import Op
from app.facts.transfers.transfer import TINY
from app.fixes.code.names import bound_in, calls_of, read_in
from app.fixes.code.parsed_source import Function, Source, first_line, is_compound, own_children
from app.fixes.situation import Situation

_MOST = 8
"""More statements than these are no fix of a line any more."""
_UPDATES = ("apply_gradients", "apply", "minimize")
"""What an optimizer does beside the variables, whatever scope is open."""
_SMALLER = ("Mean", "Sum", "Max", "Min", "Prod", "ArgMax", "ArgMin", "All", "Any", "L2Loss", "Size")
"""Ops whose results are smaller than what they take: to move these on is better than their inputs."""


def moved_along(
    situation: Situation, stmt: ast.stmt, device: str, may: Callable[[ast.stmt], bool]
) -> list[ast.stmt] | None:
    """The statement, and those of its function that share its tensors on the default device.

    Those before it whose inputs come from `device` too, and those after it that take the results of any.
    None where one cannot go to the device as well, so that a transfer would only change its place.
    """
    return _Move(situation, device, may).along(stmt)


@dataclasses.dataclass(frozen=True)
class _Move:
    """Statements that are to go to a device."""

    situation: Situation
    device: str
    may: Callable[[ast.stmt], bool]
    """Whether a statement can be in a scope, as none that holds others can."""

    def along(self, stmt: ast.stmt) -> list[ast.stmt] | None:
        every = _all(self.situation.source, stmt)
        chosen = [self._earliest(stmt, every)]
        names = _made_by(chosen[0])
        for one in every:
            if first_line(one) <= first_line(chosen[0]):
                continue
            if isinstance(one, ast.For) and read_in(one.iter) & names:
                names |= bound_in(one.target)
            if one is not stmt and not _reads(one) & names:
                continue
            updates = one is not stmt and self._updates_there(one)
            if one is not stmt and not updates:
                if not self._computed(one):  # its results are its inputs
                    names |= _made_by(one)
                if self._stays(one):
                    continue
                if self._works_elsewhere(one):
                    return None
            can = updates or self._can(one)
            if not can and one is not stmt and any(op.type in _SMALLER for op in self._computed(chosen[-1])):
                continue
            if not can or len(chosen) == _MOST:
                return None
            chosen.append(one)
            names |= set() if updates else _made_by(one)
        return chosen

    def _earliest(self, stmt: ast.stmt, every: list[ast.stmt]) -> ast.stmt:
        """The first statement that brings tensors from the device for this one to take."""
        wanted, first = _reads(stmt), stmt
        for one in reversed(every):
            if first_line(one) >= first_line(stmt):
                continue
            if isinstance(one, ast.For) and bound_in(one.target) & wanted:
                wanted |= read_in(one.iter)
            coming = self.situation.beside(self.situation.sites(one))
            fed = any(hop.src == self.device != hop.dst for hop in coming)
            if _made_by(one) & wanted and self._away(one) and fed and self._can(one):
                first, wanted = one, wanted | _reads(one)
        return first

    def _computed(self, stmt: ast.stmt) -> list[Op]:
        return self.situation.ran.computed(self.situation.sites(stmt))

    def _stays(self, stmt: ast.stmt) -> bool:
        """Whether a statement may stay where it is when those whose results it reads move."""
        # A traced function's gradients have the lines of its call.
        gradients = not self._computed(stmt) and calls_of(stmt, "gradient", "jacobian")
        return not self._away(stmt) and not gradients

    def _away(self, stmt: ast.stmt) -> bool:
        """Whether a statement computes on the default device because no scope is around it."""
        placed = (op.requested or op.assigned in (self.device, "") for op in self._computed(stmt))
        return not calls_of(stmt, *_UPDATES) and not all(placed)

    def _can(self, stmt: ast.stmt) -> bool:
        sites = self.situation.sites(stmt)
        fed = self.situation.fed_from_others(sites, self.device)
        homes = self.situation.ran.homes(sites) - {self.device}
        return not (fed or homes) and self.may(stmt)

    def _works_elsewhere(self, stmt: ast.stmt) -> bool:
        """Whether it calls a traced function that computes on other devices than this one.

        A scope around the call would bring all along that asks for no device, for the sake of one argument.
        """
        return any(op.assigned != self.device for op in self.situation.traced(stmt))

    def _updates_there(self, stmt: ast.stmt) -> bool:
        """Whether an optimizer computes on the default device with gradients for variables of the device.

        Keras 3 writes its rules with ordinary ops, which go where a scope says: gradients that are computed
        beside the variables would come over for them. Its own slots may be on either device.
        """
        sites, default = self.situation.sites(stmt), default_device(self.situation.devices, "")
        sends = any(
            (hop.src, hop.dst) == (default, self.device) and (hop.bytes or 0) > TINY
            for hop in self.situation.beside(sites)
        )
        may = calls_of(stmt, *_UPDATES) and self.may(stmt)
        return bool(may) and sends and self.situation.ran.homes(sites) <= {self.device, default}


def _all(source: Source, stmt: ast.stmt) -> list[ast.stmt]:
    """The statements of its function, from the top."""
    scope = source.scopes_of(stmt)[0]
    found = (one for one in source.every(ast.stmt) if not isinstance(one, Function | ast.ClassDef))
    return sorted((one for one in found if source.scopes_of(one)[0] is scope), key=first_line)


def _made_by(stmt: ast.stmt) -> set[str]:
    return set() if is_compound(stmt) else bound_in(stmt)


def _reads(stmt: ast.stmt) -> set[str]:
    return {name for part in own_children(stmt) for name in read_in(part)}
