"""What the command line understands, and what it says where it does not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.cli import attend, dispatch, preflight, rm, run, serve
from app.cli.output import duration
from app.cli.parser import Parser, add_json, device_list, option_value
from runners.catalogue import PROGRAMS
from runners.runs import registry
from runners.runs.processes import identify


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


def finished_run(home: Path, run_id: str, **spec: Any) -> Path:
    folder = home / "runs" / run_id
    folder.mkdir(parents=True)
    (folder / "spec.json").write_text(json.dumps({"created": "2026-01-01T00:00:00+00:00"} | spec))
    status = {"state": "failed", "exit_code": 3, "signal": None, "reason": "exited with status 3"}
    (folder / "status.json").write_text(json.dumps(status | {"started": 10.0, "ended": 14.25}))
    return folder


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["demoo"], "there is no command 'demoo'; did you mean demo?"),
        (["demo", "tf-mirored"], "there is no program 'tf-mirored'; did you mean tf-mirrored?"),
        (
            ["demo", "tf-mirrored", "--stand-in", "2"],
            "python3 -m app demo does not know '--stand-in'; did you mean --stand-ins?",
        ),
        (["demo", "tf-mirrored", "--stand-ins", "0"], "'0' is not a whole number of at least 1"),
        (["demo", "tf-mirrored", "--set", "loop"], "'loop' is not OPTION=VALUE"),
        (["demo", "tf-mirrored", "--set", "loop=fit", "--set", "loop=fit"], "--set loop=.. is given twice"),
        (["demo", "tf-mirrored", "--devices", "gpu:0,"], "'gpu:0,' names no device"),
        (["demo"], "the following arguments are required: PROGRAM"),
        (["run"], "no script is named"),
        (["run", "--", "-m"], "no module is named behind -m"),
        (["run", "--framework", "tensorflw", "--", "x.py"], "did you mean tensorflow?"),
        (["preflight", "--gpus", "-1", "--", "x.py"], "'-1' is not a whole number of at least 0"),
        (["--port", "0"], "'0' is not a port: it is 1 to 65535"),
        (["--prot", "80"], "did you mean --port?"),
        (["stop", "nothing"], "there is no run 'nothing'"),
        (["stop", "--grace", "-1", "x"], "'-1' is not a number of seconds"),
        (["rm"], "the following arguments are required: RUN"),
        (["setup", "--framework", "tensorflw"], "did you mean tensorflow?"),
        (["setup", "--build", "tpu"], "invalid choice: 'tpu'"),
        (["runs", "extra"], "python3 -m app runs does not know 'extra'"),
    ],
)
def test_a_wrong_request_is_one_line_and_2(
    capsys: pytest.CaptureFixture[str], words: list[str], line: str
) -> None:
    assert cli.main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("hopscope: ")
    assert line in err


def test_without_a_command_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def execute(arguments: list[str], _parser: Parser) -> int:
        asked.append(arguments)
        return 0

    monkeypatch.setattr(serve, "execute", execute)
    assert cli.main([]) == cli.main(["--port", "8502"]) == cli.main(["serve", "--listen", "0.0.0.0"]) == 0
    assert asked == [[], ["--port", "8502"], ["--listen", "0.0.0.0"]]


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    for name in (
        "serve",
        "devices",
        "run",
        "demo",
        "lessons",
        "programs",
        "runs",
        "stop",
        "rm",
        "report",
        "setup",
        "preflight",
    ):
        assert f"\n  {name} " in text
    for name in dispatch.COMMANDS:
        with pytest.raises(SystemExit) as ended:
            cli.main([name, "--help"])
        assert ended.value.code == 0
        assert f"app {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "own", "script"),
    [
        (["--", "a.py", "--json"], [], ["a.py", "--json"]),
        (["--json", "--devices", "gpu:0", "--", "a.py"], ["--json", "--devices", "gpu:0"], ["a.py"]),
        (["--python", "py", "a.py", "--", "x"], ["--python", "py"], ["a.py", "--", "x"]),
        (["--python=py", "-m", "pack", "-v"], ["--python=py"], ["-m", "pack", "-v"]),
        (["--json"], ["--json"], []),
        (["--", "-odd-name.py"], [], ["-odd-name.py"]),
    ],
)
def test_where_the_scripts_words_begin(words: list[str], own: list[str], script: list[str]) -> None:
    assert run.split(words, run.TAKES_VALUE) == (own, script)


def test_a_preflight_of_as_many_gpus_as_the_script_names_is_asked_for_by_0() -> None:
    parser = Parser("app preflight", preflight.SUMMARY)
    preflight.add_arguments(parser)
    assert [parser.parse(words).gpus for words in ([], ["--gpus", "0"], ["--gpus", "2"])] == [0, 0, 2]


def test_parts_of_arguments() -> None:
    assert device_list("gpu:0, gpu:2") == ["gpu:0", "gpu:2"]
    assert option_value("loop=fit") == ("loop", "fit")
    assert option_value("--split=2,4") == ("split", "2,4")
    assert option_value("x=a=b") == ("x", "a=b")


def test_no_abbreviations() -> None:
    parser = Parser(prog="p", description="d")
    add_json(parser)
    with pytest.raises(Exception, match="did you mean --json"):
        parser.parse(["--jso"])


class TestPrograms:
    def test_json_has_options_values_and_defaults(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["programs", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert [program["name"] for program in told["programs"]] == list(PROGRAMS)
        mirrored = told["programs"][0]
        options = {option["name"]: option for option in mirrored["options"]}
        assert options["cross-device-ops"]["values"] == [
            "default",
            "nccl",
            "hierarchical-copy",
            "reduction-to-one-device",
        ]
        assert (options["batch"]["default"], options["batch"]["values"]) == (64, None)

    def test_text_names_them_all(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["programs"]) == 0
        text = capsys.readouterr().out
        for program in PROGRAMS.values():
            assert program.name in text
            assert all(option.help in text for option in program.options)


class TestRuns:
    def test_json(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = finished_run(home, "one", name="train", devices=["cpu:1"], stand_ins=1)
        (home / "runs" / "broken").mkdir()
        assert cli.main(["runs", "--json"]) == 0
        told = {row["run"]: row for row in json.loads(capsys.readouterr().out)["runs"]}
        assert (
            told["one"]
            | {
                "name": "train",
                "state": "failed",
                "exit_code": 3,
                "reason": "exited with status 3",
                "started": 10.0,
                "ended": 14.25,
                "created": 1767225600.0,
                "devices": ["cpu:1"],
                "stand_ins": 1,
                "path": str(folder),
            }
            == told["one"]
        )
        assert told["broken"]["state"] == "lost"

    def test_text(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["runs"]) == 0
        assert "no runs in" in capsys.readouterr().out
        finished_run(home, "one", devices=["cpu:1", "cpu:2"])
        assert cli.main(["runs"]) == 0
        head, row = capsys.readouterr().out.splitlines()
        assert head.split() == ["RUN", "STATE", "LAUNCHED", "TOOK", "DEVICES", "WHY"]
        assert row.split()[:2] == ["one", "failed"]
        assert "4.2 s" in row
        assert row.endswith("cpu:1,cpu:2  exited with status 3")

    def test_devices_are_those_that_were_recorded(
        self, home: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """WHEN a run was given no devices THEN those of its trace are told, or why there are none."""
        finished_run(home, "a-died", devices=None)
        finished_run(home, "b-unrecorded", devices=None, env={"HOPSCOPE_TRACE": "0"})
        trace = finished_run(home, "c-played", devices=None) / "trace" / "1.jsonl"
        trace.parent.mkdir()
        header = {"devices": ["cpu:0", "cpu:1", "gpu:0"], "device_map": {"cpu:1": {"stand_in": True}}}
        trace.write_text(json.dumps(["H", header]) + "\n")
        played = {name: {"stand_in": True} for name in ("cpu:1", "cpu:2")}
        finished_run(home, "d-asked", devices=list(played), device_map=played)
        assert cli.main(["runs"]) == 0
        told = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
        assert "  - (none seen)  " in told["a-died"]
        assert "  - (not recorded)  " in told["b-unrecorded"]
        assert "  cpu:1 (stand-in),gpu:0  " in told["c-played"]
        assert "  cpu:1,cpu:2 (stand-ins)  " in told["d-asked"]
        assert cli.main(["runs", "--json"]) == 0
        rows = {row["run"]: row for row in json.loads(capsys.readouterr().out)["runs"]}
        assert (rows["c-played"]["devices"], rows["c-played"]["recorded_devices"]) == (
            None,
            ["cpu:1", "gpu:0"],
        )

    def test_preflights_and_tries_are_marked(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        trial = {"of": "one", "finding": "bounce@train.py:3", "edited": []}
        finished_run(home, "one", devices=["cpu:0"])
        finished_run(home, "two", devices=["cpu:0"], trial=trial)
        finished_run(home, "three", devices=["cpu:0"], trial=trial, preflight={"steps": 3})
        assert cli.main(["runs"]) == 0
        head, *rows = capsys.readouterr().out.splitlines()
        assert head.split()[-2:] == ["FOR", "WHY"]
        said = {row.split()[0]: row[head.index("FOR") : head.index("WHY")].strip() for row in rows}
        both = "pre-flight, tries a fix of one"
        assert said == {"one": "", "two": "tries a fix of one", "three": both}
        assert cli.main(["runs", "--json"]) == 0
        told = {row["run"]: row for row in json.loads(capsys.readouterr().out)["runs"]}
        assert [told[name]["preflight"] for name in ("one", "two", "three")] == [False, False, True]
        assert told["one"]["tries"] is None
        assert told["three"]["tries"] == {"of": "one", "finding": "bounce@train.py:3"}


class TestRemoving:
    def test_all_named_are_deleted(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for name in ("one", "two", "three"):
            finished_run(home, name)
        assert cli.main(["rm", "one", "two", "one", "--yes"]) == 0
        assert capsys.readouterr().out == "one deleted\ntwo deleted\n"
        assert [entry.name for entry in (home / "runs").iterdir()] == ["three"]

    def test_a_wrong_name_among_them_deletes_nothing(self, home: Path) -> None:
        finished_run(home, "one")
        assert cli.main(["rm", "one", "nosuch", "--yes"]) == 2
        assert (home / "runs" / "one").exists()

    @pytest.mark.parametrize(("answer", "left"), [("n\n", True), ("\n", True), ("", True), ("y\n", False)])
    def test_a_terminal_is_asked(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, answer: str, left: bool
    ) -> None:
        finished_run(home, "one")

        class Terminal:
            def isatty(self) -> bool:
                return True

            def readline(self) -> str:
                return answer

        monkeypatch.setattr(rm.sys, "stdin", Terminal())  # type: ignore[attr-defined]
        assert cli.main(["rm", "one"]) == (1 if left else 0)
        assert (home / "runs" / "one").exists() == left


def test_stopping_an_ended_run_says_that_it_had(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    finished_run(home, "one")
    assert cli.main(["stop", "one"]) == 0
    assert capsys.readouterr().out == "one had ended before: failed: exited with status 3\n"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"state": "finished", "exit_code": 0}, 0),
        ({"state": "failed", "exit_code": 3}, 3),
        ({"state": "failed", "exit_code": 0}, 1),
        ({"state": "failed", "exit_code": None, "signal": 9}, 137),
        ({"state": "stopped", "exit_code": None, "signal": 15}, 143),
        ({"state": "failed", "exit_code": None, "signal": None}, 127),
        ({"state": "lost"}, 1),
    ],
)
def test_the_exit_status_is_the_programs(home: Path, status: dict[str, Any], expected: int) -> None:
    folder = finished_run(home, "one")
    (folder / "status.json").write_text(json.dumps(status))
    assert attend.exit_status(registry.find("one")) == expected


def test_the_stage_underway_and_its_processes_are_told(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = finished_run(home, "one")
    me = identify(os.getpid())
    assert me is not None
    watched = {"supervisor_pid": me.pid, "supervisor_start": me.start, "boot_id": me.boot}
    stage = {"stage": {"name": "measure", "number": 1, "of": 2}}
    members = [{"name": "worker-0", "pid": 3, "exit_code": None, "signal": None}]
    status = {"state": "running", "members": members} | watched | stage
    (folder / "status.json").write_text(json.dumps(status))
    assert cli.main(["runs"]) == 0
    assert "running (measure, 1 of 2)" in capsys.readouterr().out
    assert cli.main(["runs", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["runs"]
    assert (told["stage"], told["processes"]) == ("measure, 1 of 2", members)


def test_durations_read_well() -> None:
    assert duration(4.25) == "4.2 s"
    assert duration(200) == "3 min 20 s"
    assert duration(7500) == "2 h 5 min"


@pytest.mark.parametrize("words", [["x" * 300], ["x/" * 3000], ["-m", "x" * 300]])
def test_a_script_whose_name_no_file_can_have_is_refused_in_a_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", "--", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("is not a path: it is too long")


def test_a_device_is_no_script(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "--", "/dev/zero"]) == 2
    assert "/dev/zero is neither a file nor a folder" in capsys.readouterr().err
