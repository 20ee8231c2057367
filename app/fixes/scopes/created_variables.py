"""A variable that lives elsewhere than it is read: it is created where it is read."""

from __future__ import annotations

import ast
import dataclasses

from app.facts.devices import default_device
from app.facts.lines import split_site
from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import (
    alone,
    blocks_around,
    device_named,
    devices_of,
    tensorflow,
    tf_device,
)
from app.fixes.code.names import assignment_of, called, keyword
from app.fixes.code.parsed_source import Source, first_line, is_compound, own_nodes
from app.fixes.scopes.device_expressions import own_expression
from app.fixes.scopes.device_scopes import may_be_scoped
from app.fixes.scopes.distribution_strategies import has_strategy
from app.fixes.scopes.scoped_objects import (
    kept_by_others,
    of_optimizer,
    where_made,
    whole_object,
    with_its_changes,
)
from app.fixes.situation import Draft, Situation
from app.views.naming import some_of

PUT_WHERE_READ = (
    "Create the variable on the device that reads it; one that nothing writes to may also be read once, and"
    " its value kept."
)

_CREATES = frozenset({"Variable", "get_variable", "add_weight"})
_LOOKED_UP = "ResourceGather"


def variable_home(situation: Situation) -> Draft | None:
    """The creation goes into the reader's device scope; None under a strategy, which decides by itself."""
    device, home = alone([hop.dst for hop in situation.hops]), alone([hop.src for hop in situation.hops])
    if situation.framework != "tensorflow" or device is None or home is None:
        return None
    rows = any(hop.producer_op == _LOOKED_UP for hop in situation.hops)
    if rows and not _table_by_default(situation, home, device):
        return None  # a table that rows are looked up in may be where it is for its size
    if (draft := whole_object(situation, home, device) or _alone(situation, home, device, rows)) is None:
        return None
    return dataclasses.replace(draft, words=with_its_changes(situation, device, draft.words))


def _alone(situation: Situation, home: str, device: str, rows: bool) -> Draft | None:
    """The statement that creates the one variable, in the reader's scope."""
    place = _creation(situation, home, device)
    if place is None:
        return None
    file, whole, creation = place
    along = _used_along(situation, file, whole, home, device)
    if along is None:
        return None
    source, now = unfolded(whole, creation)
    stmt: ast.stmt = now(creation)
    argument = own_expression(situation, file, whole, creation, device) or tf_device(source, stmt, device)
    tf = tensorflow(source, stmt)
    if tf is None or argument is None or kept_by_others(source, stmt):
        return None
    change = Change(source)
    parent = source.parents[stmt]
    scope = _only_scope(parent) if isinstance(parent, ast.With) and len(parent.body) == 1 else None
    if scope is not None and isinstance(scope, ast.Constant):
        change.replace(scope, argument)
    else:
        change.wrap(stmt, f"with {tf}.device({argument}):")
    for one in along:
        there = own_expression(situation, file, whole, one, device) or tf_device(whole, one, device)
        change.wrap(now(one), f"with {tf}.device({there}):")
    what, used = ("table", "its rows are used") if rows else ("variable", "it is read")
    words = (
        f"Creates the {what} on {device}, where {used}; check that it fits into its memory, and what else"
        " uses it."
    )
    return situation.draft(words, change.text(), file)


def _table_by_default(situation: Situation, home: str, device: str) -> bool:
    """Whether nobody asked for the table to be where it is, and all that looks up in it is the reader."""
    created = alone([str(one) for one in situation.evidence("created_at")])
    if created is None or not situation.evidence("created_alone") or situation.evidence("created_in"):
        return False
    place, ran = split_site(created), situation.ran
    whole = situation.opened(place[0]) if place is not None else None
    if place is None or whole is None or home != default_device(situation.devices, ""):
        return False
    found = [one for one in whole.statements_at(place[1]) if not is_compound(one)]
    if len(found) != 1 or any(devices_of(block) for block in blocks_around(whole, found[0])):
        return False
    mine = {site for hop in situation.hops for site in (hop.site, hop.producer_site)}
    looked_up = {op.site for op in ran.ops() if op.type == _LOOKED_UP and op.assigned == home}
    sent = any(
        hop.src == home and hop.dst != device and hop.cause.evidence.get("created_at") == created
        for hop in situation.others
        if hop.count != 0
    )
    return looked_up <= mine and not sent and not ran.used_at(home, device)


def of_home(situation: Situation, said: str) -> str:
    """What to do where lines compute with variables of that home there: it may be this one that they use."""
    device, home = alone([hop.dst for hop in situation.hops]), alone([hop.src for hop in situation.hops])
    if device is None or home is None or situation.evidence("kept_by") or has_strategy(situation):
        return said
    if situation.evidence("gradient_goes_back"):
        return said
    # A line that sends them may be run for that home too, and compute with them there then.
    computing = {op.site for op in situation.ran.used_at(home, device)}
    updates = situation.ran.updates_on(home)
    if updates and any(hop.site in computing for hop in situation.hops) and _holds_no_others(situation, home):
        scopes = situation.evidence("scope")
        scope = f" the scope opened at {some_of(scopes, 'lines')}" if scopes else " a scope"
        return (
            f"The same line computes with it on {home}, where it is updated too, at"
            f" {some_of(updates, 'lines')}: leave it there, and have{scope} name {home} for what reads it"
            " here."
        )
    hops = [hop for hop in (*situation.hops, *situation.others) if hop.src == home]
    sent = {site for hop in hops for site in (hop.site, hop.producer_site)}
    reads = (site for site in situation.ran.reads_on(home) if site not in updates)
    stay = [site for site in reads if site not in sent or site in computing]
    stay = [site for site in stay if not of_optimizer(situation, site)]
    if home == default_device(situation.devices, "") and said == PUT_WHERE_READ:
        said = where_made(situation, device) or said
    said = with_its_changes(situation, device, said)
    if not stay:
        return said
    return (
        f"{said} Variables of {home} are read there too, at {some_of(stay, 'lines')}: if this is one of them,"
        f" leave it there, do on {home} what reads it here, and send the result on."
    )


def _holds_no_others(situation: Situation, home: str) -> bool:
    """Whether the variables that are read are all that the run has made there, each alone at its line."""
    created = set(situation.evidence("created_at"))
    made = {f"{file}:{line}" for file, line in situation.ran.made_on(home)}
    return bool(situation.evidence("created_alone")) and bool(made) and made <= created


def _creation(situation: Situation, home: str, device: str) -> tuple[str, Source, ast.stmt] | None:
    """The one statement that creates the variable that the line reads; None where that is not certain.

    Nor where others than the readers on `device` use it: they would have the transfers then.
    """
    named, ran = _named_creation(situation), situation.ran
    places = ran.made_on(home)
    stmt: ast.stmt
    if named is not None:
        file, source, stmt = situation.file, situation.source, named
    elif (by_name := _creation_by_name(situation, places, home, device)) is not None:
        file, source, stmt = by_name
    else:
        if len(places) != 1 or (opened := situation.opened(places[0][0])) is None:
            return None
        file, source = places[0][0], opened
        found = [one for one in source.statements_at(places[0][1]) if not is_compound(one)]
        if len(found) != 1 or not any(called(node) in _CREATES for node in own_nodes(found[0])):
            return None
        stmt = found[0]
    lines = first_line(stmt), stmt.end_lineno or 0
    if ran.makes_elsewhere(file, *lines, home):
        return None
    only = all(place == file and lines[0] <= line <= lines[1] for place, line in places)
    third = any(
        hop.cause.code == "variable-home" and hop.src == home and hop.dst not in (home, device)
        for hop in situation.others
        if hop.count != 0
    )
    if places and only and third:
        return None
    return file, source, stmt


def _creation_by_name(
    situation: Situation, places: list[tuple[str, int]], home: str, device: str
) -> tuple[str, Source, ast.stmt] | None:
    """The one statement that makes a variable of the name that was read, as a layer's `add_weight` does.

    None where something computes at the variables' home: another layer made by it may be right there.
    """
    told = _told_names(situation)
    found = []
    for file, line in places:
        source = situation.opened(file)
        for stmt in source.statements_at(line) if source is not None else ():
            if source is not None and isinstance(stmt, ast.Assign) and _creates(stmt) and _name(stmt) in told:
                found.append((file, source, stmt))
    alone = len(found) == 1 and not situation.ran.used_at(home, device)
    return found[0] if alone else None


def _told_names(situation: Situation) -> set[str]:
    return {str(name).rpartition("/")[2].partition(":")[0] for name in situation.evidence("variable")}


def _used_along(
    situation: Situation, file: str, source: Source, home: str, device: str
) -> list[ast.stmt] | None:
    """Statements without a scope that compute with the variables at their home, to go along.

    None where one is asked to be there, or cannot go. Of several statements' variables nothing tells whose
    are used.
    """
    places, found = situation.ran.made_on(home), list[ast.stmt]()
    if len(places) != 1:
        return []
    for op in situation.ran.used_at(home, device):
        at = split_site(op.site)
        if op.requested or at is None or at[0] != file:
            return None
        stmt = next((one for one in source.statements_at(at[1]) if not is_compound(one)), None)
        if stmt is None or not may_be_scoped(source, stmt, at[1]) or unfolded(source, stmt)[0] is not source:
            return None
        if stmt not in found:
            found.append(stmt)
    return found


def _named_creation(situation: Situation) -> ast.Assign | ast.AnnAssign | None:
    """The one statement that creates the variable that the line reads; None where that is not certain."""
    source, found = situation.source, set()
    told = _told_names(situation)
    for stmt in situation.statements:
        for node in own_nodes(stmt):
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
                continue
            made = assignment_of(source, node.id, node)
            if made is not None and _creates(made) and _may_live_on(source, made, situation):
                found.add(made)
    named = {made for made in found if _name(made) in told}
    chosen = named or found
    return chosen.pop() if len(chosen) == 1 else None


def _creates(stmt: ast.Assign | ast.AnnAssign) -> bool:
    return isinstance(stmt.value, ast.Call) and called(stmt.value) in _CREATES


def _name(stmt: ast.Assign | ast.AnnAssign) -> str:
    named = keyword(stmt.value, "name") if isinstance(stmt.value, ast.Call) else None
    return str(named.value.value) if named and isinstance(named.value, ast.Constant) else ""


def _may_live_on(source: Source, stmt: ast.stmt, situation: Situation) -> bool:
    """Whether nothing says that the variable is elsewhere than the one that was read."""
    for parent in source.ancestors(stmt):
        scope = _only_scope(parent) if isinstance(parent, ast.With) else None
        if isinstance(scope, ast.Constant):
            return device_named(str(scope.value)) in situation.evidence("lives_on")
    return True


def _only_scope(block: ast.With) -> ast.expr | None:
    """What a ``with tf.device(..):`` that does nothing else names."""
    call = block.items[0].context_expr
    plain = (
        len(block.items) == 1
        and isinstance(call, ast.Call)
        and called(call) == "device"
        and len(call.args) == 1
    )
    return call.args[0] if plain and isinstance(call, ast.Call) else None
