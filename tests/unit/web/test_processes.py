"""What the pages say of runs in stages and of several processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from app.views.progress_data import Progress
from app.web.run.run_header import command_text as spec_text
from app.web.shared.command_words import command_text, shared_variables
from app.web.shared.launch_words import plan_remarks, plan_text
from app.web.shared.run_rows import members_title, run_row
from runners.plan.launcher import plan_program
from runners.runs.processes import identify
from runners.runs.run import Run
from runners.supervise.members import Member, Stage


def pair() -> tuple[Member, Member]:
    common: dict[str, str | None] = {"URI": "127.0.0.1", "OLD": None}
    return (
        Member("server-0", ["python", "-c", "import mxnet"], {**common, "GONE": None}, "server", 0, True),
        Member("worker-0", ["python", "my train.py"], {**common, "PORT": "<port:a>"}, "worker", 0),
    )


def test_processes_stand_one_by_one_and_what_they_share_once() -> None:
    text = command_text({"B": "2", "A": None}, "/the folder", ["x"], [Stage("run", pair())])
    assert text.splitlines() == [
        "unset A",
        "export B=2",
        "export HOPSCOPE_RANK=0",
        "unset OLD",
        "export URI=127.0.0.1",
        "cd '/the folder'",
        "",
        "# server-0",
        "env -u GONE HOPSCOPE_ROLE=server python -c 'import mxnet' &",
        "",
        "# worker-0",
        "HOPSCOPE_ROLE=worker PORT='<port:a>' python 'my train.py' &",
    ]
    assert shared_variables(pair()) == {"HOPSCOPE_RANK": "0", "URI": "127.0.0.1", "OLD": None}


def test_stages_stand_one_after_the_other() -> None:
    stages = [
        Stage("measure", (Member("program", ["train", "--repeats", "5"], {"TRACE": "0"}),), "bare"),
        Stage("record", (Member("program", ["train", "--repeats", "1"]),)),
    ]
    assert command_text({"TRACE": "1"}, "", ["train"], stages).splitlines() == [
        "export TRACE=1",
        "",
        "# stage measure: bare",
        "TRACE=0 train --repeats 5",
        "",
        "# stage record",
        "train --repeats 1",
    ]


def test_the_launch_page_and_the_run_page_tell_the_same() -> None:
    made = plan_program("mx-dist-sync", stand_ins=1, options={"time-limit": 90})
    spec: dict[str, Any] = {
        "env": made.env,
        "cwd": str(made.cwd),
        "command": made.command,
        "stages": [stage.as_json() for stage in made.stages],
    }
    assert spec_text(spec) == plan_text(made)
    assert plan_remarks(made) == (
        "4 processes, started in this order; if one fails, the others are ended. "
        "<port:..> is a free TCP port, chosen at the launch. After 90 s all of it is ended."
    )
    assert plan_remarks(plan_program("tf-mirrored", stand_ins=2)) == ""


def test_a_damaged_list_of_stages_leaves_the_command() -> None:
    assert spec_text({"command": ["python", "x.py"], "stages": [{"name": 1}]}) == "python x.py"


def running(**status: Any) -> Run:
    me = identify(os.getpid())
    assert me is not None
    known = {"supervisor_pid": me.pid, "supervisor_start": me.start, "boot_id": me.boot, "state": "running"}
    return Run("20261121-060000-a-0000", Path("/runs/x"), {"name": "a"}, known | status)


def test_the_stage_underway_stands_beside_the_state() -> None:
    nothing = Progress((), (), (), None)
    of_two = {"name": "measure", "number": 1, "of": 2}
    cells = run_row(running(stage=of_two), nothing, operator=True)["cells"]
    assert cells["state"]["text"] == "running · measure, 1 of 2"
    for stage in ({"name": "run", "number": 1, "of": 1}, None, "odd", {"name": "x"}):
        assert run_row(running(stage=stage), nothing, operator=True)["cells"]["state"]["text"] == "running"
    assert Run("x", Path("/x"), {}, {"state": "finished", "stage": of_two}).stage is None


def test_each_process_is_told_with_its_end() -> None:
    run = running(
        members=[
            {"name": "server-0", "pid": 11, "exit_code": None, "signal": 9},
            {"name": "worker-0", "pid": 12, "exit_code": 0, "signal": None},
            {"name": "worker-1", "pid": 13, "exit_code": None, "signal": None},
            "damaged",
        ]
    )
    assert members_title(run.members).splitlines() == [
        "server-0: signal 9 (SIGKILL) (pid 11)",
        "worker-0: exited with status 0 (pid 12)",
        "worker-1: running (pid 13)",
    ]
    assert members_title(Run("x", Path("/x"), {}, {"members": 3}).members) == ""


def test_what_does_not_print_is_spelled_out_on_one_line() -> None:
    """A line's end in a variable's name made other commands stand there than those that would run."""
    env = {"A=1\nls\n# the end": "x\ny", "B": "it's \\ \u202e"}
    assert command_text(env, "/a\nb", ["run", "a\x1b[2J"]).splitlines() == [
        r"export $'A=1\nls\n# the end'=$'x\ny'",
        r"export B=$'it\'s \\ \u202e'",
        r"cd $'/a\nb'",
        r"run $'a\x1b[2J'",
    ]
    stages = [Stage("one\nrm", pair(), "a\nnote"), Stage("two", pair())]
    assert all(line.isprintable() for line in command_text({}, "", [], stages).splitlines())
    assert "# stage one\\nrm: a\\nnote" in command_text({}, "", [], stages)
