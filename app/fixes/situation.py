"""What a fix is made from: one finding, the hops behind it, and the text around its line."""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from app.facts.devices import default_device, is_gpu
from app.facts.lines import split_site
from app.facts.placement import Op
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import TINY
from app.fixes.code.change import Change
from app.fixes.code.device_notation import alone
from app.fixes.code.names import called, calls_of
from app.fixes.code.parsed_source import BROKEN, Source, first_line, header_end, is_compound
from app.fixes.executed_ops import Ran
from app.judgments.evidence import FindingEvidence
from app.judgments.finding import Finding

E = TypeVar("E", bound=FindingEvidence)


@dataclasses.dataclass(frozen=True)
class Draft:
    """A fix before it is checked: what it does, and the whole text that it makes of each file."""

    words: str
    texts: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Situation:
    """A finding at a line whose text is known."""

    finding: Finding
    hops: Sequence[Hop]
    """The finding's own."""
    file: str
    line: int
    source: Source
    """The text of the file."""
    framework: str
    devices: Sequence[str]
    ran: Ran = dataclasses.field(default_factory=Ran)
    others: Sequence[Hop] = ()
    """The run's other transfers."""
    text_of: Callable[[str], str | None] = lambda file: None
    """The text of any file of the run, by its name in sites."""
    files: Sequence[str] = ()
    """Names of files that have lines in the run."""

    def opened(self, file: str) -> Source | None:
        """Another file of the run; None where its text is not known, or no Python."""
        if file == self.file:
            return self.source
        text = self.text_of(file)
        try:
            return Source(text) if text is not None else None
        except BROKEN:
            return None

    def at(self, site: object) -> Situation | None:
        """The same finding looked at from another line; None where the text of that is not known."""
        place = split_site(str(site))
        source = self.opened(place[0]) if place is not None else None
        if place is None or source is None:
            return None
        return dataclasses.replace(self, file=place[0], line=place[1], source=source)

    @functools.cached_property
    def sources(self) -> list[tuple[str, Source]]:
        """All files of the run that can be read, the finding's first."""
        files = dict.fromkeys([self.file, *self.files])
        return [(file, source) for file in files if (source := self.opened(file)) is not None]

    def sites(self, *stmts: ast.stmt) -> set[str]:
        """The lines of statements of the file, those of statements in them left out."""
        return {
            f"{self.file}:{line}" for stmt in stmts for line in range(first_line(stmt), header_end(stmt) + 1)
        }

    def beside(self, sites: Collection[str]) -> list[Hop]:
        """The other transfers into some lines, but those that only bring Python's data."""
        return [hop for hop in self.others if hop.site in sites and hop.kind != "upload" and hop.count != 0]

    def fed_from_others(self, sites: Collection[str], device: str) -> bool:
        """Return True if lines get more than a few bytes from elsewhere than `device`, to elsewhere."""
        return any(device not in (hop.src, hop.dst) and (hop.bytes or 0) > TINY for hop in self.beside(sites))

    @property
    def statements(self) -> list[ast.stmt]:
        """What may be meant by the line, simple statements first."""
        return self.source.statements_at(self.line)

    @property
    def simple(self) -> list[ast.stmt]:
        """The statements of the line that hold no others."""
        return [stmt for stmt in self.statements if not is_compound(stmt)]

    def traced(self, stmt: ast.stmt) -> list[Op]:
        """What traced functions compute that a statement may call, by their names."""
        return self.ran.traced({called(call) for call in calls_of(stmt)} - {""})

    def evidence(self, kind: type[E]) -> E:
        """The finding's evidence, which is of that kind; raises TypeError for others."""
        if not isinstance(found := self.finding.evidence, kind):
            raise TypeError(f"{self.finding.code} has {type(found).__name__} for evidence")
        return found

    @property
    def src(self) -> str | None:
        """The one device that all of the finding's transfers leave; None for several."""
        return alone([hop.src for hop in self.hops])

    @property
    def dst(self) -> str | None:
        """The one device that all of the finding's transfers go to; None for several."""
        return alone([hop.dst for hop in self.hops])

    @property
    def by_producer(self) -> bool:
        """Whether a transfer is blamed on the op that made the tensor."""
        return any(hop.cause.blames == "producer" for hop in self.hops)

    @property
    def reads(self) -> list[Hop]:
        """The finding's host reads."""
        return [hop for hop in self.hops if hop.kind == "pull"]

    @property
    def read_from(self) -> str | None:
        """The one device other than the default one from which the host reads; None for others."""
        found = alone([hop.src for hop in self.reads])
        return None if found == default_device(self.devices, "") else found

    def leaves_gpu(self, device: str) -> bool:
        """Whether what goes to a device would run on the host of a run with GPUs.

        What that saves in transfers it loses many times over.
        """
        return device == "cpu:0" and any(map(is_gpu, self.devices))

    def draft(self, words: str, change: Change | str) -> Draft:
        """A fix in the file."""
        return Draft(words, {self.file: change if isinstance(change, str) else change.text()})

    def replaced(self, words: str, node: ast.expr | ast.stmt, text: str) -> Draft:
        """A fix that puts a text in the place of one node."""
        change = Change(self.source)
        change.replace(node, text)
        return self.draft(words, change)
