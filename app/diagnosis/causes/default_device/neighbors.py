"""Lines of one function that work with the same values and lack the same device scope.

Each is told with the others: mended alone it is no better, for what it then leaves on its device they fetch.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Callable, Sequence

from app.diagnosis.causes.default_device.rules import Evidence
from app.facts.lines import sites_in_order, split_site
from app.facts.transfers.hops import Hop
from app.fixes.code.names import bindings
from app.fixes.code.parsed_source import BROKEN, Function, Scope, Source, is_compound
from app.judgments.finding import Finding
from app.views.naming import some_of

CODE = "default-device"
TextOf = Callable[[str], str | None]


@dataclasses.dataclass(frozen=True)
class _Line:
    """What stands on the line of a finding."""

    lacks: frozenset[tuple[str, str]]
    """(default device, other device) of what crosses for its ops, which nobody placed."""
    scope: Scope
    reads: frozenset[str]
    """Of the scope's own names those that may be tensors."""
    sets: frozenset[str]
    makes: bool
    """Only what it makes crosses, nothing that it takes."""

    def shares(self, other: _Line) -> bool:
        """Whether a tensor of one line is of the other too, so that mending one alone moves it anew."""
        if self.makes and other.makes:
            return bool(self.sets & other.reads or self.reads & other.sets)
        return bool((self.reads | self.sets) & (other.reads | other.sets))


def together(findings: Sequence[Finding], hops: Sequence[Hop], text_of: TextOf) -> list[Finding]:
    """The findings; those to be mended of ops that nobody placed name the lines that need it too."""
    wrong = [one for one in findings if one.code == CODE and one.severity != "info" and one.site]
    if len({one.site for one in wrong}) < 2:
        return list(findings)
    sources = functools.cache(lambda path: _parsed(text_of(path)))
    lines = {one.site or "": line for one in wrong if (line := _line(one, hops, sources))}
    return [_with(one, lines) if one in wrong else one for one in findings]


def advised(finding: Finding, said: str | None) -> str | None:
    """What is said of a finding, with the lines that need it too."""
    others = finding.evidence.also_unplaced if isinstance(finding.evidence, Evidence) else None
    if not others or not said:
        return said
    work, have, both = ("works", "has", "both") if len(others) == 1 else ("work", "have", "them all")
    too = f"{some_of(others, 'lines')} {work} with the same values and {have} no device scope either"
    return f"{said} {too}: give {both} the same one, or what one line leaves on the device another fetches."


def _line(finding: Finding, hops: Sequence[Hop], sources: Callable[[str], Source | None]) -> _Line | None:
    path, number = split_site(finding.site) or ("", 0)
    source = sources(path)
    statements = [one for one in source.statements_at(number) if not is_compound(one)] if source else []
    if source is None or not statements:
        return None
    scope = source.scopes_of(statements[0])[0]
    own = {name.id for name in _names(scope) if isinstance(name.ctx, ast.Store)}
    own |= {node.arg for node in ast.walk(scope) if isinstance(node, ast.arg)}
    used = [name for statement in statements for name in _names(statement) if name.id in own]
    sets = {name.id for name in used if isinstance(name.ctx, ast.Store)}
    reads = {name.id for name in used if isinstance(name.ctx, ast.Load) and not _of_python(source, name)}
    ends = {(hop.src, hop.dst, hop.cause.blames) for hop in map(hops.__getitem__, finding.hops)}
    lacks = frozenset((src, dst) if blames == "producer" else (dst, src) for src, dst, blames in ends)
    makes = all(blames == "producer" for _, _, blames in ends)
    return _Line(lacks, scope, frozenset(reads), frozenset(sets), makes)


def _of_python(source: Source, name: ast.Name) -> bool:
    """Whether the text tells that a name is of no tensor: a number, a function, a module."""
    made = bindings(source, name.id, name)
    return bool(made) and all(_makes_no_tensor(source, one) for one in made)


def _makes_no_tensor(source: Source, binding: ast.AST) -> bool:
    if isinstance(binding, Function | ast.ClassDef | ast.Import | ast.ImportFrom | ast.alias):
        return True
    stmt = source.statement_of(binding)
    if not isinstance(stmt, ast.Assign | ast.AnnAssign) or stmt.value is None:
        return False
    parts = ast.walk(stmt.value)
    plain = ast.Constant | ast.Tuple | ast.List | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop
    return all(isinstance(part, plain | ast.expr_context) for part in parts)


def _names(node: ast.AST) -> list[ast.Name]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Name)]


def _parsed(text: str | None) -> Source | None:
    try:
        return None if text is None else Source(text)
    except BROKEN:
        return None


def _with(finding: Finding, lines: dict[str, _Line]) -> Finding:
    here, evidence = lines.get(finding.site or ""), finding.evidence
    if here is None or not isinstance(evidence, Evidence):
        return finding
    others = sites_in_order(
        site
        for site, line in lines.items()
        if site != finding.site and line.scope is here.scope and line.lacks & here.lacks and here.shares(line)
    )
    return dataclasses.replace(finding, evidence=dataclasses.replace(evidence, also_unplaced=others or None))
