"""Which check judges which program's claim."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from app.analysis.claims import (
    mxnet_contexts,
    mxnet_training,
    tf_kernels,
    tf_placement,
    tf_processes,
    tf_replicas,
    tf_waiting,
)
from app.analysis.claims.shown import Check, Shown
from runners.programs.verdicts import Verdict


def said(shown: Mapping[str, Shown]) -> list[Verdict]:
    """What the programs measured themselves, each sentence once."""
    return list(dict.fromkeys(verdict for one in shown.values() for verdict in one.said))


CHECKS: dict[str, Check] = {
    "tf-pin-model": tf_placement.pin_model,
    "tf-visible-order": tf_placement.visible_order,
    "tf-default-placement": tf_placement.default_placement,
    "tf-pin-gradients": tf_placement.pin_gradients,
    "tf-model-parallel": tf_placement.model_parallel,
    "tf-mirrored": tf_replicas.mirrored,
    "tf-central-storage": tf_replicas.central_storage,
    "tf-pin-replica-gradients": tf_replicas.pin_replica_gradients,
    "tf-no-kernel": tf_kernels.no_kernel,
    "tf-host-sync": tf_waiting.host_sync,
    "tf-input-pipeline": tf_waiting.input_pipeline,
    "tf-multiworker": tf_processes.multiworker,
    "tf-multiworker-checkpoint": tf_processes.multiworker_checkpoint,
    "tf-parameter-server": tf_processes.parameter_server,
    "mx-contexts": mxnet_contexts.contexts,
    "mx-context-scope": mxnet_contexts.context_scope,
    "mx-copy": mxnet_contexts.copies,
    "mx-mixed-context": mxnet_contexts.mixed_context,
    "mx-gluon-params": mxnet_training.gluon_params,
    "mx-module": mxnet_training.module,
    "mx-gluon-data-parallel": mxnet_training.gluon_data_parallel,
    "mx-model-parallel-lstm": mxnet_training.model_parallel_lstm,
}
"""By program; of those that are not here, what they said themselves is the verdict."""


def judge(program: str, shown: Mapping[str, Shown]) -> list[Verdict]:
    """The verdicts on a program's claim by what its runs showed.

    What only some of several runs said is told with the variants that said it: ``resumed: ...``.
    """
    return [_with_variant(verdict, shown) for verdict in CHECKS.get(program, said)(shown)]


def _with_variant(verdict: Verdict, shown: Mapping[str, Shown]) -> Verdict:
    names = [name for name, one in shown.items() if verdict in one.said]
    if not names or len(names) == len(shown):
        return verdict
    return dataclasses.replace(verdict, text=f"{', '.join(names)}: {verdict.text}")
