"""Gradients are summed on the devices."""

from __future__ import annotations

import pytest

from app.diagnosis.explanation import Recorded, repair
from app.fixes.code.edits import applied
from app.judgments.finding import Finding
from tests.unit.evidence_records import evidence
from tests.unit.fixes.fix_cases import fixed, mx_fixed, of_trainer


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            't = gluon.Trainer(p, "sgd", kvstore="local")\nt.step(1)  #!\n',
            't = gluon.Trainer(p, "sgd", kvstore="device")\nt.step(1)\n',
        ),
        (
            "mod.fit(data, num_epoch=3, kvstore='local')  #!\n",
            "mod.fit(data, num_epoch=3, kvstore='device')\n",
        ),
        (
            "kv = mx.kv.create('dist_sync')\nt = gluon.Trainer(p, 'sgd', kvstore=kv)\nt.step(1)  #!\n",
            "kv = mx.kv.create('dist_device_sync')\nt = gluon.Trainer(p, 'sgd', kvstore=kv)\nt.step(1)\n",
        ),
        (
            "STORE = 'local'\nt = gluon.Trainer(p, 'sgd', kvstore=STORE)\nt.step(1)  #!\n",
            "STORE = 'device'\nt = gluon.Trainer(p, 'sgd', kvstore=STORE)\nt.step(1)\n",
        ),
        (
            "parser.add_argument('--kv-store', default='local')\n"
            "t = gluon.Trainer(p, 'sgd', kvstore=a.kv)\nt.step(1)  #!\n",
            "parser.add_argument('--kv-store', default='device')\n"
            "t = gluon.Trainer(p, 'sgd', kvstore=a.kv)\nt.step(1)\n",
        ),
        ("t = gluon.Trainer(p, 'sgd', kvstore=name)\nt.step(1)  #!\n", None),
        ("a.fit(x, kvstore='local')\nb.fit(x, kvstore='local')  #!\n", None),
        (
            "a = gluon.Trainer(p, 'sgd', kvstore='local')\nb = gluon.Trainer(q, 'sgd', kvstore='local')\n"
            "for t in (a, b):\n    t.step(1)  #!\n",
            None,
        ),
    ],
)
def test_a_kvstore_that_sums_on_the_devices(before: str, after: str | None) -> None:
    assert mx_fixed("reduce-on-host", before, algorithm="kvstore local, summed on cpu:0") == after


@pytest.mark.parametrize(
    ("devices", "name"),
    [(["gpu:0", "gpu:1"], "NcclAllReduce"), (["cpu:1", "cpu:2"], "HierarchicalCopyAllReduce")],
)
def test_a_strategy_that_sums_on_the_devices(devices: list[str], name: str) -> None:
    head = "import tensorflow as tf\ns = tf.distribute.MirroredStrategy(\n    cross_device_ops=tf.distribute."
    text = f"{head}ReductionToOneDevice(\n        reduce_to_device='cpu:0'))\ns.run(f)\n"
    known = evidence("reduce-on-host", devices=devices)
    finding = Finding("reduce-on-host", "warning", "a.py:5", "", known, None, (), True)
    found = repair(finding, Recorded((), {"a.py": text}.get, "tensorflow", ("cpu:0", *devices)))
    assert found is not None
    assert applied(text, found.edits) == f"{head}{name}())\ns.run(f)\n"


def test_a_strategy_that_keeps_all_variables_in_one_place() -> None:
    central = (
        "import tensorflow as tf\ns = tf.distribute.experimental.CentralStorageStrategy()\ns.run(f)  #!\n"
    )
    assert fixed("reduce-on-host", central, algorithm="sum on the host") is None


def test_a_trainer_that_is_made_in_another_file() -> None:
    step = "job.t.step(8)  #!\n"
    device = ("job.py", ('        self.t = gluon.Trainer(p, "sgd", kvstore="device")',))
    assert of_trainer("reduce-on-host", step, '"sgd", kvstore="local"') == [device]
    assert of_trainer("reduce-on-host", step, '"sgd", kvstore=store') is None
