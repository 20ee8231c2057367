"""Stages and members as spec.json holds them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runners.errors import HopscopeError
from runners.supervise.members import Member, Stage, read_stages


def test_a_single_command_is_one_stage_of_one_member() -> None:
    (stage,) = read_stages({"command": ["python", "train.py"]})
    assert stage == Stage("run", (Member("program", ["python", "train.py"]),))
    assert stage.members[0].variables() == {}


def test_what_is_written_is_read() -> None:
    server = Member("server-0", ["python", "-c", "pass"], {"A": "1", "B": None}, "server", 0, serves=True)
    stages = [Stage("measure", (server,), "bare"), Stage("record", (Member("program", ["x"]),))]
    assert read_stages(json.loads(json.dumps({"stages": [stage.as_json() for stage in stages]}))) == stages
    assert server.variables() == {"HOPSCOPE_ROLE": "server", "HOPSCOPE_RANK": "0", "A": "1", "B": None}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({}, "'command' is missing"),
        ({"command": "python train.py"}, "a command is one text"),
        ({"command": None}, "spec.json is damaged"),
        ({"stages": 3}, "spec.json is damaged"),
        ({"stages": [{"name": "run", "members": []}]}, "a stage has no members"),
        ({"stages": [{"name": "run", "members": [{"name": "a"}]}]}, "'command' is missing"),
    ],
)
def test_a_damaged_spec_is_told_in_one_line(spec: dict[str, Any], words: str) -> None:
    with pytest.raises(HopscopeError) as error:
        read_stages(spec)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
