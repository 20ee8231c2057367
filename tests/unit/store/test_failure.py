"""The last exception in a run's output."""

from __future__ import annotations

from pathlib import Path

from app.facts.tables import Tables
from app.reports.run_report import build_report, run_info
from app.reports.text import render_text
from app.store.failure import find_exception, last_exception

NOISE = ["WARNING: All log messages", "I0000 port.cc:153] oneDNN custom operations are on."]
HEAD = "Traceback (most recent call last):"


def frame(file: str, line: int, function: str = "f") -> list[str]:
    return [f'  File "{file}", line {line}, in {function}', "    y = f(x)", "        ^^^^"]


def test_the_users_innermost_line_is_told_and_what_was_printed_before_is_left_out() -> None:
    library = frame("/venv/lib/python3.11/site-packages/keras/x.py", 9)
    own = [*frame("/w/a.py", 6), *frame("/w/sub/b.py", 3)]
    lines = [HEAD, *own, *library, "ValueError: batch is empty", "", "more"]
    found = find_exception([*NOISE, HEAD, *frame("/w/a.py", 1), "KeyError: 'x'", *lines], "/w")
    assert found is not None
    assert (found.said, found.site) == ("ValueError: batch is empty", "sub/b.py:3")
    assert found.told == "sub/b.py:3: ValueError: batch is empty"
    assert list(found.lines) == lines


def test_errors_with_tracebacks_of_their_own_and_those_of_members_and_compilation() -> None:
    mxnet = [
        HEAD,
        *frame("/w/a.py", 2),
        f"mxnet.base.MXNetError: {HEAD}",
        '  File "../src/imperative/imperative.cc", line 81',
        "MXNetError: Operator _ones is not implemented for GPU.",
    ]
    found = find_exception(mxnet, "/w")
    assert found is not None
    assert found.told == "a.py:2: MXNetError: Operator _ones is not implemented for GPU."
    several = [
        line for text in [*mxnet[:4], "KeyError: 1"] for line in (f"worker:0 | {text}", "ps:0     | on")
    ]
    of_worker = find_exception(several, "/w")
    assert of_worker is not None and of_worker.told == "a.py:2: KeyError: 1"
    cannot = ['  File "/w/a.py", line 2', "    def f(:", "          ^", "SyntaxError: invalid syntax"]
    compiled = find_exception([*NOISE, *cannot], "/w")
    assert compiled is not None and compiled.told == "a.py:2: SyntaxError: invalid syntax"


def recorders(code: str, said: str, *further: str) -> str:
    wrapper = ['  File "/clone/probes/tf/replicas.py", line 169, in made', f"    {code}", "      ^^^^"]
    found = find_exception([HEAD, *frame("/w/a.py", 2), *wrapper, *further, said], "/w")
    assert found is not None
    return found.told


def test_what_the_recorder_itself_raises_is_no_mistake_of_the_program() -> None:
    said = "AttributeError: 'list' object has no attribute 'is_fully_defined'"
    told = f"Hopscope's recorder, called by a.py:2, failed, not the program: {said}"
    assert recorders("known = isinstance(handle, EagerTensor) and shape.is_fully_defined()", said) == told
    assert "not the program" in recorders("fresh = group[0].handle.value not in self.marks", "IndexError: 0")


def test_the_recorders_wrappers_are_in_the_way_of_the_programs_own_mistakes() -> None:
    # Python refuses the call that the program makes: what it calls has no frame.
    wrong = "TypeError: A.backward() got an unexpected keyword argument 'in_data'"
    assert recorders("return method(*args, **kwargs)", wrong) == f"a.py:2: {wrong}"
    assert recorders("values = take(self)", "TypeError: no number") == "a.py:2: TypeError: no number"
    interrupted = "KeyboardInterrupt"
    assert recorders("self.known[key] = self.made.pop()", interrupted) == f"a.py:2: {interrupted}"
    deeper = frame("/venv/lib/python3.11/site-packages/keras/x.py", 9)
    assert recorders("self.x[known(1)].y()", "KeyError: 1", *deeper) == "a.py:2: KeyError: 1"


def test_without_an_exception_nothing_is_said() -> None:
    assert find_exception(NOISE, "/w") is None
    assert find_exception([HEAD, *frame("/w/a.py", 2)], "/w") is None  # it was cut off
    assert find_exception(frame("/w/a.py", 2), "/w") is None


def test_a_report_of_a_failed_run_tells_it(tmp_path: Path) -> None:
    (tmp_path / "status.json").write_text('{"state": "failed", "exit_code": 1, "started": 1.0, "ended": 2.0}')
    (tmp_path / "spec.json").write_text('{"cwd": "/w", "command": ["python", "a.py"]}')
    text = "\n".join([*NOISE, HEAD, *frame("/w/a.py", 6), "ValueError: batch is empty"])
    (tmp_path / "out.log").write_text(text)
    assert last_exception(tmp_path, {}) is not None
    report = build_report(run_info(tmp_path), Tables([], {}, [], [], []))
    told = "note: The last exception in its output: a.py:6: ValueError: batch is empty"
    assert told in render_text(report).splitlines()


def test_of_an_edited_copy_the_line_is_told_as_its_own_script_has_it(tmp_path: Path) -> None:
    (tmp_path / "out.log").write_text("\n".join([HEAD, *frame("/w/train/a.py", 6), "KeyError: 'x'"]))
    command = ["python", "/clone/probes/inject/edited_script.py", "/w/train/a.py", "--steps", "3"]
    found = last_exception(tmp_path, {"cwd": "/w", "command": command})
    assert found is not None and found.site == "a.py:6"
