"""Graphs with handles of variables and tables, lists and Python functions are read, bytes and all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.recording import SCRIPTS, Recorded, record

ROWS, TABLE = 16 * 64 * 4, 128 * 64 * 4


@pytest.fixture(scope="module")
def recorded(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        return record(tf_python, SCRIPTS / "tf_resources.py")


def test_only_the_graph_that_could_not_be_read_is_told_and_once(recorded: Recorded) -> None:
    assert recorded.run.state == "finished", recorded.log[-2000:]
    (row,) = recorded.report["unseen"]
    assert row["what"] == "ops inside unread"
    assert row["why"] == "its placed graph can't be read: ValueError: an op with _XlaHasReferenceVars=false"
    calls = 5
    assert row["count"] % calls == 0
    (finding,) = [one for one in recorded.report["findings"] if one["summary"].startswith("Not seen")]
    assert (finding["code"], finding["severity"], finding["fix"]) == ("unknown", "info", None)


@pytest.mark.parametrize(
    ("producer", "op", "size"),
    [
        ("ReadVariableOp", "Mul", TABLE),  # behind an update of rows, a slice's, or of one of two variables
        ("GatherNd", "Identity", ROWS),
        ("TensorArrayV2Stack/TensorListStack", "Mul", 4 * ROWS),
        ("EagerPyFunc", "Mul", ROWS),
        ("cond/output/_7", "Mul", ROWS),
        ("Cast", "Mul", 16 * 4),
    ],
)
def test_what_crosses_has_its_bytes(recorded: Recorded, producer: str, op: str, size: int) -> None:
    found = recorded.hops("bytes", "count", producer=producer, op=op)
    assert found and {one[0] for one in found} == {size}


def test_every_transfer_of_every_graph_has_its_bytes(recorded: Recorded) -> None:
    hops = recorded.report["hops"]
    assert not [hop for hop in hops if hop["bytes"] is None]
    assert sum(hop["count"] for hop in hops if hop["op"] == "ResourceScatterNdUpdate") == 2 * 3 * 5
