"""What a fix is made from: one finding, the hops behind it, and the text around its line."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Any

from app.analysis.devices import default_device
from app.analysis.finding import Finding
from app.analysis.hops import Hop
from app.analysis.repairs.source import Source


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

    @property
    def statements(self) -> list[ast.stmt]:
        """What may be meant by the line, simple statements first."""
        return self.source.statements_at(self.line)

    def evidence(self, name: str) -> list[Any]:
        """What the evidence says by a name: nothing, one thing, or several that differ."""
        value = self.finding.evidence.get(name)
        return [one for one in (value if isinstance(value, list) else [value]) if one]

    @property
    def pulled_from(self) -> str | None:
        """The one device other than the default one from which the finding's values are taken."""
        found = {hop.src for hop in self.hops if hop.kind == "pull"}
        default = default_device(self.devices, "")
        return found.pop() if len(found) == 1 and found != {default} else None

    def draft(self, words: str, text: str) -> Draft:
        """A fix in the finding's own file."""
        return Draft(words, {self.file: text})
