"""Transfers that are one finding, as the words of a sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from app.facts.transfers.hops import Hop
from app.judgments.evidence import TransferEvidence
from app.views.naming import each, one, some_of

UNDECIDED = "A tensor crosses {way} for {consumers} at {at}, and the records don't tell why"
_WORDS_OF_CALLS = {"kvstore init": "the kvstore's first taking of the parameters"}
"""Calls that the code does not make itself."""


@dataclasses.dataclass(frozen=True)
class TransferWords:
    """What is said of such transfers, without their cost and the full stop."""

    part: Sequence[Hop]
    consumers: str
    """Types of the consuming ops."""
    evidence: TransferEvidence

    @property
    def first(self) -> Hop:
        """The one that stands for all."""
        return self.part[0]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The devices that they cross between."""
        return list(dict.fromkeys((hop.src, hop.dst) for hop in self.part))

    @property
    def by_producer(self) -> bool:
        """Whether the producer's line is to be changed."""
        return self.first.cause.blames == "producer"

    def say(self, template: str, **more: str) -> str:
        """The template with its words: `more` are the cause's own, others the evidence of that name."""
        several = "," in self.consumers or " and " in self.consumers
        forms = _OF_SEVERAL if several else _OF_ONE
        sources = dict.fromkeys(src for src, _ in self.pairs)
        call = one([_WORDS_OF_CALLS.get(name, name) for name in each(self.evidence.call)])
        default = self.evidence.default_device or self.evidence.producer_default_device
        words = {
            "at": self.first.blamed_site or "an unknown line",
            "inputs": "inputs" if several or len(sources) > 1 else "input",
            "way": some_of((f"{src} to {dst}" for src, dst in self.pairs), "ways", ", "),
            "consumers": self.consumers or "an op",
            "src": self.first.src,
            "dst": self.first.dst,
            "srcs": some_of(sources, "devices"),
            "dsts": some_of((dst for _, dst in self.pairs), "devices"),
            "default": one(default),
            "producer": self.first.producer_op,
            "call": call,
            "by_call": f" by {call}" if call else "",
        }
        return template.format_map(_Words(self.evidence, forms | words | more))


_OF_ONE = {"has": "has", "is": "is", "runs": "runs", "takes": "takes", "kernels": "kernel", "its": "its"}
_OF_ONE |= {"it": "it"}
_OF_SEVERAL = {"has": "have", "is": "are", "runs": "run", "takes": "take", "kernels": "kernels"}
_OF_SEVERAL |= {"its": "their", "it": "them"}


class _Words(dict[str, str]):
    def __init__(self, evidence: TransferEvidence, words: Mapping[str, str]) -> None:
        super().__init__(words)
        self._evidence = evidence

    def __missing__(self, name: str) -> str:
        return one(getattr(self._evidence, name))


def source(evidence: TransferEvidence) -> str:
    """The devices that they start on."""
    return " and ".join(each(evidence.src)) or "its device"


def destination(evidence: TransferEvidence) -> str:
    """The devices that they end on."""
    return " and ".join(each(evidence.dst)) or "the device that uses it"
