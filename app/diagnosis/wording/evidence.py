"""What a finding was judged by, in a sentence."""

from __future__ import annotations

from app.diagnosis.wording import evidence_moved as moved
from app.diagnosis.wording import evidence_placed as placed
from app.diagnosis.wording.evidence_facts import Facts
from app.judgments.finding import Finding


def because(finding: Finding) -> str:
    """Why the finding has its code, as a sentence; '' where its summary says all of it."""
    tell = _SENTENCES.get(finding.code)
    facts = Facts(finding.evidence)
    return tell(facts) if tell else ""


_SENTENCES = {
    "explicit": placed.explicit,
    "default-device": placed.default_device,
    "gradient-outside-scope": placed.gradient,
    "no-kernel": placed.no_kernel,
    "missing-device": placed.missing,
    "host-memory": placed.host_memory,
    "colocation": placed.colocation,
    "variable-home": placed.variable,
    "host-sync": moved.sync,
    "host-upload": moved.upload,
    "bounce": moved.bounce,
    "collective": moved.collective,
    "reduce-on-host": moved.collective,
    "mixed-context": moved.mixed,
    "redundant-copy": moved.redundant,
    "xla-opaque": moved.opaque,
    "replica-drift": moved.drift,
    "unknown": placed.unknown,
}
