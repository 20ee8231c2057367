"""Statements that go on with what a statement made: where that moves, they have to move along."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from app.facts.devices import default_device
from app.facts.transfers.transfer import TINY
from app.fixes.code.names import bound_in, called, read_in
from app.fixes.code.parsed_source import Function, Source, first_line, header_end, is_compound, own_nodes
from app.fixes.situation import Situation

_MOST = 8
"""More statements than these are no fix of a line any more."""
_UPDATES = frozenset({"apply_gradients", "apply", "minimize"})
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
    source = situation.source
    chosen, names = [_earliest(situation, stmt, device, may)], set[str]()
    names |= _made_by(chosen[0])
    for one in _all(source, stmt):
        if first_line(one) <= first_line(chosen[0]):
            continue
        if isinstance(one, ast.For) and read_in(one.iter) & names:
            names |= bound_in(one.target)
        if one is not stmt and not _reads(one) & names:
            continue
        updates = one is not stmt and _updates_there(situation, one, device) and may(one)
        if one is not stmt and not updates:
            if _hands_on(situation, one):
                names |= _made_by(one)
            if _stays(situation, one, device):
                continue
            if _works_elsewhere(situation, one, device):
                return None
        can = updates or _can(situation, one, device, may)
        if not can and one is not stmt and _smaller(situation, chosen[-1]):
            continue
        if not can or len(chosen) == _MOST:
            return None
        chosen.append(one)
        names |= set() if updates else _made_by(one)
    return chosen


def _earliest(situation: Situation, stmt: ast.stmt, device: str, may: Callable[[ast.stmt], bool]) -> ast.stmt:
    """The first statement that brings tensors from the device for this one to take."""
    source, wanted, first = situation.source, _reads(stmt), stmt
    for one in reversed(_all(source, stmt)):
        if first_line(one) >= first_line(stmt):
            continue
        if isinstance(one, ast.For) and bound_in(one.target) & wanted:
            wanted |= read_in(one.iter)
        lines = first_line(one), header_end(one)
        shares = _made_by(one) & wanted and _away(situation, one, device)
        goes = situation.fed_from(*lines, device) and _can(situation, one, device, may)
        if shares and goes:
            first, wanted = one, wanted | _reads(one)
    return first


def _hands_on(situation: Situation, stmt: ast.stmt) -> bool:
    """Return True if a statement computes nothing itself, so that its results are its inputs."""
    return not situation.ran.computed(situation.file, first_line(stmt), header_end(stmt))


def _stays(situation: Situation, stmt: ast.stmt, device: str) -> bool:
    """Return True if a statement may stay where it is when those whose results it reads move."""
    # A traced function's gradients have the lines of its call.
    gradients = _hands_on(situation, stmt) and _differentiates(stmt)
    return not _away(situation, stmt, device) and not gradients


def _can(situation: Situation, stmt: ast.stmt, device: str, may: Callable[[ast.stmt], bool]) -> bool:
    lines = first_line(stmt), header_end(stmt)
    return (
        not is_compound(stmt)
        and may(stmt)
        and not situation.ran.homes(situation.file, *lines) - {device}
        and not situation.fed_from_others(*lines, device)
    )


def _works_elsewhere(situation: Situation, stmt: ast.stmt, device: str) -> bool:
    """Whether it calls a traced function that computes on other devices than this one.

    A scope around the call would bring all along that asks for no device, for the sake of one argument.
    """
    names = {called(node) for node in own_nodes(stmt)} - {""}
    return any(op.assigned != device for op in situation.ran.traced(names))


def _updates_there(situation: Situation, stmt: ast.stmt, device: str) -> bool:
    """Whether an optimizer reckons on the default device with gradients for variables of the device.

    Keras 3 writes its rules with ordinary ops, which go where a scope says: gradients that are made beside
    the variables would come over for them. Its own slots may be on either device, made in the first call.
    """
    lines, default = (first_line(stmt), header_end(stmt)), default_device(situation.devices, "")
    if is_compound(stmt) or not any(called(node) in _UPDATES for node in own_nodes(stmt)):
        return False
    sends = any(
        (hop.src, hop.dst) == (default, device) and (hop.bytes or 0) > TINY
        for hop in situation.beside(*lines)
    )
    return sends and situation.ran.homes(situation.file, *lines) <= {device, default}


def _differentiates(stmt: ast.stmt) -> bool:
    return any(called(node) in ("gradient", "jacobian") for node in own_nodes(stmt))


def _away(situation: Situation, stmt: ast.stmt, device: str) -> bool:
    """Whether the statement computes on the default device because no scope is around it."""
    if any(called(node) in _UPDATES for node in own_nodes(stmt)):
        return False
    found = situation.ran.computed(situation.file, first_line(stmt), header_end(stmt))
    return any(not op.requested and op.assigned not in (device, "") for op in found)


def in_blocks(source: Source, stmts: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    """Statements in groups that follow each other in one block."""
    groups: list[list[ast.stmt]] = []
    for stmt in sorted(stmts, key=first_line):
        if groups and source.before(stmt) is groups[-1][-1]:
            groups[-1].append(stmt)
        else:
            groups.append([stmt])
    return groups


def _smaller(situation: Situation, stmt: ast.stmt) -> bool:
    """Whether it makes less of what it takes."""
    found = situation.ran.computed(situation.file, first_line(stmt), header_end(stmt))
    return any(op.type in _SMALLER for op in found)


def _all(source: Source, stmt: ast.stmt) -> list[ast.stmt]:
    """The statements of its function, from the top."""
    scope = source.scopes_of(stmt)[0]
    found = [
        one
        for one in ast.walk(scope)
        if isinstance(one, ast.stmt)
        and one is not scope
        and not isinstance(one, Function | ast.ClassDef)
        and source.scopes_of(one)[0] is scope
    ]
    return sorted(found, key=first_line)


def _made_by(stmt: ast.stmt) -> set[str]:
    return set() if is_compound(stmt) else bound_in(stmt)


def _reads(stmt: ast.stmt) -> set[str]:
    parts = (
        child
        for child in ast.iter_child_nodes(stmt)
        if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)
    )
    return {name for part in parts for name in read_in(part)}
