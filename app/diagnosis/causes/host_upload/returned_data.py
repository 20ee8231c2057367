"""Data that Python sends to a device and read from there before, as far as the text of the files tells."""

from __future__ import annotations

import dataclasses

from app.facts.transfers.hops import Hop
from app.fixes.flow.value_flow import uses
from app.fixes.flow.value_roles import Role
from app.fixes.situation import Situation
from app.judgments.evidence import HostReadEvidence

_BACK = (Role.GOES_BACK, Role.COMES_BACK)


def read_before(situation: Situation) -> tuple[str, str] | None:
    """The device, and the line that read from it what the finding's line sends there; None for none.

    Such data comes from no pipeline: nothing can prepare it ahead of the step that makes it.
    """
    devices = {hop.dst for hop in situation.hops}
    read: dict[str, list[Hop]] = {}
    for hop in situation.others:
        if hop.kind == "pull" and hop.site and hop.src in devices and hop.count != 0:
            read.setdefault(hop.site, []).append(hop)
    for site, hops in read.items():
        if (there := situation.at(site)) is None:
            continue
        finding = dataclasses.replace(situation.finding, site=site, evidence=HostReadEvidence())
        found = uses(dataclasses.replace(there, finding=finding, hops=hops))
        if any(use.role in _BACK and use.site == situation.finding.site for use in found):
            return hops[0].src, site
    return None
