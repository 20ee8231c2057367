"""Parameters of replicas grow apart because nothing exchanges their gradients."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.replica_drift.detection import CODE, drift_findings
from app.diagnosis.wording.evidence_facts import Facts
from app.fixes.replicas.gradient_exchange import replica_drift
from app.judgments.severity import ERROR


def because(facts: Facts) -> str:
    """How it was seen that replicas differ."""
    trainer = facts.told("trainer_made_at", "lines")
    made = f" The trainer was made at {trainer}." if trainer else ""
    checks = f"The replicas' parameters were compared {facts.told('checks')} times,"
    updates = facts.told("first_check_updates"), facts.told("last_check_updates")
    if all(updates):  # of each replica: steps count those of several optimizers together
        when = f"after {updates[0]} to {updates[1]} updates of each"
    else:
        first, last = facts.told("first_check_step"), facts.told("last_check_step")
        if not first or not last:
            return ""
        when = f"from step {first} to step {last}"
    if "variables_made_at" in facts:
        return (
            f"The variables made at {facts.told('variables_made_at', 'lines')} were equal before the first"
            f" update. {checks} {when}, and nothing but gradients of their own was seen to change them."
        )
    return f"{checks} {when}, and nothing was seen to exchange gradients between them.{made}"


CAUSE = Cause(
    code=CODE,
    severity=ERROR,
    meaning="Parameters of replicas grow apart because nothing exchanges their gradients.",
    because=because,
    advice=(
        "Give the Trainer a kvstore if it has none, and call its allreduce_grads() before update(), which"
        " alone exchanges nothing and needs update_on_kvstore=False: then all replicas apply"
        " the same gradients."
    ),
    detect=lambda run: drift_findings(run.tables),
    fix=replica_drift,
)
