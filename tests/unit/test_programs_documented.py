"""The catalogue has every program that the project is to have, with the options that each was promised with.

Written down once more here, so that a program or an option cannot go unnoticed.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from app import cli

TENSORFLOW: dict[str, dict[str, set[str] | None]] = {
    "tf-pin-model": {"device": None, "memory-growth": {"on", "off"}, "keras": {"3", "2"}},
    "tf-visible-order": {
        "subset": None,
        "order": {"forwards", "backwards"},
        "by": {"set-visible-devices", "cuda-visible-devices"},
        "cuda-device-order": {"unchanged", "fastest-first", "pci-bus-id"},
    },
    "tf-default-placement": {"visible": None},
    "tf-mirrored": {
        "loop": {"fit", "custom"},
        "cross-device-ops": {"default", "nccl", "hierarchical-copy", "reduction-to-one-device"},
        "batch": None,
    },
    "tf-mirrored-uneven": {"split": {"both", "equal", "weighted"}, "slowdown": None},
    "tf-multiworker": {"workers": None, "communication": {"auto", "ring", "nccl"}, "loop": {"custom", "fit"}},
    "tf-multiworker-checkpoint": {"workers": None, "checkpoint-every": None},
    "tf-parameter-server": {"ps": None, "workers": None},
    "tf-central-storage": {},
    "tf-model-parallel": {"split": None, "layers": None},
    "tf-pin-gradients": {"gradients": {"inside", "outside"}, "device": None},
    "tf-pin-replica-gradients": {},
    "tf-no-kernel": {"op": {"angle", "unique", "string-to-number", "fractional-max-pool"}},
    "tf-host-sync": {"variant": {"all", "numpy", "every-n", "metric"}, "every": None},
    "tf-input-pipeline": {"pipeline": {"all", "numpy", "tf-data", "prefetch-to-device", "resident"}},
}
MXNET: dict[str, dict[str, set[str] | None]] = {
    "mx-contexts": {"device": None},
    "mx-context-scope": {"device": None},
    "mx-copy": {},
    "mx-mixed-context": {},
    "mx-gluon-params": {"device": None},
    "mx-module": {"device": None},
    "mx-module-data-parallel": {"work-load-list": None, "kvstore": {"local", "device", "nccl"}},
    "mx-gluon-data-parallel": {"kvstore": {"local", "device", "none"}},
    "mx-model-parallel-lstm": {"layers": None, "split": None},
    "mx-dist-sync": {
        "kvstore": {"dist_sync", "dist_device_sync", "dist_async"},
        "servers": None,
        "workers": None,
    },
    "mx-matmul-size": {"sizes": None},
    "mx-log-norm": {"variant": {"all", "fetch-each", "asnumpy-log", "assign-log", "fetch-once"}},
    "mx-two-devices": {"sizes": None},
    "mx-host-sync": {"variant": {"all", "asscalar", "asnumpy", "log"}},
}
"""By program: its options, each with all of its values where it is a choice."""
EVERY_TENSORFLOW: dict[str, set[str] | None] = {"jit-compile": {"off", "on"}, "data": {"digits", "mnist"}}
MORE_DEVICES = {
    "tf-mirrored",
    "tf-mirrored-uneven",
    "tf-multiworker",
    "tf-central-storage",
    "tf-model-parallel",
    "tf-pin-replica-gradients",
    "mx-copy",
    "mx-mixed-context",
    "mx-module-data-parallel",
    "mx-gluon-data-parallel",
    "mx-model-parallel-lstm",
    "mx-two-devices",
}
"""Programs that take several devices in a process."""


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    """What `programs --json` says of each program."""
    assert cli.main(["programs", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out.splitlines()[-1])["programs"]
    found = {program["name"]: program for program in listed}
    assert len(found) == len(listed)
    return found


def test_all_of_them_are_listed_and_no_other(told: dict[str, dict[str, Any]]) -> None:
    assert set(told) == {*TENSORFLOW, *MXNET}
    for name, program in told.items():
        assert program["framework"] == ("tensorflow" if name in TENSORFLOW else "mxnet")
        assert all(program[field].strip() for field in ("title", "summary", "claim"))


@pytest.mark.parametrize("name", [*TENSORFLOW, *MXNET])
def test_it_has_the_options_that_it_was_promised_with(told: dict[str, dict[str, Any]], name: str) -> None:
    has = {option["name"]: option["values"] for option in told[name]["options"]}
    promised = {**TENSORFLOW[name], **EVERY_TENSORFLOW} if name in TENSORFLOW else MXNET[name]
    for option, values in promised.items():
        assert option in has
        assert (set(has[option]) if has[option] else None) == values


@pytest.mark.parametrize("name", sorted(MORE_DEVICES))
def test_it_takes_several_devices(told: dict[str, dict[str, Any]], name: str) -> None:
    most = told[name]["max_devices"]
    assert most is None or most >= 2
