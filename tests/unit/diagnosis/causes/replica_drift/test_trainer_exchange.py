"""Trainers exchange the gradients of their replicas."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import mx_fixed, of_trainer


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "t = gluon.Trainer(p, 'sgd', kvstore=None)\nfor x in data:\n    t.step(8)  #!\n",
            "t = gluon.Trainer(p, 'sgd', kvstore=\"device\")\nfor x in data:\n    t.step(8)\n",
        ),
        (
            "t = gluon.Trainer(p, 'sgd', kvstore=None)\nfor x in data:\n    t.update(8)  #!\n",
            "t = gluon.Trainer(p, 'sgd', kvstore=\"device\", update_on_kvstore=False)\n"
            "for x in data:\n    t.allreduce_grads()\n    t.update(8)\n",
        ),
        (
            "t = gluon.Trainer(p, 'sgd', update_on_kvstore=False)\nwhile more():\n\tt.update(\n\t\t8)  #!\n",
            "t = gluon.Trainer(p, 'sgd', update_on_kvstore=False)\n"
            "while more():\n\tt.allreduce_grads()\n\tt.update(\n\t\t8)\n",
        ),
        (
            "self.t = gluon.Trainer(\n    p, 'sgd',\n)\nself.t.update(8)  #!\n",
            "self.t = gluon.Trainer(\n    p, 'sgd', update_on_kvstore=False,\n)\n"
            "self.t.allreduce_grads()\nself.t.update(8)\n",
        ),
        (
            "t = gluon.Trainer(p, 'sgd', kvstore='device', update_on_kvstore=False)\nt.update(8)  #!\n",
            "t = gluon.Trainer(p, 'sgd', kvstore='device', update_on_kvstore=False)\n"
            "t.allreduce_grads()\nt.update(8)\n",
        ),
        ("t = gluon.Trainer(p, 'sgd')\nt.step(8)  #!\n", None),
        ("t = gluon.Trainer(p, 'sgd', kvstore='local')\nt.step(8)  #!\n", None),
        ("for w in weights:\n    w -= rate * w.grad  #!\n", None),
        (
            "a = gluon.Trainer(p, 'sgd', kvstore=None)\n"
            "b = gluon.Trainer(q, 'sgd', kvstore=None)\na.step(8)  #!\n",
            None,
        ),
    ],
)
def test_replicas_that_exchange_their_gradients(before: str, after: str | None) -> None:
    assert mx_fixed("replica-drift", before, devices=("cpu:0", "gpu:0", "gpu:1")) == after


def test_the_other_files_trainer_exchanges() -> None:
    step, update = "job.t.step(8)  #!\n", "job.t.update(8)  #!\n"
    device = ("job.py", ('        self.t = gluon.Trainer(p, "sgd", kvstore="device")',))
    told = {"trainer_made_at": "job.py:4"}
    assert of_trainer("replica-drift", step, '"sgd", kvstore=None', **told) == [device]
    assert of_trainer("replica-drift", step, '"sgd", kvstore="local"', **told) is None
    assert of_trainer("replica-drift", update, '"sgd", update_on_kvstore=False', **told) == [
        ("train.py", ("job.t.allreduce_grads()",))
    ]
    assert of_trainer("replica-drift", step, '"sgd", kvstore=None', trainer_made_at="job.py:99") is None
    apart = told | {"variables_made_at": "job.py:1"}
    assert of_trainer("replica-drift", step, '"sgd", kvstore=None', **apart) is None
