"""What a finding was judged by, each thing as words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.wording.scope_openers import purpose
from app.views.naming import some_of


class Facts:
    """Evidence by name, as words."""

    def __init__(self, evidence: Mapping[str, Any]) -> None:
        self._evidence = evidence

    def __contains__(self, name: str) -> bool:
        return bool(self.each(name))

    def each(self, name: str) -> list[str]:
        """All values of a fact, as texts."""
        value = self._evidence.get(name)
        values = value if isinstance(value, list) else [value]
        # Where several things of different devices are one finding, each has its list: of workers, its own.
        values = [item for part in values for item in (part if isinstance(part, list) else [part])]
        return [str(item) for item in values if item not in (None, "", [])]

    def told(self, name: str, what: str = "values", last: str = " and ") -> str:
        """A fact in words, '' where it is not known."""
        return some_of(self.each(name), what, last)

    def lists(self, name: str) -> list[list[str]]:
        """A fact that is a list of each of several things; of one thing alone its list."""
        value = self._evidence.get(name)
        nested = isinstance(value, list) and any(isinstance(part, list) for part in value)
        parts = value if isinstance(value, list) and nested else [value]
        return [found for part in parts if (found := Facts({name: part}).each(name))]

    def scope(self, name: str) -> str:
        """`` (the scope opened at train.py:12)``, '' where no line is known."""
        lines = self.told(name, "lines")
        purposes = list(dict.fromkeys(purpose(opener) for opener in self.each(f"{name}_opener")))
        told = [*([f"the scope opened at {lines}"] if lines else []), *purposes]
        return f" ({'; '.join(told)})" if told else ""

    @property
    def called(self) -> str:
        """``where the function is called, cpu:1``."""
        return f"where the function is called, {self.told('called_on', 'devices')}"
