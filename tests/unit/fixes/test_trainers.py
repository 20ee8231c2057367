"""What is said of replicas that drift apart goes by how the source makes their Trainer."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, said

HEAD = "import mxnet as mx\nfrom mxnet import gluon\n"
OWN_TRAINER = """\
class AccumulatingTrainer(gluon.Trainer):
    def __init__(self, params, every=2):
        super().__init__(params, "sgd", kvstore="device", update_on_kvstore=False)
        self.every, self.seen = every, 0

    def step(self, batch_size, ignore_stale_grad=False):
        self.seen += 1
        if self.seen % self.every:
            return False
        self.update(batch_size * self.every, ignore_stale_grad)  #!
        for p in self._params:
            p.zero_grad()
        return True
"""


def test_a_trainer_of_ones_own_exchanges_before_it_updates() -> None:
    made = fixed("replica-drift", HEAD + OWN_TRAINER, framework="mxnet", trainer_made_at="train.py:5")
    plain = (HEAD + OWN_TRAINER).replace("  #!", "")
    update = "        self.update("
    assert made == plain.replace(update, f"        self.allreduce_grads()\n{update}")


@pytest.mark.parametrize(
    ("trainer", "line", "starts", "says"),
    [
        (
            "kvstore='device', update_on_kvstore=False",
            "t.update(8) if ready else None",
            "The Trainer that is made at train.py:3 has a kvstore, but update() alone",
            "allreduce_grads() before update() at train.py:4; then",
        ),
        (
            "kvstore='local'",
            "t.update(8)",
            "The Trainer that is made at train.py:3 has a kvstore",
            "which needs update_on_kvstore=False there",
        ),
        (
            "kvstore=None",
            "done = t.update(8)",
            "Give the Trainer that is made at train.py:3 a kvstore",
            "update()",
        ),
        (
            "kvstore=None",
            "done = t.step(8)",
            "Give the Trainer that is made at train.py:3 a kvstore",
            "its step()",
        ),
        (
            "kvstore=store",
            "done = t.update(8)",
            "Give the Trainer a kvstore if it has none",
            "before update()",
        ),
        ("**options", "t.update(8)", "Give the Trainer a kvstore if it has none", "before update()"),
    ],
)
def test_no_kvstore_is_asked_for_where_there_is_one(trainer: str, line: str, starts: str, says: str) -> None:
    text = f"{HEAD}t = gluon.Trainer(p, 'sgd', {trainer})\n{line}  #!\n"
    words = said("replica-drift", text, framework="mxnet", trainer_made_at="train.py:3") or ""
    assert words.startswith(starts) and says in words
