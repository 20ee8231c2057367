"""By which name a parameter is known that a trainer exchanges."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from probes.mx import steps


def test_a_trainers_exchange_by_itself_knows_its_parameters_names() -> None:
    class Trainer:
        _params = (SimpleNamespace(name="weight"), SimpleNamespace(name="bias"))

        def allreduce_grads(self, fails: bool) -> list[str]:
            if fails:
                raise ValueError
            return [steps.parameter_name(key) for key in (0, 1, 2, "own")]

    steps._name_parameters(Trainer, "allreduce_grads")
    assert Trainer().allreduce_grads(False) == ["weight", "bias", "key 2", "own"]
    with pytest.raises(ValueError):
        Trainer().allreduce_grads(True)
    assert steps.parameter_name(0) == "key 0"
