"""What ops of a traced function are told by: the line that the user wrote, and what TensorFlow made."""

from __future__ import annotations

from pathlib import Path

from tests.integration.recording import SCRIPTS, by, record

LABELLED = Path(__file__).parents[1] / "labelled" / "tensorflow"


def test_each_read_is_told_at_its_own_line(hopscope_home: Path, tf_python: Path) -> None:
    recorded = record(tf_python, SCRIPTS / "lines.py")
    assert recorded.run.state == "finished", recorded.log[-2000:]
    found = {
        name: hop["site"]
        for finding in recorded.report["findings"]
        if finding["code"] == "variable-home"
        for hop in [recorded.report["hops"][index] for index in finding["hops"]]
        for name in finding["evidence"]["variable"].split()
    }
    text = (SCRIPTS / "lines.py").read_text().splitlines()
    lines = {line[-1]: number for number, line in enumerate(text, 1) if "# reads " in line}
    lines["d"] = text.index("                z") + 1
    assert found == {name: f"lines.py:{number}" for name, number in lines.items()}


def test_a_functions_result_passes_the_default_device_by_tensorflows_own_op(
    hopscope_home: Path, tf_python: Path
) -> None:
    report = record(tf_python, LABELLED / "nested_functions_two_cards.py").report
    (bounce,) = by(report["findings"], code="bounce")
    assert bounce["evidence"]["causes"] == ["default-device"]
    (returned,) = by(report["findings"], code="default-device")
    assert (returned["severity"], returned["evidence"]["result_of_a_call"]) == ("info", True)
    assert "cpu:2" in returned["fix"] and returned["fix"] == returned["repair"]["words"]


def test_each_calls_result_comes_from_where_that_call_left_it(hopscope_home: Path, tf_python: Path) -> None:
    """Bug: what a function returned was told from the device of its first call, whichever call it was of."""
    recorded = record(tf_python, SCRIPTS / "results.py")
    ways = recorded.hops("site", "src", "dst", "count", op="Mul", bytes=40_000)
    home = [("cpu:1", "cpu:0", 5), ("cpu:2", "cpu:0", 5)]
    assert ways == [
        *(("results.py:18", *way) for way in home),
        *(("results.py:25", *way) for way in home),
        ("results.py:27", "cpu:2", "cpu:1", 5),
    ]


def test_what_one_line_reads_in_several_scopes_was_asked_for_in_its_own_call(
    hopscope_home: Path, tf_python: Path
) -> None:
    """Bug: a line's read of a variable had the scope of the first call, in which all was in place."""
    report = record(tf_python, SCRIPTS / "scope_of_each_call.py").report
    (missing,) = by(report["findings"], code="missing-device")
    assert missing["because"].startswith("Requested: gpu:0 (the scope opened at scope_of_each_call.py:10);")
    read = next(line for line in missing["proof"] if "Made by ReadVariableOp" in line)
    assert "asked for gpu:0 at scope_of_each_call.py:10" in read and "ran on cpu:1" in read
    assert "scope_of_each_call.py:19" in missing["fix"]


def test_an_array_that_python_took_goes_on_by_the_tensor_made_of_it(
    hopscope_home: Path, tf_python: Path
) -> None:
    report = record(tf_python, SCRIPTS / "sent_on.py").report
    told = {
        found["evidence"]["lines"][0]: (found["evidence"]["transfers"], found["evidence"]["tensor_again_at"])
        for found in by(report["findings"], code="bounce")
    }
    # All but what each loop begins and ends with; what Python changes, in the last one, is another array.
    assert told == {
        "sent_on.py:21": (10, "sent_on.py:21"),
        "sent_on.py:24": (10, "sent_on.py:24"),
        "sent_on.py:30": (10, "sent_on.py:27"),
    }
