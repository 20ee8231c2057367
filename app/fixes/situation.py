"""What a fix is made from: one finding, the hops behind it, and the text around its line."""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

from app.facts.devices import default_device
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import TINY
from app.fixes.code.parsed_source import BROKEN, Source
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
    """Of the finding's line."""
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

    @functools.cached_property
    def sources(self) -> list[tuple[str, Source]]:
        """All files of the run that can be read, the finding's first."""
        files = dict.fromkeys([self.file, *self.files])
        return [(file, source) for file in files if (source := self.opened(file)) is not None]

    def beside(self, first: int, last: int) -> list[Hop]:
        """The other transfers into some lines of the file, but those that only bring Python's data."""
        sites = {f"{self.file}:{line}" for line in range(first, last + 1)}
        return [hop for hop in self.others if hop.site in sites and hop.kind != "upload" and hop.count != 0]

    def fed_from_others(self, first: int, last: int, device: str) -> bool:
        """Whether the lines take more than a few bytes from elsewhere than `device`, to elsewhere."""
        return any(
            device not in (hop.src, hop.dst) and (hop.bytes or 0) > TINY for hop in self.beside(first, last)
        )

    def fed_from(self, first: int, last: int, device: str) -> bool:
        """Whether the lines take tensors from a device to elsewhere."""
        return any(hop.src == device != hop.dst for hop in self.beside(first, last))

    @property
    def statements(self) -> list[ast.stmt]:
        """What may be meant by the line, simple statements first."""
        return self.source.statements_at(self.line)

    def evidence(self, kind: type[E]) -> E:
        """The finding's evidence, which is of that kind; raises TypeError for others."""
        if not isinstance(found := self.finding.evidence, kind):
            raise TypeError(f"{self.finding.code} has {type(found).__name__} for evidence")
        return found

    @property
    def pulled_from(self) -> str | None:
        """The one device other than the default one from which the finding's values are taken."""
        found = {hop.src for hop in self.hops if hop.kind == "pull"}
        default = default_device(self.devices, "")
        return found.pop() if len(found) == 1 and found != {default} else None

    def draft(self, words: str, text: str, file: str = "") -> Draft:
        """A fix in one file, the finding's own if none is named."""
        return Draft(words, {file or self.file: text})
